/* tg_sse_frames.h - between tg_sse.c and what takes a frame without reading its lines; no business
 * of a caller.
 *
 * Rules
 *  - All look only where a block may begin, and take nothing that the lines would not.
 */
#ifndef TG_SSE_FRAMES_H
#define TG_SSE_FRAMES_H

#include "tg_sse.h"

/* Passes over the frames that the prediction takes. There must be one. */
void tg_sse_skip_frames(tg_sse *self);
/* Passes over comments that are blocks of their own (`: ping` and a blank line), with which servers
 * keep a connection alive; whether there was one. Their lines would change nothing. */
bool tg_sse_skip_comments(tg_sse *self);
/* The next event, if its lines are those of an earlier one around other data (tg_plain). What is
 * left out here (limits, an id that changed, ill-formed data) is left to the lines. */
bool tg_sse_next_frame(tg_sse *self, tg_event *out);

#endif

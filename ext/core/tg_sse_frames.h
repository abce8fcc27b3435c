/* tg_sse_frames.h - between tg_sse.c and what takes a frame without reading its lines; no business
 * of a caller.
 *
 * Rules
 *  - All look only where a block may begin, and take nothing that the lines would not.
 */
#ifndef TG_SSE_FRAMES_H
#define TG_SSE_FRAMES_H

#include "tg_sse.h"

/* Passes over what needs no reading of lines: frames that the prediction takes, comments that are
 * blocks of their own (`: ping`, with which servers keep a connection alive). Most chunks end where
 * an event does, and then there is nothing to save: true if the chunk is used up so. */
bool tg_sse_skip(tg_sse *self);
/* A strict stream: what is left of the chunk ends where it is no longer well-formed. */
void tg_sse_check(tg_sse *self);
/* The next event, if its lines are those of an earlier one around other data (tg_plain). What is
 * left out here (limits, an id that changed, ill-formed data) is left to the lines. */
bool tg_sse_next_frame(tg_sse *self, tg_event *out);

#endif

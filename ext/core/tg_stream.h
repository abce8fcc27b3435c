/* tg_stream.h - the facade: bytes of one stream in, whole events out, at last what was left over.
 * One set of verbs for every framing; which one is said at init.
 *
 * Rules
 *  - Pull: feed takes a chunk, next yields events until TG_MORE. The chunk must stay readable until
 *    next has said TG_MORE or an error. A feed or a finish before that is the caller's mistake: it
 *    takes nothing, changes nothing and answers TG_ERR_FINISHED.
 *  - Spans point into the chunk or into buffers of the stream; they die at the next call of next,
 *    feed, finish or reset.
 *  - The cut of the input is not an input: events, errors and offsets depend on the bytes alone.
 *  - Linear: work grows with the bytes fed; tg_stream_work counts it.
 */
#ifndef TG_STREAM_H
#define TG_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_array.h"
#include "tg_eventstream.h"
#include "tg_limits.h"
#include "tg_ndjson.h"
#include "tg_predict.h"
#include "tg_sse.h"
#include "tg_status.h"

typedef enum tg_framing {
    TG_FRAMING_SSE,
    TG_FRAMING_NDJSON,
    TG_FRAMING_ARRAY,
    TG_FRAMING_EVENTSTREAM
} tg_framing;

typedef struct tg_stream {
    tg_framing framing;
    tg_predict
        *predict;       /* takes what it knows before it becomes an event; NULL: nothing is known */
    bool is_id_changed; /* by an event that it took, since one came out */
    union {
        tg_sse sse;
        tg_ndjson ndjson;
        tg_array array;
        tg_eventstream eventstream;
    };
} tg_stream;

/* flags: TG_SSE_* (tg_sse.h); strict UTF-8 also for records, whose text it concerns. alloc and
 * limits are copied; NULL means the defaults. Allocates nothing. */
void tg_stream_init_framing(tg_stream *self, tg_framing framing, const tg_alloc *alloc,
                            const tg_limits *limits, unsigned flags);
/* The same for TG_FRAMING_SSE. */
void tg_stream_init(tg_stream *self, const tg_alloc *alloc, const tg_limits *limits,
                    unsigned flags);
/* From now on what the prediction takes does not come out as an event. It is the caller's, and must
 * outlive the stream or the next call of this; NULL ends it. After init, reset and free there is
 * none. */
void tg_stream_set_predict(tg_stream *self, tg_predict *predict);
/* Back to the state after init: errors, the last event ID and the reconnection time included. */
void tg_stream_reset(tg_stream *self);
/* After it only init may follow. */
void tg_stream_free(tg_stream *self);

/* TG_OK, the sticky error, or TG_ERR_FINISHED: after finish, or before next has said TG_MORE about
 * the chunk before; it is not sticky. len 0 changes nothing. */
tg_status tg_stream_feed(tg_stream *self, const uint8_t *ptr, size_t len);
/* TG_OK with *out filled, TG_MORE (after finish too), or the sticky error. Events before an error
 * come first. *out is touched only with TG_OK, and by what a prediction takes. */
tg_status tg_stream_next(tg_stream *self, tg_event *out);
/* The events that come next, as long as they are frames, max of them at most: how many, and the
 * type that they all have. 0 says nothing of what next will say, and is all that is said where
 * there is a prediction. */
size_t tg_stream_frames(tg_stream *self, tg_frame *out, size_t max, tg_span *type);
/* Declares the end of input; *out says what the last event lacked. Idempotent: TG_OK with the same
 * *out, or the sticky error. The spans of *out live until reset or free. Limits are not applied to
 * the unended line's field beyond what next has checked: the rest is shown, never dispatched. */
tg_status tg_stream_finish(tg_stream *self, tg_rest *out);

/* The headers of the message that next gave last (TG_FRAMING_EVENTSTREAM, for tg_header_next; else
 * empty). Dies with that message. */
tg_span tg_stream_headers(const tg_stream *self);
/* The last event ID string: changes at blank lines only, with or without an event; empty for every
 * other framing. */
tg_span tg_stream_last_event_id(const tg_stream *self);
/* The last valid retry field of the stream, in ms; false and *ms untouched if there was none. It
 * counts as soon as its line has ended. */
bool tg_stream_reconnection_time(const tg_stream *self, uint64_t *ms);

/* From here on, whether a stray comes: a line that begins with a brace, which is no field. A front
 * end that fails in mid-stream writes its error so, outside of any event. SSE alone has them. Ends
 * with is_watching false, or a reset. */
void tg_stream_watch(tg_stream *self, bool is_watching);
/* The first byte of the first stray since; TG_NO_STRAY while there is none. It is known as soon as
 * that byte has come. */
uint64_t tg_stream_stray_off(const tg_stream *self);

uint64_t tg_stream_bytes_fed(const tg_stream *self);
/* Once next has said TG_MORE: up to here all bytes belong to whole events, or to nothing that an
 * event could still be made of (comments, blank lines, the commas of an array). The bracket that
 * closes an array is none of them: who has let it go can put no event before it. */
uint64_t tg_stream_whole_off(const tg_stream *self);
uint64_t tg_stream_error_off(const tg_stream *self); /* meaningful after an error */
uint64_t tg_stream_work(const tg_stream *self);      /* bytes looked at or copied, in all */

#endif

/* tg_predict.h - the events of one stream that nobody needs to see: known by template, their text
 * appended to the lane that the caller opened for it.
 *
 * Consumes frames and events; yields runs: so many bytes of text for that lane, in stream order.
 *
 * Theory of operation
 *   The caller reads an event itself and finds that it is nothing but a piece of text for something
 *   that takes more of the same. It opens a lane and lets the event be learned: what differs from
 * it in the declared holes alone then goes to that lane, and never comes out of the stream as an
 *   event. Any event that does come out may change what the next one means; when it was more than
 *   such a piece, the caller closes all lanes, and opens them again as pieces come.
 *
 * Rules
 *  - Lanes are opened and closed by the caller alone. Templates go with the lanes: who opens one
 *    again brings an event to learn.
 *  - A sequence number must be one more than the last, or the event is not taken.
 *  - What would pass a bound (of the lane, of all of them) is not taken: whoever reads the event
 *    says what follows.
 *  - Whatever cannot be done (no memory, a text that JSON refuses) is not taken either. Nothing
 * here is an error.
 *
 * Refuses: opening a lane, ending one, knowing what a piece is for.
 */
#ifndef TG_PREDICT_H
#define TG_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"
#include "tg_pick.h"
#include "tg_template.h"

/* Parallel calls alternate; more kinds of delta at one time have not been seen. */
#define TG_PREDICT_TEMPLATES 8
#define TG_PREDICT_LANES 16
#define TG_PREDICT_NO_LANE TG_PREDICT_LANES

typedef struct tg_run {
    size_t lane;
    size_t end;         /* just past its bytes in the text; they begin where the run before ends */
    uint64_t start_off; /* in the stream: first byte of its first event */
    uint64_t end_off;   /* just past the last byte of its last one */
} tg_run;

typedef struct tg_predict {
    tg_alloc alloc;
    tg_template *templates[TG_PREDICT_TEMPLATES]; /* the last used first */
    size_t template_count;
    size_t lane_count;
    size_t rooms[TG_PREDICT_LANES]; /* bytes that each lane may still take */
    size_t room;                    /* bytes that all of them may still take */
    bool is_frame_raw;              /* frames are not known to be well-formed UTF-8 */
    bool is_event_raw;              /* nor are events */
    size_t max_frame;               /* a longer one is not taken: it may pass a limit */
    const uint8_t *missed;          /* what stands here in the chunk is the frame of no template */
    bool has_sequence;              /* sequence is that of the last event */
    uint64_t sequence;
    tg_buf text;     /* of all runs, end to end */
    tg_buf runs;     /* tg_run, one after the other */
    bool keeps_each; /* each piece is a run of its own, and not empty; latest is kept */
    tg_buf latest;   /* data of the event that was taken last */
    uint64_t hits;   /* frames and events taken */
    uint64_t work;   /* bytes compared or scanned; the buffers count their own */
} tg_predict;

void tg_predict_init(tg_predict *self, const tg_alloc *alloc);
void tg_predict_free(tg_predict *self);

/* A lane that may take so many bytes; TG_PREDICT_NO_LANE if there are too many. */
size_t tg_predict_open(tg_predict *self, size_t room);
/* All lanes. */
void tg_predict_close(tg_predict *self);
/* The event that was read last is a piece for the lane: learns it, if it has one of the shapes and
 * its text is the piece that the caller read. false: it is not learned. */
bool tg_predict_learn(tg_predict *self, const tg_shapes *shapes, const tg_event *event, size_t lane,
                      tg_span piece);

/* Takes frames at the head of these bytes, which begin where a frame may, at that offset of the
 * stream; their length. All that it can, or, if they are raw, up to one that is not ASCII. Behind a
 * frame that ends with a CR a LF may stand that belongs to it. */
size_t tg_predict_frames(tg_predict *self, const uint8_t *ptr, size_t len, uint64_t off);
/* Takes an event that was framed already. */
bool tg_predict_event(tg_predict *self, const tg_event *event);

size_t tg_predict_run_count(const tg_predict *self);
/* One run's lane and text, which live until the next frame or event. */
size_t tg_predict_run(const tg_predict *self, size_t index, tg_span *text);
/* Where the events of one run stand in the stream, from the first byte to just past the last. */
void tg_predict_range(const tg_predict *self, size_t index, uint64_t *start_off, uint64_t *end_off);
/* The runs are read. */
void tg_predict_drain(tg_predict *self);

#endif

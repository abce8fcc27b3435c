/* tg_sse.h - one SSE block after another: WHATWG HTML 9.2.5 and 9.2.6, exactly.
 *
 * Consumes chunks (through tg_line); yields an event for each blank line that follows a data field.
 *
 * Theory of operation
 *   The input of the machine is a line, classified by its field name (tg_field); the states say
 *   what the open block holds so far; tg_block keeps its type and data. What the open block has
 *   borrowed from a chunk is saved only at its end: a block within one chunk is not copied.
 *
 * Prediction: where a block may begin, tg_predict is asked first. A frame that it takes is passed
 * over whole; it was one of type and data lines alone, and so changes nothing that is kept here.
 *
 * Order of errors: an error belongs to the byte at which it is known, and all bytes before it are
 * processed first. That is what makes the cut of the input no input. Ill-formed UTF-8 is known at
 * the byte that cannot continue the sequence and reported at the sequence's first byte; an event
 * that grows too large is known at the first byte over, in a line that has not ended too.
 *
 * Refuses: an event for a block that no blank line ended ("discard"); what lies past a limit.
 *
 * Invariants
 *  I1  block.type.len + block.data.len <= max_event_bytes in all states before TG_SSE_ENDED.
 *  I2  between tg_sse_next's TG_MORE and the next feed nothing points into a chunk.
 */
#ifndef TG_SSE_H
#define TG_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_block.h"
#include "tg_event.h"
#include "tg_last_id.h"
#include "tg_limits.h"
#include "tg_line.h"
#include "tg_plain.h"
#include "tg_predict.h"
#include "tg_status.h"
#include "tg_utf8.h"

/* Ill-formed UTF-8 is an error at its first byte, anywhere in the stream (comments too).
 * Without it each maximal subpart in a value becomes U+FFFD (Encoding Standard). */
#define TG_SSE_STRICT_UTF8 1u
/* A field named `error` counts as `event: error` and its value as data: some old model servers
 * report a failure in mid-stream this way (llama.cpp before its change 16109). */
#define TG_SSE_ERROR_FIELD 2u

/* X(state, sentence): "seen so far / awaiting". The first four are in rising order: a line moves
 * the machine up or leaves it, a blank line takes it back to the first. */
#define TG_SSE_STATES(X)                                                                         \
    X(TG_SSE_BETWEEN, "no line of a block / the first line of one")                              \
    X(TG_SSE_IGNORABLE, "comments, unknown fields or retry alone / more lines, or a blank one")  \
    X(TG_SSE_FIELDS, "event or id fields, no data / more lines, or a blank one that drops them") \
    X(TG_SSE_DATA, "at least one data field / more lines, or the blank one that dispatches")     \
    X(TG_SSE_ENDED, "the end of input / nothing")                                                \
    X(TG_SSE_BROKEN, "the byte that broke it / nothing")

typedef enum tg_sse_state {
#define TG_SSE_ENUM(name, sentence) name,
    TG_SSE_STATES(TG_SSE_ENUM)
#undef TG_SSE_ENUM
} tg_sse_state;

typedef struct tg_sse {
    tg_alloc alloc;
    tg_limits limits;
    unsigned flags;
    tg_sse_state state;
    tg_status error; /* sticky; TG_OK while nothing is wrong */
    uint64_t error_off;
    tg_status chunk_error; /* known to follow the part of the chunk that tg_line was given */
    uint64_t chunk_error_off;
    bool is_drained;   /* next has said TG_MORE since the last chunk */
    bool is_event_out; /* an event lent to the caller may point into the buffers */
    bool has_retry;    /* in the open block */
    bool has_reconnection;
    uint64_t retry_ms;
    uint64_t reconnection_ms;
    uint64_t bytes_fed;
    uint64_t work;      /* bytes looked at here; the parts below count their own */
    uint64_t start_off; /* of the open block */
    bool is_unchecked;  /* strict: what is left of the chunk is not known to be well-formed */
    bool is_watching;   /* for a stray (tg_stream_watch) */
    uint64_t stray_off; /* of the first one, or TG_NO_STRAY */
    uint64_t data_off;
    tg_utf8 utf8;
    tg_line line;
    tg_block block;
    tg_last_id last_id;
    tg_rest rest;        /* after finish */
    bool is_plain;       /* the open block has lines of type and data alone */
    bool is_ascii;       /* all of its lines are known to be ASCII */
    tg_plain plain;      /* the lines of the last event, or nothing */
    tg_predict *predict; /* frames that it knows are skipped whole; or NULL */
} tg_sse;

_Static_assert(sizeof(tg_sse) <= 768, "an idle stream is to stay small");

const char *tg_sse_state_name(tg_sse_state state);

/* The contract of these is that of the tg_stream functions of the same names (tg_stream.h). */
void tg_sse_init(tg_sse *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags);
void tg_sse_reset(tg_sse *self);
void tg_sse_free(tg_sse *self);
tg_status tg_sse_feed(tg_sse *self, const uint8_t *ptr, size_t len);
tg_status tg_sse_next(tg_sse *self, tg_event *out);
size_t tg_sse_frames(tg_sse *self, tg_frame *out, size_t max, tg_span *type);
tg_status tg_sse_finish(tg_sse *self, tg_rest *out);
tg_span tg_sse_last_event_id(const tg_sse *self);
uint64_t tg_sse_whole_off(const tg_sse *self);
void tg_sse_set_predict(tg_sse *self, tg_predict *predict);
void tg_sse_watch(tg_sse *self, bool is_watching);
uint64_t tg_sse_work(const tg_sse *self);

#endif

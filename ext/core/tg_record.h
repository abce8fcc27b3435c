/* tg_record.h - what the framers of records share (tg_ndjson, tg_array, tg_eventstream).
 *
 * Owns the chunk, the bytes of the open record, the sticky error, strict UTF-8, and the byte order
 * mark at the start. The framers own the rules of where a record begins and ends.
 *
 * Theory of operation
 *   A framer moves pos through the chunk. It opens a record at pos and closes it at a later pos.
 *   A record within one chunk is lent out in place; one that chunks cut is gathered in the carry,
 *   each byte of it copied once (and again when the carry doubles). Between records nothing is
 * held.
 *
 *     chunk 1                 chunk 2
 *     ,{"a":1},{"b"           :2},{"c":3}
 *      ^ in place ^ pause ->  carry {"b" + :2} ; then in place again
 *
 *   Strict UTF-8 is checked as a chunk comes in. The framer is then given the bytes before the
 *   fault alone, so that what they complete, or what they break, comes first.
 *
 * Refuses: limits (each framer checks its own before it moves pos), any meaning of a byte.
 *
 * Invariants
 *  I1  while a record is open, start_off + its length = chunk_off + pos.
 *  I2  is_carried: the carry holds the open record up to mark; else it lies in chunk[mark, pos).
 *  I3  in TG_RECORD_READY nothing points into a chunk.
 */
#ifndef TG_RECORD_H
#define TG_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"
#include "tg_limits.h"
#include "tg_status.h"
#include "tg_utf8.h"

/* Ill-formed UTF-8 is an error at its first byte, anywhere in the stream. Without it each maximal
 * subpart becomes U+FFFD in what is lent out. The bit is that of TG_SSE_STRICT_UTF8. */
#define TG_RECORD_STRICT_UTF8 1u

/* X(state, sentence): "seen so far / awaiting". */
#define TG_RECORD_STATES(X)                                                            \
    X(TG_RECORD_READY, "all of each chunk / another chunk, or the end of input")       \
    X(TG_RECORD_READING, "part of the chunk in hand / the caller's next for the rest") \
    X(TG_RECORD_ENDED, "the end of input / nothing")                                   \
    X(TG_RECORD_BROKEN, "the byte that broke it / nothing")

typedef enum tg_record_state {
#define TG_RECORD_ENUM(name, sentence) name,
    TG_RECORD_STATES(TG_RECORD_ENUM)
#undef TG_RECORD_ENUM
} tg_record_state;

typedef enum tg_record_utf8 {
    TG_RECORD_REPLACE, /* records are text; ill-formed sequences are replaced in what is lent */
    TG_RECORD_STRICT,  /* the stream is text; ill-formed sequences are errors */
    TG_RECORD_RAW      /* records are bytes */
} tg_record_utf8;

typedef struct tg_record {
    tg_alloc alloc;
    tg_limits limits;
    tg_record_state state;
    tg_record_utf8 utf8_rule;
    tg_status error; /* sticky; TG_OK while nothing is wrong */
    uint64_t error_off;
    tg_status chunk_error; /* known to follow the part of the chunk that is read */
    uint64_t chunk_error_off;
    bool is_lent; /* what the caller was lent may lie in the buffers */
    bool is_open;
    bool is_carried;
    uint8_t bom_len; /* bytes of a BOM matched at the start of the stream */
    const uint8_t *chunk;
    size_t len;
    size_t pos;         /* next byte to look at */
    size_t mark;        /* first byte of the open record that is not in the carry */
    size_t carry_max;   /* no record is longer; set by the framer after init */
    uint64_t chunk_off; /* absolute offset of chunk[0] */
    uint64_t start_off; /* absolute offset of the open record's first byte */
    uint64_t bytes_fed;
    uint64_t work; /* bytes looked at; the buffers count their own */
    tg_utf8 utf8;  /* TG_RECORD_STRICT: at the end of what was fed */
    tg_buf carry;
    tg_buf scratch; /* the framer's, from TG_OK of tg_record_enter to the next one */
    tg_rest rest;   /* after the end */
} tg_record;

const char *tg_record_state_name(tg_record_state state);

/* Strict if TG_RECORD_STRICT_UTF8 is among the flags, else replacing; and back. */
tg_record_utf8 tg_record_utf8_rule(unsigned flags);
unsigned tg_record_flags(const tg_record *self);

/* The contract of these is that of the tg_stream functions of the same names (tg_stream.h). */
void tg_record_init(tg_record *self, const tg_alloc *alloc, const tg_limits *limits,
                    tg_record_utf8 utf8_rule);
void tg_record_free(tg_record *self);
tg_status tg_record_feed(tg_record *self, const uint8_t *ptr, size_t len);
uint64_t tg_record_work(const tg_record *self);

/* First thing in a framer's next. TG_OK: go on, what was lent before is dead. Else its answer. */
tg_status tg_record_enter(tg_record *self);
/* Last thing in a framer's next, when the chunk is used up: TG_MORE or the error. */
tg_status tg_record_pause(tg_record *self);
/* Both make the error sticky and return it. */
tg_status tg_record_fail(tg_record *self, tg_status status, uint64_t off);
tg_status tg_record_fail_memory(tg_record *self);

/* TG_OK: it is known whether the stream began with a BOM; the open record then holds what only
 * looked like one. TG_MORE: not yet, and pos is at the end. Else: the sticky error. */
tg_status tg_record_skip_bom(tg_record *self);
uint64_t tg_record_off(const tg_record *self); /* of pos */
void tg_record_open(tg_record *self);
uint64_t tg_record_len(const tg_record *self);
/* The open record up to pos. false: no memory. */
bool tg_record_text(tg_record *self, tg_span *out);
/* Closes the record and lends it as an event of these bytes, which are those of tg_record_text or
 * fewer. TG_OK, or the sticky error. end_off is left to the framer's pos. */
tg_status tg_record_lend(tg_record *self, tg_span text, tg_event *out);
/* The end of input: where is the framer's word for the place where it came. An open record is
 * shown as data, unless records are bytes: half of them mean nothing. */
tg_status tg_record_end(tg_record *self, tg_rest_where where, tg_rest *out);

#endif

/* tg_ndjson.h - newline-delimited JSON: one record per LF.
 *
 * Consumes chunks; yields each record, at its LF, as an event without a type.
 *
 * Theory of operation
 *   Only LF (0x0a) ends a record: U+2028, U+0085 and a lone CR may stand raw in what others split
 *   at. White space before a record (space, tab, CR, LF, so blank lines too) is passed over and
 *   never held; a CR right before the LF is not part of the record. start_off and data_off are the
 *   record's first byte, end_off is just past its LF.
 *
 * Order of errors: an error belongs to the byte at which it is known, and all bytes before it are
 * processed first. A record too large is known at the first byte over; a CR there is known to be
 * one only at the byte after it, for it may end the line.
 *
 * Refuses: judging the JSON; a record of more than max_event_bytes; the last record without its LF
 * as an event (it is the rest: whether it is whole is the caller's question).
 */
#ifndef TG_NDJSON_H
#define TG_NDJSON_H

#include <stdint.h>

#include "tg_record.h"

/* X(state, sentence): "seen so far / awaiting". The end and errors are states of tg_record. */
#define TG_NDJSON_STATES(X)                                                                    \
    X(TG_NDJSON_START,                                                                         \
      "nothing of the stream, or part of a BOM / the rest of the BOM, or a first line")        \
    X(TG_NDJSON_BETWEEN, "line ends and white space, or nothing / the first byte of a record") \
    X(TG_NDJSON_RECORD, "the first byte of a record, perhaps more / its LF")

typedef enum tg_ndjson_state {
#define TG_NDJSON_ENUM(name, sentence) name,
    TG_NDJSON_STATES(TG_NDJSON_ENUM)
#undef TG_NDJSON_ENUM
} tg_ndjson_state;

typedef struct tg_ndjson {
    tg_ndjson_state state;
    tg_record record;
} tg_ndjson;

_Static_assert(sizeof(tg_ndjson) <= 768, "an idle stream is to stay small");

const char *tg_ndjson_state_name(tg_ndjson_state state);

/* The contract of these is that of the tg_stream functions of the same names (tg_stream.h).
 * flags: TG_RECORD_STRICT_UTF8. */
void tg_ndjson_init(tg_ndjson *self, const tg_alloc *alloc, const tg_limits *limits,
                    unsigned flags);
void tg_ndjson_reset(tg_ndjson *self);
void tg_ndjson_free(tg_ndjson *self);
tg_status tg_ndjson_feed(tg_ndjson *self, const uint8_t *ptr, size_t len);
tg_status tg_ndjson_next(tg_ndjson *self, tg_event *out);
tg_status tg_ndjson_finish(tg_ndjson *self, tg_rest *out);
uint64_t tg_ndjson_work(const tg_ndjson *self);

#endif

/* tg_eventstream.h - messages of application/vnd.amazon.eventstream, one after another.
 *
 * Consumes chunks; yields each message, at its last byte, once both checksums and the headers are
 * right: data is the payload, tg_eventstream_headers the header block.
 *
 * Wire, big-endian:
 *   u32 total length, u32 length of the headers, u32 CRC-32 of these eight bytes (the prelude),
 *   headers (tg_header.h), payload, u32 CRC-32 of all bytes before it.
 *
 * Theory of operation
 *   The machine waits for so many bytes, twelve and then the total, and looks at none before they
 *   are there: a message dripped byte by byte costs one step a chunk. A message within one chunk
 *   is read where it lies.
 *
 * Rules
 *  - A length is believed only after the CRC of the prelude; then the limits are checked, before
 *    the message is waited for.
 *  - Offsets of errors: the first byte of the message; of a header at fault, its first byte.
 *
 * Refuses: going on after a bad message (nothing says where the next one begins); a payload of more
 * than max_event_bytes, headers of more than max_header_bytes; any meaning of headers or payload,
 * UTF-8 of the payload included.
 */
#ifndef TG_EVENTSTREAM_H
#define TG_EVENTSTREAM_H

#include <stddef.h>

#include "tg_header.h"
#include "tg_record.h"

/* X(state, sentence): "seen so far / awaiting". The end and errors are states of tg_record. */
#define TG_EVENTSTREAM_STATES(X)                                                          \
    X(TG_EVENTSTREAM_BETWEEN, "whole messages, or nothing / the first byte of a message") \
    X(TG_EVENTSTREAM_PRELUDE, "less than the prelude of a message / its twelfth byte")    \
    X(TG_EVENTSTREAM_MESSAGE, "a prelude that is right, perhaps more / the message's last byte")

typedef enum tg_eventstream_state {
#define TG_EVENTSTREAM_ENUM(name, sentence) name,
    TG_EVENTSTREAM_STATES(TG_EVENTSTREAM_ENUM)
#undef TG_EVENTSTREAM_ENUM
} tg_eventstream_state;

typedef struct tg_eventstream {
    tg_eventstream_state state;
    size_t need;       /* bytes of the open message that are waited for */
    size_t header_len; /* of the open message, after its prelude */
    tg_span headers;   /* of the message lent last */
    tg_record record;
} tg_eventstream;

_Static_assert(sizeof(tg_eventstream) <= 768, "an idle stream is to stay small");

const char *tg_eventstream_state_name(tg_eventstream_state state);

/* The contract of these is that of the tg_stream functions of the same names (tg_stream.h). */
void tg_eventstream_init(tg_eventstream *self, const tg_alloc *alloc, const tg_limits *limits);
void tg_eventstream_reset(tg_eventstream *self);
void tg_eventstream_free(tg_eventstream *self);
tg_status tg_eventstream_feed(tg_eventstream *self, const uint8_t *ptr, size_t len);
tg_status tg_eventstream_next(tg_eventstream *self, tg_event *out);
/* Inside a message: out->line is what there is of it, unchecked; it has no data. */
tg_status tg_eventstream_finish(tg_eventstream *self, tg_rest *out);
uint64_t tg_eventstream_work(const tg_eventstream *self);

#endif

/* tg_header.h - the header block of an event-stream message: name, type, value, one after another.
 *
 * Wire, big-endian: u8 length of the name, name, u8 type, value. A value has no bytes (true,
 * false), a fixed number of them, or a u16 length first (bytes, string).
 *
 * Rules
 *  - A block is checked once, with tg_header_check; tg_header_next then cannot fail on it.
 *  - Names and strings are well-formed UTF-8, names are not empty and do not repeat.
 *
 * Refuses: any meaning of a name.
 */
#ifndef TG_HEADER_H
#define TG_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"
#include "tg_status.h"

/* X(type, bytes of the value, or TG_HEADER_COUNTED for a u16 length before it); the place in the
 * list is the number on the wire. */
#define TG_HEADER_COUNTED 0xff
#define TG_HEADER_TYPES(X)                 \
    X(TG_HEADER_TRUE, 0)                   \
    X(TG_HEADER_FALSE, 0)                  \
    X(TG_HEADER_INT8, 1)                   \
    X(TG_HEADER_INT16, 2)                  \
    X(TG_HEADER_INT32, 4)                  \
    X(TG_HEADER_INT64, 8)                  \
    X(TG_HEADER_BYTES, TG_HEADER_COUNTED)  \
    X(TG_HEADER_STRING, TG_HEADER_COUNTED) \
    X(TG_HEADER_TIMESTAMP, 8)              \
    X(TG_HEADER_UUID, 16)

typedef enum tg_header_type {
#define TG_HEADER_ENUM(name, size) name,
    TG_HEADER_TYPES(TG_HEADER_ENUM)
#undef TG_HEADER_ENUM
} tg_header_type;

typedef struct tg_header {
    tg_span name;
    tg_header_type type;
    tg_span value;  /* its bytes, without the length before them */
    int64_t number; /* of the integers, and the milliseconds since 1970 of a timestamp; else 0 */
} tg_header;

/* Takes the first header from *block, which then begins behind it. false: the block is empty, or
 * what it begins with is no header; *block is then unchanged. */
bool tg_header_next(tg_span *block, tg_header *out);
/* TG_OK: headers alone, no name twice. TG_ERR_BAD_FRAME: *bad_pos is where the first header that is
 * malformed, or else the first that repeats a name, begins in the block. TG_ERR_NO_MEMORY. scratch
 * is for the call alone; block has less than 4 GiB. */
tg_status tg_header_check(tg_span block, tg_buf *scratch, const tg_alloc *alloc, size_t *bad_pos);

#endif

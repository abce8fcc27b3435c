/* tg_event.h - what a stream yields: an event, and at the end the rest that never became one.
 *
 * Rules
 *  - Text is well-formed UTF-8 here, whatever came in (strict streams fail, others replace).
 *  - Offsets are absolute: bytes from the start of the stream, a BOM included.
 */
#ifndef TG_EVENT_H
#define TG_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tg_span {
    const uint8_t *ptr; /* not NULL, also when len is 0 */
    size_t len;
} tg_span;

typedef struct tg_event {
    tg_span type; /* empty: the stream named none (WHATWG: "message") */
    tg_span data;
    bool is_ascii;         /* data are known to be ASCII alone; false says nothing */
    tg_span last_event_id; /* the last event ID string at dispatch */
    bool is_id_changed;    /* last_event_id differs from that of the event before */
    bool has_retry;        /* a retry field stood in this block */
    uint64_t retry_ms;     /* its value, INT64_MAX at most */
    uint64_t start_off;    /* first byte of the block's first line */
    uint64_t data_off;     /* first byte of the first data value */
    uint64_t end_off;      /* just past the byte (LF or CR) that dispatched it */
    tg_span frame; /* all of its bytes, if they lie in the chunk as they came, around data, and are
                    * lines of type and data alone; else of length 0 */
    tg_span head; /* what else its framing said of it, byte for byte (the headers of an event-stream
                   * message); else of length 0 */
} tg_event;

/* Where nothing of the kind is. */
#define TG_NO_STRAY UINT64_MAX

/* An event of SSE that differs from an earlier one in its data alone: its lines, and so its type,
 * are the same; it has no retry, and the last event ID has not changed. The data lie in the chunk.
 */
typedef struct tg_frame {
    tg_span data;
    bool is_ascii;      /* data are ASCII alone */
    uint64_t start_off; /* as in tg_event */
    uint64_t data_off;
    uint64_t end_off;
} tg_frame;

typedef enum tg_rest_where {
    TG_REST_NONE,      /* nothing that carries into an event */
    TG_REST_CHARACTER, /* inside a UTF-8 sequence (and so inside a line) */
    TG_REST_LINE,      /* inside a line that did not end */
    TG_REST_EVENT      /* after whole data, event or id lines, before the blank line */
} tg_rest_where;

typedef struct tg_rest {
    tg_rest_where where;
    tg_span line;  /* raw bytes of the line that did not end (a cut BOM included) */
    bool has_data; /* at least one data field, the unended line's included */
    tg_span type;  /* as an event would have carried them, the unended line's field included; */
    tg_span data;  /* ill-formed and cut sequences replaced */
    uint64_t start_off; /* first byte of the unfinished block's first line */
} tg_rest;

#endif

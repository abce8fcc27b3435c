/* tg_last_id.h - the last event ID: WHATWG's buffer, its string, and what the event before carried.
 *
 * Rules
 *  - An id field sets the buffer; a blank line makes it the string, with or without an event.
 *  - The string is well-formed UTF-8, whatever the field held.
 *  - Every function that returns bool answers false for: no memory.
 *
 * Refuses: fields and limits; the SSE machine has them.
 */
#ifndef TG_LAST_ID_H
#define TG_LAST_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"

/* All zero: no id so far. */
typedef struct tg_last_id {
    bool is_pending; /* the open block had an id field; buffer holds its raw value */
    bool is_touched; /* string was set since the event before */
    uint64_t work;   /* bytes compared; the buffers count their own */
    tg_buf buffer;
    tg_buf string;
    tg_buf event; /* string as the event before carried it */
} tg_last_id;

void tg_last_id_free(tg_last_id *self, const tg_alloc *alloc);
/* An id field. */
bool tg_last_id_set(tg_last_id *self, const tg_alloc *alloc, tg_span value);
/* A blank line. */
bool tg_last_id_commit(tg_last_id *self, const tg_alloc *alloc);
/* An event: does it carry another id than the one before? The first is compared with none. */
bool tg_last_id_dispatch(tg_last_id *self, const tg_alloc *alloc, bool *is_changed);

uint64_t tg_last_id_work(const tg_last_id *self);

#endif

/* tg_lane.h - a text that only grows, and how far it is as JSON.
 *
 * Rules
 *  - Appending copies bytes and nothing else. The JSON of the text is tracked when somebody asks,
 * and then only what is new: asked at every piece or once at the end, the work is the same.
 *  - What tracks it is made when somebody asks for the first time: texts for people are never JSON.
 *  - The tracking is strict (RFC 8259) and depends on the bytes alone, not on their pieces.
 *
 * Refuses: giving back what was appended, limits; whoever appends has them.
 */
#ifndef TG_LANE_H
#define TG_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"
#include "tg_json.h"

typedef struct tg_lane {
    tg_alloc alloc;
    tg_buf text;
    size_t max_depth; /* of its JSON */
    tg_json *json;    /* of the bytes that were tracked; NULL: nobody has asked */
    size_t tracked;   /* bytes of it that json has taken */
    size_t looked;    /* bytes of it in which last was looked for */
    uint8_t last;     /* the last byte there that is not blank, 0 for none */
} tg_lane;

/* alloc is copied; NULL means the default. max_depth: of the JSON. Allocates nothing. */
void tg_lane_init(tg_lane *self, const tg_alloc *alloc, size_t max_depth);
void tg_lane_free(tg_lane *self);
/* false: no memory; nothing is appended then. */
bool tg_lane_append(tg_lane *self, const uint8_t *ptr, size_t len);
/* All of it. Dies at the next append. */
tg_span tg_lane_text(const tg_lane *self);
/* The JSON of the text so far, as if more could follow. Lives until the next call. NULL: no memory.
 */
const tg_json *tg_lane_json(tg_lane *self);

/* The last byte that is no white space of JSON, 0 if there is none. Only what is new is read. */
uint8_t tg_lane_last(tg_lane *self);

#endif

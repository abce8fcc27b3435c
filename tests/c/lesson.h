/* lesson.h - templates made of one event of a stream, and bytes that end at a forbidden page tried
 * on them.
 *
 * Rules
 *  - The shapes are those of delta.h.
 */
#ifndef LESSON_H
#define LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "tg.h"
#include "wire.h"

/* An event with a hole of each kind but the blank. */
#define LESSON_DATA(seq, text, pad) \
    "{\"type\":\"d\",\"seq\":" seq ",\"text\":\"" text "\",\"pad\":\"" pad "\",\"i\":0}"

typedef struct lesson {
    tg_shapes *shapes;
    tg_alloc alloc; /* of the templates */
    guard_page page;
} lesson;

void lesson_begin(lesson *self, const tg_alloc *alloc);
void lesson_done(lesson *self);
/* The template of the first event in these bytes of a stream; NULL if there is none. */
tg_template *lesson_make(const lesson *self, tg_framing framing, const uint8_t *ptr, size_t len);
tg_template *lesson_make_block(const lesson *self, const wire_style *style, const char *type,
                               const char *data);
/* Whether the bytes begin with the template's frame. */
bool lesson_begins(lesson *self, const tg_template *made, const void *ptr, size_t len,
                   tg_match *match);
/* Whether an event of that type and data is the template but for its holes. */
bool lesson_fits(lesson *self, const tg_template *made, const char *type, const char *data,
                 tg_match *match);

#endif

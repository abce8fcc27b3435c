/* lesson.c - what lesson.h offers. */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "delta.h"

void
lesson_begin(lesson *self, const tg_alloc *alloc)
{
    self->shapes = calloc(1, sizeof *self->shapes);
    self->alloc = *alloc;
    if (self->shapes == NULL || !guard_open(&self->page, 16384))
        exit(3);
    CHECK(delta_declare(self->shapes));
}

void
lesson_done(lesson *self)
{
    guard_close(&self->page);
    free(self->shapes);
}

/* The template of the one event in these bytes of a stream; NULL if there is none. */
tg_template *
lesson_make(const lesson *self, tg_framing framing, const uint8_t *ptr, size_t len)
{
    tg_template *made = NULL;
    tg_stream stream;
    tg_event event;
    tg_pick pick;

    tg_stream_init_framing(&stream, framing, NULL, NULL, 0);
    CHECK(tg_stream_feed(&stream, ptr, len) == TG_OK);
    if (tg_stream_next(&stream, &event) == TG_OK && tg_pick_find(self->shapes, event.data, &pick))
        made = tg_template_make(&self->alloc, &event, &pick);
    tg_stream_free(&stream);
    return made;
}

tg_template *
lesson_make_block(const lesson *self, const wire_style *style, const char *type, const char *data)
{
    wire block = {0};
    tg_template *made;

    wire_say(&block, style, type, data);
    made = lesson_make(self, style->framing, block.ptr, block.len);
    CHECK(made != NULL);
    wire_free(&block);
    return made;
}

/* Whether bytes that a forbidden page follows begin with the template's frame. */
bool
lesson_begins(lesson *self, const tg_template *made, const void *ptr, size_t len, tg_match *match)
{
    const uint8_t *place = guard_place(&self->page, ptr, len);

    return place != NULL && tg_template_begins(made, place, len, match);
}

bool
lesson_fits(lesson *self, const tg_template *made, const char *type, const char *data,
            tg_match *match)
{
    const size_t len = strlen(data);
    tg_event event = {.head = tg_span_empty()};

    event.type.ptr = (const uint8_t *)type;
    event.type.len = strlen(type);
    event.data.ptr = guard_place(&self->page, (const uint8_t *)data, len);
    event.data.len = len;
    return tg_template_fits(made, &event, match);
}

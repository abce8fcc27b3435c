/* tg_template.c - making and matching of tg_template.
 *
 * Refuses: reading past the end. A frame that the chunk cuts is no match; it comes back as an
 * event.
 */
#include "tg_template.h"

#include <string.h>

#include "tg_scan.h"

/* ---- making -----------------------------------------------------------------------------------
 */

/* The bytes before and after the data in the event's frame; both empty if it has none. */
static void
template_frame(const tg_event *event, tg_span *prefix, tg_span *suffix)
{
    const tg_span frame = event->frame;

    prefix->ptr = suffix->ptr = frame.ptr;
    prefix->len = suffix->len = 0;
    if (frame.len == 0)
        return;
    prefix->len = (size_t)(event->data.ptr - frame.ptr);
    suffix->ptr = event->data.ptr + event->data.len;
    suffix->len = frame.len - prefix->len - event->data.len;
}

static uint8_t *
template_write(uint8_t *to, const uint8_t *ptr, size_t len)
{
    if (len > 0)
        memcpy(to, ptr, len);
    return to + len;
}

static void
template_fill(tg_template *self, const tg_event *event, const tg_pick *pick, tg_span prefix,
              tg_span suffix)
{
    uint8_t *to = template_write(self->bytes, event->type.ptr, event->type.len);
    size_t pos = 0;
    size_t i;

    to = template_write(to, event->head.ptr, event->head.len);
    to = template_write(to, prefix.ptr, prefix.len);
    for (i = 0; i < pick->hole_count; i++) {
        const tg_hole *hole = &pick->holes[i];

        self->holes[i] = (uint8_t)hole->kind;
        self->has_sequence = self->has_sequence || hole->kind == TG_HOLE_SEQUENCE;
        self->sizes[i] = (uint32_t)(hole->pos - pos);
        to = template_write(to, event->data.ptr + pos, hole->pos - pos);
        pos = hole->pos + hole->len;
    }
    self->holes[i] = TG_HOLE_NONE;
    self->sizes[i] = (uint32_t)(event->data.len - pos + suffix.len);
    self->sizes[0] += (uint32_t)prefix.len;
    to = template_write(to, event->data.ptr + pos, event->data.len - pos);
    self->suffix = to;
    to = template_write(to, suffix.ptr, suffix.len);
    memset(to, 0, TG_PATTERN_PAD);
}

tg_template *
tg_template_make(const tg_alloc *alloc, const tg_event *event, const tg_pick *pick)
{
    tg_span prefix;
    tg_span suffix;
    tg_template *self;
    size_t bytes = event->type.len + event->head.len + event->data.len;
    size_t i;

    template_frame(event, &prefix, &suffix);
    bytes += prefix.len + suffix.len;
    for (i = 0; i < pick->hole_count; i++)
        bytes -= pick->holes[i].len;
    if (bytes > TG_TEMPLATE_MAX)
        return NULL;
    self = alloc->resize(alloc->ctx, NULL, 0, sizeof *self + bytes + TG_PATTERN_PAD);
    if (self == NULL)
        return NULL;
    memset(self, 0, sizeof *self);
    self->size = sizeof *self + bytes + TG_PATTERN_PAD;
    self->name_len = (uint32_t)(event->type.len + event->head.len);
    self->type_len = (uint32_t)event->type.len;
    self->prefix_len = (uint32_t)prefix.len;
    self->suffix_len = (uint32_t)suffix.len;
    self->hole_count = (uint8_t)pick->hole_count;
    self->frame.hole_count = pick->hole_count;
    self->frame.holes = self->holes;
    self->frame.sizes = self->sizes;
    self->frame.literals = self->bytes + self->name_len;
    self->frame.reach = TG_PATTERN_REACH(bytes, pick->hole_count);
    template_fill(self, event, pick, prefix, suffix);
    return self;
}

void
tg_template_free(tg_template *self, const tg_alloc *alloc)
{
    alloc->resize(alloc->ctx, self, self->size, 0);
}

/* ---- matching ---------------------------------------------------------------------------------
 */

bool
tg_template_fits(const tg_template *self, const tg_event *event, tg_match *out)
{
    const tg_span type = event->type;
    const tg_span head = event->head;
    const tg_span data = event->data;
    uint32_t sizes[TG_HOLES + 1];
    const tg_pattern pattern = {.hole_count = self->hole_count,
                                .holes = self->holes,
                                .sizes = sizes,
                                .literals = self->frame.literals + self->prefix_len};

    if (type.len != self->type_len || type.len + head.len != self->name_len ||
        !tg_scan_is_equal(type.ptr, self->bytes, type.len) ||
        !tg_scan_is_equal(head.ptr, self->bytes + type.len, head.len))
        return false;
    memcpy(sizes, self->sizes, sizeof sizes);
    sizes[0] -= self->prefix_len;
    sizes[self->hole_count] -= self->suffix_len;
    return tg_scan_walk(&pattern, data.ptr, data.len, out) && out->len == data.len;
}

bool
tg_template_begins(const tg_template *self, const uint8_t *ptr, size_t len, tg_match *out)
{
    return self->prefix_len > 0 && tg_scan_walk(&self->frame, ptr, len, out);
}

bool
tg_template_is_around(const tg_template *self, const tg_event *event)
{
    tg_span prefix;
    tg_span suffix;
    size_t i;

    template_frame(event, &prefix, &suffix);
    if (prefix.len != self->prefix_len || suffix.len != self->suffix_len ||
        !tg_scan_is_equal(prefix.ptr, self->frame.literals, prefix.len))
        return false;
    /* Two to four bytes. */
    for (i = 0; i < suffix.len; i++) {
        if (suffix.ptr[i] != self->suffix[i])
            return false;
    }
    return true;
}

tg_span
tg_template_data(const tg_template *self, const uint8_t *ptr, size_t len)
{
    const tg_span data = {ptr + self->prefix_len, len - self->prefix_len - self->suffix_len};

    return data;
}

/* The size of a literal without what the frame adds to the first and to the last. */
static size_t
template_literal(const tg_template *self, size_t index)
{
    return self->sizes[index] - (index == 0 ? self->prefix_len : 0) -
           (index == self->hole_count ? self->suffix_len : 0);
}

bool
tg_template_is_same(const tg_template *self, const tg_template *other)
{
    const size_t skip = self->name_len + self->prefix_len;
    const size_t other_skip = other->name_len + other->prefix_len;
    size_t bytes = 0;
    size_t i;

    if (self->name_len != other->name_len || self->type_len != other->type_len ||
        self->hole_count != other->hole_count ||
        memcmp(self->holes, other->holes, sizeof self->holes) != 0)
        return false;
    for (i = 0; i <= self->hole_count; i++) {
        const size_t size = template_literal(self, i);

        if (size != template_literal(other, i))
            return false;
        bytes += size;
    }
    return memcmp(self->bytes, other->bytes, self->name_len) == 0 &&
           memcmp(self->bytes + skip, other->bytes + other_skip, bytes) == 0;
}

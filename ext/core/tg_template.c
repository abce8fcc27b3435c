/* tg_template.c - making and matching of tg_template.
 *
 * Refuses: reading past the end. A frame that the chunk cuts is no match; it comes back as an
 * event.
 */
#include "tg_template.h"

#include <string.h>

#include "tg_scan.h"

#define TEMPLATE_DIGITS 18

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
        self->literals[i] = (uint32_t)(hole->pos - pos);
        to = template_write(to, event->data.ptr + pos, hole->pos - pos);
        pos = hole->pos + hole->len;
    }
    self->literals[i] = (uint32_t)(event->data.len - pos);
    to = template_write(to, event->data.ptr + pos, event->data.len - pos);
    template_write(to, suffix.ptr, suffix.len);
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
    self = alloc->resize(alloc->ctx, NULL, 0, sizeof *self + bytes);
    if (self == NULL)
        return NULL;
    memset(self, 0, sizeof *self);
    self->size = sizeof *self + bytes;
    self->name_len = (uint32_t)(event->type.len + event->head.len);
    self->type_len = (uint32_t)event->type.len;
    self->prefix_len = (uint32_t)prefix.len;
    self->suffix_len = (uint32_t)suffix.len;
    self->hole_count = (uint8_t)pick->hole_count;
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

/* The length of the string up to its closing quote, or SIZE_MAX if there is none. */
static size_t
template_string(const uint8_t *ptr, size_t len, bool *is_escaped)
{
    size_t pos = 0;

    *is_escaped = false;
    for (;;) {
        pos += tg_scan_json_special(ptr + pos, len - pos);
        if (pos >= len || ptr[pos] < 0x20)
            return SIZE_MAX;
        if (ptr[pos] == '"')
            return pos;
        *is_escaped = true;
        if (len - pos < 2)
            return SIZE_MAX;
        pos += 2;
    }
}

/* The length of a JSON integer without a sign, or SIZE_MAX. */
static size_t
template_integer(const uint8_t *ptr, size_t len, uint64_t *value)
{
    size_t pos = 0;

    *value = 0;
    while (pos < len && pos <= TEMPLATE_DIGITS && ptr[pos] >= '0' && ptr[pos] <= '9') {
        *value = *value * 10 + (uint64_t)(ptr[pos] - '0');
        pos++;
    }
    if (pos == 0 || pos > TEMPLATE_DIGITS || (pos > 1 && ptr[0] == '0'))
        return SIZE_MAX;
    return pos;
}

static size_t
template_blank(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len && ptr[pos] == ' ')
        pos++;
    return pos;
}

/* Scans one hole; returns its length, or SIZE_MAX if nothing like it is there. */
static size_t
template_hole(tg_hole_kind kind, const uint8_t *ptr, size_t len, tg_match *out)
{
    bool is_escaped;
    uint64_t value;
    size_t size;

    switch (kind) {
    case TG_HOLE_TEXT:
        size = template_string(ptr, len, &out->is_escaped);
        out->text.ptr = ptr;
        out->text.len = size;
        return size;
    case TG_HOLE_STRING:
        size = template_string(ptr, len, &is_escaped);
        if (is_escaped)
            return SIZE_MAX;
        out->padding[out->padding_count].ptr = ptr;
        out->padding[out->padding_count].len = size;
        out->padding_count++;
        return size;
    case TG_HOLE_SEQUENCE:
        out->has_sequence = true;
        return template_integer(ptr, len, &out->sequence);
    case TG_HOLE_INTEGER:
        return template_integer(ptr, len, &value);
    case TG_HOLE_BLANK:
        return template_blank(ptr, len);
    }
    return SIZE_MAX;
}

/* Compares from the literal at `literal` on; first and last are what its two ends have more. */
static bool
template_walk(const tg_template *self, const uint8_t *literal, size_t first, size_t last,
              const uint8_t *ptr, size_t len, tg_match *out)
{
    size_t pos = 0;
    size_t more = first;
    size_t i;

    out->padding_count = 0;
    out->has_sequence = false;
    for (i = 0;; i++) {
        const size_t size = self->literals[i] + more + (i == self->hole_count ? last : 0);
        size_t hole;

        if (size > len - pos || !tg_scan_is_equal(ptr + pos, literal, size))
            return false;
        pos += size;
        literal += size;
        more = 0;
        if (i == self->hole_count)
            break;
        hole = template_hole((tg_hole_kind)self->holes[i], ptr + pos, len - pos, out);
        if (hole == SIZE_MAX)
            return false;
        pos += hole;
    }
    out->len = pos;
    return true;
}

bool
tg_template_fits(const tg_template *self, const tg_event *event, tg_match *out)
{
    const uint8_t *literal = self->bytes + self->name_len + self->prefix_len;
    const tg_span type = event->type;
    const tg_span head = event->head;
    const tg_span data = event->data;

    return type.len == self->type_len && type.len + head.len == self->name_len &&
           tg_scan_is_equal(type.ptr, self->bytes, type.len) &&
           tg_scan_is_equal(head.ptr, self->bytes + type.len, head.len) &&
           template_walk(self, literal, 0, 0, data.ptr, data.len, out) && out->len == data.len;
}

bool
tg_template_begins(const tg_template *self, const uint8_t *ptr, size_t len, tg_match *out)
{
    return self->prefix_len > 0 && template_walk(self, self->bytes + self->name_len,
                                                 self->prefix_len, self->suffix_len, ptr, len, out);
}

tg_span
tg_template_data(const tg_template *self, const uint8_t *ptr, size_t len)
{
    const tg_span data = {ptr + self->prefix_len, len - self->prefix_len - self->suffix_len};

    return data;
}

bool
tg_template_is_same(const tg_template *self, const tg_template *other)
{
    size_t bytes = 0;
    size_t i;

    if (self->name_len != other->name_len || self->type_len != other->type_len ||
        self->hole_count != other->hole_count ||
        memcmp(self->holes, other->holes, sizeof self->holes) != 0 ||
        memcmp(self->literals, other->literals, sizeof self->literals) != 0)
        return false;
    for (i = 0; i <= self->hole_count; i++)
        bytes += self->literals[i];
    return memcmp(self->bytes, other->bytes, self->name_len) == 0 &&
           memcmp(self->bytes + self->name_len + self->prefix_len,
                  other->bytes + other->name_len + other->prefix_len, bytes) == 0;
}

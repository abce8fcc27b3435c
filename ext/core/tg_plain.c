/* tg_plain.c - learning and finding of tg_plain.
 *
 * Refuses: a type behind the data; such a frame is not learned.
 */
#include "tg_plain.h"

#include <string.h>

#include "tg_buf.h"
#include "tg_scan.h"

void
tg_plain_learn(tg_plain *self, const tg_event *event)
{
    const size_t head = (size_t)(event->data.ptr - event->frame.ptr);
    const size_t tail = event->frame.len - head - event->data.len;
    size_t type_pos = 0;

    if (event->type.len > 0) {
        /* Behind the data, or before a second line of type, it would not stand where it is looked
         * for. */
        if (event->type.ptr < event->frame.ptr || event->type.ptr > event->data.ptr)
            return;
        type_pos = (size_t)(event->type.ptr - event->frame.ptr);
    }
    if (head > TG_PLAIN_HEAD || tail > TG_PLAIN_TAIL)
        return;
    self->head_len = (uint8_t)head;
    self->tail_len = (uint8_t)tail;
    self->type_pos = (uint8_t)type_pos;
    self->type_len = (uint8_t)event->type.len;
    memcpy(self->head, event->frame.ptr, head);
    memcpy(self->tail, event->data.ptr + event->data.len, tail);
}

/* A few bytes: the call of memcmp alone would cost more. */
static inline bool
plain_ends(const tg_plain *self, const uint8_t *ptr, size_t len)
{
    size_t i;

    if (len < self->tail_len)
        return false;
    for (i = 0; i < self->tail_len; i++) {
        if (ptr[i] != self->tail[i])
            return false;
    }
    return true;
}

bool
tg_plain_find(const tg_plain *self, const uint8_t *ptr, size_t len, tg_span *data, bool *is_ascii)
{
    const size_t head = self->head_len;
    size_t rest;

    if (head == 0 || len < head || !tg_scan_is_equal(ptr, self->head, head))
        return false;
    ptr += head;
    rest = len - head;
    /* "If value starts with a U+0020 SPACE character, remove it from value." */
    if (self->head[head - 1] != ' ' && rest > 0 && ptr[0] == ' ')
        return false;
    data->ptr = ptr;
    data->len = tg_scan_line(ptr, rest, is_ascii);
    return plain_ends(self, ptr + data->len, rest - data->len);
}

tg_span
tg_plain_type(const tg_plain *self)
{
    tg_span type = tg_span_empty();

    if (self->type_len > 0) {
        type.ptr = self->head + self->type_pos;
        type.len = self->type_len;
    }
    return type;
}

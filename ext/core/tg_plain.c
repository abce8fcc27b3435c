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

size_t
tg_plain_find(const tg_plain *self, const uint8_t *ptr, size_t len, tg_span *type, tg_span *data)
{
    size_t size;

    if (self->head_len == 0 || len < self->head_len ||
        !tg_scan_is_equal(ptr, self->head, self->head_len))
        return 0;
    data->ptr = ptr + self->head_len;
    /* "If value starts with a U+0020 SPACE character, remove it from value." */
    if (self->head[self->head_len - 1] != ' ' && len > self->head_len && data->ptr[0] == ' ')
        return 0;
    data->len = tg_scan_line_end(data->ptr, len - self->head_len);
    size = self->head_len + data->len;
    if (len - size < self->tail_len || memcmp(ptr + size, self->tail, self->tail_len) != 0)
        return 0;
    *type = tg_span_empty();
    if (self->type_len > 0) {
        type->ptr = ptr + self->type_pos;
        type->len = self->type_len;
    }
    return size + self->tail_len;
}

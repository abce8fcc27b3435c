/* tg_buf.c - growing, clearing and lending of tg_buf.
 *
 * Refuses: knowing what the bytes are, and which limit `max` stands for.
 */
#include "tg_buf.h"

#include <string.h>

/* Below this a block is not worth a second call of the allocator. */
#define BUF_FIRST ((size_t)64)

bool
tg_buf_reserve(tg_buf *self, const tg_alloc *alloc, size_t max, size_t need)
{
    size_t size = self->size < BUF_FIRST ? BUF_FIRST : self->size;
    uint8_t *ptr;

    if (need <= self->size)
        return true;
    while (size < need) {
        if (size > max / 2) {
            size = max;
            break;
        }
        size *= 2;
    }
    ptr = alloc->resize(alloc->ctx, self->ptr, self->size, size);
    if (ptr == NULL)
        return false;
    self->work += self->len;
    self->ptr = ptr;
    self->size = size;
    return true;
}

bool
tg_buf_append(tg_buf *self, const tg_alloc *alloc, size_t max, const uint8_t *ptr, size_t len)
{
    if (len == 0)
        return true;
    if (self->len > max || len > max - self->len)
        return false;
    if (!tg_buf_reserve(self, alloc, max, self->len + len))
        return false;
    memcpy(self->ptr + self->len, ptr, len);
    self->len += len;
    self->work += len;
    return true;
}

void
tg_buf_clear(tg_buf *self, const tg_alloc *alloc)
{
    if (self->size > TG_BUF_KEEP)
        tg_buf_free(self, alloc);
    self->len = 0;
}

void
tg_buf_free(tg_buf *self, const tg_alloc *alloc)
{
    if (self->ptr != NULL)
        alloc->resize(alloc->ctx, self->ptr, self->size, 0);
    self->ptr = NULL;
    self->len = 0;
    self->size = 0;
}

void
tg_buf_swap(tg_buf *self, tg_buf *other)
{
    const tg_buf held = *self;

    *self = *other;
    *other = held;
}

tg_span
tg_buf_span(const tg_buf *self, size_t start)
{
    tg_span span;

    if (start == self->len)
        return tg_span_empty();
    span.ptr = self->ptr + start;
    span.len = self->len - start;
    return span;
}

tg_span
tg_span_empty(void)
{
    static const uint8_t nothing[1] = {0};
    const tg_span span = {nothing, 0};

    return span;
}

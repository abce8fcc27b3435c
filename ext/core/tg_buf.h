/* tg_buf.h - a growable run of bytes with an upper bound.
 *
 * Rules
 *  - It doubles, so that bytes dripped one at a time cost O(1) each; it never asks for more than
 *    the call's `max`, so that a limit bounds memory too.
 *  - Cleared, it keeps TG_BUF_KEEP bytes at most: ten thousand idle streams stay small.
 *  - The allocator is handed to each call: seven buffers of one stream need not store it.
 *  - A failed append changes nothing.
 */
#ifndef TG_BUF_H
#define TG_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_event.h"

/* A page: the text of nearly every delta event fits, so the steady state allocates nothing. */
#define TG_BUF_KEEP ((size_t)4096)

/* All zero is an empty buffer. */
typedef struct tg_buf {
    uint8_t *ptr;
    size_t len;
    size_t size;   /* bytes allocated */
    uint64_t work; /* bytes copied in, and moved when it grew; survives clear and free */
} tg_buf;

/* false: no memory, or len would pass max. ptr must not point into the buffer itself. */
bool tg_buf_append(tg_buf *self, const tg_alloc *alloc, size_t max, const uint8_t *ptr, size_t len);
/* Room for `need` bytes in all, of which the caller may then write those from len on. false: no
 * memory. need <= max. */
bool tg_buf_reserve(tg_buf *self, const tg_alloc *alloc, size_t max, size_t need);
void tg_buf_clear(tg_buf *self, const tg_alloc *alloc);
void tg_buf_free(tg_buf *self, const tg_alloc *alloc);
void tg_buf_swap(tg_buf *self, tg_buf *other);

/* The bytes from start on. start <= len. Dies when the buffer changes. */
tg_span tg_buf_span(const tg_buf *self, size_t start);
/* A span of no bytes whose pointer is not NULL. */
tg_span tg_span_empty(void);

#endif

/* tg_alloc.h - where the core's memory comes from: one function, handed in by the caller.
 *
 * Rules
 *  - resize(ctx, NULL, 0, n) allocates, resize(ctx, p, old, n) grows or shrinks and may move,
 *    resize(ctx, p, old, 0) frees and returns NULL.
 *  - It may return NULL for any n > 0; the old block is then untouched, and the machine that asked
 *    answers TG_ERR_NO_MEMORY.
 *  - old is the size last asked for, so that a caller can count without a header of its own.
 */
#ifndef TG_ALLOC_H
#define TG_ALLOC_H

#include <stddef.h>

typedef struct tg_alloc {
    void *ctx;
    void *(*resize)(void *ctx, void *ptr, size_t old_size, size_t new_size);
} tg_alloc;

/* realloc and free of the C library. */
tg_alloc tg_alloc_default(void);

#endif

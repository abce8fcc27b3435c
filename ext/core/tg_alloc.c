/* tg_alloc.c - the allocator of the C library in the shape that tg_alloc.h asks for.
 *
 * Rules
 *  - new_size 0 frees: realloc(p, 0) means different things in different libraries.
 *
 * Refuses: counting, pooling, zeroing; that is the caller's allocator's affair.
 */
#include "tg_alloc.h"

#include <stdlib.h>

static void *
alloc_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

tg_alloc
tg_alloc_default(void)
{
    const tg_alloc alloc = {NULL, alloc_resize};
    return alloc;
}

/* memory.h - allocators and chunk places that catch what a test would not see.
 *
 *  - heap counts blocks and bytes, checks that old_size is what was last asked for, and can
 *    refuse the n-th allocation.
 *  - A guard puts a chunk so that its last byte is followed by a page that cannot be read.
 *  - guarded_heap does so with each block that the core allocates, but for up to seven bytes where
 *    its start would stand where no number may.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg.h"

typedef struct heap {
    size_t blocks;    /* alive */
    size_t bytes;     /* alive */
    size_t most;      /* most bytes alive at one time */
    size_t asked;     /* allocations and resizings so far, frees aside */
    size_t refuse_at; /* the allocation of this number (1 is the first) fails; 0: none */
    bool is_abused;   /* a wrong old_size was seen */
} heap;

tg_alloc heap_alloc(heap *memory);

typedef struct guard_page {
    uint8_t *map;
    size_t size; /* bytes that can be read */
    size_t page;
} guard_page;

bool guard_open(guard_page *self, size_t size);
void guard_close(guard_page *self);
/* A copy of the bytes that ends at the forbidden page; NULL if it does not fit. */
uint8_t *guard_place(guard_page *self, const uint8_t *ptr, size_t len);

typedef struct guarded_heap {
    size_t blocks;  /* alive */
    size_t exact;   /* allocations so far that end right at their page */
    bool is_abused; /* a wrong old_size was seen, or there was no memory */
} guarded_heap;

tg_alloc guarded_alloc(guarded_heap *memory);

#endif

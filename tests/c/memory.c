/* memory.c - the counting allocator and the guard page of memory.h. */
#define _DEFAULT_SOURCE 1
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size stands before the block, in as many bytes as alignment needs. */
#define MEMORY_HEAD ((size_t)16)

static void *
memory_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    heap *memory = ctx;
    uint8_t *head = ptr != NULL ? (uint8_t *)ptr - MEMORY_HEAD : NULL;
    size_t size = 0;

    if (head != NULL)
        memcpy(&size, head, sizeof size);
    if (size != old_size)
        memory->is_abused = true;
    if (new_size == 0) {
        memory->blocks -= head != NULL;
        memory->bytes -= size;
        free(head);
        return NULL;
    }
    memory->asked++;
    if (memory->asked == memory->refuse_at)
        return NULL;
    /* Always moves, so that a pointer into the old block is caught. */
    uint8_t *fresh = malloc(MEMORY_HEAD + new_size);
    if (fresh == NULL)
        return NULL;
    memcpy(fresh, &new_size, sizeof new_size);
    if (head != NULL)
        memcpy(fresh + MEMORY_HEAD, ptr, size < new_size ? size : new_size);
    free(head);
    memory->blocks += head == NULL;
    memory->bytes += new_size - size;
    if (memory->bytes > memory->most)
        memory->most = memory->bytes;
    return fresh + MEMORY_HEAD;
}

tg_alloc
heap_alloc(heap *memory)
{
    const tg_alloc alloc = {memory, memory_resize};

    return alloc;
}

bool
guard_open(guard_page *self, size_t size)
{
    self->page = (size_t)sysconf(_SC_PAGESIZE);
    self->size = (size + self->page - 1) / self->page * self->page;
    self->map = mmap(NULL, self->size + self->page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return self->map != MAP_FAILED && mprotect(self->map + self->size, self->page, PROT_NONE) == 0;
}

void
guard_close(guard_page *self)
{
    munmap(self->map, self->size + self->page);
}

uint8_t *
guard_place(guard_page *self, const uint8_t *ptr, size_t len)
{
    uint8_t *place = self->map + (self->size - len);

    if (len > self->size)
        return NULL;
    if (len > 0)
        memcpy(place, ptr, len);
    return place;
}

/* The bytes before the forbidden page of a block, its size in the first of them. */
static uint8_t *
guarded_end(const uint8_t *block, size_t size)
{
    return (uint8_t *)(uintptr_t)block + (size + 7) / 8 * 8;
}

static void *
guarded_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    guarded_heap *memory = ctx;
    guard_page page = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    uint8_t *fresh = NULL;

    if (new_size > 0) {
        if (!guard_open(&page, new_size + 16)) {
            memory->is_abused = true;
            return NULL;
        }
        fresh = page.map + page.size - (new_size + 7) / 8 * 8;
        memcpy(page.map, &new_size, sizeof new_size);
        memory->blocks++;
        memory->exact += new_size % 8 == 0;
    }
    if (ptr != NULL) {
        size_t size;

        page.size = (old_size + 16 + page.page - 1) / page.page * page.page;
        page.map = guarded_end(ptr, old_size) - page.size;
        memcpy(&size, page.map, sizeof size);
        memory->is_abused = memory->is_abused || size != old_size;
        if (fresh != NULL)
            memcpy(fresh, ptr, old_size < new_size ? old_size : new_size);
        guard_close(&page);
        memory->blocks--;
    }
    return fresh;
}

tg_alloc
guarded_alloc(guarded_heap *memory)
{
    const tg_alloc alloc = {memory, guarded_resize};

    return alloc;
}

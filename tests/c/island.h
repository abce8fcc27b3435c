/* island.h - one page of memory between two that cannot be read: a load that goes a byte too far,
 * either way, ends the run.
 */
#ifndef ISLAND_H
#define ISLAND_H

#include <stddef.h>
#include <stdint.h>

typedef struct island {
    uint8_t *map;
    size_t map_size;
    uint8_t *start; /* of what can be read */
    uint8_t *end;
} island;

/* Ends the run if there is no memory. */
void island_open(island *self);
void island_close(island *self);

/* A copy of the bytes at either end of the page; len is at most that of a page. */
uint8_t *island_first(island *self, const uint8_t *ptr, size_t len);
uint8_t *island_last(island *self, const uint8_t *ptr, size_t len);

#endif

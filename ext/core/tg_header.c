/* tg_header.c - reading headers, and finding a name that stands there twice.
 *
 * Theory of operation
 *   A block may hold tens of thousands of headers, so names are not compared each with each: the
 *   places of the headers are sorted by name (heapsort: no recursion, no bad input, in place), and
 *   equal names then stand side by side.
 */
#include "tg_header.h"

#include <string.h>

#include "tg_utf8.h"

/* The places of the headers in the block, and the block. */
typedef struct header_places {
    uint32_t *at;
    size_t count;
    tg_span block;
} header_places;

/* -1: no such type. */
static int
header_size(uint8_t type)
{
    static const uint8_t sizes[] = {
#define HEADER_SIZE(name, size) size,
        TG_HEADER_TYPES(HEADER_SIZE)
#undef HEADER_SIZE
    };

    return type < sizeof sizes ? sizes[type] : -1;
}

static int64_t
header_number(tg_span value)
{
    uint64_t number = (value.ptr[0] & 0x80) != 0 ? UINT64_MAX : 0;
    int64_t out;
    size_t i;

    for (i = 0; i < value.len; i++)
        number = number << 8 | value.ptr[i];
    memcpy(&out, &number, sizeof out); /* two's complement, as the wire has it */
    return out;
}

static bool
header_take(tg_span *block, size_t len, tg_span *out)
{
    if (block->len < len)
        return false;
    out->ptr = block->ptr;
    out->len = len;
    block->ptr += len;
    block->len -= len;
    return true;
}

static bool
header_read_number(tg_header *header)
{
    switch (header->type) {
    case TG_HEADER_INT8:
    case TG_HEADER_INT16:
    case TG_HEADER_INT32:
    case TG_HEADER_INT64:
    case TG_HEADER_TIMESTAMP:
        header->number = header_number(header->value);
        return true;
    case TG_HEADER_STRING:
        return tg_utf8_check(header->value) == header->value.len;
    case TG_HEADER_TRUE:
    case TG_HEADER_FALSE:
    case TG_HEADER_BYTES:
    case TG_HEADER_UUID:
        return true;
    }
    return false;
}

bool
tg_header_next(tg_span *block, tg_header *out)
{
    tg_span rest = *block;
    tg_header header = {.number = 0};
    tg_span field;
    int size;

    if (!header_take(&rest, 1, &field) || field.ptr[0] == 0)
        return false;
    if (!header_take(&rest, field.ptr[0], &header.name) || !header_take(&rest, 1, &field))
        return false;
    size = header_size(field.ptr[0]);
    if (size < 0 || tg_utf8_check(header.name) != header.name.len)
        return false;
    header.type = (tg_header_type)field.ptr[0];
    if (size == TG_HEADER_COUNTED) {
        if (!header_take(&rest, 2, &field))
            return false;
        size = field.ptr[0] << 8 | field.ptr[1];
    }
    if (!header_take(&rest, (size_t)size, &header.value) || !header_read_number(&header))
        return false;
    *block = rest;
    *out = header;
    return true;
}

/* ---- repeated names ---------------------------------------------------------------------------
 */

static int
header_compare_names(const header_places *self, uint32_t a, uint32_t b)
{
    /* The length stands before the name: a name that is longer is greater. */
    const uint8_t *one = self->block.ptr + a;
    const uint8_t *two = self->block.ptr + b;
    const int order = (int)one[0] - (int)two[0];

    return order != 0 ? order : memcmp(one + 1, two + 1, one[0]);
}

/* Of two headers with one name the first one in the block is less. */
static bool
header_is_less(const header_places *self, uint32_t a, uint32_t b)
{
    const int order = header_compare_names(self, a, b);

    return order != 0 ? order < 0 : a < b;
}

static void
header_sift(const header_places *self, size_t root, size_t count)
{
    uint32_t *at = self->at;
    const uint32_t moved = at[root];

    for (;;) {
        size_t child = 2 * root + 1;

        if (child >= count)
            break;
        if (child + 1 < count && header_is_less(self, at[child], at[child + 1]))
            child++;
        if (!header_is_less(self, moved, at[child]))
            break;
        at[root] = at[child];
        root = child;
    }
    at[root] = moved;
}

static void
header_sort(const header_places *self)
{
    size_t i;

    for (i = self->count / 2; i > 0; i--)
        header_sift(self, i - 1, self->count);
    for (i = self->count; i > 1; i--) {
        const uint32_t last = self->at[i - 1];

        self->at[i - 1] = self->at[0];
        self->at[0] = last;
        header_sift(self, 0, i - 1);
    }
}

static bool
header_find_repeated(const header_places *self, size_t *bad_pos)
{
    uint32_t first = UINT32_MAX;
    size_t i;

    header_sort(self);
    for (i = 1; i < self->count; i++) {
        if (header_compare_names(self, self->at[i - 1], self->at[i]) == 0 && self->at[i] < first)
            first = self->at[i];
    }
    *bad_pos = first;
    return first != UINT32_MAX;
}

/* Writes where each header begins. TG_ERR_BAD_FRAME: the one at *bad_pos is malformed. */
static tg_status
header_list(tg_span block, tg_buf *places, const tg_alloc *alloc, size_t *bad_pos)
{
    tg_span rest = block;
    tg_header header;

    while (rest.len > 0) {
        uint32_t place;

        *bad_pos = block.len - rest.len;
        place = (uint32_t)*bad_pos;
        if (!tg_header_next(&rest, &header))
            return TG_ERR_BAD_FRAME;
        if (!tg_buf_append(places, alloc, SIZE_MAX / 2, (const uint8_t *)&place, sizeof place))
            return TG_ERR_NO_MEMORY;
    }
    return TG_OK;
}

tg_status
tg_header_check(tg_span block, tg_buf *scratch, const tg_alloc *alloc, size_t *bad_pos)
{
    header_places places = {.block = block};
    tg_status status;

    tg_buf_clear(scratch, alloc);
    status = header_list(block, scratch, alloc, bad_pos);
    if (status != TG_OK)
        return status;
    places.at = (uint32_t *)(void *)scratch->ptr; /* aligned, as every block of an allocator */
    places.count = scratch->len / sizeof *places.at;
    return header_find_repeated(&places, bad_pos) ? TG_ERR_BAD_FRAME : TG_OK;
}

/* tg_block.h - the type and the data of the open block: WHATWG's event type buffer and data buffer.
 *
 * Theory of operation
 *   Both are spans, and each has a home. One data line within one chunk stays there and is never
 *   copied. If its line straddled chunks it lies in the line carry. Only when a second data line
 *   must be joined, or the chunk runs out, does it move to a buffer of the block. A whole line in
 *   the carry is not copied even then: the two buffers change places.
 *
 *     carry:    "data: an event of 8 MiB"   ->   data_buf: "data: an event of 8 MiB"
 *     data_buf: ""                          ->             data_start ^
 *                                                carry:    ""
 *
 * Rules
 *  - Lengths are those of the wire; ill-formed UTF-8 is replaced only in what is lent out.
 *  - Every function that returns bool answers false for: no memory.
 *
 * Refuses: limits, fields, offsets; the SSE machine has them.
 */
#ifndef TG_BLOCK_H
#define TG_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"

typedef enum tg_home {
    TG_HOME_OWN,   /* in a buffer of the block, or static: stays */
    TG_HOME_CHUNK, /* in the caller's chunk: to be copied before it goes */
    TG_HOME_CARRY  /* in the line carry: to be saved before the next line is carried */
} tg_home;

typedef struct tg_block {
    bool has_data; /* at least one data field; the data may be empty all the same */
    tg_home type_home;
    tg_home data_home;
    tg_span type;
    tg_span data;
    size_t data_start; /* TG_HOME_OWN: where the data begins in data_buf */
    uint64_t work;     /* bytes checked; the buffers count their own */
    tg_buf type_buf;
    tg_buf data_buf;
    tg_buf scratch; /* type and data after replacement */
} tg_block;

void tg_block_init(tg_block *self);
void tg_block_free(tg_block *self, const tg_alloc *alloc);
/* No type and no data again. What was lent from the buffers lives until tg_block_release. */
void tg_block_close(tg_block *self);
/* After a close: the buffers are cleared. */
void tg_block_release(tg_block *self, const tg_alloc *alloc);

void tg_block_set_type(tg_block *self, tg_span type, tg_home home);
/* One data field more. carry is the buffer that TG_HOME_CARRY speaks of. */
bool tg_block_add_data(tg_block *self, const tg_alloc *alloc, tg_buf *carry, tg_span value,
                       tg_home home);
/* Makes the block outlive the chunk and the carry. */
bool tg_block_keep(tg_block *self, const tg_alloc *alloc, tg_buf *carry);
/* Type and data as well-formed UTF-8: where they are, or from the scratch buffer. */
bool tg_block_replace(tg_block *self, const tg_alloc *alloc, tg_span *type, tg_span *data);

uint64_t tg_block_work(const tg_block *self);

#endif

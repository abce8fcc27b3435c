/* record.h - all that a machine says about an input cut in a given way, as one text.
 *
 * Two cuttings of the same input must give the same text: that is how "the cut of the input is not
 * an input" is tested, here and in the fuzzers.
 *
 * Rules
 *  - Each chunk is a block of its own, of its exact size, and is overwritten and freed as soon as
 *    the contract lets the caller do so.
 *  - Sticky errors, idempotent finish, well-formed output and feed after finish are checked on the
 *    way; a breach is a line that begins with "BREACH".
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"
#include "tg.h"

typedef struct record {
    char *ptr; /* ends with a NUL */
    size_t len;
    size_t size;
} record;

typedef struct record_setup {
    tg_framing framing;
    tg_limits limits;
    unsigned flags;
    const tg_alloc *alloc; /* NULL: the default */
    guard_page *guard;     /* NULL: chunks are blocks of the C library */
    tg_json_view view;
} record_setup;

record_setup record_setup_default(void);
void record_clear(record *self);
void record_free(record *self);
bool record_equal(const record *a, const record *b);
void record_printf(record *self, const char *format, ...);
/* Text as C would write it, so that a record can be read and has no NUL inside. Text that is not
 * well-formed is a breach. */
void record_span(record *self, const char *name, tg_span span, bool is_text);

/* A chunk for one feed, of its exact size; taken back, and overwritten, by record_take. */
uint8_t *record_lend(const record_setup *setup, const uint8_t *ptr, size_t len);
void record_take(const record_setup *setup, uint8_t *chunk, size_t len);

/* cuts: positions in rising order, each at most len; equal ones make empty chunks. */
void record_stream(record *out, const record_setup *setup, const uint8_t *ptr, size_t len,
                   const size_t *cuts, size_t cut_count);
void record_json(record *out, const record_setup *setup, const uint8_t *ptr, size_t len,
                 const size_t *cuts, size_t cut_count);

/* Both again with a chunk for every step bytes. */
void record_stream_step(record *out, const record_setup *setup, const uint8_t *ptr, size_t len,
                        size_t step);

#endif

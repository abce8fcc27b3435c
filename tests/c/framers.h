/* framers.h - what the tests of the framers of records share: one row is checked in every way.
 *
 * Rules
 *  - A row is read whole, in every cut in three (short inputs) or in two, in steps of 1, 5 and 37
 *    bytes, with a page behind the chunk that cannot be read, and with each allocation refused in
 *    turn. All must say the same as the whole, or no_memory.
 */
#ifndef FRAMERS_H
#define FRAMERS_H

#include "record.h"

/* Longer than the first block of a buffer. */
#define TEXT_50 "fifty bytes, no more and no less, of plain ASCII. "
#define TEXT_300 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50 TEXT_50

typedef struct framer_row {
    const char *input;
    size_t limit; /* for the function that sets it */
    /* Pieces of the record, separated by LF, to be found in this order. As many of them begin with
     * "data=" as there are events. */
    const char *expected;
} framer_row;

typedef void (*framer_set)(record_setup *setup, size_t limit);

void framer_check(const record_setup *setup, const uint8_t *ptr, size_t len, const char *expected);
/* set may be NULL. */
void framer_check_rows(record_setup setup, framer_set set, const framer_row *rows, size_t count);
#define FRAMER_ROWS(setup, set, rows) \
    framer_check_rows((setup), (set), (rows), sizeof(rows) / sizeof(rows)[0])

/* Feeds in chunks of step; counts events. */
size_t framer_feed_all(tg_stream *stream, const uint8_t *ptr, size_t len, size_t step);
/* Work is at most per_byte for each byte, in chunks of 1, 64 and 65536 bytes, and the memory held
 * at the end is small. */
void framer_check_work(const record_setup *setup, const uint8_t *ptr, size_t len, size_t events,
                       size_t per_byte);
/* The block over and over, of one event each: once warm nothing is allocated. */
void framer_check_steady(const record_setup *setup, const uint8_t *head, size_t head_len,
                         const uint8_t *block, size_t len);

#endif

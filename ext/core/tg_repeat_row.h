/* tg_repeat_row.h - the books of a row of frames while tg_scan_repeat goes on: the place and the
 * room for the next text, and the digits of the next sequence number. Where the order of bytes is
 * the little-endian one.
 *
 * Refuses: vectors.
 */
#ifndef TG_REPEAT_ROW_H
#define TG_REPEAT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_hole.h"
#include "tg_scan_kernel.h"

typedef struct repeat_row {
    uint8_t *out;       /* where the next text goes */
    const uint8_t *end; /* of the room for texts */
    uint64_t odd;       /* all ones if bytes that are not ASCII end the row, else 0 */
    uint64_t next;      /* the sequence number of the next frame */
    uint64_t digits;    /* the same as text, the first digit low */
    unsigned shift;     /* of the last digit in it */
} repeat_row;

/* Numbers of more digits do not fit the word. */
#define REPEAT_MOST 99999999u

TG_SCAN_INLINE void
repeat_write(repeat_row *self)
{
    uint64_t left = self->next;

    self->digits = 0;
    self->shift = 0;
    for (; left > 9; left /= 10) {
        self->digits = (self->digits | ('0' + left % 10)) << 8;
        self->shift += 8;
    }
    self->digits |= '0' + left;
}

TG_SCAN_INLINE repeat_row
repeat_begin(const tg_repeat *self)
{
    repeat_row row = {.out = self->out, .odd = self->is_raw ? ~(uint64_t)0 : 0};

    row.end = self->out + (self->room < self->space ? self->room : self->space);
    row.next = self->sequence + 1;
    if (self->has_sequence)
        repeat_write(&row);
    return row;
}

/* The length of the number at ptr, if it is the next one; else SIZE_MAX. That no digit follows it
 * is seen by what comes behind. Eight bytes can be read. */
TG_SCAN_INLINE size_t
repeat_number(const repeat_row *self, const uint8_t *ptr)
{
    return (scan_word(ptr) ^ self->digits) << (56 - self->shift) == 0 ? self->shift / 8 + 1
                                                                      : SIZE_MAX;
}

TG_SCAN_INLINE void
repeat_count(repeat_row *self)
{
    self->next++;
    self->digits += (uint64_t)1 << self->shift;
    if (self->digits >> self->shift > '9')
        repeat_write(self);
}

#endif

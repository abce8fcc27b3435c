/* tg_utf8.h - well-formed UTF-8 (Unicode 3.9, table 3-7), whole or in pieces.
 *
 * Rules
 *  - One table of lead bytes and bounds serves all: the check in pieces, the check of a whole text,
 *    the replacement, and the JSON tracker.
 *  - An ill-formed sequence is a maximal subpart: the longest start of a well-formed sequence, or
 *    one byte. It is reported at its first byte, but is known only at the byte that cannot go on.
 */
#ifndef TG_UTF8_H
#define TG_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_buf.h"

/* All zero: between characters. */
typedef struct tg_utf8 {
    uint8_t need; /* continuation bytes still due */
    uint8_t seen; /* bytes of the open sequence so far */
    uint8_t low;  /* bounds of the next continuation byte */
    uint8_t high;
} tg_utf8;

/* Opens the sequence of a lead byte of 0x80 or more; false if no sequence begins with it. */
bool tg_utf8_open(tg_utf8 *self, uint8_t byte);
/* Takes the next byte of an open sequence; false if it cannot go on with it (nothing changes). */
bool tg_utf8_take(tg_utf8 *self, uint8_t byte);
/* Index of the byte at which the text stops being the start of a well-formed one, or len. The
 * sequence at fault began self->seen bytes before that index. */
size_t tg_utf8_feed(tg_utf8 *self, const uint8_t *ptr, size_t len);

/* Length of the well-formed sequence at ptr, or 0 if it is ill-formed or cut. */
size_t tg_utf8_sequence(const uint8_t *ptr, size_t len);
/* Index of the first ill-formed or cut sequence, or len. */
size_t tg_utf8_check(tg_span text);
bool tg_utf8_is_ascii(tg_span text);
/* Bytes at the end of text that begin a sequence without ending it: 0 to 3. */
size_t tg_utf8_cut(tg_span text);
/* Appends text with U+FFFD for each maximal subpart, the cut one at the end included, as the UTF-8
 * decoder of the Encoding Standard does. false: no memory. */
bool tg_utf8_replace(tg_buf *out, const tg_alloc *alloc, tg_span text);

#endif

/* tg_scan_utf8.h - the rules of UTF-8 (Unicode 3.9, table 3-7) for the kernels: by character, and
 * by word, and as the tables of a kernel that looks bytes up.
 *
 * Rules
 *  - A character is well-formed here if and only if it is for tg_utf8_open and tg_utf8_take.
 *
 * Refuses: pieces. A character that the end of the text cuts is no character; tg_utf8 keeps it.
 */
#ifndef TG_SCAN_UTF8_H
#define TG_SCAN_UTF8_H

#include "tg_scan_kernel.h"

#define SCAN_HIGHS 0x8080808080808080u

/* ---- one character at a time ------------------------------------------------------------------
 */

TG_SCAN_INLINE bool
scan_is_tail(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Length of the well-formed sequence at ptr, or 0 if it is ill-formed or cut; len is not 0. The
 * bounds are those of tg_utf8_open. */
TG_SCAN_INLINE size_t
scan_character(const uint8_t *ptr, size_t len)
{
    const uint8_t lead = ptr[0];

    if (lead < 0x80)
        return 1;
    if (lead < 0xe0)
        return lead >= 0xc2 && len >= 2 && scan_is_tail(ptr[1]) ? 2 : 0;
    if (lead < 0xf0) {
        if (len < 3 || !scan_is_tail(ptr[1]) || !scan_is_tail(ptr[2]))
            return 0;
        return (lead == 0xe0 && ptr[1] < 0xa0) || (lead == 0xed && ptr[1] > 0x9f) ? 0 : 3;
    }
    if (len < 4 || !scan_is_tail(ptr[1]) || !scan_is_tail(ptr[2]) || !scan_is_tail(ptr[3]))
        return 0;
    return lead > 0xf4 || (lead == 0xf0 && ptr[1] < 0x90) || (lead == 0xf4 && ptr[1] > 0x8f) ? 0
                                                                                             : 4;
}

/* Where the whole characters from pos on end: len, or the place of the first fault. Apart, so that
 * the way of plain ASCII around it stays short. */
TG_SCAN_APART size_t
scan_characters(const uint8_t *ptr, size_t pos, size_t len)
{
    while (pos < len) {
        const size_t size = scan_character(ptr + pos, len - pos);

        if (size == 0)
            break;
        pos += size;
    }
    return pos;
}

/* Where the character begins that ptr[pos - 1] is a part of, or pos if that byte ended one: behind
 * three continuations, it did. pos is 3 or more, and what stands before it has no fault. */
static inline size_t
scan_character_start(const uint8_t *ptr, size_t pos)
{
    size_t back;

    for (back = 1; back <= 3; back++) {
        if (!scan_is_tail(ptr[pos - back]))
            return pos - back;
    }
    return pos;
}

/* ---- by word ----------------------------------------------------------------------------------
 */

static inline size_t
scan_ascii(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= sizeof(uint64_t) && (scan_word(ptr + pos) & SCAN_HIGHS) == 0)
        pos += sizeof(uint64_t);
    while (pos < len && ptr[pos] < 0x80)
        pos++;
    return pos;
}

/* Loads that overlap, as in scan_is_equal_short. */
TG_SCAN_INLINE bool
scan_is_ascii(const uint8_t *ptr, size_t len)
{
    uint64_t word;
    size_t pos;

    if (len >= 8) {
        word = scan_word(ptr + len - 8);
        for (pos = 0; pos < len - 8; pos += 8)
            word |= scan_word(ptr + pos);
    } else if (len >= 4) {
        word = scan_half(ptr) | scan_half(ptr + len - 4);
    } else {
        word = len == 0 ? 0 : (uint64_t)(ptr[0] | ptr[len / 2] | ptr[len - 1]);
    }
    return (word & SCAN_HIGHS) == 0;
}

/* For a text of one or two words: most are ASCII to the end. */
TG_SCAN_INLINE size_t
scan_utf8_short(const uint8_t *ptr, size_t len)
{
    return scan_is_ascii(ptr, len) ? len : scan_characters(ptr, 0, len);
}

/* For a text of any length. */
static inline size_t
scan_utf8(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    if (len < 2 * sizeof(uint64_t))
        return scan_utf8_short(ptr, len);
    while (pos < len) {
        size_t size = scan_ascii(ptr + pos, len - pos);

        for (pos += size; pos < len && ptr[pos] >= 0x80; pos += size) {
            size = scan_character(ptr + pos, len - pos);
            if (size == 0)
                return pos;
        }
    }
    return pos;
}

/* ---- by table ---------------------------------------------------------------------------------
 */

/* The faults that two bytes in a row can show, one bit each. */
#define NO_TAIL 0x01   /* a lead byte, then no continuation */
#define NO_LEAD 0x02   /* ASCII, then a continuation */
#define LONG_2 0x04    /* overlong: C0, C1 */
#define LONG_3 0x08    /* overlong: E0 80..9F */
#define SURROGATE 0x10 /* ED A0..BF */
#define OUT_LOW 0x20   /* F0 80..8F is overlong, F5..FF 80..8F beyond U+10FFFF */
#define OUT_HIGH 0x40  /* F4..FF 90..BF: beyond U+10FFFF */
#define TWO_TAILS 0x80 /* two continuations: right or wrong by what stands before them */
#define ANY (NO_TAIL | NO_LEAD | TWO_TAILS)
#define OUT (OUT_LOW | OUT_HIGH)
#define TAIL (NO_LEAD | LONG_2 | TWO_TAILS)

/* Which of them the first byte allows by its high half, which by its low half, and which the second
 * byte allows by its high half. */
static const uint8_t scan_first_high[16] = {
    NO_LEAD,      NO_LEAD,   NO_LEAD,          NO_LEAD,   NO_LEAD,
    NO_LEAD,      NO_LEAD,   NO_LEAD,          TWO_TAILS, TWO_TAILS,
    TWO_TAILS,    TWO_TAILS, NO_TAIL | LONG_2, NO_TAIL,   NO_TAIL | LONG_3 | SURROGATE,
    NO_TAIL | OUT};
static const uint8_t scan_first_low[16] = {ANY | LONG_2 | LONG_3 | OUT_LOW,
                                           ANY | LONG_2,
                                           ANY,
                                           ANY,
                                           ANY | OUT_HIGH,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT,
                                           ANY | OUT | SURROGATE,
                                           ANY | OUT,
                                           ANY | OUT};
static const uint8_t scan_second_high[16] = {NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             TAIL | LONG_3 | OUT_LOW,
                                             TAIL | LONG_3 | OUT_HIGH,
                                             TAIL | SURROGATE | OUT_HIGH,
                                             TAIL | SURROGATE | OUT_HIGH,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL,
                                             NO_TAIL};

/* The bit that does not stand for a fault by itself. */
enum { SCAN_TWO_TAILS = TWO_TAILS };

#undef TWO_TAILS
#undef NO_TAIL
#undef NO_LEAD
#undef LONG_2
#undef LONG_3
#undef SURROGATE
#undef OUT_LOW
#undef OUT_HIGH
#undef ANY
#undef OUT
#undef TAIL

#endif

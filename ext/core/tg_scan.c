/* tg_scan.c - the scalar kernels: eight bytes at a time in a machine word, the tail one by one.
 *
 * A word test only says "one of these eight"; the bytes themselves are then looked at in order, so
 * byte order does not matter. The tests are exact for "any": (x - 01..01) & ~x & 80..80 is not zero
 * if and only if some byte of x is zero; borrows can only mark more bytes above a true hit.
 *
 * Refuses: reading past the end (no over-read of a tail), and any notion of what the bytes mean.
 */
#include "tg_scan.h"

#include <stdbool.h>
#include <string.h>

#define SCAN_ONES 0x0101010101010101u
#define SCAN_HIGHS 0x8080808080808080u
#define SCAN_WORD sizeof(uint64_t)

static inline uint64_t
scan_load(const uint8_t *ptr)
{
    uint64_t word;

    memcpy(&word, ptr, sizeof word);
    return word;
}

/* Not zero if a byte of word equals byte. */
static inline uint64_t
scan_equal(uint64_t word, uint8_t byte)
{
    const uint64_t diff = word ^ (SCAN_ONES * byte);

    return (diff - SCAN_ONES) & ~diff & SCAN_HIGHS;
}

size_t
tg_scan_line_end(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_load(ptr + pos);

        if ((scan_equal(word, '\n') | scan_equal(word, '\r')) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && ptr[pos] != '\n' && ptr[pos] != '\r')
        pos++;
    return pos;
}

size_t
tg_scan_non_ascii(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD && (scan_load(ptr + pos) & SCAN_HIGHS) == 0)
        pos += SCAN_WORD;
    while (pos < len && ptr[pos] < 0x80)
        pos++;
    return pos;
}

size_t
tg_scan_json_text(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_load(ptr + pos);
        const uint64_t control = (word - SCAN_ONES * 0x20) & ~word & SCAN_HIGHS;

        if ((scan_equal(word, '"') | scan_equal(word, '\\') | control | (word & SCAN_HIGHS)) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && ptr[pos] >= 0x20 && ptr[pos] < 0x80 && ptr[pos] != '"' && ptr[pos] != '\\')
        pos++;
    return pos;
}

size_t
tg_scan_json_special(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_load(ptr + pos);
        const uint64_t control = (word - SCAN_ONES * 0x20) & ~word & SCAN_HIGHS;

        if ((scan_equal(word, '"') | scan_equal(word, '\\') | control) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && ptr[pos] >= 0x20 && ptr[pos] != '"' && ptr[pos] != '\\')
        pos++;
    return pos;
}

size_t
tg_scan_quote(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_load(ptr + pos);

        if ((scan_equal(word, '"') | scan_equal(word, '\\')) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && ptr[pos] != '"' && ptr[pos] != '\\')
        pos++;
    return pos;
}

static inline bool
scan_is_mark(uint8_t byte)
{
    /* `[` `]` and `{` `}` differ in bit 0x20 alone. */
    return byte == '"' || (byte & 0xdf) == '[' || (byte & 0xdf) == ']';
}

size_t
tg_scan_json_mark(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_load(ptr + pos);
        const uint64_t folded = word & ~(SCAN_ONES * 0x20);

        if ((scan_equal(word, '"') | scan_equal(folded, '[') | scan_equal(folded, ']')) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && !scan_is_mark(ptr[pos]))
        pos++;
    return pos;
}

size_t
tg_scan_non_digit(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len && ptr[pos] >= '0' && ptr[pos] <= '9')
        pos++;
    return pos;
}

size_t
tg_scan_non_blank(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len &&
           (ptr[pos] == ' ' || ptr[pos] == '\t' || ptr[pos] == '\n' || ptr[pos] == '\r'))
        pos++;
    return pos;
}

bool
tg_scan_is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    return len == 0 || memcmp(a, b, len) == 0;
}

size_t
tg_scan_utf8(const uint8_t *ptr, size_t len)
{
    return tg_scan_non_ascii(ptr, len);
}

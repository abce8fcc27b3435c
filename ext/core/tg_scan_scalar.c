/* tg_scan_scalar.c - the scalar kernel: eight bytes at a time in a machine word, the tail one by
 * one. It is the reference, and what runs where nothing better is known.
 *
 * A word test only says "one of these eight"; the bytes themselves are then looked at in order, so
 * byte order does not matter. The tests are exact for "any": (x - 01..01) & ~x & 80..80 is not zero
 * if and only if some byte of x is zero; borrows can only mark more bytes above a true hit.
 *
 * Refuses: reading past the end (no over-read of a tail), and any notion of what the bytes mean.
 */
#include "tg_scan_kernel.h"
#include "tg_scan_utf8.h"

#define SCAN_ONES 0x0101010101010101u
#define SCAN_WORD sizeof(uint64_t)

/* Not zero if a byte of word equals byte. */
static inline uint64_t
scan_equal(uint64_t word, uint8_t byte)
{
    const uint64_t diff = word ^ (SCAN_ONES * byte);

    return (diff - SCAN_ONES) & ~diff & SCAN_HIGHS;
}

static inline uint64_t
scan_control(uint64_t word)
{
    return (word - SCAN_ONES * 0x20) & ~word & SCAN_HIGHS;
}

static size_t
scan_scalar_line_end(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_word(ptr + pos);

        if ((scan_equal(word, '\n') | scan_equal(word, '\r')) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && ptr[pos] != '\n' && ptr[pos] != '\r')
        pos++;
    return pos;
}

static size_t
scan_scalar_line(const uint8_t *ptr, size_t len, bool *is_ascii)
{
    const size_t size = scan_scalar_line_end(ptr, len);

    *is_ascii = scan_ascii(ptr, size) == size;
    return size;
}

static size_t
scan_scalar_json_special(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_word(ptr + pos);

        if ((scan_equal(word, '"') | scan_equal(word, '\\') | scan_control(word)) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && ptr[pos] >= 0x20 && ptr[pos] != '"' && ptr[pos] != '\\')
        pos++;
    return pos;
}

static size_t
scan_scalar_quote(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_word(ptr + pos);

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

static size_t
scan_scalar_json_mark(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (len - pos >= SCAN_WORD) {
        const uint64_t word = scan_word(ptr + pos);
        const uint64_t folded = word & ~(SCAN_ONES * 0x20);

        if ((scan_equal(word, '"') | scan_equal(folded, '[') | scan_equal(folded, ']')) != 0)
            break;
        pos += SCAN_WORD;
    }
    while (pos < len && !scan_is_mark(ptr[pos]))
        pos++;
    return pos;
}

static bool
scan_scalar_is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    return len == 0 || memcmp(a, b, len) == 0;
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

#define V(name) scan_scalar_##name
#define V_TARGET

static inline bool
V(begins)(const uint8_t *ptr, size_t room, const uint8_t *literal, size_t size)
{
    (void)room;
    return V(is_equal)(ptr, literal, size);
}

static inline size_t
V(non_ascii)(const uint8_t *ptr, size_t len)
{
    return scan_ascii(ptr, len);
}

static inline size_t
V(near_special)(const uint8_t *ptr, size_t len, bool *is_ascii)
{
    const size_t pos = V(json_special)(ptr, len);

    *is_ascii = scan_ascii(ptr, pos) == pos;
    return pos;
}

static inline size_t
V(integer)(const uint8_t *ptr, size_t len, uint64_t *value)
{
    return scan_integer(ptr, len, value);
}

static inline size_t
V(blank)(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len && ptr[pos] == ' ')
        pos++;
    return pos;
}

static inline size_t
V(integer_length)(const uint8_t *ptr, size_t len)
{
    uint64_t value;

    return scan_integer(ptr, len, &value);
}

#include "tg_scan_walk.h"

#undef V
#undef V_TARGET

/* The reference takes each frame by a walk. */
static size_t
scan_scalar_repeat(tg_repeat *self, const tg_pattern *pattern, const uint8_t *ptr, size_t len)
{
    (void)self;
    (void)pattern;
    (void)ptr;
    (void)len;
    return 0;
}

const tg_scan_kernel tg_scan_scalar = {
    .name = "scalar",
    .line_end = scan_scalar_line_end,
    .line = scan_scalar_line,
    .non_ascii = scan_ascii,
    .json_special = scan_scalar_json_special,
    .quote = scan_scalar_quote,
    .json_mark = scan_scalar_json_mark,
    .utf8 = scan_utf8,
    .is_equal = scan_scalar_is_equal,
    .walk = scan_scalar_walk,
    .repeat = scan_scalar_repeat,
};

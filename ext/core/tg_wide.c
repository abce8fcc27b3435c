/* tg_wide.c - measuring and writing of tg_wide.
 *
 * Refuses: vectors of its own; the loops are such as compilers make them of.
 */
#include "tg_wide.h"

#include <stdbool.h>
#include <string.h>

#include "tg_scan.h"

/* A fixed number of bytes, so that the loop over them becomes vectors with no rest. */
#define WIDE_BLOCK ((size_t)64)
#define WIDE_HIGHS 0x8080808080808080u

static inline size_t
wide_sequence(uint8_t lead)
{
    return (size_t)1 + (lead >= 0xc0) + (lead >= 0xe0) + (lead >= 0xf0);
}

static inline bool
wide_is_tail(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

tg_wide
tg_wide_measure(tg_span text)
{
    tg_wide wide = {.width = 1, .bound = 0x7f};
    uint8_t most = 0;
    size_t pos, i;

    wide.ascii = wide.count = pos = tg_scan_non_ascii(text.ptr, text.len);
    for (; text.len - pos >= WIDE_BLOCK; pos += WIDE_BLOCK) {
        uint8_t count = 0;

        for (i = 0; i < WIDE_BLOCK; i++) {
            const uint8_t byte = text.ptr[pos + i];

            count = (uint8_t)(count + !wide_is_tail(byte));
            most = byte > most ? byte : most;
        }
        wide.count += count;
    }
    /* The last block may have ended within a character. */
    while (pos < text.len && wide_is_tail(text.ptr[pos]))
        pos++;
    while (pos < text.len) {
        const uint8_t lead = text.ptr[pos];

        wide.count++;
        most = lead > most ? lead : most;
        pos += wide_sequence(lead);
    }
    if (most >= 0xf0) {
        wide.width = 4;
        wide.bound = 0x10ffff;
    } else if (most >= 0xc4) {
        wide.width = 2;
        wide.bound = 0xffff;
    } else if (most >= 0x80) {
        wide.bound = 0xff;
    }
    return wide;
}

/* The character at ptr, which is not ASCII, and the length of its sequence. */
static inline uint32_t
wide_character(const uint8_t *ptr, size_t *size)
{
    const uint32_t lead = ptr[0];

    if (lead < 0xe0) {
        *size = 2;
        return (lead & 0x1f) << 6 | (ptr[1] & 0x3fu);
    }
    if (lead < 0xf0) {
        *size = 3;
        return (lead & 0x0f) << 12 | (ptr[1] & 0x3fu) << 6 | (ptr[2] & 0x3fu);
    }
    *size = 4;
    return (lead & 0x07) << 18 | (ptr[1] & 0x3fu) << 12 | (ptr[2] & 0x3fu) << 6 | (ptr[3] & 0x3fu);
}

static inline bool
wide_is_ascii_word(const uint8_t *ptr, size_t len)
{
    uint64_t word;

    if (len < sizeof word)
        return false;
    memcpy(&word, ptr, sizeof word);
    return (word & WIDE_HIGHS) == 0;
}

/* The same for each width: what is ASCII up to the first that is not, or for eight bytes at least,
 * at once; else one character. */
#define WIDE_WRITER(name, unit)                                                        \
    static void name(tg_span text, size_t ascii, unit *out)                            \
    {                                                                                  \
        const uint8_t *ptr = text.ptr + ascii;                                         \
        const uint8_t *const end = text.ptr + text.len;                                \
        size_t size, i;                                                                \
                                                                                       \
        for (i = 0; i < ascii; i++)                                                    \
            out[i] = text.ptr[i];                                                      \
        out += ascii;                                                                  \
        while (ptr < end) {                                                            \
            for (; ptr < end && *ptr >= 0x80; ptr += size)                             \
                *out++ = (unit)wide_character(ptr, &size);                             \
            for (; wide_is_ascii_word(ptr, (size_t)(end - ptr)); ptr += 8, out += 8) { \
                for (i = 0; i < 8; i++)                                                \
                    out[i] = ptr[i];                                                   \
            }                                                                          \
            for (; ptr < end && *ptr < 0x80; ptr++)                                    \
                *out++ = *ptr;                                                         \
        }                                                                              \
    }

WIDE_WRITER(wide_write_1, uint8_t)
WIDE_WRITER(wide_write_2, uint16_t)
WIDE_WRITER(wide_write_4, uint32_t)

void
tg_wide_write(tg_span text, const tg_wide *wide, void *out)
{
    if (wide->width == 1)
        wide_write_1(text, wide->ascii, out);
    else if (wide->width == 2)
        wide_write_2(text, wide->ascii, out);
    else
        wide_write_4(text, wide->ascii, out);
}

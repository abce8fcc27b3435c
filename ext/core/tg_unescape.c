/* tg_unescape.c - runs of plain bytes, and one escape at a time between them.
 *
 * Refuses: a closing quote, control characters; a span is what stands between the quotes.
 */
#include "tg_unescape.h"

#include <string.h>

#include "tg_scan.h"

/* What is appended is no longer than what it was read from, and that is bounded. */
#define UNESCAPE_NO_LIMIT (SIZE_MAX / 2)
/* The longest escape: a surrogate pair. */
#define UNESCAPE_PAIR 12

static int
unescape_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* The value of `\u` and four digits at ptr, or -1. */
static int32_t
unescape_unit(const uint8_t *ptr, size_t len)
{
    int32_t value = 0;
    size_t i;

    if (len < 6 || ptr[0] != '\\' || ptr[1] != 'u')
        return -1;
    for (i = 2; i < 6; i++) {
        const int digit = unescape_digit(ptr[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* Writes the character as UTF-8; returns its length. */
static size_t
unescape_encode(uint32_t character, uint8_t out[4])
{
    if (character < 0x80) {
        out[0] = (uint8_t)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (uint8_t)(0xc0 | character >> 6);
        out[1] = (uint8_t)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        out[0] = (uint8_t)(0xe0 | character >> 12);
        out[1] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (character & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | character >> 18);
    out[1] = (uint8_t)(0x80 | (character >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (character & 0x3f));
    return 4;
}

/* A `\u` escape, or a pair: sets how long the escape is; returns the length of out, 0 if it is
 * no character. */
static size_t
unescape_character(const uint8_t *ptr, size_t len, size_t *used, uint8_t out[4])
{
    const int32_t unit = unescape_unit(ptr, len);
    int32_t low;

    *used = UNESCAPE_PAIR / 2;
    if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000))
        return 0;
    if (unit < 0xd800 || unit >= 0xe000)
        return unescape_encode((uint32_t)unit, out);
    low = unescape_unit(ptr + *used, len - *used);
    if (low < 0xdc00 || low >= 0xe000)
        return 0;
    *used = UNESCAPE_PAIR;
    return unescape_encode(0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00),
                           out);
}

/* What the letter behind a backslash means, 0 if it means nothing alone. */
static uint8_t
unescape_letter(uint8_t letter)
{
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

/* One escape; the same contract. */
static size_t
unescape_one(const uint8_t *ptr, size_t len, size_t *used, uint8_t out[4])
{
    if (len < 2)
        return 0;
    if (ptr[1] == 'u')
        return unescape_character(ptr, len, used, out);
    out[0] = unescape_letter(ptr[1]);
    *used = 2;
    return out[0] != 0;
}

bool
tg_unescape(tg_buf *out, const tg_alloc *alloc, tg_span string)
{
    const size_t before = out->len;
    uint8_t *to;

    if (string.len == 0)
        return true; /* out may have no block yet, and nothing is added to a null pointer */
    if (!tg_buf_reserve(out, alloc, UNESCAPE_NO_LIMIT, before + string.len))
        return false;
    to = out->ptr + before;
    while (string.len > 0) {
        const uint8_t *mark = memchr(string.ptr, '\\', string.len);
        const size_t plain = mark != NULL ? (size_t)(mark - string.ptr) : string.len;
        size_t used = 0;
        uint8_t character[4];
        size_t size;

        memcpy(to, string.ptr, plain);
        to += plain;
        string.ptr += plain;
        string.len -= plain;
        if (string.len == 0)
            break;
        size = unescape_one(string.ptr, string.len, &used, character);
        if (size == 0)
            return false;
        memcpy(to, character, size);
        to += size;
        string.ptr += used;
        string.len -= used;
    }
    out->len = (size_t)(to - out->ptr);
    out->work += out->len - before;
    return true;
}

size_t
tg_unescape_compare(tg_span from, tg_span text)
{
    const uint8_t *ptr = from.ptr;
    size_t left = from.len;

    for (;;) {
        const size_t plain = tg_scan_json_special(ptr, left);

        if (plain > text.len || !tg_scan_is_equal(ptr, text.ptr, plain))
            return TG_UNESCAPE_OTHER;
        ptr += plain;
        left -= plain;
        text.ptr += plain;
        text.len -= plain;
        if (left == 0 || (*ptr != '"' && *ptr != '\\'))
            return TG_UNESCAPE_OTHER;
        if (*ptr == '"')
            return text.len == 0 ? (size_t)(ptr - from.ptr) : TG_UNESCAPE_OTHER;
        /* Escapes often stand side by side: that of a quote in JSON in JSON is two. */
        while (left > 0 && *ptr == '\\') {
            size_t used = 0;
            uint8_t character[4];
            const size_t size = unescape_one(ptr, left, &used, character);

            if (size == 0 || size > text.len || memcmp(character, text.ptr, size) != 0)
                return TG_UNESCAPE_OTHER;
            ptr += used;
            left -= used;
            text.ptr += size;
            text.len -= size;
        }
    }
}

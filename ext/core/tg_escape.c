/* tg_escape.c - runs of plain bytes, and one escape at a time between them.
 *
 * Control characters get the short escape where there is one, as json.dumps writes them.
 */
#include "tg_escape.h"

#include <string.h>

#include "tg_scan.h"

/* The letter of the short escape, or 0. */
static uint8_t
escape_letter(uint8_t byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return 0;
    }
}

size_t
tg_escape_size(tg_span text)
{
    size_t size = text.len + 2;
    size_t pos = 0;

    for (;;) {
        pos += tg_scan_json_special(text.ptr + pos, text.len - pos);
        if (pos == text.len)
            return size;
        size += escape_letter(text.ptr[pos++]) != 0 ? 1 : 5;
    }
}

void
tg_escape(tg_span text, uint8_t *out)
{
    static const char digits[] = "0123456789abcdef";

    *out++ = '"';
    while (text.len > 0) {
        const size_t plain = tg_scan_json_special(text.ptr, text.len);
        uint8_t byte, letter;

        memcpy(out, text.ptr, plain);
        out += plain;
        if (plain == text.len)
            break;
        byte = text.ptr[plain];
        text.ptr += plain + 1;
        text.len -= plain + 1;
        letter = escape_letter(byte);
        *out++ = '\\';
        *out++ = letter != 0 ? letter : 'u';
        if (letter == 0) {
            *out++ = '0';
            *out++ = '0';
            *out++ = (uint8_t)digits[byte >> 4];
            *out++ = (uint8_t)digits[byte & 0x0f];
        }
    }
    *out = '"';
}

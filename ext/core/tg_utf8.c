/* tg_utf8.c - checking and replacing: tg_scan_utf8 passes over all that is right and whole, and
 * what it stops at is taken here one byte at a time.
 *
 * Refuses: code points. Nothing here needs to know which character it is.
 */
#include "tg_utf8.h"

#include "tg_scan.h"

/* A text is bounded by its own limit before it comes here; this only keeps the sums from wrapping.
 */
#define UTF8_NO_LIMIT (SIZE_MAX / 2)

bool
tg_utf8_open(tg_utf8 *self, uint8_t byte)
{
    tg_utf8 open = {.need = 1, .seen = 1, .low = 0x80, .high = 0xbf};

    if (byte < 0xc2 || byte > 0xf4)
        return false; /* a continuation, an overlong C0 or C1, or beyond U+10FFFF */
    if (byte >= 0xe0)
        open.need = byte >= 0xf0 ? 3 : 2;
    /* "The first continuation byte is restricted after E0, ED, F0 and F4": no overlong forms, no
     * surrogates, nothing beyond U+10FFFF. */
    if (byte == 0xe0)
        open.low = 0xa0;
    else if (byte == 0xed)
        open.high = 0x9f;
    else if (byte == 0xf0)
        open.low = 0x90;
    else if (byte == 0xf4)
        open.high = 0x8f;
    *self = open;
    return true;
}

bool
tg_utf8_take(tg_utf8 *self, uint8_t byte)
{
    if (byte < self->low || byte > self->high)
        return false;
    self->need--;
    self->seen = self->need == 0 ? 0 : (uint8_t)(self->seen + 1);
    self->low = 0x80;
    self->high = 0xbf;
    return true;
}

size_t
tg_utf8_feed(tg_utf8 *self, const uint8_t *ptr, size_t len)
{
    /* Most texts begin and end between characters, and nothing is wrong with them. */
    size_t pos = self->need == 0 ? tg_scan_utf8(ptr, len) : 0;

    while (pos < len) {
        if (self->need > 0) {
            if (!tg_utf8_take(self, ptr[pos]))
                return pos;
            pos++;
            continue;
        }
        pos += tg_scan_utf8(ptr + pos, len - pos);
        if (pos < len) {
            /* A sequence that is ill-formed, or cut: its bytes say where, or run out. */
            if (!tg_utf8_open(self, ptr[pos]))
                return pos;
            pos++;
        }
    }
    return pos;
}

size_t
tg_utf8_sequence(const uint8_t *ptr, size_t len)
{
    tg_utf8 open = {0};
    size_t pos = 1;

    if (len == 0)
        return 0;
    if (ptr[0] < 0x80)
        return 1;
    if (!tg_utf8_open(&open, ptr[0]))
        return 0;
    while (pos < len && tg_utf8_take(&open, ptr[pos])) {
        pos++;
        if (open.need == 0)
            return pos;
    }
    return 0;
}

size_t
tg_utf8_check(tg_span text)
{
    return tg_scan_utf8(text.ptr, text.len);
}

bool
tg_utf8_is_ascii(tg_span text)
{
    return tg_scan_non_ascii(text.ptr, text.len) == text.len;
}

size_t
tg_utf8_cut(tg_span text)
{
    size_t back;

    /* A lead byte is never a continuation, so the last lead within three bytes decides. */
    for (back = 1; back <= 3 && back <= text.len; back++) {
        const uint8_t *tail = text.ptr + (text.len - back);
        tg_utf8 open = {0};

        if (tail[0] < 0x80)
            return 0;
        if (tail[0] < 0xc0)
            continue;
        if (!tg_utf8_open(&open, tail[0]))
            return 0;
        return tg_utf8_feed(&open, tail + 1, back - 1) == back - 1 && open.need > 0 ? back : 0;
    }
    return 0;
}

bool
tg_utf8_replace(tg_buf *out, const tg_alloc *alloc, tg_span text)
{
    static const uint8_t replacement[3] = {0xef, 0xbf, 0xbd};

    while (text.len > 0) {
        const size_t good = tg_utf8_check(text);
        size_t bad = 0;
        tg_utf8 open = {0};

        if (!tg_buf_append(out, alloc, UTF8_NO_LIMIT, text.ptr, good))
            return false;
        text.ptr += good;
        text.len -= good;
        if (text.len == 0)
            break;
        /* "Replacement of maximal subparts": as many bytes as begin a well-formed sequence, or one
         * byte that begins none. */
        if (tg_utf8_open(&open, text.ptr[0]))
            bad = tg_utf8_feed(&open, text.ptr + 1, text.len - 1);
        text.ptr += bad + 1;
        text.len -= bad + 1;
        if (!tg_buf_append(out, alloc, UTF8_NO_LIMIT, replacement, sizeof replacement))
            return false;
    }
    return true;
}

/* test_utf8.c - tg_utf8 against a literal table 3-7, exhaustively for up to four bytes that matter.
 */
#include "suites.h"

#include <string.h>

#include "check.h"
#include "memory.h"
#include "tg_utf8.h"

/* One representative of each class of bytes that the table tells apart, and both its borders. */
static const uint8_t classes[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                  0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                  0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};

/* Unicode, table 3-7, row by row: lead, then the bounds of the bytes that follow. */
static const struct {
    uint8_t lead_low, lead_high, second_low, second_high;
    size_t len;
} rows[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
            {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
            {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

/* The longest start of a well-formed sequence at ptr; *is_whole says whether it is one. */
static size_t
plain_prefix(const uint8_t *ptr, size_t len, bool *is_whole)
{
    size_t row, pos;

    *is_whole = false;
    for (row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        if (ptr[0] < rows[row].lead_low || ptr[0] > rows[row].lead_high)
            continue;
        for (pos = 1; pos < rows[row].len && pos < len; pos++) {
            const uint8_t low = pos == 1 ? rows[row].second_low : 0x80;
            const uint8_t high = pos == 1 ? rows[row].second_high : 0xbf;

            if (ptr[pos] < low || ptr[pos] > high)
                return pos;
        }
        *is_whole = pos == rows[row].len;
        return pos;
    }
    return 0;
}

/* What check, cut and replace must say, from plain_prefix alone. */
static void
check_text(const uint8_t *ptr, size_t len)
{
    const tg_alloc alloc = tg_alloc_default();
    const tg_span text = {ptr, len};
    uint8_t expected[3 * 8];
    size_t expected_len = 0, pos = 0, first_bad = len, cut = 0;
    tg_buf out = {0};

    while (pos < len) {
        bool is_whole;
        const size_t size = plain_prefix(ptr + pos, len - pos, &is_whole);

        if (is_whole) {
            memcpy(expected + expected_len, ptr + pos, size);
            expected_len += size;
            pos += size;
            continue;
        }
        memcpy(expected + expected_len, "\xef\xbf\xbd", 3);
        expected_len += 3;
        if (first_bad == len)
            first_bad = pos;
        cut = size > 0 && pos + size == len ? size : 0;
        pos += size > 0 ? size : 1;
    }
    CHECK(tg_utf8_check(text) == first_bad);
    CHECK(tg_utf8_cut(text) == cut);
    CHECK(tg_utf8_replace(&out, &alloc, text));
    CHECK(out.len == expected_len && memcmp(out.ptr, expected, expected_len) == 0);
    tg_buf_free(&out, &alloc);
}

static void
check_feed(const uint8_t *ptr, size_t len)
{
    size_t expected = 0, start = len, cut;
    bool is_whole = true;

    while (expected < len && is_whole) {
        const size_t size = plain_prefix(ptr + expected, len - expected, &is_whole);

        start = expected;
        expected += size;
    }
    for (cut = 0; cut <= len; cut++) {
        tg_utf8 state = {0};
        size_t at = tg_utf8_feed(&state, ptr, cut);

        if (at == cut)
            at += tg_utf8_feed(&state, ptr + cut, len - cut);
        CHECK(at == expected);
        if (at < len)
            CHECK(at - state.seen == start);
    }
}

void
test_utf8(void)
{
    const size_t count = sizeof classes;
    uint8_t text[6] = {0};
    size_t a, b, c, d;

    TEST("check, cut, replace and feed follow table 3-7 on all texts of four classes of bytes");
    for (a = 0; a < count; a++) {
        for (b = 0; b < count; b++) {
            for (c = 0; c < count; c++) {
                for (d = 0; d < count; d++) {
                    text[0] = classes[a];
                    text[1] = classes[b];
                    text[2] = classes[c];
                    text[3] = classes[d];
                    check_text(text, 4);
                    check_feed(text, 4);
                }
            }
        }
    }
    TEST("shorter texts too, and those behind plain text");
    for (a = 0; a < count; a++) {
        check_text(&classes[a], 1);
        for (b = 0; b < count; b++) {
            memcpy(text, "abcd", 4);
            text[4] = classes[a];
            text[5] = classes[b];
            check_text(text, 6);
            check_text(text + 4, 2);
            check_feed(text, 6);
        }
    }
}

/* test_utf8.c - tg_utf8 against a literal table 3-7: exhaustively for up to four bytes that matter,
 * and with every kernel of tg_scan for each kind of fault at each place of longer texts.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "island.h"
#include "tg_scan.h"
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

/* ---- longer texts, all kernels ----------------------------------------------------------------
 */

#define MOST 140u /* bytes before a fault: more than two of the widest vectors */

/* Where the text stops being well-formed and whole; it is both up to pos. */
static size_t
plain_check(const uint8_t *ptr, size_t pos, size_t len)
{
    while (pos < len) {
        bool is_whole;
        const size_t size = plain_prefix(ptr + pos, len - pos, &is_whole);

        if (!is_whole)
            return pos;
        pos += size;
    }
    return pos;
}

/* check at either forbidden page; feed in one piece, whose rest must be the open character. The
 * text is well-formed up to good. */
static void
check_long(island *land, const uint8_t *text, size_t good, size_t len)
{
    const uint8_t *const first = island_first(land, text, len);
    const uint8_t *const last = island_last(land, text, len);
    const size_t first_bad = plain_check(text, good, len);
    tg_utf8 state = {0};
    size_t at;

    CHECK(tg_scan_utf8(first, len) == first_bad && tg_scan_utf8(last, len) == first_bad);
    CHECK(tg_utf8_check((tg_span){last, len}) == first_bad);
    at = tg_utf8_feed(&state, last, len);
    CHECK(at - state.seen == first_bad);
    if (first_bad < len) {
        bool is_whole;

        CHECK(at == first_bad + plain_prefix(text + first_bad, len - first_bad, &is_whole));
    }
}

/* What stands before and behind: one, two, three and four bytes a character, and a mixture. */
static const char *const fillers[] = {"a", "\xc3\xa9", "\xe4\xbd\xa0", "\xf0\x9f\x98\x80",
                                      "it\xe2\x80\x99s \xf0\x9f\x98\x80 "};

/* Whole characters of filler up to len, and ASCII for what is left. */
static void
fill(uint8_t *ptr, size_t len, const char *filler)
{
    const size_t size = strlen(filler);
    size_t pos = 0;

    for (; len - pos >= size; pos += size)
        memcpy(ptr + pos, filler, size);
    memset(ptr + pos, 'x', len - pos);
}

/* Sequences at the borders of each row of the table, and one step beyond them. */
static size_t
make_sequences(uint8_t sequences[][5])
{
    static const uint8_t leads[] = {0x7f, 0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
                                    0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    static const uint8_t seconds[] = {0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0};
    static const uint8_t tails[][2] = {{0x80, 0x80}, {0xbf, 0xbf}, {0x7f, 0x80}, {0x80, 0x7f},
                                       {0xc2, 0x80}, {0x80, 0xc2}, {0x41, 0x41}};
    size_t lead, second, tail, count = 0;

    for (lead = 0; lead < sizeof leads; lead++) {
        for (second = 0; second < sizeof seconds; second++) {
            for (tail = 0; tail < sizeof tails / sizeof tails[0]; tail++) {
                uint8_t *const sequence = sequences[count++];

                sequence[0] = leads[lead];
                sequence[1] = seconds[second];
                sequence[2] = tails[tail][0];
                sequence[3] = tails[tail][1];
                sequence[4] = 'z';
            }
        }
    }
    return count;
}

/* A third of the sequences at each place, with text behind and without, and cut at each byte; the
 * other fillers take the others. */
static void
check_each_place(island *land, size_t filler)
{
    static uint8_t sequences[19 * 8 * 7][5];
    const size_t count = make_sequences(sequences);
    uint8_t text[MOST + 5 + MOST];
    size_t place, i, len;

    for (place = 0; place <= MOST && !check_is_failing(); place++) {
        fill(text, place, fillers[filler]);
        fill(text + place + 5, MOST, fillers[filler]);
        for (i = (place + filler) % 3; i < count; i += 3) {
            memcpy(text + place, sequences[i], 5);
            check_long(land, text, place, place + 5 + i % MOST);
            for (len = place + 1; len <= place + 5; len++)
                check_long(land, text, place, len);
        }
    }
}

/* Well-formed text of all fillers, with one byte or none of it changed. */
static void
check_random_texts(island *land)
{
    uint64_t seed = 88172645463325252u;
    uint8_t text[1000];
    unsigned round;

    for (round = 0; round < 10000; round++) {
        const size_t most = check_random(&seed) % (sizeof text - 10);
        size_t len = 0;

        while (len < most) {
            const char *const filler = fillers[check_random(&seed) % 5];

            memcpy(text + len, filler, strlen(filler));
            len += strlen(filler);
        }
        if (round % 4 != 0 && len > 0)
            text[check_random(&seed) % len] = (uint8_t)(check_random(&seed) >> 8);
        check_long(land, text, 0, len);
    }
}

static void
test_kernel(const char *kernel)
{
    char sentence[100];
    island land;
    size_t i;

    island_open(&land);
    for (i = 0; i < sizeof fillers / sizeof fillers[0]; i++) {
        snprintf(sentence, sizeof sentence, "%s: each fault at each place of long text %u", kernel,
                 (unsigned)i);
        TEST(sentence);
        check_each_place(&land, i);
    }
    snprintf(sentence, sizeof sentence, "%s: random text with a byte changed", kernel);
    TEST(sentence);
    check_random_texts(&land);
    CHECK(tg_scan_utf8(NULL, 0) == 0);
    island_close(&land);
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
    suite_each_kernel(test_kernel);
}

/* test_scan.c - every kernel of tg_scan against one-line definitions, on the same bytes. */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "island.h"
#include "tg_scan.h"

#define MOST 200u      /* every length up to here */
#define ALIGNMENTS 64u /* of the widest vector */

/* ---- the definitions --------------------------------------------------------------------------
 */

typedef struct scan_case {
    const char *sentence;
    size_t (*scan)(const uint8_t *ptr, size_t len);
    bool (*is_stop)(uint8_t byte);
    const char *fillers; /* bytes that do not stop it */
    uint8_t stop;        /* a byte that does */
} scan_case;

static bool
is_line_end(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

static bool
is_non_ascii(uint8_t byte)
{
    return byte >= 0x80;
}

static bool
is_json_special(uint8_t byte)
{
    return byte < 0x20 || byte == '"' || byte == '\\';
}

static bool
is_quote(uint8_t byte)
{
    return byte == '"' || byte == '\\';
}

static bool
is_mark(uint8_t byte)
{
    return byte != 0 && strchr("\"{}[]", byte) != NULL;
}

static bool
is_non_digit(uint8_t byte)
{
    return byte < '0' || byte > '9';
}

static bool
is_non_blank(uint8_t byte)
{
    return byte == 0 || strchr(" \t\r\n", byte) == NULL;
}

/* tg_scan_line; no place at all if it is wrong about ASCII. */
static size_t
scan_line(const uint8_t *ptr, size_t len)
{
    bool is_ascii = false, expected = true;
    const size_t size = tg_scan_line(ptr, len, &is_ascii);
    size_t pos;

    for (pos = 0; pos < size && pos < len; pos++)
        expected = expected && ptr[pos] < 0x80;
    return is_ascii == expected ? size : SIZE_MAX;
}

static const scan_case cases[] = {
    {"line_end stops at LF and CR alone", tg_scan_line_end, is_line_end, "a\x8d", '\r'},
    {"line stops there too, and tells ASCII", scan_line, is_line_end, "a\x80", '\n'},
    {"non_ascii stops at 0x80 and above alone", tg_scan_non_ascii, is_non_ascii, "a", 0x80},
    {"json_special stops at quote, backslash and controls alone", tg_scan_json_special,
     is_json_special, "a\x80\xff", 0x1f},
    {"quote stops at quote and backslash alone", tg_scan_quote, is_quote, "a\xdc", '\\'},
    {"json_mark stops at quotes and brackets alone", tg_scan_json_mark, is_mark, "a\xfb", ']'},
    {"non_digit stops at all but digits", tg_scan_non_digit, is_non_digit, "7", '/'},
    {"non_blank stops at all but white space", tg_scan_non_blank, is_non_blank, " ", 'a'},
};

static size_t
plain_scan(const scan_case *test, const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len && !test->is_stop(ptr[pos]))
        pos++;
    return pos;
}

static bool
is_right(const scan_case *test, const uint8_t *ptr, size_t len)
{
    return test->scan(ptr, len) == plain_scan(test, ptr, len);
}

/* ---- the scans --------------------------------------------------------------------------------
 */

/* Every byte value at every place of a run that does not stop, up to either page. */
static void
check_each_byte(const scan_case *test, const island *land, uint8_t filler)
{
    size_t len, pos;
    unsigned byte;

    for (len = 0; len <= 70; len++) {
        uint8_t *const first = land->start, *const last = land->end - len;

        memset(first, filler, len);
        memset(last, filler, len);
        CHECK(is_right(test, first, len) && is_right(test, last, len));
        for (pos = 0; pos < len; pos++) {
            for (byte = 0; byte < 256; byte++) {
                const size_t expected = test->is_stop((uint8_t)byte) ? pos : len;

                first[pos] = last[pos] = (uint8_t)byte;
                CHECK(test->scan(first, len) == expected);
                CHECK(test->scan(last, len) == expected);
            }
            first[pos] = last[pos] = filler;
        }
    }
}

/* Every length, alignment and place of one stop, with stops all around that do not count. */
static void
check_each_place(const scan_case *test, const island *land)
{
    const uint8_t filler = (uint8_t)test->fillers[0];
    size_t len, shift, pos;

    for (shift = 0; shift < ALIGNMENTS; shift++) {
        uint8_t *const ptr = land->start + ALIGNMENTS + shift;

        for (len = 0; len <= MOST; len++) {
            memset(land->start, test->stop, MOST + 3 * ALIGNMENTS);
            memset(ptr, filler, len);
            CHECK(test->scan(ptr, len) == len);
            for (pos = len; pos-- > 0;) {
                ptr[pos] = test->stop; /* and all those behind it */
                CHECK(test->scan(ptr, len) == pos);
            }
        }
    }
}

/* Bytes of all values, of few, and of fillers with a stop now and then. */
static void
check_random_bytes(const scan_case *test, const island *land)
{
    const size_t size = (size_t)(land->end - land->start);
    uint64_t seed = 88172645463325252u;
    unsigned round;

    for (round = 0; round < 6000; round++) {
        const size_t most = round % 16 == 0 ? size : MOST;
        const size_t len = check_random(&seed) % (most + 1);
        const uint8_t mask = (uint8_t)check_random(&seed);
        const unsigned rare = 1u << (check_random(&seed) % 10);
        uint8_t *const ptr = round % 2 == 0 ? land->end - len : land->start;
        size_t i;

        for (i = 0; i < len; i++) {
            const uint64_t random = check_random(&seed);

            ptr[i] = (uint8_t)(random >> 8 & mask);
            if ((random >> 16) % rare != 0)
                ptr[i] = (uint8_t)test->fillers[i % strlen(test->fillers)];
        }
        CHECK(is_right(test, ptr, len));
    }
}

/* ---- is_equal ---------------------------------------------------------------------------------
 */

static void
check_is_equal(const island *a, const island *b)
{
    size_t len, pos, shift;

    for (len = 0; len <= 2 * MOST + 10; len++) {
        uint8_t *const last_a = a->end - len, *const last_b = b->end - len;

        for (pos = 0; pos < len; pos++)
            a->start[pos] = b->start[pos] = last_a[pos] = last_b[pos] = (uint8_t)(pos * 7 + len);
        CHECK(tg_scan_is_equal(a->start, b->start, len));
        CHECK(tg_scan_is_equal(last_a, last_b, len));
        for (pos = 0; pos < len; pos++) {
            const uint8_t bit = (uint8_t)(1u << (pos + len) % 8);

            b->start[pos] ^= bit;
            last_a[pos] ^= bit;
            CHECK(!tg_scan_is_equal(a->start, b->start, len));
            CHECK(!tg_scan_is_equal(last_a, last_b, len));
            b->start[pos] ^= bit;
            last_a[pos] ^= bit;
        }
    }
    for (shift = 0; shift < ALIGNMENTS; shift++) {
        for (len = 0; len <= MOST; len++) {
            uint8_t *const ptr = a->start + 1 + shift, *const other = b->start + ALIGNMENTS - shift;

            memset(a->start, 'a', MOST + 2 * ALIGNMENTS);
            memset(b->start, 'b', MOST + 2 * ALIGNMENTS);
            memset(ptr, 'c', len);
            memset(other, 'c', len);
            CHECK(tg_scan_is_equal(ptr, other, len));
            CHECK(!tg_scan_is_equal(ptr - 1, other - 1, len + 1));
            CHECK(!tg_scan_is_equal(ptr, other, len + 1));
        }
    }
}

/* ---- all kernels ------------------------------------------------------------------------------
 */

static void
test_kernel(const char *kernel, const island *land, const island *other)
{
    char sentence[100];
    size_t i, filler;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(sentence, sizeof sentence, "%s: %s", kernel, cases[i].sentence);
        TEST(sentence);
        for (filler = 0; cases[i].fillers[filler] != '\0'; filler++)
            check_each_byte(&cases[i], land, (uint8_t)cases[i].fillers[filler]);
        check_each_place(&cases[i], land);
        check_random_bytes(&cases[i], land);
        CHECK(cases[i].scan(NULL, 0) == 0);
    }
    snprintf(sentence, sizeof sentence, "%s: is_equal sees every bit of every byte", kernel);
    TEST(sentence);
    check_is_equal(land, other);
    CHECK(tg_scan_is_equal(NULL, NULL, 0));
}

static void
test_choice(const char *in_use)
{
    size_t count = 0;

    TEST("the kernel in use is one of the kernels that there are, scalar the first");
    CHECK(strcmp(tg_scan_kernel_at(0), "scalar") == 0);
    while (tg_scan_kernel_at(count) != NULL && strcmp(tg_scan_kernel_at(count), in_use) != 0)
        count++;
    CHECK(tg_scan_kernel_at(count) != NULL);
#if defined(__x86_64__)
    TEST("x86-64 has SSE2 always");
    CHECK(strcmp(tg_scan_kernel_at(1), "sse2") == 0);
#elif defined(__AARCH64EL__)
    TEST("aarch64 has NEON always");
    CHECK(strcmp(tg_scan_kernel_at(1), "neon") == 0 && tg_scan_kernel_at(2) == NULL);
#else
    TEST("any other machine has the scalar kernel alone");
    CHECK(tg_scan_kernel_at(1) == NULL);
#endif
    TEST("a kernel that is not there is refused, and the choice stays");
    CHECK(!tg_scan_use("") && !tg_scan_use("sse") && !tg_scan_use("sse22"));
    CHECK(strcmp(tg_scan_kernel_name(), in_use) == 0);
}

static void
test_on(const char *kernel)
{
    island land, other;

    island_open(&land);
    island_open(&other);
    test_kernel(kernel, &land, &other);
    island_close(&land);
    island_close(&other);
}

void
test_scan(void)
{
    test_choice(tg_scan_kernel_name());
    suite_each_kernel(test_on);
}

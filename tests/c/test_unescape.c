/* test_unescape.c - the text between the quotes of a JSON string: each escape, halves, cut ones,
 * the borders of UTF-8, and that a refusal leaves what was there.
 */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "tg_escape.h"
#include "tg_unescape.h"

/* What out holds before each call: a refusal must leave it, success append to it. */
static const char before[] = "before ";
#define BEFORE (sizeof before - 1)

/* The string in a block of its exact size, so that a byte too much is seen. */
static bool
unescape(tg_buf *out, const tg_alloc *alloc, const void *ptr, size_t len)
{
    uint8_t *block = malloc(len + (len == 0));
    tg_span string = {block, len};
    bool is_done;

    if (block == NULL)
        exit(3);
    memcpy(block, ptr, len);
    is_done = tg_unescape(out, alloc, string);
    free(block);
    return is_done;
}

static void
check(const void *ptr, size_t len, const void *expected, size_t expected_len)
{
    const tg_alloc alloc = tg_alloc_default();
    tg_buf out = {0};
    bool is_done;

    CHECK(tg_buf_append(&out, &alloc, SIZE_MAX / 2, (const uint8_t *)before, BEFORE));
    is_done = unescape(&out, &alloc, ptr, len);
    CHECK(is_done == (expected != NULL));
    CHECK(out.len == BEFORE + (is_done ? expected_len : 0) && memcmp(out.ptr, before, BEFORE) == 0);
    if (is_done && expected != NULL && out.len == BEFORE + expected_len)
        CHECK(memcmp(out.ptr + BEFORE, expected, expected_len) == 0);
    tg_buf_free(&out, &alloc);
}

typedef struct row {
    const char *string;
    const char *text; /* NULL: refused */
} row;

static void
check_rows(const row *rows, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        check(rows[i].string, strlen(rows[i].string), rows[i].text,
              rows[i].text != NULL ? strlen(rows[i].text) : 0);
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof(rows)[0])

static void
test_escapes(void)
{
    static const row good[] = {
        {"", ""},
        {"plain", "plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"a\\nb", "a\nb"},
        {"\\\\n", "\\n"},
        {"\\\\\\\\", "\\\\"},
        {"\\u0041\\u00e9\\u20AC\\u20ac", "A\xc3\xa9\xe2\x82\xac\xe2\x82\xac"},
        {"\\uabCD\\uABcd", "\xea\xaf\x8d\xea\xaf\x8d"},
        {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"},
        {"\\uD83D\\uDE00\\ud83d\\ude00", "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"},
        {"\xe4\xb8\xad\\t\xf0\x9f\x98\x80", "\xe4\xb8\xad\t\xf0\x9f\x98\x80"},
        {"\\u005c\\u0022", "\\\""},
        {"\x7f\\u007f", "\x7f\x7f"},
        {"\\u00411", "A1"},
    };
    const char *plain;
    size_t i;

    TEST("every escape of JSON means its character, in either case of its digits");
    CHECK_ROWS(good);
    TEST("a NUL is a character like any other, escaped or not");
    check("a\\u0000b\0c", 10, "a\0b\0c", 5);
    TEST("any other letter after a backslash is refused");
    plain = "\"\\/bfnrtu";
    for (i = 0; i < 256; i++) {
        const char pair[4] = {'x', '\\', (char)i, 'y'};

        if (i == 0 || strchr(plain, (int)i) == NULL)
            check(pair, sizeof pair, NULL, 0);
    }
}

static void
test_refusals(void)
{
    static const row bad[] = {
        {"\\ud83d", NULL},        {"\\ude00", NULL},         {"\\ude00\\ud83d", NULL},
        {"\\ud83dx", NULL},       {"\\ud83d\\n", NULL},      {"\\ud83d\\u0041", NULL},
        {"\\ud83d\\ud83d", NULL}, {"\\ud83d\\ue000", NULL},  {"\\ud83d\\udbff", NULL},
        {"\\ud83d\\", NULL},      {"\\ud83d\\u", NULL},      {"\\ud83d\\ude0", NULL},
        {"\\ud83d\\ude0g", NULL}, {"\\udfff\\udfff", NULL},  {"good, then \\x", NULL},
        {"\\ud83d ude00", NULL},  {"\\ud83d\\Ude00", NULL},  {"\\ud83dude00\\", NULL},
        {"\\U0041", NULL},        {"\\ud83d\\ude00\\", NULL}};
    static const char digits[] = "0123456789abcdefABCDEF";
    char text[] = "\\u0041";
    size_t at, i;

    TEST("half a surrogate pair is refused, whatever follows it");
    CHECK_ROWS(bad);
    TEST("an escape that the end cuts is refused, at any place");
    for (i = 1; i < 6; i++) {
        check("\\u0041", i, NULL, 0);
        check("plain, more than a word\\u0041", 23 + i, NULL, 0);
    }
    for (i = 1; i < 12; i++)
        check("\\ud83d\\ude00", i, NULL, 0);
    TEST("a byte that is no hexadecimal digit is refused, at each of the four places");
    for (at = 2; at < 6; at++) {
        for (i = 0; i < 256; i++) {
            memcpy(text, "\\u0041", 6);
            text[at] = (char)i;
            if (i == 0 || strchr(digits, (int)i) == NULL)
                check(text, 6, NULL, 0);
        }
    }
}

/* UTF-8 by the book: the table of RFC 3629, 3. */
static size_t
encode(uint32_t code, uint8_t *out)
{
    const size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t i;

    for (i = len; i > 1; i--) {
        out[i - 1] = (uint8_t)(0x80 | (code & 63));
        code >>= 6;
    }
    out[0] = (uint8_t)(lead[len] | code);
    return len;
}

static void
check_code(uint32_t code)
{
    char string[16];
    uint8_t expected[4];
    const size_t size = encode(code, expected);

    if (code < 0x10000)
        snprintf(string, sizeof string, "\\u%04x", (unsigned)code);
    else
        snprintf(string, sizeof string, "\\u%04x\\u%04X",
                 (unsigned)(0xd800 + ((code - 0x10000) >> 10)),
                 (unsigned)(0xdc00 + ((code - 0x10000) & 0x3ff)));
    check(string, strlen(string), expected, size);
}

static void
test_borders(void)
{
    static const uint32_t borders[] = {0,      0x7f,   0x80,    0x7ff,   0x800,    0xd7ff, 0xe000,
                                       0xfffd, 0xffff, 0x10000, 0x10001, 0x10ffff, 0xfeff};
    size_t i;
    uint32_t code;

    TEST("the borders of the lengths of UTF-8, and of the surrogates, are where they should be");
    for (i = 0; i < sizeof borders / sizeof borders[0]; i++)
        check_code(borders[i]);
    TEST("every character of the first plane, and a pair for each block of the others, is itself");
    for (code = 0; code < 0x110000; code += code < 0x10000 ? 1 : 0x3ff)
        if (code < 0xd800 || code >= 0xe000)
            check_code(code);
    TEST("each half alone is refused");
    for (code = 0xd800; code < 0xe000; code++) {
        char string[8];

        snprintf(string, sizeof string, "\\u%04x", (unsigned)code);
        check(string, 6, NULL, 0);
    }
}

static void
test_no_memory(void)
{
    const tg_span nothing = {(const uint8_t *)"", 0};
    size_t n;

    TEST("no memory is a refusal, and what was there is kept");
    for (n = 1; n <= 3; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_buf out = {0};
        char big[200];
        bool first, second;

        memset(big, 'x', sizeof big);
        first = unescape(&out, &alloc, "a\\tb", 4);
        CHECK(first == (n != 1) && out.len == (first ? 3 : 0));
        second = unescape(&out, &alloc, big, sizeof big);
        CHECK(second == (n != 2) && out.len == (first ? 3u : 0) + (second ? sizeof big : 0));
        CHECK(!first || memcmp(out.ptr, "a\tb", 3) == 0);
        tg_buf_free(&out, &alloc);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
    TEST("nothing appended to nothing asks for no memory");
    {
        heap memory = {.refuse_at = 1};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_buf out = {0};

        CHECK(tg_unescape(&out, &alloc, nothing) && out.len == 0 && memory.asked == 0);
        tg_buf_free(&out, &alloc);
    }
    TEST("the room asked for is that of the string: what is unescaped is never longer");
    {
        heap memory = {0};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_buf out = {0};
        char string[6 * 64];
        size_t i;

        for (i = 0; i < sizeof string; i += 6)
            memcpy(string + i, "\\uffff", 6);
        CHECK(unescape(&out, &alloc, string, sizeof string) && out.len == 3 * 64);
        CHECK(memory.asked == 1 && out.work == 3 * 64);
        tg_buf_free(&out, &alloc);
    }
}

/* ---- comparing --------------------------------------------------------------------------------
 */

/* Both in blocks of their exact size. */
static size_t
compare(const void *string, size_t len, const void *text, size_t text_len)
{
    uint8_t *from = malloc(len + (len == 0));
    uint8_t *to = malloc(text_len + (text_len == 0));
    const tg_span a = {from, len}, b = {to, text_len};
    size_t end;

    if (from == NULL || to == NULL)
        exit(3);
    memcpy(from, string, len);
    memcpy(to, text, text_len);
    end = tg_unescape_compare(a, b);
    free(from);
    free(to);
    return end;
}

static void
test_compare_rows(void)
{
    static const row same[] = {
        {"", ""},
        {"plain", "plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"a\\\\n", "a\\n"},
        {"\\u0041\\u20ac/\\uD83d\\ude00", "A\xe2\x82\xac/\xf0\x9f\x98\x80"},
    };
    static const row other[] = {
        {"plain", "plaim"},
        {"plain", "plai"},
        {"plain", "plains"},
        {"a\nb", "a\nb"},
        {"a\\n", "a\\n"},
        {"a\\x", "a\\x"},
        {"\\ud83d", "\xed\xa0\xbd"},
        {"\\u004", "\x04"},
        {"\\u0041", "\\u0041"},
        {"\\n\\", "\n\\"},
        {"\\n", ""},
        {"\\ud83d\\ude00", "\xf0\x9f\x98"},
    };
    char quoted[80];
    size_t i;

    TEST("a string that means the text, and where it ends");
    for (i = 0; i < sizeof same / sizeof same[0]; i++) {
        const size_t len = strlen(same[i].string);

        memcpy(quoted, same[i].string, len);
        memcpy(quoted + len, "\", \"a", 5);
        CHECK(compare(quoted, len + 5, same[i].text, strlen(same[i].text)) == len);
        CHECK(compare(quoted, len, same[i].text, strlen(same[i].text)) == TG_UNESCAPE_OTHER);
    }
    TEST("a string that means another text, or nothing");
    for (i = 0; i < sizeof other / sizeof other[0]; i++) {
        const size_t len = strlen(other[i].string);

        memcpy(quoted, other[i].string, len);
        quoted[len] = '"';
        CHECK(compare(quoted, len + 1, other[i].text, strlen(other[i].text)) == TG_UNESCAPE_OTHER);
    }
}

static void
test_compare_any(void)
{
    static const char letters[] = "abcdefghijklmnop\"\\\n\x02/";
    uint64_t seed = 3;
    unsigned turn;

    TEST("what is escaped is compared as it is unescaped, at every length and with any byte "
         "changed");
    for (turn = 0; turn < 4000; turn++) {
        uint8_t bytes[160], string[160 * 6 + 2];
        const size_t len = turn % sizeof bytes;
        const tg_span text = {bytes, len};
        size_t i, size;

        for (i = 0; i < len; i++)
            bytes[i] = (uint8_t)letters[check_random(&seed) % (sizeof letters - 1)];
        size = tg_escape_size(text);
        tg_escape(text, string);
        CHECK(compare(string + 1, size - 1, bytes, len) == size - 2);
        CHECK(compare(string + 1, check_random(&seed) % (size - 1), bytes, len) ==
              TG_UNESCAPE_OTHER);
        if (len > 0) {
            bytes[check_random(&seed) % len] ^= 1;
            CHECK(compare(string + 1, size - 1, bytes, len) == TG_UNESCAPE_OTHER);
        }
    }
}

void
test_unescape(void)
{
    test_compare_rows();
    test_compare_any();
    test_escapes();
    test_refusals();
    test_borders();
    test_no_memory();
}

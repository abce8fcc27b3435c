/* test_escape.c - a text as a JSON string: each byte alone, between others, and back again. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "tg_escape.h"
#include "tg_unescape.h"

/* The text and what is made of it stand in blocks of their exact size. */
static void
check(const void *ptr, size_t len, const char *expected, size_t expected_len)
{
    uint8_t *block = malloc(len + (len == 0));
    const tg_span text = {block, len};
    uint8_t *out;
    size_t size;

    if (block == NULL)
        exit(3);
    memcpy(block, ptr, len);
    size = tg_escape_size(text);
    out = malloc(size);
    if (out == NULL)
        exit(3);
    tg_escape(text, out);
    CHECK(size == expected_len && memcmp(out, expected, size) == 0);
    free(out);
    free(block);
}

static void
test_each_byte(void)
{
    static const struct {
        char byte;
        char escape[8];
    } shorts[] = {{'"', "\"\\\"\""}, {'\\', "\"\\\\\""}, {'\b', "\"\\b\""}, {'\f', "\"\\f\""},
                  {'\n', "\"\\n\""}, {'\r', "\"\\r\""},  {'\t', "\"\\t\""}, {'\x7f', "\"\x7f\""},
                  {'/', "\"/\""},    {'a', "\"a\""}};
    size_t i;

    TEST("bytes that have a short escape, or none");
    for (i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        check(&shorts[i].byte, 1, shorts[i].escape, strlen(shorts[i].escape));
    TEST("the other control characters are written with four digits");
    check("\0\x01\x1f", 3, "\"\\u0000\\u0001\\u001f\"", 20);
    TEST("an empty text, one without escapes, and one in several bytes each");
    check("", 0, "\"\"", 2);
    check("plain", 5, "\"plain\"", 7);
    check("\xe4\xb8\xad\n\xf0\x9f\x98\x80", 8, "\"\xe4\xb8\xad\\n\xf0\x9f\x98\x80\"", 11);
}

static void
test_round_trip(void)
{
    static const char letters[] = "abcdefgh\"\\\n\x01\x1f/ ";
    const tg_alloc alloc = tg_alloc_default();
    uint64_t seed = 11;
    unsigned turn;

    TEST("read again it is the text, of every length around a vector's");
    for (turn = 0; turn < 3000; turn++) {
        const size_t len = turn % 150;
        uint8_t bytes[150], written[150 * 6 + 2];
        const tg_span text = {bytes, len};
        tg_span string;
        tg_buf back = {0};
        size_t i;

        for (i = 0; i < len; i++)
            bytes[i] = (uint8_t)letters[check_random(&seed) % (sizeof letters - 1)];
        tg_escape(text, written);
        string.ptr = written + 1;
        string.len = tg_escape_size(text) - 2;
        CHECK(written[0] == '"' && written[string.len + 1] == '"');
        CHECK(tg_unescape(&back, &alloc, string) && back.len == len &&
              (len == 0 || memcmp(back.ptr, bytes, len) == 0));
        tg_buf_free(&back, &alloc);
    }
}

void
test_escape(void)
{
    test_each_byte();
    test_round_trip();
}

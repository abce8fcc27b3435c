/* test_points.c - tg_points on every border of UTF-8, alone and between others, and on any bytes in
 * a block of their exact size, so that a byte or a point too much is seen.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tg_points.h"

#define LONGEST 16

static const struct {
    const char *text;
    uint32_t point;
} borders[] = {
    {"\x01", 0x01},
    {"A", 'A'},
    {"\x7f", 0x7f},
    {"\xc2\x80", 0x80},
    {"\xc3\xbf", 0xff},
    {"\xc4\x80", 0x100},
    {"\xdf\xbf", 0x7ff},
    {"\xe0\xa0\x80", 0x800},
    {"\xe4\xbd\xa0", 0x4f60},
    {"\xed\x9f\xbf", 0xd7ff},
    {"\xee\x80\x80", 0xe000},
    {"\xef\xbf\xbf", 0xffff},
    {"\xf0\x90\x80\x80", 0x10000},
    {"\xf4\x8f\xbf\xbf", 0x10ffff},
};
#define BORDERS (sizeof borders / sizeof borders[0])

/* Both in blocks of their exact size. */
static size_t
points_of(const void *ptr, size_t len, uint32_t *found)
{
    uint8_t *text = malloc(len + (len == 0));
    uint32_t *out = malloc(len * sizeof *out + (len == 0));
    const tg_span span = {text, len};
    size_t count;

    if (text == NULL || out == NULL)
        exit(3);
    memcpy(text, ptr, len);
    count = tg_points(span, out);
    memcpy(found, out, count * sizeof *out);
    free(text);
    free(out);
    return count;
}

static void
test_borders(void)
{
    uint32_t found[LONGEST];
    char text[LONGEST];
    size_t i, j;

    TEST("a character of any length is its code point, whatever stands around it");
    CHECK(points_of("", 0, found) == 0);
    for (i = 0; i < BORDERS; i++) {
        CHECK(points_of(borders[i].text, strlen(borders[i].text), found) == 1);
        CHECK(found[0] == borders[i].point);
        for (j = 0; j < BORDERS; j++) {
            strcpy(text, borders[j].text);
            strcat(text, borders[i].text);
            strcat(text, borders[j].text);
            CHECK(points_of(text, strlen(text), found) == 3);
            CHECK(found[0] == borders[j].point && found[1] == borders[i].point &&
                  found[2] == borders[j].point);
        }
    }
}

static void
test_any_bytes(void)
{
    uint64_t seed = 20;
    uint32_t found[LONGEST];
    uint8_t text[LONGEST];
    size_t round, i;

    TEST("of any bytes there come as many points at most, and nothing is touched beyond");
    for (round = 0; round < 20000; round++) {
        const size_t len = (size_t)(check_random(&seed) % (LONGEST + 1));

        for (i = 0; i < len; i++)
            text[i] = (uint8_t)(check_random(&seed) >> 24);
        CHECK(points_of(text, len, found) <= len);
    }
}

void
test_points(void)
{
    test_borders();
    test_any_bytes();
}

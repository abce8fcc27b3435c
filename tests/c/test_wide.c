/* test_wide.c - tg_wide against characters that were chosen first and then written as UTF-8. */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "island.h"
#include "tg_scan.h"
#include "tg_wide.h"

#define MOST 300u /* characters; several blocks of each loop */

/* The borders of every width and of every length of a sequence. */
static const uint32_t borders[] = {0x00,   0x7f,   0x80,   0xff,    0x100,   0x7ff,   0x800,
                                   0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f326, 0x10ffff};
#define BORDERS (sizeof borders / sizeof borders[0])

static size_t
put(uint8_t *to, uint32_t character)
{
    if (character < 0x80) {
        to[0] = (uint8_t)character;
        return 1;
    }
    if (character < 0x800) {
        to[0] = (uint8_t)(0xc0 | character >> 6);
        to[1] = (uint8_t)(0x80 | (character & 0x3f));
        return 2;
    }
    if (character < 0x10000) {
        to[0] = (uint8_t)(0xe0 | character >> 12);
        to[1] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
        to[2] = (uint8_t)(0x80 | (character & 0x3f));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | character >> 18);
    to[1] = (uint8_t)(0x80 | (character >> 12 & 0x3f));
    to[2] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    to[3] = (uint8_t)(0x80 | (character & 0x3f));
    return 4;
}

static uint32_t
bound_of(uint32_t most)
{
    if (most > 0xffff)
        return 0x10ffff;
    if (most > 0xff)
        return 0xffff;
    return most > 0x7f ? 0xff : 0x7f;
}

static uint32_t
character_at(const uint8_t *out, size_t width, size_t index)
{
    uint16_t half;
    uint32_t word;

    if (width == 1)
        return out[index];
    if (width == 2) {
        memcpy(&half, out + 2 * index, sizeof half);
        return half;
    }
    memcpy(&word, out + 4 * index, sizeof word);
    return word;
}

/* Read from the end of one page, written to the end of the other: neither goes a byte too far. */
static void
check_characters(const uint32_t *characters, size_t count, island *from, island *to)
{
    uint8_t bytes[4 * MOST] = {0};
    uint32_t most = 0;
    tg_span text = {bytes, 0};
    tg_wide wide;
    uint8_t *out;
    size_t i;

    for (i = 0; i < count; i++) {
        text.len += put(bytes + text.len, characters[i]);
        most = characters[i] > most ? characters[i] : most;
    }
    text.ptr = island_last(from, bytes, text.len);
    wide = tg_wide_measure(text);
    CHECK(wide.count == count);
    CHECK(wide.bound == bound_of(most));
    CHECK(wide.width == (wide.bound > 0xffff ? 4u : wide.bound > 0xff ? 2u : 1u));
    CHECK(wide.ascii == tg_scan_non_ascii(text.ptr, text.len));
    if (wide.count != count || wide.width * count > (size_t)(to->end - to->start))
        return;
    out = to->end - wide.width * count;
    tg_wide_write(text, &wide, out);
    for (i = 0; i < count; i++)
        CHECK(character_at(out, wide.width, i) == characters[i]);
}

static void
test_places(island *from, island *to)
{
    uint32_t characters[MOST];
    size_t border, len, pos, i;

    TEST("wide: every border at every place of a text of ASCII, alone and twice");
    for (border = 0; border < BORDERS; border++) {
        for (len = 0; len <= 80; len++) {
            for (pos = 0; pos < len; pos++) {
                for (i = 0; i < len; i++)
                    characters[i] = 'a' + (uint32_t)(i % 26);
                characters[pos] = borders[border];
                check_characters(characters, len, from, to);
                characters[len - 1] = borders[border];
                check_characters(characters, len, from, to);
            }
        }
    }
}

static void
test_mixtures(island *from, island *to)
{
    uint32_t characters[MOST];
    uint64_t seed = 88172645463325252u;
    size_t round, i;

    TEST("wide: texts of all kinds of characters, more and less of them ASCII");
    for (round = 0; round < 4000; round++) {
        const size_t count = check_random(&seed) % (MOST + 1);
        const uint64_t rare = 1 + check_random(&seed) % 16;
        const size_t kinds = 1 + check_random(&seed) % BORDERS;

        for (i = 0; i < count; i++) {
            characters[i] = ' ' + (uint32_t)(check_random(&seed) % 90);
            if (check_random(&seed) % rare == 0)
                characters[i] = borders[check_random(&seed) % kinds];
        }
        check_characters(characters, count, from, to);
    }
}

void
test_wide(void)
{
    island from, to;

    island_open(&from);
    island_open(&to);
    test_places(&from, &to);
    test_mixtures(&from, &to);
    island_close(&to);
    island_close(&from);
}

/* test_lane.c - a lane: appended text, its JSON asked for at any time, its last byte, no memory. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "tg_lane.h"

static const char *const texts[] = {
    "",
    " \n",
    "{}",
    "{\"a\": [1, 2.5e-3, true, null, \"\\u20ac \xe2\x82\xac\"]}  ",
    "{\"a\": 1} x",
    "{\"a\": 01}",
    "[[[[[[[[[[]]]]]]]]]]",
    "[[[[[[[[[[[[[[[[[[[[",
    "12345",
    "\"cut \xf0\x9f",
    "\"bad \xff\"",
    "{\"lone\": \"\\ud83d\"}",
    "{\"a\": \"raw \n\"}",
    "{\"a\": {\"b\": {\"c\": [1, 2, 3]}}, \"d\": \"\\\"\\\\\"} \t\r\n",
};
#define TEXTS (sizeof texts / sizeof texts[0])
#define DEPTH 12

static bool
is_same(const tg_json *a, const tg_json *b)
{
    return tg_json_read(a) == tg_json_read(b) && a->error == b->error && a->depth == b->depth &&
           a->state == b->state && a->max_depth_seen == b->max_depth_seen && a->off == b->off &&
           a->closed_off == b->closed_off && a->error_off == b->error_off &&
           a->is_lone_surrogate == b->is_lone_surrogate;
}

/* The last byte that is not blank, looked for from the start. */
static uint8_t
last_of(const char *text, size_t len)
{
    uint8_t last = 0;
    size_t i;

    for (i = 0; i < len; i++)
        if (strchr(" \t\n\r", text[i]) == NULL || text[i] == '\0')
            last = (uint8_t)text[i];
    return last;
}

static void
check_now(tg_lane *lane, const char *text, size_t len)
{
    tg_json whole;

    tg_json_init(&whole, NULL, TG_JSON_STRICT, DEPTH);
    (void)tg_json_feed(&whole, (const uint8_t *)text, len);
    CHECK(is_same(tg_lane_json(lane), &whole));
    CHECK(is_same(tg_lane_json(lane), &whole)); /* asked twice */
    tg_json_free(&whole);
}

/* Appends in pieces of step bytes; asks for JSON and the last byte where the bits of schedule say.
 */
static void
check_schedule(const char *text, size_t step, uint64_t schedule)
{
    const size_t len = strlen(text);
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    tg_lane lane;
    size_t pos = 0;
    unsigned turn = 0;

    tg_lane_init(&lane, &alloc, DEPTH);
    CHECK(memory.asked == 0);
    for (;;) {
        const size_t size = len - pos < step ? len - pos : step;

        if ((schedule >> (turn++ % 64) & 1) != 0)
            check_now(&lane, text, pos);
        if ((schedule >> (turn++ % 64) & 1) != 0)
            CHECK(tg_lane_last(&lane) == last_of(text, pos));
        if (pos == len)
            break;
        CHECK(tg_lane_append(&lane, (const uint8_t *)text + pos, size));
        pos += size;
    }
    CHECK(tg_lane_text(&lane).len == len && memcmp(tg_lane_text(&lane).ptr, text, len) == 0);
    check_now(&lane, text, len);
    CHECK(tg_lane_last(&lane) == last_of(text, len) && tg_lane_last(&lane) == last_of(text, len));
    tg_lane_free(&lane);
    CHECK(memory.blocks == 0 && memory.bytes == 0 && !memory.is_abused);
}

static void
test_schedules(void)
{
    uint64_t seed = 7;
    size_t i, step, round;

    TEST("the JSON of a lane, asked at any schedule of questions, is that of the whole so far");
    for (i = 0; i < TEXTS; i++) {
        for (step = 1; step <= 9; step++) {
            check_schedule(texts[i], step, 0);
            check_schedule(texts[i], step, UINT64_MAX);
            for (round = 0; round < 8; round++)
                check_schedule(texts[i], step, check_random(&seed));
        }
    }
}

static void
test_last(void)
{
    static const uint8_t bytes[] = {' ', '}', ' ', '\n', 0xa0, '\t', 'x', '\r'};
    static const uint8_t expected[] = {0, '}', '}', '}', 0xa0, 0xa0, 'x', 'x'};
    tg_lane lane;
    size_t i;

    TEST("the last byte that is not blank is known after each piece, blank ones too");
    tg_lane_init(&lane, NULL, DEPTH);
    CHECK(tg_lane_last(&lane) == 0);
    for (i = 0; i < sizeof bytes; i++) {
        CHECK(tg_lane_append(&lane, bytes + i, 1));
        CHECK(tg_lane_last(&lane) == expected[i]);
    }
    TEST("an empty piece, at a null pointer too, changes nothing");
    CHECK(tg_lane_append(&lane, NULL, 0) && tg_lane_append(&lane, bytes, 0));
    CHECK(tg_lane_text(&lane).len == sizeof bytes && tg_lane_last(&lane) == 'x');
    tg_lane_free(&lane);
    TEST("an empty lane has a text of no bytes and a pointer, and empty JSON");
    tg_lane_init(&lane, NULL, DEPTH);
    CHECK(tg_lane_text(&lane).ptr != NULL && tg_lane_text(&lane).len == 0);
    CHECK(tg_json_read(tg_lane_json(&lane)) == TG_JSON_EMPTY);
    tg_lane_free(&lane);
}

static void
test_refusals(void)
{
    const uint8_t *text = (const uint8_t *)texts[3];
    const size_t len = strlen(texts[3]);
    size_t n;

    TEST("without memory nothing is appended, and the lane goes on when there is some again");
    for (n = 1; n < 40; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);
        size_t taken = 0, i;
        tg_lane lane;

        tg_lane_init(&lane, &alloc, DEPTH);
        for (i = 0; i < 40; i++) {
            if (tg_lane_append(&lane, text, len))
                taken++;
            CHECK(tg_lane_text(&lane).len == taken * len);
        }
        CHECK(taken + (memory.asked >= n) == 40);
        for (i = 0; i < taken; i++)
            CHECK(memcmp(tg_lane_text(&lane).ptr + i * len, text, len) == 0);
        tg_lane_free(&lane);
        CHECK(memory.blocks == 0 && !memory.is_abused);
        if (memory.asked < n)
            break;
    }
    CHECK(n > 3);
    TEST("JSON that finds no memory says so, the text is not touched by it; asked again, it reads");
    for (n = 2; n < 4; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);
        const tg_json *json;
        tg_lane lane;

        tg_lane_init(&lane, &alloc, DEPTH);
        CHECK(tg_lane_append(&lane, text, len));
        json = tg_lane_json(&lane);
        CHECK(n == 2 ? json == NULL : json != NULL && json->error == TG_ERR_NO_MEMORY);
        CHECK(tg_lane_text(&lane).len == len && tg_lane_last(&lane) == '}');
        check_now(&lane, texts[3], len);
        tg_lane_free(&lane);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
}

static void
test_size(void)
{
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    tg_lane lane;

    TEST("a text of which nobody asks for the JSON costs its bytes and a small struct");
    tg_lane_init(&lane, &alloc, DEPTH);
    CHECK(tg_lane_append(&lane, (const uint8_t *)"a few words", 11) && tg_lane_last(&lane) == 's');
    CHECK(memory.asked == 1 && sizeof lane <= 96);
    tg_lane_free(&lane);
    CHECK(memory.blocks == 0);
}

static void
test_work(void)
{
    const size_t count = 20000;
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    tg_lane lane;
    size_t i;

    TEST("asked at every piece, each byte is tracked once and copied a few times");
    tg_lane_init(&lane, &alloc, DEPTH);
    CHECK(tg_lane_append(&lane, (const uint8_t *)"[\"", 2));
    for (i = 0; i < count; i++) {
        CHECK(tg_lane_append(&lane, (const uint8_t *)"piece ", 6));
        CHECK(tg_json_read(tg_lane_json(&lane)) == TG_JSON_OPEN);
        CHECK(lane.json->off == 2 + 6 * (i + 1) && lane.tracked == lane.json->off);
        CHECK(tg_lane_last(&lane) == 'e' && lane.looked == lane.tracked);
    }
    CHECK(lane.text.work <= 3 * lane.text.len && memory.asked < 20);
    tg_lane_free(&lane);
}

void
test_lane(void)
{
    test_schedules();
    test_last();
    test_refusals();
    test_size();
    test_work();
}

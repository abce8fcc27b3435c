/* test_taking_bounds.c - prediction makes no difference where rooms and limits end, with more lanes
 * than it has, and in streams that were damaged; and what it costs.
 */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "delta.h"
#include "taking.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static void
test_rooms(void)
{
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    record whole = {0};
    wire stream = {0};
    size_t room;

    TEST("a lane, or all of them, may be full at any byte: the same piece is told of");
    for (room = 0; room < 12; room++) {
        setup.lane_room = room;
        setup.room = SIZE_MAX / 2;
        taking_build(&stream, &style, taking_plain, TAKING_PLAIN, false);
        taking_check_lightly(setup, &stream);
        setup.lane_room = SIZE_MAX / 2;
        setup.room = 2 * room;
        taking_check_lightly(setup, &stream);
    }
    TEST("room that pieces of another shape took is not there for those that go unread");
    wire_clear(&stream);
    wire_say(&stream, &style, NULL, TAKING_P("1234", "x"));
    wire_say(&stream, &style, NULL, "{\"type\":\"d\",\"text\":\"5678\"}");
    wire_say(&stream, &style, NULL, TAKING_P("9a", "x"));
    wire_say(&stream, &style, NULL, TAKING_P("b", "x"));
    setup.room = SIZE_MAX / 2;
    for (room = 8; room < 13; room++) {
        setup.lane_room = room;
        taking_check_lightly(setup, &stream);
        reader_read(&whole, &setup, stream.ptr, stream.len, NULL, 0, NULL);
        CHECK((strstr(whole.ptr, "a full lane") != NULL) == (room < 11));
    }
    record_free(&whole);
    wire_free(&stream);
}

static void
test_limits_of_streams(void)
{
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    size_t limit;

    TEST("limits of lines and events are passed at the same byte");
    taking_build(&stream, &style, taking_plain, TAKING_PLAIN, false);
    for (limit = 40; limit < 80; limit += 3) {
        setup.stream.limits.max_event_bytes = limit;
        setup.stream.limits.max_line_bytes = SIZE_MAX;
        taking_check_lightly(setup, &stream);
        setup.stream.limits.max_event_bytes = SIZE_MAX;
        setup.stream.limits.max_line_bytes = limit;
        taking_check_lightly(setup, &stream);
    }
    wire_free(&stream);
}

static void
test_long_types(void)
{
    wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    char type[400];
    size_t len, i;

    TEST("names of any length, before the data or behind them, are those that came");
    memset(type, 't', sizeof type);
    for (len = 56; len < 290; len += len < 76 ? 1 : 30) {
        for (i = 0; i < 4; i++) {
            style.is_type_behind = i % 2 == 1;
            style.eol = i / 2 == 0 ? "\n" : "\r\n";
            type[len] = '\0';
            wire_clear(&stream);
            wire_say(&stream, &style, type, "{}");
            wire_say(&stream, &style, type, "{\"n\":1}");
            wire_say(&stream, &style, type, TAKING_P("a", "b"));
            wire_say(&stream, &style, type, TAKING_P("c", ""));
            type[len / 2] = 'u';
            wire_say(&stream, &style, type, TAKING_P("d", ""));
            wire_say(&stream, &style, NULL, TAKING_P("e", ""));
            type[len / 2] = type[len] = 't';
            taking_check_lightly(setup, &stream);
        }
    }
    wire_free(&stream);
}

static void
test_many_lanes(void)
{
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    record expected = {0}, found = {0};
    wire stream = {0};
    char data[128];
    size_t i;

    TEST("more lanes and more templates than are kept cost time alone");
    for (i = 0; i < 400; i++) {
        snprintf(data, sizeof data, TAKING_A("%zu", "%zu,"), i * i % 45, i);
        wire_say(&stream, &style, NULL, data);
    }
    reader_read(&expected, &setup, stream.ptr, stream.len, NULL, 0, NULL);
    setup.predicts = true;
    for (i = 1; i < 2 * stream.len; i *= 3) {
        reader_read_step(&found, &setup, stream.ptr, stream.len, i, NULL);
        taking_compare(&expected, &found);
    }
    wire_free(&stream);
    record_free(&expected);
    record_free(&found);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

static void
damage(wire *stream, uint64_t *seed)
{
    static const char marks[] = "\"\\{}[]:,\n\r 0u\xff\xc3\x80:";
    size_t times = 1 + check_random(seed) % 3;

    for (; times > 0; times--) {
        const size_t at = check_random(seed) % stream->len;
        const uint8_t mark = (uint8_t)marks[check_random(seed) % (sizeof marks - 1)];
        const uint64_t how = check_random(seed) % 4;

        if (how == 0 && stream->len > 1) {
            memmove(stream->ptr + at, stream->ptr + at + 1, stream->len - at - 1);
            stream->len--;
        } else if (how == 1) {
            wire_add(stream, "", 1);
            memmove(stream->ptr + at + 1, stream->ptr + at, stream->len - at - 1);
            stream->ptr[at] = mark;
        } else if (how == 2) {
            stream->ptr[at] ^= (uint8_t)(1u << check_random(seed) % 8);
        } else {
            stream->ptr[at] = mark;
        }
    }
}

static void
check_damage(tg_framing framing, const taking_row *rows, size_t count, uint64_t seed)
{
    const wire_style style = wire_style_of(framing);
    reader_setup setup = reader_setup_default();
    record expected = {0}, found = {0};
    wire stream = {0};
    size_t round, cuts[2];
    uint64_t hits = 0;

    setup.stream.framing = framing;
    for (round = 0; round < 1500; round++) {
        reader_counts counts;

        taking_build(&stream, &style, rows, count, false);
        damage(&stream, &seed);
        setup.stream.flags = round % 2 == 0 ? TG_SSE_STRICT_UTF8 : 0;
        setup.predicts = false;
        reader_read(&expected, &setup, stream.ptr, stream.len, NULL, 0, NULL);
        setup.predicts = true;
        reader_read(&found, &setup, stream.ptr, stream.len, NULL, 0, &counts);
        taking_compare(&expected, &found);
        hits += counts.hits;
        cuts[0] = check_random(&seed) % (stream.len + 1);
        cuts[1] = cuts[0] + check_random(&seed) % (stream.len - cuts[0] + 1);
        reader_read(&found, &setup, stream.ptr, stream.len, cuts, 2, NULL);
        taking_compare(&expected, &found);
    }
    CHECK(hits > 500);
    wire_free(&stream);
    record_free(&expected);
    record_free(&found);
}

static void
test_damage(void)
{
    static const taking_row alike[] = {
        {NULL, TAKING_D("1", "a")},
        {NULL, TAKING_D("2", "b")},
        {NULL, TAKING_D("3", "\\u00e9 \xc3\xa9")},
        {NULL, TAKING_P("d", "x")},
        {NULL, TAKING_P("e", "yz")},
        {NULL, TAKING_P("f", "")},
        {NULL, TAKING_D("4", "")},
        {NULL, TAKING_D("5", "g")},
    };

    TEST("bytes put in, taken out and changed anywhere make no difference between the two");
    check_damage(TG_FRAMING_SSE, alike, COUNT(alike), 1);
    check_damage(TG_FRAMING_SSE, taking_plain, TAKING_PLAIN, 2);
    check_damage(TG_FRAMING_NDJSON, alike, COUNT(alike), 3);
    check_damage(TG_FRAMING_ARRAY, alike, COUNT(alike), 4);
}

static void
test_work(void)
{
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    reader_counts counts;
    record found = {0};
    wire stream = {0};
    char data[256];
    size_t i;

    TEST("a stream of pieces alone costs about one look at each byte, and one event is read");
    for (i = 0; i < 5000; i++) {
        snprintf(data, sizeof data, TAKING_D("%zu", "a piece of text, as long as they mostly are"),
                 i);
        wire_say(&stream, &style, "d", data);
    }
    setup.predicts = true;
    reader_read(&found, &setup, stream.ptr, stream.len, NULL, 0, &counts);
    CHECK(counts.hits == 4999 && counts.events == 1);
    CHECK(counts.work < 3 * stream.len);
    for (i = 1; i < 10000; i *= 10) {
        reader_read_step(&found, &setup, stream.ptr, stream.len, i, &counts);
        CHECK(counts.hits == 4999 && counts.work < 6 * stream.len);
    }
    wire_free(&stream);
    record_free(&found);
}

/* Feeds one block; how many events come out, the last of them in *event. */
static size_t
feed(tg_stream *stream, const char *block, tg_event *event)
{
    size_t count = 0;

    CHECK(tg_stream_feed(stream, (const uint8_t *)block, strlen(block)) == TG_OK);
    while (tg_stream_next(stream, event) == TG_OK)
        count++;
    return count;
}

static void
test_switches(void)
{
    static const char *const block = "data: {\"type\":\"d\",\"text\":\"x\"}\n\n";
    static const char *const with_id = "id: 7\ndata: {\"type\":\"d\",\"text\":\"x\"}\n\n";
    const tg_span piece = {(const uint8_t *)"x", 1};
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    tg_predict predict;
    tg_stream stream;
    tg_event event;

    TEST("a prediction may be set and taken away between chunks; a reset takes it away");
    CHECK(delta_declare(shapes));
    tg_stream_init(&stream, NULL, NULL, 0);
    tg_predict_init(&predict, NULL);
    CHECK(tg_predict_open(&predict, SIZE_MAX) == 0);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)block, strlen(block)) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK);
    CHECK(tg_predict_learn(&predict, shapes, &event, 0, piece));
    CHECK(tg_stream_next(&stream, &event) == TG_MORE && feed(&stream, block, &event) == 1);
    tg_stream_set_predict(&stream, &predict);
    CHECK(feed(&stream, block, &event) == 0 && feed(&stream, with_id, &event) == 0);
    CHECK(predict.hits == 2 && predict.text.len == 2);
    TEST("an id that came with a piece is told of with the next event that comes out");
    tg_stream_set_predict(&stream, NULL);
    CHECK(feed(&stream, block, &event) == 1 && event.is_id_changed);
    CHECK(event.last_event_id.len == 1 && event.last_event_id.ptr[0] == '7');
    CHECK(feed(&stream, block, &event) == 1 && !event.is_id_changed);
    tg_stream_set_predict(&stream, &predict);
    CHECK(feed(&stream, "id: 8\ndata: {\"type\":\"d\",\"text\":\"x\"}\n\n", &event) == 0);
    tg_stream_reset(&stream);
    CHECK(feed(&stream, block, &event) == 1 && predict.hits == 3 && !event.is_id_changed);
    tg_stream_free(&stream);
    tg_predict_free(&predict);
    free(shapes);
}

void
test_taking_bounds(void)
{
    test_switches();
    test_rooms();
    test_limits_of_streams();
    test_long_types();
    test_many_lanes();
    test_damage();
    test_work();
}

/* test_memory.c - what the stream allocates, copies and does: counted, never timed. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "record.h"

/* A line of this size and its event are fed; work may be this many times the bytes. */
#define BIG ((size_t)8 << 20)
#define WORK_PER_BYTE 6
/* Seven buffers of a page at most, and the blocks of the allocator itself. */
#define IDLE_BYTES (7 * (size_t)4096)

/* Feeds in chunks of step; counts events. */
static size_t
feed_all(tg_stream *stream, const uint8_t *ptr, size_t len, size_t step)
{
    size_t events = 0, pos = 0;
    tg_event event;

    while (pos < len) {
        const size_t size = len - pos < step ? len - pos : step;

        if (tg_stream_feed(stream, ptr + pos, size) != TG_OK)
            return events;
        while (tg_stream_next(stream, &event) == TG_OK)
            events++;
        pos += size;
    }
    return events;
}

static void
check_work(const char *text, size_t len, unsigned flags, size_t per_byte)
{
    static const size_t steps[] = {1, 64, 64 * 1024};
    size_t i;

    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        heap memory = {0};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_stream stream;

        tg_stream_init(&stream, &alloc, NULL, flags);
        CHECK(feed_all(&stream, (const uint8_t *)text, len, steps[i]) == 1);
        CHECK(tg_stream_work(&stream) >= len);
        CHECK(tg_stream_work(&stream) <= per_byte * len);
        CHECK(memory.bytes <= IDLE_BYTES && memory.most <= 3 * len);
        tg_stream_free(&stream);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
}

static void
test_work(void)
{
    char *text = malloc(BIG + 16);
    size_t i;

    if (text == NULL)
        exit(3);
    memset(text, 'x', BIG);
    memcpy(text, "data: ", 6);
    memcpy(text + BIG - 2, "\n\n", 2);
    TEST("a line of 8 MiB costs the same work per byte in chunks of 1, 64 and 65536 bytes");
    check_work(text, BIG, 0, WORK_PER_BYTE);
    check_work(text, BIG, TG_SSE_STRICT_UTF8, WORK_PER_BYTE);
    TEST("an event of many data lines does too, and gives its memory back");
    for (i = 0; i + 4096 < BIG; i += 4096)
        memcpy(text + i, "\ndata: ", i == 0 ? 0 : 7);
    check_work(text, BIG, 0, WORK_PER_BYTE);
    TEST("ill-formed text costs more, since U+FFFD takes three bytes, but per byte too");
    memset(text + 6, 0xe4, BIG - 8);
    memset(text + 6 + BIG / 4, 'x', 3 * (BIG / 4) - 8);
    check_work(text, BIG, 0, 2 * WORK_PER_BYTE);
    TEST("a comment of 8 MiB too, and it is never kept past its end");
    memset(text, ':', BIG);
    memcpy(text + BIG - 10, "\ndata: \n\n\n", 10);
    check_work(text, BIG, 0, WORK_PER_BYTE);
    free(text);
}

static void
test_steady_state(void)
{
    static const char block[] = "id: 17\r\nevent: response.output_text.delta\r\ndata: {\"type\":"
                                "\"response.output_text.delta\",\"delta\":\"\xff some text\"}\r\n"
                                "data: and a second line\r\n\r\n";
    static const size_t steps[] = {1, 7, 64, 100000};
    const size_t count = 400, len = sizeof block - 1;
    uint8_t *text = malloc(count * len);
    size_t i;

    if (text == NULL)
        exit(3);
    for (i = 0; i < count; i++)
        memcpy(text + i * len, block, len);
    TEST("once warm, a stream allocates nothing per event");
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        heap memory = {0};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_stream stream;
        size_t warm;

        tg_stream_init(&stream, &alloc, NULL, 0);
        CHECK(memory.asked == 0);
        CHECK(feed_all(&stream, text, 10 * len, steps[i]) == 10);
        warm = memory.asked;
        CHECK(feed_all(&stream, text, count * len, steps[i]) == count);
        CHECK(memory.asked == warm);
        tg_stream_free(&stream);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
    free(text);
}

static bool
is_inside(tg_span span, const uint8_t *chunk, size_t len)
{
    return span.ptr >= chunk && span.ptr + span.len <= chunk + len;
}

static void
test_borrowing(void)
{
    static const uint8_t text[] = "event: e\r\ndata: x\r\n\r\ndata: \xe2\x82\xac\n\n";
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    tg_stream stream;
    tg_event event;

    TEST("type and data within one chunk are spans of the chunk, and nothing is allocated");
    tg_stream_init(&stream, &alloc, NULL, 0);
    CHECK(tg_stream_feed(&stream, text, sizeof text - 1) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK);
    CHECK(is_inside(event.type, text, sizeof text) && is_inside(event.data, text, sizeof text));
    CHECK(tg_stream_next(&stream, &event) == TG_OK);
    CHECK(is_inside(event.data, text, sizeof text) && event.data.len == 3);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE && memory.asked == 0);
    tg_stream_free(&stream);
}

/* An input that fills every buffer and makes each grow; NULs and all. */
static const char everything[] =
    "\xef\xbb\xbf: hello\r\nid: one\r\nretry: 10\r\nevent: a-type-\xff\r\ndata: first \xe4\xb8\r\n"
    "data: second, which is longer than the first block of a buffer, one hundred and twenty-eight "
    "bytes, so that it has to grow once more than it would otherwise have to\r\n\r\n"
    "id: another id that is longer \xf0\x9f\x98\r\ndata: x\r\n\r\nid\n\n"
    "data: alone, and longer than the first block of a buffer, one hundred and twenty-eight bytes, "
    "which this line is in any case by now\n\nevent: \xc3(\ndata: tail\ndata: cut \xf0\x9f";

static void
test_refusals(void)
{
    static const size_t steps[] = {1, 5, 37, 100000};
    record_setup setup = record_setup_default();
    record whole = {0}, again = {0};
    size_t i, n;

    TEST("each allocation made to fail in turn gives no_memory, sticky, without leak or damage");
    record_stream(&whole, &setup, (const uint8_t *)everything, sizeof everything - 1, NULL, 0);
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        for (n = 1;; n++) {
            heap memory = {.refuse_at = n};
            const tg_alloc alloc = heap_alloc(&memory);

            setup.alloc = &alloc;
            record_stream_step(&again, &setup, (const uint8_t *)everything, sizeof everything - 1,
                               steps[i]);
            CHECK(memory.blocks == 0 && memory.bytes == 0 && !memory.is_abused);
            CHECK(strstr(again.ptr, "BREACH") == NULL);
            if (memory.asked < n)
                break;
            CHECK(strstr(again.ptr, "error no_memory") != NULL);
        }
        CHECK(n > 5); /* the scenario does allocate */
        CHECK(record_equal(&whole, &again));
    }
    record_free(&whole);
    record_free(&again);
}

static void
test_reset_after_refusal(void)
{
    heap memory = {.refuse_at = 1};
    const tg_alloc alloc = heap_alloc(&memory);
    tg_stream stream;
    tg_event event;

    TEST("after a refused allocation reset makes a working stream");
    tg_stream_init(&stream, &alloc, NULL, 0);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"data", 4) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_ERR_NO_MEMORY);
    tg_stream_reset(&stream);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"data", 4) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)": x\n\n", 5) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.len == 1);
    tg_stream_free(&stream);
    CHECK(memory.blocks == 0);
}

void
test_memory(void)
{
    test_work();
    test_steady_state();
    test_borrowing();
    test_refusals();
    test_reset_after_refusal();
}

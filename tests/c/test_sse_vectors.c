/* test_sse_vectors.c - every vector of tests/vectors/sse.json, cut in every way that is affordable.
 *
 * The whole input is compared with the vector; each cutting is compared with the whole.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "json.h"
#include "record.h"

#define ALL_CUTS_UP_TO 400
#define RANDOM_CUTS 8

static guard_page vector_guard;

static bool
is_text(tg_span span, const json_value *expected)
{
    return span.len == expected->len && memcmp(span.ptr, expected->text, span.len) == 0;
}

static bool
is_type(tg_span span, const json_value *expected)
{
    static const tg_span message = {(const uint8_t *)"message", 7};

    return is_text(span.len == 0 ? message : span, expected);
}

static bool
is_where(tg_rest_where where, const char *tail)
{
    switch (where) {
    case TG_REST_NONE:
        return strcmp(tail, "none") == 0 || strcmp(tail, "ignorable") == 0;
    case TG_REST_EVENT:
        return strcmp(tail, "fields") == 0;
    case TG_REST_LINE:
    case TG_REST_CHARACTER:
        return strcmp(tail, "partial-line") == 0;
    }
    return false;
}

static void
check_retry(const tg_stream *stream, const json_value *vector)
{
    const json_value *retry = json_get(vector, "retry");
    uint64_t ms = 0;
    const bool has_retry = tg_stream_reconnection_time(stream, &ms);

    /* A lenient retry is one with an empty value, which we ignore as the vector does, or one past
     * what 63 bits hold, where we say the most they do. */
    CHECK(has_retry == (retry != NULL));
    if (retry == NULL || !has_retry)
        return;
    if (retry->len > 19 || strcmp(retry->text, "9223372036854775807") == 0)
        CHECK(ms == INT64_MAX);
    else
        CHECK(ms == strtoull(retry->text, NULL, 10));
}

/* The whole input in one chunk, against what the vector says. */
static void
check_whole(const json_value *vector, const uint8_t *ptr, size_t len)
{
    const json_value *events = json_get(vector, "events");
    tg_stream stream;
    tg_event event;
    tg_rest rest;
    size_t i = 0;

    tg_stream_init(&stream, NULL, NULL, 0);
    CHECK(tg_stream_feed(&stream, ptr, len) == TG_OK);
    while (tg_stream_next(&stream, &event) == TG_OK && i < events->count) {
        const json_value *expected = &events->items[i++];

        CHECK(is_type(event.type, json_get(expected, "event")));
        CHECK(is_text(event.data, json_get(expected, "data")));
        CHECK(is_text(event.last_event_id, json_get(expected, "last_event_id")));
        CHECK(event.start_off < event.data_off && event.data_off < event.end_off);
    }
    CHECK(i == events->count);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    CHECK(is_text(tg_stream_last_event_id(&stream), json_get(vector, "final_last_event_id")));
    check_retry(&stream, vector);
    CHECK(tg_stream_bytes_fed(&stream) == len);
    CHECK(tg_stream_finish(&stream, &rest) == TG_OK);
    CHECK(is_where(rest.where, json_get(vector, "tail")->text));
    tg_stream_free(&stream);
}

static void
check_same(const record *whole, const record *cut)
{
    const bool was_failing = check_is_failing();

    CHECK(record_equal(whole, cut));
    CHECK(strstr(cut->ptr, "BREACH") == NULL);
    if (check_is_failing() && !was_failing) {
        check_note("whole and cut:");
        check_note(whole->ptr);
        check_note(cut->ptr);
    }
}

static void
check_random_cuts(const record_setup *setup, const record *whole, const uint8_t *ptr, size_t len)
{
    uint64_t seed = 0x9e3779b97f4a7c15u ^ len;
    record cut = {0};
    unsigned round;

    for (round = 0; round < RANDOM_CUTS; round++) {
        const size_t most = (size_t)1 << (2 * round % 14);
        size_t cuts[512];
        size_t count = 0, pos = 0;

        while (count < sizeof cuts / sizeof cuts[0] && pos < len) {
            pos += check_random(&seed) % (most + 1);
            cuts[count] = pos < len ? pos : len;
            count++;
        }
        record_stream(&cut, setup, ptr, len, cuts, count);
        check_same(whole, &cut);
    }
    record_free(&cut);
}

static void
check_cuts(record_setup *setup, const uint8_t *ptr, size_t len)
{
    record whole = {0}, cut = {0};
    size_t at[2];

    setup->guard = &vector_guard;
    record_stream(&whole, setup, ptr, len, NULL, 0);
    CHECK(strstr(whole.ptr, "BREACH") == NULL);
    record_stream_step(&cut, setup, ptr, len, 1);
    check_same(&whole, &cut);
    setup->guard = NULL;
    record_stream_step(&cut, setup, ptr, len, 1);
    check_same(&whole, &cut);
    for (at[0] = 0; len <= ALL_CUTS_UP_TO && at[0] <= len; at[0]++) {
        at[1] = at[0]; /* an empty chunk in the cut as well */
        record_stream(&cut, setup, ptr, len, at, 1 + at[0] % 2);
        check_same(&whole, &cut);
    }
    check_random_cuts(setup, &whole, ptr, len);
    record_free(&whole);
    record_free(&cut);
}

static void
take_vector(const json_value *vector)
{
    record_setup setup = record_setup_default();
    size_t len;
    uint8_t *ptr = json_base64(json_get(vector, "input_b64"), &len);

    TEST(json_get(vector, "name")->text);
    check_whole(vector, ptr, len);
    check_cuts(&setup, ptr, len);
    setup.flags = TG_SSE_STRICT_UTF8 | TG_SSE_ERROR_FIELD;
    check_cuts(&setup, ptr, len);
    free(ptr);
}

void
test_sse_vectors(const char *folder)
{
    char path[4096];

    if (!guard_open(&vector_guard, (size_t)1 << 20))
        exit(3);
    suite_path(path, sizeof path, folder, "sse.json");
    json_each_line(path, take_vector);
    guard_close(&vector_guard);
}

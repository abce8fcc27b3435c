/* test_json_vectors.c - every vector of tests/vectors/json_boundary.json, in both views. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "json.h"
#include "record.h"

#define ALL_CUTS_UP_TO 400
#define RANDOM_CUTS 8
#define MAX_DEPTH 200000

static guard_page vector_guard;

static const char *
verdict_name(tg_json_verdict verdict)
{
    switch (verdict) {
    case TG_JSON_EMPTY:
        return "empty";
    case TG_JSON_OPEN:
        return "open";
    case TG_JSON_CLOSED:
        return "closed";
    case TG_JSON_INVALID:
        return "invalid";
    case TG_JSON_TRAILING:
        return "trailing";
    }
    return "";
}

/* The vectors call an empty prefix open. */
static bool
is_state(const tg_json *json, const char *expected)
{
    const tg_json_verdict verdict = tg_json_read(json);

    return strcmp(verdict_name(verdict == TG_JSON_EMPTY ? TG_JSON_OPEN : verdict), expected) == 0;
}

static void
check_end(tg_json *json, const json_value *row)
{
    const tg_status status = tg_json_finish(json);
    const tg_json_verdict verdict = tg_json_read(json);

    CHECK(strcmp(verdict_name(verdict), json_get(row, "final")->text) == 0);
    CHECK(json->closed_off == json_number(row, "closed_at", TG_JSON_NOWHERE));
    CHECK(json->max_depth_seen == json_number(row, "max_depth", 0));
    CHECK((verdict == TG_JSON_CLOSED) == (status == TG_OK));
    CHECK((verdict == TG_JSON_TRAILING) == (status == TG_ERR_JSON_TRAILING));
    CHECK((verdict == TG_JSON_INVALID) == (status == TG_ERR_JSON_INVALID));
    CHECK((json->error_off == TG_JSON_NOWHERE) == (status == TG_OK || status == TG_MORE));
}

/* Fed in pieces of step bytes (0: from one listed prefix to the next), each listed prefix read. */
static void
check_prefixes(const json_value *row, tg_json_view view, const uint8_t *ptr, size_t len,
               size_t step)
{
    const json_value *states = json_get(row, "prefix_states");
    tg_json json;
    size_t i, pos = 0;

    tg_json_init(&json, NULL, view, MAX_DEPTH);
    for (i = 0; i < states->count; i++) {
        const json_value *state = &states->items[i];
        const size_t at = (size_t)strtoull(state->items[0].text, NULL, 10);

        while (pos < at) {
            const size_t size = step == 0 || at - pos < step ? at - pos : step;

            tg_json_feed(&json, ptr + pos, size);
            pos += size;
        }
        CHECK(is_state(&json, state->items[1].text));
    }
    tg_json_feed(&json, ptr + pos, len - pos);
    check_end(&json, row);
    tg_json_free(&json);
}

static void
check_cuts(tg_json_view view, const uint8_t *ptr, size_t len)
{
    record_setup setup = record_setup_default();
    record whole = {0}, cut = {0};
    uint64_t seed = 0x9e3779b97f4a7c15u ^ len;
    size_t at[2], round;

    setup.view = view;
    setup.limits.max_depth = MAX_DEPTH;
    setup.guard = &vector_guard;
    record_json(&whole, &setup, ptr, len, NULL, 0);
    CHECK(strstr(whole.ptr, "BREACH") == NULL);
    setup.guard = NULL;
    for (at[0] = 0; len <= ALL_CUTS_UP_TO && at[0] <= len; at[0]++) {
        at[1] = at[0];
        record_json(&cut, &setup, ptr, len, at, 1 + at[0] % 2);
        CHECK(strcmp(strstr(whole.ptr, "final"), strstr(cut.ptr, "final")) == 0);
        CHECK(strstr(cut.ptr, "BREACH") == NULL);
    }
    for (round = 0; round < RANDOM_CUTS; round++) {
        size_t cuts[512];
        size_t count = 0, pos = 0;

        while (count < sizeof cuts / sizeof cuts[0] && pos < len) {
            pos += check_random(&seed) % (((size_t)1 << (2 * round % 14)) + 1);
            cuts[count++] = pos = pos < len ? pos : len;
        }
        record_json(&cut, &setup, ptr, len, cuts, count);
        CHECK(record_equal(&whole, &cut));
    }
    record_free(&whole);
    record_free(&cut);
}

static void
check_view(const json_value *row, tg_json_view view, const uint8_t *ptr, size_t len)
{
    check_prefixes(row, view, ptr, len, 0);
    check_prefixes(row, view, ptr, len, 1);
    check_prefixes(row, view, ptr, len, 3);
    check_cuts(view, ptr, len);
}

static void
take_vector(const json_value *vector)
{
    size_t len;
    uint8_t *ptr = json_base64(json_get(vector, "text_b64"), &len);

    TEST(json_get(vector, "name")->text);
    check_view(vector, TG_JSON_STRICT, ptr, len);
    check_view(json_get(vector, "structural"), TG_JSON_STRUCTURAL, ptr, len);
    free(ptr);
}

void
test_json_vectors(const char *folder)
{
    char path[4096];

    if (!guard_open(&vector_guard, (size_t)1 << 20))
        exit(3);
    suite_path(path, sizeof path, folder, "json_boundary.json");
    json_each_line(path, take_vector);
    guard_close(&vector_guard);
}

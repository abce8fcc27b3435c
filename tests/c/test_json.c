/* test_json.c - what the vectors do not say about tg_json: limits, offsets, flags, life. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "record.h"

static tg_status
feed(tg_json *json, const char *text)
{
    return tg_json_feed(json, (const uint8_t *)text, strlen(text));
}

/* The record of text is the same for every cut in two; NULL: its own whole. */
static void
check_every_cut(const record_setup *setup, const char *text, const char *expected)
{
    const uint8_t *ptr = (const uint8_t *)text;
    const size_t len = strlen(text);
    record whole = {0}, cut = {0};
    size_t at;

    record_json(&whole, setup, ptr, len, NULL, 0);
    CHECK(strstr(whole.ptr, expected) != NULL);
    if (check_is_failing())
        check_note(whole.ptr);
    for (at = 0; at <= len; at++) {
        record_json(&cut, setup, ptr, len, &at, 1);
        CHECK(strcmp(strstr(whole.ptr, "final"), strstr(cut.ptr, "final")) == 0);
    }
    record_free(&whole);
    record_free(&cut);
}

static void
test_surrogates(void)
{
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"\"\\ud83d\\ude00\"", "lone=0"},
        {"\"\\ud83d\"", "lone=1"},
        {"\"\\ude00\"", "lone=1"},
        {"\"\\ud83dx\\ude00\"", "lone=1"},
        {"\"\\ud83d\\n\\ude00\"", "lone=1"},
        {"\"\\ud83d\\ud83d\\ude00\"", "lone=1"},
        {"\"\\ud83d\\u0041\"", "lone=1"},
        {"\"\\ud83d\\ude00\\ude00\"", "lone=1"},
        {"[\"\\uD83D\\uDE00\",\"x\"]", "lone=0"},
        {"{\"\\ud83d\":\"\\ude00\"}", "lone=1"},
        {"\"\\u00e9\\uffff\"", "lone=0"},
        {"\"\\ud83d\xc3\xa9\"", "lone=1"},
        {"\"\\ud83d", "lone=0"},
    };
    const record_setup setup = record_setup_default();
    size_t i;

    TEST("an escaped surrogate without its partner is flagged, and a pair is not");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_every_cut(&setup, rows[i].text, rows[i].expected);
}

static void
test_error_offsets(void)
{
    static const struct {
        const char *text;
        const char *expected;
    } rows[] = {
        {"[1,]", "invalid_json off=3 closed=-1 error=3"},
        {"{\"a\":tru}", "invalid_json off=8 closed=-1 error=8"},
        {"{}x", "trailing_text off=2 closed=2 error=2"},
        {"12x", "invalid_json off=2 closed=-1 error=2"},
        {"12 x", "trailing_text off=3 closed=2 error=3"},
        {"\"\xe0\x9f\"", "invalid_json off=2 closed=-1 error=2"},
        {"\"\xe2\x82\"", "invalid_json off=3 closed=-1 error=3"},
        {"\"\xc0", "invalid_json off=1 closed=-1 error=1"},
        {"\"\xf4\x90", "invalid_json off=2 closed=-1 error=2"},
        {"\"a\nb\"", "invalid_json off=2 closed=-1 error=2"},
        {"-", "final=open more off=1 closed=-1 error=-1"},
        {" 0 ", "closed ok off=3 closed=2 error=-1"},
        {"-0.5e+3", "closed ok off=7 closed=7 error=-1"},
    };
    const record_setup setup = record_setup_default();
    size_t i;

    TEST("an error stands at the first byte that cannot be part of any JSON text");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_every_cut(&setup, rows[i].text, rows[i].expected);
}

static void
test_depth(void)
{
    record_setup setup = record_setup_default();

    TEST("depth n is accepted, n + 1 is refused at its bracket");
    setup.limits.max_depth = 3;
    check_every_cut(&setup, "[{\"a\":{}}]", "closed ok off=10 closed=10 error=-1 most=3");
    check_every_cut(&setup, "[{\"a\":[[]]}]", "invalid depth_too_large off=7 closed=-1 error=7");
    setup.view = TG_JSON_STRUCTURAL;
    check_every_cut(&setup, "[{\"a\":[]}]", "closed ok off=10");
    check_every_cut(&setup, "[{\"a\":[[]]}]", "invalid depth_too_large off=7 closed=-1 error=7");
    TEST("max_depth 0 allows scalars alone");
    setup.limits.max_depth = 0;
    check_every_cut(&setup, "[]", "invalid depth_too_large off=0");
    check_every_cut(&setup, "\"x\"", "closed ok off=3");
}

static void
test_stack_memory(void)
{
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    size_t depth, n;
    tg_json json;

    TEST("the stack takes max_depth / 8 bytes at most, and reset gives them back");
    for (depth = 1; depth <= 1000; depth += 37) {
        tg_json_init(&json, &alloc, TG_JSON_STRICT, depth);
        for (n = 0; n < depth; n++)
            CHECK(feed(&json, "[") == TG_MORE);
        CHECK(memory.bytes <= (depth + 7) / 8);
        CHECK(feed(&json, "[") == TG_ERR_DEPTH_TOO_LARGE);
        tg_json_reset(&json);
        CHECK(memory.bytes == 0 && !memory.is_abused);
        CHECK(feed(&json, "[1]") == TG_OK);
        tg_json_free(&json);
        CHECK(memory.blocks == 0);
    }
    TEST("an allocation that fails is a sticky error, and nothing leaks");
    for (n = 1; n <= 4; n++) {
        memory = (heap){.refuse_at = n};
        tg_json_init(&json, &alloc, TG_JSON_STRICT, 1000);
        for (depth = 0; depth < 1000; depth++)
            feed(&json, "[");
        CHECK(json.error == TG_ERR_NO_MEMORY);
        CHECK(tg_json_finish(&json) == TG_ERR_NO_MEMORY && feed(&json, "]") == TG_ERR_NO_MEMORY);
        tg_json_free(&json);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
}

static void
test_life(void)
{
    tg_json json;

    TEST("a bare number is closed by finish or white space, not by its last digit");
    tg_json_init(&json, NULL, TG_JSON_STRICT, 8);
    CHECK(tg_json_read(&json) == TG_JSON_EMPTY);
    CHECK(feed(&json, " ") == TG_MORE && tg_json_read(&json) == TG_JSON_EMPTY);
    CHECK(feed(&json, "12") == TG_MORE && tg_json_read(&json) == TG_JSON_OPEN);
    CHECK(tg_json_finish(&json) == TG_OK && json.closed_off == 3);
    CHECK(tg_json_finish(&json) == TG_OK && tg_json_read(&json) == TG_JSON_CLOSED);
    TEST("a feed after finish changes nothing");
    CHECK(feed(&json, "x") == TG_ERR_FINISHED && feed(&json, "") == TG_ERR_FINISHED);
    CHECK(tg_json_read(&json) == TG_JSON_CLOSED && json.off == 3 && json.error == TG_OK);
    TEST("reset starts anew");
    tg_json_reset(&json);
    CHECK(tg_json_read(&json) == TG_JSON_EMPTY && json.off == 0);
    CHECK(json.closed_off == TG_JSON_NOWHERE && json.error_off == TG_JSON_NOWHERE);
    TEST("an open text stays open at its end");
    CHECK(feed(&json, "{\"a\":") == TG_MORE && tg_json_finish(&json) == TG_MORE);
    CHECK(tg_json_read(&json) == TG_JSON_OPEN);
    tg_json_free(&json);
    TEST("no bytes at a null pointer are fine");
    tg_json_init(&json, NULL, TG_JSON_STRUCTURAL, 8);
    CHECK(tg_json_feed(&json, NULL, 0) == TG_MORE);
    CHECK(feed(&json, "word") == TG_MORE && tg_json_finish(&json) == TG_OK);
    tg_json_free(&json);
}

void
test_json(void)
{
    test_surrogates();
    test_error_offsets();
    test_depth();
    test_stack_memory();
    test_life();
}

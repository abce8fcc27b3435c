/* test_array.c - the elements of one JSON array: marks between them, limits, errors, work. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "framers.h"

#define BIG ((size_t)4 << 20)

static record_setup
array_setup(unsigned flags)
{
    record_setup setup = record_setup_default();

    setup.framing = TG_FRAMING_ARRAY;
    setup.flags = flags;
    return setup;
}

static void
set_event(record_setup *setup, size_t limit)
{
    setup->limits.max_event_bytes = limit;
}

static void
set_depth(record_setup *setup, size_t limit)
{
    setup->limits.max_depth = limit;
}

static void
test_elements(void)
{
    static const framer_row rows[] = {
        {"[]", 0, "rest none line=\"\" has_data=0\nat=2"},
        {" \r\n[\t]\n ", 0, "rest none"},
        {"[{}]", 0, "data=\"{}\"\nat=1,1,3\nrest none"},
        {"[1]", 0, "data=\"1\"\nat=1,1,2\nrest none"},
        {"[1 ,true,\tnull\n]", 0,
         "data=\"1\"\nat=1,1,2\ndata=\"true\"\nat=4,4,8\ndata=\"null\"\nat=10,10,14\nrest none"},
        {"[\n{\"a\": [1, {}]}\r\n,\r\n[[]] , \"x\"]\n", 0,
         "data=\"{\\x22a\\x22: [1, {}]}\"\nat=2,2,16\ndata=\"[[]]\"\nat=21,21,25\n"
         "data=\"\\x22x\\x22\"\nat=28,28,31\nrest none"},
        {"[\"]\",\"\\\"]\",{\"}\":\"\\\\\"}]", 0,
         "data=\"\\x22]\\x22\"\ndata=\"\\x22\\x5c\\x22]\\x22\"\n"
         "data=\"{\\x22}\\x22:\\x22\\x5c\\x5c\\x22}\"\nrest none"},
        {"[\"\xe2\x80\xa8\"]", 0, "data=\"\\x22\\xe2\\x80\\xa8\\x22\"\nrest none"},
        {"[@@,'x']", 0, "data=\"@@\"\ndata=\"'x'\"\nrest none"},
        {"\xef\xbb\xbf []", 0, "rest none"},
        {"[\"" TEXT_300 "\"]", 0, "data=\"\\x22" TEXT_300 "\\x22\"\nat=1,1,303"},
        {"\xef\xbb\xbf[1]", 0, "data=\"1\"\nat=4,4,5\nrest none"},
    };

    TEST("JSON array: elements come at the byte that ends them, white space stands anywhere");
    FRAMER_ROWS(array_setup(0), NULL, rows);
    FRAMER_ROWS(array_setup(TG_RECORD_STRICT_UTF8), NULL, rows);
}

static void
test_cut_arrays(void)
{
    static const framer_row cut[] = {
        {"", 0, "rest event line=\"\" has_data=0\nat=0"},
        {" \n", 0, "rest event line=\"\" has_data=0\nat=2"},
        {"\xef\xbb", 0, "rest character line=\"\\xef\\xbb\" has_data=0\nat=0"},
        {"\xef\xbb\xbf", 0, "rest event line=\"\" has_data=0\nat=3"},
        {"[", 0, "rest event line=\"\" has_data=0\nat=1"},
        {"[{}", 0, "data=\"{}\"\nrest event line=\"\" has_data=0\nat=3"},
        {"[{},", 0, "data=\"{}\"\nrest event line=\"\" has_data=0\nat=4"},
        {"[{}, {\"a", 0, "data=\"{}\"\nrest event line=\"{\\x22a\" has_data=1\ndata\nat=5"},
        {"[12", 0, "rest event line=\"12\" has_data=1\nat=1"},
        {"[\"\xe2\x80", 0, "rest character line=\"\\x22\\xe2\\x80\" has_data=1\nat=1"},
    };

    TEST("JSON array: nothing is left over after the closing bracket alone");
    FRAMER_ROWS(array_setup(0), NULL, cut);
    FRAMER_ROWS(array_setup(TG_RECORD_STRICT_UTF8), NULL, cut);
}

static void
test_wrong_arrays(void)
{
    static const framer_row wrong[] = {
        {"{}", 0, "error invalid_json 0"},
        {"  x", 0, "error invalid_json 2"},
        {"]", 0, "error invalid_json 0"},
        {"\xef\xbb\xbf{", 0, "error invalid_json 3"},
        {"[,1]", 0, "error invalid_json 1"},
        {"[1,,2]", 0, "data=\"1\"\nerror invalid_json 3"},
        {"[1,]", 0, "data=\"1\"\nerror invalid_json 3"},
        {"[1 2]", 0, "data=\"1\"\nerror invalid_json 3"},
        {"[{}{}]", 0, "data=\"{}\"\nerror invalid_json 3"},
        {"[{} x", 0, "data=\"{}\"\nerror invalid_json 4"},
        {"[1{}]", 0, "error invalid_json 2"},
        {"[1\"x\"]", 0, "error invalid_json 2"},
        {"[1:2]", 0, "error invalid_json 2"},
        {"[:1]", 0, "error invalid_json 1"},
        {"[}", 0, "error invalid_json 1"},
        {"[1}", 0, "error invalid_json 2"},
        {"[{]}", 0, "error invalid_json 2"},
        {"[[}]", 0, "error invalid_json 2"},
        {"[{}}", 0, "data=\"{}\"\nerror invalid_json 3"},
        {"[1]x", 0, "data=\"1\"\nerror trailing_text 3"},
        {"[] \n[]", 0, "error trailing_text 4"},
        {"[]]", 0, "error trailing_text 2"},
        {"[],", 0, "error trailing_text 2"},
    };

    TEST("JSON array: what does not belong between elements is an error at its byte");
    FRAMER_ROWS(array_setup(0), NULL, wrong);
    FRAMER_ROWS(array_setup(TG_RECORD_STRICT_UTF8), NULL, wrong);
}

static void
test_utf8_rules(void)
{
    static const framer_row replaced[] = {
        {"[\"\xff\"]", 0, "data=\"\\x22\\xef\\xbf\\xbd\\x22\"\nat=1,1,4\nrest none"},
        {"[\xc3]", 0, "data=\"\\xef\\xbf\\xbd\"\nrest none"},
        {"\xef[", 0, "error invalid_json 0"},
        {"\xef\xbb[", 0, "error invalid_json 0"},
        {"[1,\xef\xbb\xbf]", 0, "data=\"1\"\ndata=\"\\xef\\xbb\\xbf\"\nrest none"},
    };
    static const framer_row strict[] = {
        {"[\"\xff\"]", 0, "error invalid_utf8 2"},
        {"[1,\"\xe2\x80\"]", 0, "data=\"1\"\nerror invalid_utf8 4"},
        {"[1]\xff", 0, "data=\"1\"\nerror invalid_utf8 3"},
        {"[1]\xe2\x80\xa8", 0, "data=\"1\"\nerror trailing_text 3"},
        {"\xef\xbb[", 0, "error invalid_utf8 0"},
        {"\xff", 0, "error invalid_utf8 0"},
        {"x\xff", 0, "error invalid_json 0"},
    };

    TEST("JSON array: ill-formed UTF-8 becomes U+FFFD in an element");
    FRAMER_ROWS(array_setup(0), NULL, replaced);
    TEST("JSON array: or is an error at its first byte, after what comes before it");
    FRAMER_ROWS(array_setup(TG_RECORD_STRICT_UTF8), NULL, strict);
}

static void
test_limits_of_array(void)
{
    static const framer_row size[] = {
        {"[{\"a\":1}]", 8, "data=\"{\\x22a\\x22:1}\""},
        {"[{\"a\":1}]", 7, "data=\"{\\x22a\\x22:1}\"\nrest none"},
        {"[{\"a\":1}]", 6, "error event_too_large 7"},
        {"[{\"a\":1", 6, "rest event"},
        {"[{\"a\":12", 6, "error event_too_large 7"},
        {"[123]", 3, "data=\"123\"\nrest none"},
        {"[123]", 2, "error event_too_large 3"},
        {"[123", 3, "rest event"},
        {"[1234", 3, "error event_too_large 4"},
        {"[12:", 2, "error invalid_json 3"},
        {"[{]aaaa", 1, "error event_too_large 2"},
        {"[{]aaaa", 2, "error invalid_json 2"},
        {"[1,    22,    333]", 2, "data=\"1\"\ndata=\"22\"\nerror event_too_large 16"},
        {"[\"ab\"]", 4, "data=\"\\x22ab\\x22\"\nrest none"},
        {"[\"ab\"]", 3, "error event_too_large 4"},
        {"        [       ]       ", 0, "rest none"},
        {"[1", 0, "error event_too_large 1"},
        {"[{", 0, "error event_too_large 1"},
    };
    static const framer_row depth[] = {
        {"[1]", 1, "data=\"1\"\nrest none"},
        {"[1]", 0, "error depth_too_large 0"},
        {"[{}]", 2, "data=\"{}\"\nrest none"},
        {"[{}]", 1, "error depth_too_large 1"},
        {"[{\"a\":[1]},[[1]]]", 3, "data=\"{\\x22a\\x22:[1]}\"\ndata=\"[[1]]\"\nrest none"},
        {"[{\"a\":[1]}]", 2, "error depth_too_large 6"},
        {"[\"[[[\",[[1]]]", 2, "data=\"\\x22[[[\\x22\"\nerror depth_too_large 8"},
    };
    record_setup setup = array_setup(0);

    TEST("JSON array: max_event_bytes counts one element, first byte over at once");
    FRAMER_ROWS(array_setup(0), set_event, size);
    FRAMER_ROWS(array_setup(TG_RECORD_STRICT_UTF8), set_event, size);
    TEST("JSON array: max_depth counts the array itself");
    FRAMER_ROWS(array_setup(0), set_depth, depth);
    TEST("JSON array: the largest limits are no sum that wraps");
    setup.limits.max_event_bytes = SIZE_MAX;
    setup.limits.max_depth = SIZE_MAX;
    framer_check(&setup, (const uint8_t *)"[{},1]", 6, "data=\"{}\"\ndata=\"1\"\nrest none");
}

static void
test_cost(void)
{
    static const char block[] =
        " {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\xff\"}]}}]}\r\n,";
    record_setup setup = array_setup(0);
    uint8_t *text = malloc(BIG);
    size_t i;

    if (text == NULL)
        exit(3);
    memset(text, 'x', BIG);
    memcpy(text, "[\"", 2);
    memcpy(text + BIG - 2, "\"]", 2);
    TEST("JSON array: an element of 4 MiB costs the same work per byte in every cut");
    framer_check_work(&setup, text, BIG, 1, 6);
    text[1] = text[BIG - 2] = 'x';
    framer_check_work(&setup, text, BIG, 1, 6);
    TEST("JSON array: two million elements cost no more");
    for (i = 1; i < BIG - 1; i++)
        text[i] = i % 2 == 0 ? ',' : '1';
    text[BIG - 2] = ' ';
    text[BIG - 3] = '1';
    framer_check_work(&setup, text, BIG, BIG / 2 - 1, 8);
    TEST("JSON array: one array in another a thousand times costs no more");
    memset(text, '[', 1024);
    memset(text + 1024, ' ', BIG - 2048);
    memset(text + BIG - 1024, ']', 1024);
    framer_check_work(&setup, text, BIG, 1, 6);
    TEST("JSON array: white space of 4 MiB after an element is never held");
    memset(text, ' ', BIG);
    memcpy(text, "[{}", 3);
    text[BIG - 1] = ']';
    framer_check_work(&setup, text, BIG, 1, 4);
    TEST("JSON array: once warm, a stream allocates nothing per element");
    framer_check_steady(&setup, (const uint8_t *)"[", 1, (const uint8_t *)block, sizeof block - 1);
    free(text);
}

static void
test_borrowing(void)
{
    static const uint8_t text[] = "[{} ,12 ]";
    tg_stream stream;
    tg_event event;

    TEST("JSON array: an element within one chunk is a span of the chunk");
    tg_stream_init_framing(&stream, TG_FRAMING_ARRAY, NULL, NULL, 0);
    CHECK(tg_stream_feed(&stream, text, sizeof text - 1) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr == text + 1);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr == text + 5);
    CHECK(event.data.len == 2 && tg_stream_next(&stream, &event) == TG_MORE);
    tg_stream_reset(&stream);
    TEST("JSON array: an element comes with its last byte, before the comma");
    CHECK(tg_stream_feed(&stream, text, 3) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.end_off == 3);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    tg_stream_free(&stream);
}

#define CHECK_ARRAY_STATE(name, sentence) \
    CHECK(strcmp(tg_array_state_name(name), #name) == 0 && strstr(sentence, " / ") != NULL);

void
test_array(void)
{
    test_elements();
    test_cut_arrays();
    test_wrong_arrays();
    test_utf8_rules();
    test_limits_of_array();
    test_cost();
    test_borrowing();
    TEST("each state of the array machine has its name and a sentence of two halves");
    TG_ARRAY_STATES(CHECK_ARRAY_STATE)
}

/* test_sse.c - what the vectors do not say about the stream: offsets, ids, strict UTF-8, the rest.
 *
 * Each row is an input and a piece of the record that it must give; every row is cut in two at
 * every place, and each cut must give the same record.
 */
#include "suites.h"

#include <string.h>

#include "check.h"
#include "record.h"

typedef struct row {
    const char *input;
    const char *expected;
} row;

static void
check_row(const record_setup *setup, const char *input, size_t len, const char *expected)
{
    const uint8_t *ptr = (const uint8_t *)input;
    record whole = {0}, cut = {0};
    const bool was_failing = check_is_failing();
    size_t at;

    record_stream(&whole, setup, ptr, len, NULL, 0);
    CHECK(strstr(whole.ptr, expected) != NULL);
    CHECK(strstr(whole.ptr, "BREACH") == NULL);
    if (check_is_failing() && !was_failing) {
        check_note(expected);
        check_note(whole.ptr);
    }
    for (at = 0; at <= len; at++) {
        record_stream(&cut, setup, ptr, len, &at, 1);
        CHECK(record_equal(&whole, &cut));
    }
    record_stream_step(&cut, setup, ptr, len, 1);
    CHECK(record_equal(&whole, &cut));
    record_free(&whole);
    record_free(&cut);
}

static void
check_rows(const record_setup *setup, const row *rows, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        check_row(setup, rows[i].input, strlen(rows[i].input), rows[i].expected);
}

#define CHECK_ROWS(setup, rows) check_rows((setup), (rows), sizeof(rows) / sizeof(rows)[0])

static void
test_offsets(void)
{
    static const row rows[] = {
        {"data: x\n\n", "data=\"x\" id=\"\" changed=0 retry=0/0 at=0,6,9"},
        {"\xef\xbb\xbf"
         "data:x\n\n",
         "at=3,8,11"},
        {": c\r\ndata: x\r\n\r\n", "at=0,11,15"},
        {"\r\n\r\ndata: x\r\n\r\n", "at=4,10,14"},
        {"event: e\ndata\n\n", "type=\"e\" data=\"\" id=\"\" changed=0 retry=0/0 at=0,13,15"},
        {"data: a\ndata: b\n\n", "data=\"a\\x0ab\" id=\"\" changed=0 retry=0/0 at=0,6,17"},
        {"retry: 1\n\nevent: dropped\n\ndata: x\n\n", "type=\"\" data=\"x\" id=\"\" changed=0 "
                                                      "retry=0/0 at=26,32,35"},
        {"data: x\r\rdata: y\r\r", "data=\"y\" id=\"\" changed=0 retry=0/0 at=9,15,18"},
        {"data: x\r\n\r\ndata: y\r\n\r\n", "data=\"y\" id=\"\" changed=0 retry=0/0 at=11,17,21"},
    };
    const record_setup setup = record_setup_default();

    TEST("an event knows the first byte of its block, of its data, and the byte past its blank "
         "line");
    CHECK_ROWS(&setup, rows);
}

static void
test_comments(void)
{
    static const row rows[] = {
        {"data: x\n\n: c\n\ndata: y\n\n", "data=\"y\" id=\"\" changed=0 retry=0/0 at=14,20,23"},
        {"data: x\n\n: c\r\n\r\ndata: y\n\n", "data=\"y\" id=\"\" changed=0 retry=0/0 at=16,22,25"},
        {"data: x\n\n: c\r\rdata: y\n\n", "at=14,20,23"},
        {"data: x\n\n: c\n\r\ndata: y\n\n", "at=15,21,24"},
        {"data: x\n\n: c\r\n\ndata: y\n\n", "at=15,21,24"},
        {"data: x\n\n: c\r\n\rdata: y\n\n", "at=15,21,24"},
        {"data: x\r\r\n: c\n\ndata: y\n\n", "at=15,21,24"},
        {"data: x\n\n:\n\n:\n\ndata: y\n\n", "at=15,21,24"},
        {"data: x\n\n: c\n: d\n\ndata: y\n\n", "at=18,24,27"},
        {"data: x\n\n: c\ndata: y\n\n", "at=9,19,22"},
        {"data: x\n\n: c\n\n", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=14"},
        {"data: x\n\n: c\n", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=9"},
        {"data: x\n\n: c\r", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=9"},
        {"data: x\n\n: c", "rest line line=\": c\" has_data=0 type=\"\" data=\"\" at=9"},
        {"id: 1\n\n: c\n\ndata: y\n\n", "data=\"y\" id=\"1\" changed=1 retry=0/0 at=12,18,21"},
        {"retry: 5\n\n: c\n\ndata: y\n\n", "data=\"y\" id=\"\" changed=0 retry=0/0 at=15,21,24"},
        {"id: 1\n: c\n\ndata: y\n\n", "data=\"y\" id=\"1\" changed=1 retry=0/0 at=11,17,20"},
        {"data: x\n: c\n\ndata: y\n\n", "data=\"y\" id=\"\" changed=0 retry=0/0 at=13,19,22"},
    };
    const record_setup setup = record_setup_default();

    TEST("a comment changes nothing, whatever ends its line and the blank one behind it");
    CHECK_ROWS(&setup, rows);
}

static void
test_ids(void)
{
    static const row rows[] = {
        {"id: 1\ndata: x\n\ndata: y\n\n", "data=\"y\" id=\"1\" changed=0"},
        {"id: 1\ndata: x\n\nid: 1\ndata: y\n\n", "data=\"y\" id=\"1\" changed=0"},
        {"id: 1\ndata: x\n\nid: 2\ndata: y\n\n", "data=\"y\" id=\"2\" changed=1"},
        {"id: 1\ndata: x\n\nid\ndata: y\n\n", "data=\"y\" id=\"\" changed=1"},
        {"id: 1\n\ndata: x\n\n", "data=\"x\" id=\"1\" changed=1"},
        {"id: 1\ndata: x\n\nid: 2\n\nid: 1\n\ndata: y\n\n", "data=\"y\" id=\"1\" changed=0"},
        {"id: 1\nid: 2\ndata: x\n\n", "data=\"x\" id=\"2\" changed=1"},
        {"id\ndata: x\n\n", "data=\"x\" id=\"\" changed=0"},
        {"id: 1\ndata: x\n\nid: 2\ndata: y\n", "end id=\"1\""},
        {"id: \xff\ndata: x\n\n", "id=\"\\xef\\xbf\\xbd\" changed=1"},
    };
    const record_setup setup = record_setup_default();

    TEST("the last event ID changes at blank lines alone, and an event says whether it did");
    CHECK_ROWS(&setup, rows);
    TEST("an id with a NUL is ignored");
    check_row(&setup, "id: 1\n\nid: a\0b\ndata: x\n\n", 24, "id=\"1\" changed=1");
}

static void
test_retries(void)
{
    static const row rows[] = {
        {"retry: 10\ndata: x\n\ndata: y\n\n", "data=\"x\" id=\"\" changed=0 retry=1/10"},
        {"retry: 10\ndata: x\n\ndata: y\n\n", "data=\"y\" id=\"\" changed=0 retry=0/0"},
        {"retry: 10\nretry: 20\nretry: x\ndata: x\n\n", "retry=1/20"},
        {"retry: 10\n\ndata: x\n\n", "retry=0/0"},
        {"retry: 10\n", "end id=\"\" retry=10\n"},
        {"retry: 10", "end id=\"\"\n"},
        {"retry: 1 0\nretry:-1\nretry: +1\nretry:  1\nretry\nretry:\nretry: 1.5\n",
         "end id=\"\"\n"},
        {"retry: 9223372036854775806\n", "retry=9223372036854775806\n"},
        {"retry: 9223372036854775807\n", "retry=9223372036854775807\n"},
        {"retry: 9223372036854775808\n", "retry=9223372036854775807\n"},
        {"retry: 99999999999999999999999999\n", "retry=9223372036854775807\n"},
        {"retry: 00000000000000000000000007\n", "retry=7\n"},
    };
    const record_setup setup = record_setup_default();

    TEST("a retry field counts at once, if it is all digits, and saturates");
    CHECK_ROWS(&setup, rows);
}

static void
test_error_field(void)
{
    static const row with[] = {
        {"error: {\"code\":500}\n\n", "type=\"error\" data=\"{\\x22code\\x22:500}\""},
        {"error\n\n", "type=\"error\" data=\"\""},
        {"data: a\nerror: b\n\n", "type=\"error\" data=\"a\\x0ab\""},
        {"error: b\nevent: e\n\n", "type=\"e\" data=\"b\""},
        {"errors: b\n\n", "rest none"},
        {"error: b", "rest line line=\"error: b\" has_data=1 type=\"error\" data=\"b\""},
    };
    static const row without[] = {
        {"error: b\n\n", "rest none"},
        {"data: a\nerror: b\n\n", "type=\"\" data=\"a\""},
    };
    record_setup setup = record_setup_default();

    TEST("without its flag an error field is an unknown field");
    CHECK_ROWS(&setup, without);
    TEST("with its flag an error field is an event of type error with its value as data");
    setup.flags = TG_SSE_ERROR_FIELD;
    CHECK_ROWS(&setup, with);
}

static void
test_rest(void)
{
    static const row rows[] = {
        {"", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=0"},
        {"data: x\n\n", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=9"},
        {": c\n", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=0"},
        {"retry: 1\nx: y\n", "rest none"},
        {"data: x\n", "rest event line=\"\" has_data=1 type=\"\" data=\"x\" at=0"},
        {"data: x\r", "rest event"},
        {"event: e\n", "rest event line=\"\" has_data=0 type=\"e\" data=\"\""},
        {"id: 1\n", "rest event line=\"\" has_data=0"},
        {":", "rest line line=\":\" has_data=0 type=\"\" data=\"\""},
        {"data: x\n\ndata: y\nda", "rest line line=\"da\" has_data=1 type=\"\" data=\"y\" at=9"},
        {"event: done\ndata: 123", "rest line line=\"data: 123\" has_data=1 type=\"done\" "
                                   "data=\"123\" at=0"},
        {"data: 1\ndata: 2", "has_data=1 type=\"\" data=\"1\\x0a2\""},
        {"data: 1\ndata", "has_data=1 type=\"\" data=\"1\\x0a\""},
        {"data: 1\nevent: e", "rest line line=\"event: e\" has_data=1 type=\"e\" data=\"1\""},
        {"retry: 7", "rest line line=\"retry: 7\" has_data=0"},
        {"id: 7", "rest line line=\"id: 7\" has_data=0"},
        {"data: \xe2\x82", "rest character line=\"data: \\xe2\\x82\" has_data=1 type=\"\" "
                           "data=\"\\xef\\xbf\\xbd\""},
        {"data: \xf0\x9f\x98", "rest character"},
        {": \xe2", "rest character"},
        {"data: \xe2\x82\xac", "rest line"},
        {"\xef", "rest character line=\"\\xef\" has_data=0 type=\"\" data=\"\" at=0"},
        {"\xef\xbb", "rest character line=\"\\xef\\xbb\""},
        {"\xef\xbb\xbf", "rest none line=\"\" has_data=0 type=\"\" data=\"\" at=3"},
        {"\xef\xbb\xbf\xef\xbb",
         "rest character line=\"\\xef\\xbb\" has_data=0 type=\"\" data=\"\" "
         "at=3"},
    };
    static const row replaced[] = {
        {"data: \xe2\x28", "rest line line=\"data: \\xe2(\" has_data=1 type=\"\" "
                           "data=\"\\xef\\xbf\\xbd(\""},
        {"data: \xf0\x80", "rest line"},
        {"data: \x80", "rest line"},
        {"\xef\xbb"
         "A",
         "rest line line=\"\\xef\\xbbA\""},
    };
    record_setup setup = record_setup_default();

    TEST("the rest says inside what the input ended, and what was there");
    CHECK_ROWS(&setup, rows);
    TEST("a cut character at the end is no error of a strict stream");
    setup.flags = TG_SSE_STRICT_UTF8;
    CHECK_ROWS(&setup, rows);
    TEST("an ill-formed sequence at the end is no cut character");
    setup.flags = 0;
    CHECK_ROWS(&setup, replaced);
}

static void
test_strict_utf8(void)
{
    static const row rows[] = {
        {"data: \xff\n\n", "error invalid_utf8 6"},
        {": \xff\n\n", "error invalid_utf8 2"},
        {"data: a\n\ndata: \xe4\xb8\n\n", "at=0,6,9\nerror invalid_utf8 15"},
        {"data: a\n\n\xe4\xb8"
         "A",
         "at=0,6,9\nerror invalid_utf8 9"},
        {"data: a\n\n\xc0\x80", "at=0,6,9\nerror invalid_utf8 9"},
        {"\xef\xbb"
         "A",
         "error invalid_utf8 0"},
        {"\xef\xbb\xbf\xbf", "error invalid_utf8 3"},
        {"data: \xed\xa0\x80\n\n", "error invalid_utf8 6"},
        {"data: \xf4\x90\x80\x80\n\n", "error invalid_utf8 6"},
        {"data: \xe0\x9f\xbf\n\n", "error invalid_utf8 6"},
        {"data: \xe2\x82\xac \xf0\x9f\x98\x80\n\n",
         "data=\"\\xe2\\x82\\xac \\xf0\\x9f\\x98\\x80\""},
        {"retry: 7\nid: 1\n\n\x80", "error invalid_utf8 16\nend id=\"1\" retry=7"},
    };
    record_setup setup = record_setup_default();

    TEST("a strict stream fails at the first byte of the ill-formed sequence, after what precedes "
         "it");
    setup.flags = TG_SSE_STRICT_UTF8;
    CHECK_ROWS(&setup, rows);
    TEST("a limit that is passed before the ill-formed sequence is known wins");
    setup.limits.max_line_bytes = 8;
    check_row(&setup, "data: x\xe4\xb8\n", 10, "error line_too_large 8");
    check_row(&setup, "data: x\xe4\n", 9, "error invalid_utf8 7");
    setup.limits.max_line_bytes = 100;
    setup.limits.max_event_bytes = 2;
    check_row(&setup, "data: x\xe4\xb8\n", 10, "error event_too_large 8");
    check_row(&setup, "data: \xe4\xb8\n", 9, "error invalid_utf8 6");
}

static void
test_replacement(void)
{
    static const row rows[] = {
        {"data: \xe4\xb8\n\n", "data=\"\\xef\\xbf\\xbd\""},
        {"event: \xff\ndata: x\n\n", "type=\"\\xef\\xbf\\xbd\" data=\"x\""},
        {"event: e\ndata: \xf0\x80\x80x\n\n", "type=\"e\" data=\"\\xef\\xbf\\xbd\\xef\\xbf\\xbd"
                                              "\\xef\\xbf\\xbdx\""},
        {"event: \xc3\ndata: \xe2\x82\ndata: \xac\n\n",
         "type=\"\\xef\\xbf\\xbd\" "
         "data=\"\\xef\\xbf\\xbd\\x0a\\xef\\xbf\\xbd\""},
        {"\xff"
         "data: x\ndata: y\n\n",
         "data=\"y\""},
    };
    const record_setup setup = record_setup_default();

    TEST("ill-formed sequences in values become U+FFFD, one for each maximal subpart");
    CHECK_ROWS(&setup, rows);
}

/* Where a stray is seen that is watched for from the end of the first event on. */
static uint64_t
stray_of(const char *text, size_t cut)
{
    const size_t sizes[2] = {cut, strlen(text) - cut};
    bool is_watching = false;
    tg_stream stream;
    tg_event event;
    uint64_t off;
    size_t i;

    tg_stream_init(&stream, NULL, NULL, 0);
    for (i = 0; i < 2; i++) {
        CHECK(tg_stream_feed(&stream, (const uint8_t *)text + (i == 0 ? 0 : cut), sizes[i]) ==
              TG_OK);
        while (tg_stream_next(&stream, &event) == TG_OK) {
            if (!is_watching)
                tg_stream_watch(&stream, true);
            is_watching = true;
        }
        if (i == 0 && cut < strlen(text) && tg_stream_stray_off(&stream) != TG_NO_STRAY)
            CHECK(tg_stream_stray_off(&stream) < cut);
    }
    off = tg_stream_stray_off(&stream);
    tg_stream_watch(&stream, false);
    CHECK(tg_stream_stray_off(&stream) == TG_NO_STRAY);
    tg_stream_free(&stream);
    return off;
}

static void
test_strays(void)
{
    static const struct {
        const char *text;
        uint64_t off;
    } rows[] = {
        {"data: x\n\n{", 9},
        {"data: x\n\n{}\n{}\n\n", 9},
        {"data: x\r\r{}\r\r", 9},
        {"data: x\r\n\r\n{}", 11},
        {"{}\ndata: x\n\n: c\n\n{}\n", 17},
        {"data: x\n\ndata: y\n{}\n\n", 17},
        {"data: x\n\ndata: {\ndata: }\n\n", TG_NO_STRAY},
        {"data: x\n\n {\na{\n: {\n\ndata: {}\n\n", TG_NO_STRAY},
        {"{}\ndata: x\n\n", TG_NO_STRAY},
        {"data: x\n\n", TG_NO_STRAY},
    };
    size_t cut;
    size_t i;

    TEST("a line that begins with a brace is seen at every cut, once it is watched for");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (cut = 0; cut <= strlen(rows[i].text); cut++)
            CHECK(stray_of(rows[i].text, cut) == rows[i].off);
    }
}

static void
test_turns(void)
{
    const uint8_t *text = (const uint8_t *)"data: x\n\ndata: y\n\n";
    tg_stream stream;
    tg_event event;
    tg_rest rest;

    TEST("a feed or a finish before the chunk is read takes nothing and changes nothing");
    tg_stream_init(&stream, NULL, NULL, 0);
    CHECK(tg_stream_feed(&stream, text, 18) == TG_OK);
    CHECK(tg_stream_feed(&stream, text, 18) == TG_ERR_FINISHED);
    CHECK(tg_stream_finish(&stream, &rest) == TG_ERR_FINISHED);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr[0] == 'x');
    CHECK(tg_stream_feed(&stream, text, 18) == TG_ERR_FINISHED);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr[0] == 'y');
    CHECK(tg_stream_next(&stream, &event) == TG_MORE && tg_stream_bytes_fed(&stream) == 18);
    TEST("a feed after finish is refused, and reset makes a new stream");
    CHECK(tg_stream_finish(&stream, &rest) == TG_OK);
    CHECK(tg_stream_feed(&stream, text, 18) == TG_ERR_FINISHED);
    tg_stream_reset(&stream);
    CHECK(tg_stream_bytes_fed(&stream) == 0 && tg_stream_work(&stream) == 0);
    CHECK(tg_stream_feed(&stream, text, 18) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.start_off == 0);
    TEST("reset forgets an error, the last event ID and the reconnection time");
    tg_stream_reset(&stream);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"id: 1\nretry: 5\n\n", 16) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE && tg_stream_last_event_id(&stream).len == 1);
    tg_stream_reset(&stream);
    CHECK(tg_stream_last_event_id(&stream).len == 0);
    CHECK(!tg_stream_reconnection_time(&stream, &(uint64_t){0}));
    TEST("finish before any feed, and no bytes at a null pointer, are fine");
    CHECK(tg_stream_feed(&stream, NULL, 0) == TG_OK && tg_stream_feed(&stream, NULL, 0) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    CHECK(tg_stream_finish(&stream, &rest) == TG_OK && rest.where == TG_REST_NONE);
    CHECK(rest.line.ptr != NULL && rest.type.ptr != NULL && rest.data.ptr != NULL);
    tg_stream_free(&stream);
}

void
test_sse(void)
{
    test_offsets();
    test_comments();
    test_ids();
    test_retries();
    test_error_field();
    test_rest();
    test_strict_utf8();
    test_replacement();
    test_strays();
    test_turns();
}

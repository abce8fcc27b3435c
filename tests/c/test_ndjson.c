/* test_ndjson.c - one record per LF: what is a record, what is not, limits, errors, work. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "framers.h"

#define BIG ((size_t)4 << 20)

static record_setup
ndjson_setup(unsigned flags)
{
    record_setup setup = record_setup_default();

    setup.framing = TG_FRAMING_NDJSON;
    setup.flags = flags;
    return setup;
}

static void
set_event(record_setup *setup, size_t limit)
{
    setup->limits.max_event_bytes = limit;
}

static void
test_records(void)
{
    static const framer_row rows[] = {
        {"", 0, "rest none line=\"\" has_data=0\nat=0"},
        {"{}\n", 0, "data=\"{}\"\nat=0,0,3\nrest none\nat=3"},
        {"{}\r\n", 0, "data=\"{}\"\nat=0,0,4\nrest none\nat=4"},
        {"{\"a\":1}\n[2]\n", 0, "data=\"{\\x22a\\x22:1}\"\nat=0,0,8\ndata=\"[2]\"\nat=8,8,12"},
        {"1\n\n\r\n \t\r\n2\n", 0, "data=\"1\"\nat=0,0,2\ndata=\"2\"\nat=9,9,11\nrest none"},
        {"  1 \n", 0, "data=\"1 \"\nat=2,2,5"},
        {"1\r\r\n", 0, "data=\"1\\x0d\""},
        {"1\r2\n", 0, "data=\"1\\x0d2\"\nat=0,0,4"},
        {"\r1\n", 0, "data=\"1\"\nat=1,1,3"},
        {"1\n2", 0, "data=\"1\"\nrest line line=\"2\" has_data=1 type=\"\" data=\"2\" at=2"},
        {"1\n2\r", 0, "data=\"1\"\nrest line line=\"2\\x0d\""},
        {"1\n \t", 0, "data=\"1\"\nrest none line=\"\" has_data=0\nat=4"},
        {"\"\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x0b\x0c\"\n", 0,
         "data=\"\\x22\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xc2\\x85\\x0b\\x0c\\x22\"\nat=0,0,13"},
        {"1\n\"\xe2\x80", 0, "data=\"1\"\nrest character line=\"\\x22\\xe2\\x80\" has_data=1"},
        {"not json\n", 0, "data=\"not json\""},
        {TEXT_300 "\n", 0, "data=\"" TEXT_300 "\"\nat=0,0,301"},
    };
    static const framer_row bom[] = {
        {"\xef\xbb\xbf{}\n", 0, "data=\"{}\"\nat=3,3,6"},
        {"\xef\xbb\xbf", 0, "rest none line=\"\" has_data=0\nat=3"},
        {"\xef\xbb\xbf\n\n1\n", 0, "data=\"1\"\nat=5,5,7"},
        {"\xef\xbb", 0, "rest character line=\"\\xef\\xbb\" has_data=0\nat=0"},
        {"\xef", 0, "rest character line=\"\\xef\" has_data=0\nat=0"},
        {"\xef\xbb\xbf\xef\xbb\xbf\n", 0, "data=\"\\xef\\xbb\\xbf\"\nat=3,3,7"},
        {"1\n\xef\xbb\xbf\n", 0, "data=\"1\"\ndata=\"\\xef\\xbb\\xbf\"\nat=2,2,6"},
    };
    static const framer_row replaced[] = {
        {"\xff\n", 0, "data=\"\\xef\\xbf\\xbd\"\nat=0,0,2"},
        {"\"\xe2\x80\"\n", 0, "data=\"\\x22\\xef\\xbf\\xbd\\x22\"\nat=0,0,5"},
        {"\xef\xbb\n", 0, "data=\"\\xef\\xbf\\xbd\"\nat=0,0,3"},
        {"\xef\xbbx\n", 0, "data=\"\\xef\\xbf\\xbdx\"\nat=0,0,4"},
        {"\xefx", 0, "rest line line=\"\\xefx\" has_data=1 type=\"\" data=\"\\xef\\xbf\\xbdx\""},
    };
    static const framer_row strict[] = {
        {"1\n\xff\n", 0, "data=\"1\"\nerror invalid_utf8 2"},
        {"1\n\"\xe2\x80\"\n", 0, "data=\"1\"\nerror invalid_utf8 3"},
        {"\xef\xbb\n", 0, "error invalid_utf8 0"},
        {"  \xed\xa0\x80", 0, "error invalid_utf8 2"},
        {"\"\xe2\x80\xa8\"\n\xc0", 0, "data=\"\\x22\\xe2\\x80\\xa8\\x22\"\nerror invalid_utf8 6"},
    };

    TEST("NDJSON: a record ends at LF alone; white space and blank lines before it are no record");
    FRAMER_ROWS(ndjson_setup(0), NULL, rows);
    FRAMER_ROWS(ndjson_setup(TG_RECORD_STRICT_UTF8), NULL, rows);
    TEST("NDJSON: one BOM is passed over, at the start of the stream alone");
    FRAMER_ROWS(ndjson_setup(0), NULL, bom);
    FRAMER_ROWS(ndjson_setup(TG_RECORD_STRICT_UTF8), NULL, bom);
    TEST("NDJSON: ill-formed UTF-8 becomes U+FFFD in the record");
    FRAMER_ROWS(ndjson_setup(0), NULL, replaced);
    TEST("NDJSON: or is an error at its first byte, after the records before it");
    FRAMER_ROWS(ndjson_setup(TG_RECORD_STRICT_UTF8), NULL, strict);
}

static void
test_limit(void)
{
    static const framer_row rows[] = {
        {"abc\n", 4, "data=\"abc\""},
        {"abc\n", 3, "data=\"abc\""},
        {"abc\n", 2, "error event_too_large 2"},
        {"abc", 3, "rest line"},
        {"abc", 2, "error event_too_large 2"},
        {"abc\r\n", 3, "data=\"abc\"\nat=0,0,5"},
        {"abc\r\n", 2, "error event_too_large 2"},
        {"abc\r", 3, "rest line line=\"abc\\x0d\""},
        {"abc\rd\n", 3, "error event_too_large 3"},
        {"abc\r\r\n", 3, "error event_too_large 3"},
        {"abc\r\r\n", 4, "data=\"abc\\x0d\""},
        {"   abc\n", 2, "error event_too_large 5"},
        {"         a\n          \n", 1, "data=\"a\"\nrest none"},
        {"ab\nabc\n", 2, "data=\"ab\"\nerror event_too_large 5"},
        {"\n", 0, "rest none"},
        {"a", 0, "error event_too_large 0"},
        {"\xef\xbb\xbfx\n", 1, "data=\"x\""},
        {"\xef\xbb\xbfxy\n", 1, "error event_too_large 4"},
        {"\xef\xbb\xbf", 0, "rest none"},
    };
    static const framer_row bom[] = {
        {"\xef\xbb\n", 1, "error event_too_large 1"},
        {"\xef\xbb\n", 2, "data=\"\\xef\\xbf\\xbd\""},
        {"\xef\xbb\r\n", 2, "data=\"\\xef\\xbf\\xbd\""},
        {"\xef\xbb\r\n", 1, "error event_too_large 1"},
        {"\xef\xbb\rx", 2, "error event_too_large 2"},
        {"\xef\n", 0, "error event_too_large 0"},
        {"\xef\xbbx", 0, "error event_too_large 0"},
        {"\xef\xbb", 0, "rest character"},
        {"\xff\xff\n", 2, "data=\"\\xef\\xbf\\xbd\\xef\\xbf\\xbd\""},
    };

    TEST("NDJSON: max_event_bytes counts the record without its CR, first byte over at once");
    FRAMER_ROWS(ndjson_setup(0), set_event, rows);
    FRAMER_ROWS(ndjson_setup(TG_RECORD_STRICT_UTF8), set_event, rows);
    TEST("NDJSON: bytes that look like a BOM count once it is known that they are none");
    FRAMER_ROWS(ndjson_setup(0), set_event, bom);
}

static void
test_limit_at_once(void)
{
    record_setup setup = ndjson_setup(0);
    tg_stream stream;
    tg_event event;

    TEST("NDJSON: a record too large is refused before it ends");
    setup.limits.max_event_bytes = 3;
    tg_stream_init_framing(&stream, setup.framing, NULL, &setup.limits, 0);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"abc", 3) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"d", 1) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_ERR_EVENT_TOO_LARGE);
    CHECK(tg_stream_error_off(&stream) == 3);
    TEST("NDJSON: the largest limits are no sum that wraps");
    tg_stream_free(&stream);
    setup.limits.max_event_bytes = SIZE_MAX;
    framer_check(&setup, (const uint8_t *)"abc\r\nd\r", 7, "data=\"abc\"\nrest line");
    tg_stream_init_framing(&stream, setup.framing, NULL, NULL, 0);
    TEST("NDJSON: reset starts anew, and finish and feed out of turn change nothing");
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"1\n2", 3) == TG_OK);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"x", 1) == TG_ERR_FINISHED);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr[0] == '1');
    tg_rest rest;
    CHECK(tg_stream_finish(&stream, &rest) == TG_ERR_FINISHED);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    tg_stream_reset(&stream);
    CHECK(tg_stream_bytes_fed(&stream) == 0 && tg_stream_headers(&stream).len == 0);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"\xef\xbb\xbf", 3) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)"3\n", 2) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.start_off == 3);
    tg_stream_free(&stream);
}

static void
test_cost(void)
{
    static const char block[] = "{\"message\":{\"content\":\"\xff some text\"},\"done\":false}\r\n";
    record_setup setup = ndjson_setup(0);
    uint8_t *text = malloc(BIG);

    if (text == NULL)
        exit(3);
    memset(text, 'x', BIG);
    text[BIG - 1] = '\n';
    TEST("NDJSON: a record of 4 MiB costs the same work per byte in every cut");
    framer_check_work(&setup, text, BIG, 1, 6);
    setup = ndjson_setup(TG_RECORD_STRICT_UTF8);
    framer_check_work(&setup, text, BIG, 1, 6);
    TEST("NDJSON: white space of 4 MiB is never held");
    memset(text, ' ', BIG);
    framer_check_work(&setup, text, BIG, 0, 3);
    TEST("NDJSON: ill-formed text costs more, but per byte too");
    setup = ndjson_setup(0);
    memset(text, 0xe4, BIG / 4);
    text[BIG - 1] = '\n';
    framer_check_work(&setup, text, BIG, 1, 12);
    TEST("NDJSON: once warm, a stream allocates nothing per record");
    framer_check_steady(&setup, NULL, 0, (const uint8_t *)block, sizeof block - 1);
    free(text);
}

static void
test_borrowing(void)
{
    static const uint8_t text[] = "{}\n[1]\r\n";
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    tg_stream stream;
    tg_event event;

    TEST("NDJSON: a record within one chunk is a span of the chunk");
    tg_stream_init_framing(&stream, TG_FRAMING_NDJSON, &alloc, NULL, 0);
    CHECK(tg_stream_feed(&stream, text, sizeof text - 1) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr == text);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr == text + 3);
    CHECK(event.data.len == 3 && tg_stream_next(&stream, &event) == TG_MORE);
    CHECK(memory.asked == 0);
    tg_stream_free(&stream);
}

#define CHECK_STATE(name_of, name, sentence) \
    CHECK(strcmp(name_of(name), #name) == 0 && strstr(sentence, " / ") != NULL);
#define CHECK_NDJSON_STATE(name, sentence) CHECK_STATE(tg_ndjson_state_name, name, sentence)
#define CHECK_RECORD_STATE(name, sentence) CHECK_STATE(tg_record_state_name, name, sentence)

void
test_ndjson(void)
{
    test_records();
    test_limit();
    test_limit_at_once();
    test_cost();
    test_borrowing();
    TEST("each state of the record machines has its name and a sentence of two halves");
    TG_NDJSON_STATES(CHECK_NDJSON_STATE)
    TG_RECORD_STATES(CHECK_RECORD_STATE)
}

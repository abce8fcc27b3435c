/* test_limits.c - every limit of the stream at n - 1, n and n + 1, whole and in every cut.
 *
 * Each row says what the input gives under a limit of n; the limit of a row is set by its function.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "record.h"

typedef struct limit_row {
    const char *input;
    size_t limit;
    const char *expected;
} limit_row;

static void
check_cuts(const record_setup *setup, const limit_row *row)
{
    const uint8_t *ptr = (const uint8_t *)row->input;
    const size_t len = strlen(row->input);
    const bool was_failing = check_is_failing();
    record whole = {0}, cut = {0};
    size_t at[2];

    record_stream(&whole, setup, ptr, len, NULL, 0);
    CHECK(strstr(whole.ptr, row->expected) != NULL);
    CHECK(strstr(whole.ptr, "BREACH") == NULL);
    for (at[0] = 0; at[0] <= len; at[0]++) {
        for (at[1] = at[0]; at[1] <= len; at[1]++) {
            record_stream(&cut, setup, ptr, len, at, 2);
            CHECK(record_equal(&whole, &cut));
        }
    }
    record_stream_step(&cut, setup, ptr, len, 1);
    CHECK(record_equal(&whole, &cut));
    if (check_is_failing() && !was_failing) {
        check_note(row->input);
        check_note(row->expected);
        check_note(whole.ptr);
        check_note(cut.ptr);
    }
    record_free(&whole);
    record_free(&cut);
}

typedef void (*set_limit)(record_setup *setup, size_t limit);

static void
set_line(record_setup *setup, size_t limit)
{
    setup->limits.max_line_bytes = limit;
}

static void
set_event(record_setup *setup, size_t limit)
{
    setup->limits.max_event_bytes = limit;
}

static void
set_id(record_setup *setup, size_t limit)
{
    setup->limits.max_id_bytes = limit;
}

static void
set_retry(record_setup *setup, size_t limit)
{
    setup->limits.max_retry_digits = limit;
}

static void
check_rows(const limit_row *rows, size_t count, set_limit set, unsigned flags)
{
    size_t i;

    for (i = 0; i < count; i++) {
        record_setup setup = record_setup_default();

        setup.flags = flags;
        set(&setup, rows[i].limit);
        check_cuts(&setup, &rows[i]);
        setup.flags |= TG_SSE_STRICT_UTF8;
        check_cuts(&setup, &rows[i]);
    }
}

#define CHECK_ROWS(rows, set, flags) check_rows((rows), sizeof(rows) / sizeof(rows)[0], set, flags)

static void
test_line(void)
{
    static const limit_row rows[] = {
        {"data: abc\n\n", 10, "data=\"abc\""},
        {"data: abc\n\n", 9, "data=\"abc\""},
        {"data: abc\n\n", 8, "error line_too_large 8"},
        {"data: abc\r\n\r\n", 9, "data=\"abc\""},
        {"data: abc\r\r", 8, "error line_too_large 8"},
        {"\r\n\r\n: abc\r\n", 5, "rest none"},
        {"\r\n\r\n: abc\r\n", 4, "error line_too_large 8"},
        {"data: abc", 8, "error line_too_large 8"},
        {"\xef\xbb\xbf: abc\n", 5, "rest none"},
        {"\xef\xbb\xbf: abc\n", 4, "error line_too_large 7"},
        {"\xef\xbb\xbf", 0, "rest none"},
        {"\xef\xbb\xbf\n", 0, "rest none"},
        {"\xef\xbb\xbfx", 0, "error line_too_large 3"},
        {"data: a\n\ndata: bc\n\n", 7, "at=0,6,9\nerror line_too_large 16"},
        {"\n: abc\n\ndata:\n\n", 6, "at=8,13,15"},
        {"\n: abc\n\ndata:\n\n", 5, "at=8,13,15"},
        {"\n: abc\n\ndata:\n\n", 4, "error line_too_large 5"},
        {"\n: abc\r\n\r\ndata:\n\n", 5, "at=10,15,17"},
        {"\n: abc\r\n\r\ndata:\n\n", 4, "error line_too_large 5"},
        {"retry: 1234567\n", 7, "error line_too_large 7"},
        {"\n\n\n", 0, "rest none"},
        {"a", 0, "error line_too_large 0"},
    };
    static const limit_row bom[] = {
        {"\xef\xbb\n", 1, "error line_too_large 1"}, {"\xef\xbb\n", 2, "rest none"},
        {"\xef\xbb", 1, "rest character"},           {"\xef\n", 0, "error line_too_large 0"},
        {"\xef\xbbx", 2, "error line_too_large 2"},  {"\xef\xbbxyz", 0, "error line_too_large 0"},
    };
    size_t i;

    TEST("max_line_bytes counts the content of a line, and its first byte over is the error");
    CHECK_ROWS(rows, set_line, 0);
    TEST("bytes that look like a BOM count once it is known that they are none");
    for (i = 0; i < sizeof bom / sizeof bom[0]; i++) {
        record_setup setup = record_setup_default();

        set_line(&setup, bom[i].limit);
        check_cuts(&setup, &bom[i]);
    }
}

static void
test_event(void)
{
    static const limit_row rows[] = {
        {"data: abc\n\n", 4, "data=\"abc\""},
        {"data: abc\n\n", 3, "data=\"abc\""},
        {"data: abc\n\n", 2, "error event_too_large 8"},
        {"data:abc\n\n", 2, "error event_too_large 7"},
        {"data: abc", 2, "error event_too_large 8"},
        {"data: abc", 3, "rest line"},
        {"data: a\ndata: b\n\n", 3, "data=\"a\\x0ab\""},
        {"data: a\ndata: b\n\n", 2, "error event_too_large 14"},
        {"data: a\ndata: b\n\n", 1, "error event_too_large 14"},
        {"data: a\ndata:b\n\n", 1, "error event_too_large 13"},
        {"data: a\ndata: b", 1, "error event_too_large 14"},
        {"data: a\ndata: b", 2, "error event_too_large 14"},
        {"data: a\ndata: b", 3, "rest line"},
        {"data: a\ndata\n\n", 2, "data=\"a\\x0a\""},
        {"data: a\ndata\n\n", 1, "error event_too_large 12"},
        {"data: a\ndata:\n\n", 1, "error event_too_large 13"},
        {"data: a\ndata: \n\n", 1, "error event_too_large 14"},
        {"data: a\ndata: ", 1, "rest line line=\"data: \" has_data=1 type=\"\" data=\"a\\x0a\""},
        {"data: a\ndatas\n\n", 1, "data=\"a\""},
        {"event: ee\ndata: abc\n\n", 5, "type=\"ee\" data=\"abc\""},
        {"event: ee\ndata: abc\n\n", 4, "error event_too_large 18"},
        {"event: ee\ndata: abc\n\n", 2, "error event_too_large 16"},
        {"event: ee\ndata: abc\n\n", 1, "error event_too_large 8"},
        {"event: ee", 1, "rest line line=\"event: ee\" has_data=0 type=\"ee\""},
        {"data: abc\nevent: ee\n\n", 5, "type=\"ee\" data=\"abc\""},
        {"data: abc\nevent: ee\n\n", 4, "error event_too_large 18"},
        {"data: abc\nevent: ee\n\n", 3, "error event_too_large 17"},
        {"event: eeee\nevent: e\ndata: abc\n\n", 4, "type=\"e\" data=\"abc\""},
        {"event: eeee\n\ndata: abc\n\n", 4, "type=\"\" data=\"abc\""},
        {"data: abc\n\ndata: abcd\n\n", 3, "at=0,6,11\nerror event_too_large 20"},
        {"data\n\n", 0, "data=\"\""},
        {"data: \n\n", 0, "data=\"\""},
        {"data: a\n\n", 0, "error event_too_large 6"},
        {"data:  \n\n", 0, "error event_too_large 6"},
        {"data: \xff\xff\n\n", 0, "error "},
    };
    static const limit_row error[] = {
        {"error: ab\n\n", 7, "type=\"error\" data=\"ab\""},
        {"error: ab\n\n", 6, "error event_too_large 8"},
        {"error: ab\n\n", 5, "error event_too_large 7"},
        {"error: ab\n\n", 4, "error event_too_large 7"},
        {"error\n\n", 5, "type=\"error\" data=\"\""},
        {"error\n\n", 4, "error event_too_large 5"},
        {"data: a\nerror: b\n\n", 8, "type=\"error\" data=\"a\\x0ab\""},
        {"data: a\nerror: b\n\n", 7, "error event_too_large 15"},
        {"data: a\nerror: b\n\n", 6, "error event_too_large 15"},
    };

    TEST("max_event_bytes counts data as joined and the type in force, at the first byte over");
    CHECK_ROWS(rows, set_event, 0);
    TEST("an error field counts its type too");
    CHECK_ROWS(error, set_event, TG_SSE_ERROR_FIELD);
}

static void
test_id_and_retry(void)
{
    static const limit_row ids[] = {
        {"id: abc\n\n", 4, "end id=\"abc\""},
        {"id: abc\n\n", 3, "end id=\"abc\""},
        {"id: abc\n\n", 2, "error id_too_large 6"},
        {"id:abc\n\n", 2, "error id_too_large 5"},
        {"id: abc", 2, "rest line"},
        {"id: abc\r", 2, "error id_too_large 6"},
        {"id\n\n", 0, "end id=\"\""},
    };
    static const limit_row retries[] = {
        {"retry: 123\n", 4, "retry=123\n"},
        {"retry: 123\n", 3, "retry=123\n"},
        {"retry: 123\n", 2, "error retry_too_large 9"},
        {"retry: 12x\n", 2, "rest none"},
        {"retry: 123", 2, "rest line"},
        {"retry: 000\n", 2, "error retry_too_large 9"},
        {"retry:\n", 0, "rest none"},
    };
    record_setup setup = record_setup_default();
    record whole = {0};

    TEST("max_id_bytes is checked when the line is complete");
    CHECK_ROWS(ids, set_id, 0);
    TEST("an id with a NUL is ignored, however long");
    set_id(&setup, 2);
    record_stream(&whole, &setup, (const uint8_t *)"id: ab\0cd\n\n", 11, NULL, 0);
    CHECK(strstr(whole.ptr, "rest none") != NULL);
    record_free(&whole);
    TEST("max_retry_digits is checked when the line is complete; a non-digit makes it no retry");
    CHECK_ROWS(retries, set_retry, 0);
}

static void
test_precedence(void)
{
    static const struct {
        limit_row row;
        size_t line, event;
    } rows[] = {
        {{"data: abcdef\n", 0, "error line_too_large 8"}, 8, 3},
        {{"data: abcdef\n", 0, "error event_too_large 8"}, 8, 2},
        {{"data: abcdef\n", 0, "error event_too_large 7"}, 8, 1},
        {{"data:bcdef\n", 0, "error event_too_large 5"}, 5, 0},
        {{"data: bcdef\n", 0, "error line_too_large 5"}, 5, 0},
        {{"x\ndatax\n\n", 0, "error line_too_large 6"}, 4, 9},
        {{"data\ndata\n\n", 0, "error event_too_large 9"}, 4, 0},
        {{"event: abcdef\n", 0, "error line_too_large 9"}, 9, 1},
    };
    size_t i;

    TEST("where a data line passes two limits the smaller offset wins, the event's if equal");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        record_setup setup = record_setup_default();

        setup.limits.max_line_bytes = rows[i].line;
        setup.limits.max_event_bytes = rows[i].event;
        check_cuts(&setup, &rows[i].row);
    }
}

/* All small limits at once, on inputs that use everything: no expectation but the same record. */
static void
test_grid(void)
{
    static const char *const inputs[] = {
        "\xef\xbb\xbf: c\r\nid: ab\r\nevent: xy\r\ndata: ab\r\ndata: c\r\n\r\n",
        "\357\273data: a\rdata:\rdata\r\revent: abc\rretry: 123\rdata: ",
        "error: a\ndata: \xe4\xb8\nid: a\n\nerror\n\n",
    };
    record whole = {0}, cut = {0};
    size_t i, line, event, at;
    unsigned flags;

    TEST("under any pair of small limits and any flags the cut of the input is not an input");
    for (i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        const uint8_t *ptr = (const uint8_t *)inputs[i];
        const size_t len = strlen(inputs[i]);

        for (line = 0; line < 12; line++) {
            for (event = 0; event < 12; event++) {
                for (flags = 0; flags < 4; flags++) {
                    record_setup setup = record_setup_default();

                    setup.flags = flags;
                    setup.limits.max_line_bytes = line;
                    setup.limits.max_event_bytes = event;
                    setup.limits.max_id_bytes = event / 4;
                    setup.limits.max_retry_digits = line / 3;
                    record_stream(&whole, &setup, ptr, len, NULL, 0);
                    for (at = 0; at <= len; at++) {
                        record_stream(&cut, &setup, ptr, len, &at, 1);
                        CHECK(record_equal(&whole, &cut));
                    }
                    record_stream_step(&cut, &setup, ptr, len, 1);
                    CHECK(record_equal(&whole, &cut));
                }
            }
        }
    }
    record_free(&whole);
    record_free(&cut);
}

void
test_limits(void)
{
    test_line();
    test_event();
    test_id_and_retry();
    test_precedence();
    test_grid();
}

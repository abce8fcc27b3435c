/* test_holes.c - the holes of a template: strings, numbers and blanks, with what JSON lets stand in
 * them and what it does not, at every place in a vector.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "lesson.h"

typedef struct mark {
    const char *bytes;
    bool is_taken; /* as text */
    bool is_padding;
} mark;

/* A string of so many plain bytes, what is looked at, and some more. */
static void
check_string(lesson *self, const tg_template *made, size_t offset, const mark *row)
{
    char text[512], data[2048], frame[4096];
    tg_match match;
    size_t len;

    memset(text, 'x', offset);
    snprintf(text + offset, sizeof text - offset,
             "%s and behind it more than a vector of sixty-four "
             "bytes, so that the end of the string is far off",
             row->bytes);
    len = strlen(text);
    snprintf(data, sizeof data, "{\"type\":\"d\",\"seq\":1,\"text\":\"%s\",\"pad\":\"\",\"i\":0}",
             text);
    CHECK(lesson_fits(self, made, "", data, &match) == row->is_taken);
    CHECK(!row->is_taken || (match.text.len == len && memcmp(match.text.ptr, text, len) == 0 &&
                             match.is_escaped == (strchr(text, '\\') != NULL)));
    snprintf(frame, sizeof frame, "data: %s\n\n", data);
    CHECK(lesson_begins(self, made, frame, strlen(frame), &match) == row->is_taken);
    CHECK(!row->is_taken || match.len == strlen(frame));
    snprintf(data, sizeof data, "{\"type\":\"d\",\"seq\":1,\"text\":\"\",\"pad\":\"%s\",\"i\":0}",
             text);
    CHECK(lesson_fits(self, made, "", data, &match) == row->is_padding);
    CHECK(!row->is_padding || (match.padding[0].len == len && match.text.len == 0));
}

static void
test_strings(lesson *self)
{
    static const mark marks[] = {
        {"", true, true},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", true, true},
        {"\x7f\xff\x80", true, true}, /* who calls judges them */
        {"\\\"", true, false},
        {"\\\\", true, false},
        {"\\\\\\\"\\u0041", true, false},
        {"\\x", true, false}, /* judged when it is unescaped */
        {"\"", false, false},
        {"\\\\\"", false, false},
        {"\x01", false, false},
        {"\x1f", false, false},
        {"\t", false, false},
        {"\n", false, false},
        {"\r", false, false},
        {"\",\"pad\":\"", false, false},
    };
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    tg_template *made = lesson_make_block(self, &style, NULL, LESSON_DATA("9", "Hi", "abc"));
    size_t i, offset;

    TEST("a string hole ends at its quote, and has what JSON lets be, at every place in a vector");
    for (i = 0; i < sizeof marks / sizeof marks[0]; i++)
        for (offset = 0; offset <= 70; offset++)
            check_string(self, made, offset, &marks[i]);
    tg_template_free(made, &self->alloc);
}

static void
test_numbers(lesson *self)
{
    static const struct {
        const char *digits;
        bool is_taken;
        uint64_t value;
    } rows[] = {
        {"0", true, 0},
        {"9", true, 9},
        {"10", true, 10},
        {"999999999999999999", true, 999999999999999999},
        {"1000000000000000000", false, 0},
        {"9999999999999999999", false, 0},
        {"99999999999999999999999999", false, 0},
        {"", false, 0},
        {"00", false, 0},
        {"01", false, 0},
        {"-1", false, 0},
        {"1.0", false, 0},
        {"1e2", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"\"1\"", false, 0},
        {"x", false, 0},
    };
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    tg_template *made = lesson_make_block(self, &style, NULL, LESSON_DATA("9", "Hi", "abc"));
    tg_template *padded =
        lesson_make_block(self, &style, NULL, "{\"type\":\"d\",\"pad\":5,\"text\":\"Hi\"}");
    char data[256];
    tg_match match;
    size_t i;

    TEST("an integer may have one digit to eighteen, no sign, and no zero before others");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(data, sizeof data,
                 "{\"type\":\"d\",\"seq\":%s,\"text\":\"\",\"pad\":\"\",\"i\":0}", rows[i].digits);
        CHECK(lesson_fits(self, made, "", data, &match) == rows[i].is_taken);
        CHECK(!rows[i].is_taken || (match.has_sequence && match.sequence == rows[i].value));
        snprintf(data, sizeof data, "{\"type\":\"d\",\"pad\":%s,\"text\":\"\"}", rows[i].digits);
        CHECK(lesson_fits(self, padded, "", data, &match) == rows[i].is_taken);
        CHECK(!rows[i].is_taken || !match.has_sequence);
    }
    tg_template_free(made, &self->alloc);
    tg_template_free(padded, &self->alloc);
}

static void
test_blanks(lesson *self)
{
    static const struct {
        const char *data;
        bool is_taken;
    } rows[] = {
        {"{\"type\":\"d\",\"text\":\"Hi\" }", true},
        {"{\"type\":\"d\",\"text\":\"Hi\"}", true},
        {"{\"type\":\"d\",\"text\":\"Hi  \"                            }", true},
        {"{\"type\":\"d\",\"text\":\"Hi\"\t}", false},
        {"{\"type\":\"d\",\"text\":\"Hi\" \n}", false},
        {"{\"type\":\"d\",\"text\":\"Hi\"   ", false},
        {"{\"type\":\"d\",\"text\":\"Hi\"   } ", false},
    };
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    tg_template *made = lesson_make_block(self, &style, NULL, rows[0].data);
    tg_template *plain = lesson_make_block(self, &style, NULL, rows[1].data);
    tg_match match;
    size_t i;

    TEST("spaces before the last brace may be any number, where there once were some");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(lesson_fits(self, made, "", rows[i].data, &match) == rows[i].is_taken);
        CHECK(lesson_fits(self, plain, "", rows[i].data, &match) == (i == 1));
    }
    tg_template_free(made, &self->alloc);
    tg_template_free(plain, &self->alloc);
}

void
test_holes(void)
{
    guarded_heap memory = {0};
    const tg_alloc alloc = guarded_alloc(&memory);
    lesson self;

    lesson_begin(&self, &alloc);
    test_strings(&self);
    test_numbers(&self);
    test_blanks(&self);
    CHECK(memory.blocks == 0 && !memory.is_abused);
    lesson_done(&self);
}

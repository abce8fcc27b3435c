/* taking.c - the streams and the ways of reading them of taking.h. */
#include "taking.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"

const taking_row taking_plain[TAKING_PLAIN] = {
    {NULL, TAKING_D("1", "a")},
    {NULL, TAKING_D("2", "b")},
    {NULL, TAKING_D("3", "c \\\" \xf0\x9f\x98\x80")},
    {NULL, TAKING_D("4", "")},
    {NULL, TAKING_D("5", "d")},
    {NULL, TAKING_A("0", "{\\\"x\\\":")},
    {NULL, TAKING_A("1", "[")},
    {NULL, TAKING_A("0", "1")},
    {NULL, TAKING_A("1", "2]")},
    {NULL, TAKING_D("6", "e")},
    {NULL, TAKING_A("0", "}")},
    {NULL, TAKING_P("f", "pppp")},
    {NULL, TAKING_P("g", "")},
    {NULL, TAKING_C("h")},
    {NULL, TAKING_R("i")},
    {NULL, TAKING_C("j")},
    {NULL, TAKING_C("")},
    {NULL, TAKING_R("k")},
    {NULL, TAKING_A("0", " ")},
    {NULL, TAKING_A("1", " \\n")},
    {NULL, TAKING_P("l", "\xe2\x82\xac")},
    {NULL, TAKING_D("7", "m")},
    {NULL, TAKING_D("8", "")},
    {NULL, TAKING_A("0", " ")},
    {NULL, TAKING_C("n")},
    {NULL, TAKING_D("9", "o\\u00e9")},
    {NULL, TAKING_D("10", "p")},
    {NULL, "{\"done\":true}"},
};

const taking_row taking_troubled[TAKING_TROUBLED] = {
    {"d", TAKING_D("8", "one")},
    {"d", TAKING_D("9", "two")},
    {"d", TAKING_D("10", "three")},
    {"d", TAKING_D("10", "three")}, /* again */
    {"d", TAKING_D("12", "a gap")}, /* and one */
    {"d", TAKING_D("13", "fine")},
    {"d", TAKING_D("013", "no JSON")},
    {"d", TAKING_D("14", "half \\ud83d")},
    {"d", TAKING_D("15", "\\ude00 half")},
    {"d", TAKING_D("16", "\\ud83d\\ude00 whole")},
    {"e", TAKING_D("17", "another type")},
    {"d", TAKING_D("18", "and back")},
    {"d", TAKING_D("19", "and on")},
    {"d", "{\"type\":\"d\",\"seq\":20,\"i\":0,\"text\":\"x\",\"text\":\"y\"}"},
    {"d", "{\"type\":\"d\",\"seq\":21,\"i\":0,\"text\":\"x\",\"end\":true}"},
    {"d", "{\"type\":\"d\",\"seq\":22,\"i\":0,\"meta\":1,\"text\":\"x\"}"},
    {"d", "{\"type\":\"d\",\"seq\":23,\"i\":0,\"meta\":1,\"text\":\"y\"}"},
    {"d", "{\"type\":\"d\",\"seq\":24,\"i\":0,\"meta\":2,\"text\":\"z\"}"},
    {"d", "{\"type\":\"d\",\"seq\":25,\"i\":0,\"meta\":1,\"text\":\"y\"}"},
    {"d", "{\"type\":\"d\",\"seq\":26,\"i\":0,\"meta\":1,\"text\":\"raw \t\"}"},
    {"d", "{\"type\":\"d\",\"seq\":26,\"i\":0,\"meta\":1,\"text\":\"ill \xe2\x82\"}"},
    {"d", "{\"type\":\"d\",\"seq\":27,\"i\":0,\"meta\":1,\"text\":\"cut"},
    {"d", "{\"type\":\"d\",\"seq\":27,\"i\":0,\"meta\":1,\"text\":\"spaces\"   }"},
    {"d", "{\"type\":\"d\",\"seq\":28,\"i\":0,\"meta\":1,\"text\":\"spaces\" }"},
    {"d", "{\"type\":\"d\",\"seq\":29,\"i\":0,\"meta\":1,\"text\":\"none\"}"},
    {"d", "{\"type\":\"d\",\"seq\":-30,\"i\":0,\"meta\":1,\"text\":\"none\"}"},
    {NULL, "no JSON"},
};

/* Lines that stand between two events of SSE, or are none. */
static const char *const noise[] = {
    ": a comment\n\n",
    "id: 1\n\n",
    "retry: 10\n\n",
    "\n\n\n",
    "{\"type\":\"d\",\"text\":\"stray\"}\n",
    "id: 2\n",
    "event: x\n\n",
    ": ping\n",
    "\r\n",
    "retry: 5\n",
    "data: {\"type\":\"d\",\n",
    "id\n",
    "unknown: x\n\n",
    "id: 3\n\n",
    "event: d\n",
};
#define NOISES (sizeof noise / sizeof noise[0])

void
taking_build(wire *out, const wire_style *style, const taking_row *rows, size_t count,
             bool is_noisy)
{
    size_t i;

    wire_clear(out);
    for (i = 0; i < count; i++) {
        if (is_noisy && i % 2 == 1)
            wire_text(out, noise[i / 2 % NOISES]);
        wire_say(out, style, rows[i].type, rows[i].data);
    }
    if (style->framing == TG_FRAMING_ARRAY)
        wire_text(out, "]");
}

/* ---- one stream in all ways -------------------------------------------------------------------
 */

/* From the first line that differs on. */
void
taking_compare(const record *expected, const record *found)
{
    const bool was_failing = check_is_failing();
    size_t same = 0, line = 0;

    CHECK(record_equal(expected, found));
    CHECK(strstr(found->ptr, "\nBREACH") == NULL);
    if (was_failing || !check_is_failing())
        return;
    for (; expected->ptr[same] != '\0' && expected->ptr[same] == found->ptr[same]; same++)
        line = expected->ptr[same] == '\n' ? same + 1 : line;
    check_note("read one by one, and with prediction:");
    check_note(expected->ptr + line);
    check_note(found->ptr + line);
}

static void
check_cuts(const reader_setup *setup, const record *expected, const uint8_t *ptr, size_t len)
{
    record found = {0};
    uint64_t seed = len;
    size_t at, round, i;

    for (at = 0; at <= len; at++) {
        reader_read(&found, setup, ptr, len, &at, 1, NULL);
        taking_compare(expected, &found);
    }
    for (round = 0; round < 50; round++) {
        size_t cuts[6], pos = 0;

        for (i = 0; i < 6; i++) {
            pos += check_random(&seed) % (len / 4 + 1);
            cuts[i] = pos < len ? pos : len;
        }
        reader_read(&found, setup, ptr, len, cuts, 6, NULL);
        taking_compare(expected, &found);
    }
    record_free(&found);
}

static void
check_refusals(reader_setup setup, const record *expected, const uint8_t *ptr, size_t len,
               size_t step)
{
    record found = {0};
    size_t n;

    for (n = 1; n < 1000; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);

        setup.alloc = &alloc;
        reader_read_step(&found, &setup, ptr, len, step, NULL);
        taking_compare(expected, &found);
        CHECK(memory.blocks == 0 && memory.bytes == 0 && !memory.is_abused);
        if (memory.asked < n)
            break;
    }
    CHECK(n > 2);
    setup.alloc = NULL;
    for (n = 1; n < 1000; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);

        setup.stream.alloc = &alloc;
        reader_read_step(&found, &setup, ptr, len, step, NULL);
        CHECK(strstr(found.ptr, "\nBREACH") == NULL && memory.blocks == 0 && !memory.is_abused);
        if (memory.asked < n)
            break;
        CHECK(strstr(found.ptr, "error no_memory") != NULL);
    }
    record_free(&found);
}

/* All blocks of the core and all chunks end at pages that cannot be read. */
static void
check_guarded(reader_setup setup, const record *expected, const uint8_t *ptr, size_t len)
{
    guarded_heap memory = {0};
    const tg_alloc alloc = guarded_alloc(&memory);
    record found = {0};
    guard_page page;
    size_t step;

    if (!guard_open(&page, len + 1))
        exit(3);
    setup.alloc = setup.stream.alloc = &alloc;
    setup.stream.guard = &page;
    for (step = 1; step < 2 * len; step = 3 * step + 1) {
        reader_read_step(&found, &setup, ptr, len, step, NULL);
        taking_compare(expected, &found);
    }
    CHECK(memory.blocks == 0 && !memory.is_abused);
    guard_close(&page);
    record_free(&found);
}

/* hits: how many events at least go unread when the stream comes whole. */
void
taking_check(reader_setup setup, const wire *stream, uint64_t hits)
{
    static const size_t steps[] = {1, 2, 7, 64};
    record expected = {0}, found = {0};
    reader_counts counts;
    size_t i;

    setup.predicts = false;
    reader_read(&expected, &setup, stream->ptr, stream->len, NULL, 0, &counts);
    CHECK(counts.hits == 0 && strstr(expected.ptr, "\nBREACH") == NULL);
    setup.predicts = true;
    reader_read(&found, &setup, stream->ptr, stream->len, NULL, 0, &counts);
    taking_compare(&expected, &found);
    CHECK(counts.hits >= hits);
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        reader_read_step(&found, &setup, stream->ptr, stream->len, steps[i], &counts);
        taking_compare(&expected, &found);
        CHECK(counts.hits >= hits);
    }
    check_cuts(&setup, &expected, stream->ptr, stream->len);
    check_guarded(setup, &expected, stream->ptr, stream->len);
    check_refusals(setup, &expected, stream->ptr, stream->len, 50);
    check_refusals(setup, &expected, stream->ptr, stream->len, stream->len + 1);
    record_free(&expected);
    record_free(&found);
}

void
taking_check_lightly(reader_setup setup, const wire *stream)
{
    record expected = {0}, found = {0};
    size_t step;

    setup.predicts = false;
    reader_read(&expected, &setup, stream->ptr, stream->len, NULL, 0, NULL);
    setup.predicts = true;
    for (step = 1; step < 3 * stream->len; step = 3 * step + 1) {
        reader_read_step(&found, &setup, stream->ptr, stream->len, step, NULL);
        taking_compare(&expected, &found);
    }
    record_free(&expected);
    record_free(&found);
}

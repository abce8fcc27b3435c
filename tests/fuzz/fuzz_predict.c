/* fuzz_predict.c - libFuzzer target: a stream of deltas must say the same read one event at a time
 * and with prediction, whatever its framing, its cuts and its memory.
 *
 * The first OPTIONS bytes choose framing, flags, rooms, limits, refused allocations and cuts. The
 * rest is a script: events made of a few templates, mostly alike, each with a text, and perhaps a
 * byte of it changed, an odd number or another type; and raw bytes between them.
 * All that reader.h writes down must be equal: texts and events in one order, errors and offsets,
 * ids, what was left over. Each chunk ends at a page that cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "reader.h"
#include "wire.h"

#define CUTS 8
#define OPTIONS (8 + CUTS)
/* A script makes more bytes than it has. */
#define STREAM_MAX ((size_t)2500)
#define BYTE_BY_BYTE_UP_TO 800

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len);

/* # is the sequence number, @ the text, ~ as many letters as the text has bytes. */
static const char *const templates[] = {
    "{\"type\":\"d\",\"seq\":#,\"i\":0,\"text\":\"@\"}",
    "{\"type\":\"d\",\"text\":\"@\",\"pad\":\"~\"}",
    "{\"type\":\"d\",\"alt\":\"@\",\"pad\":#,\"meta\":null}",
    "{\"type\":\"a\",\"i\":0,\"delta\":{\"args\":\"@\",\"note\":[]},\"seq\":#}",
    "{\"type\":\"a\",\"i\":1,\"delta\":{\"args\":\"@\"},\"seq\":#}",
    "{\"list\":[{\"i\":0,\"delta\":{\"c\":\"@\",\"r\":\"\"},\"end\":null}],\"n\":#}",
    "{\"list\":[{\"i\":0,\"delta\":{\"c\":\"\",\"r\":\"@\"},\"end\":null}],\"n\":\"~\"}",
    "{\"type\":\"d\",\"seq\":#,\"i\":0,\"text\":\"@\"  }",
    " { \"type\" : \"d\" , \"text\" : \"@\" , \"i\" : {\"a\":[]} } ",
    "@",
};
#define TEMPLATES (sizeof templates / sizeof templates[0])

/* The second byte of an event. */
#define EVENT_TEXT 0x0fu
#define EVENT_MUTATED 0x10u
#define EVENT_TYPED 0x20u
#define EVENT_REPEATED 0x40u
#define EVENT_GAP 0x80u
/* First bytes from here on are raw bytes, as many as their low bits say. */
#define SCRIPT_RAW 0xc0u

typedef struct script {
    const uint8_t *ptr;
    size_t len;
    unsigned long sequence;
} script;

static uint8_t
script_byte(script *self)
{
    if (self->len == 0)
        return 0;
    self->len--;
    return *self->ptr++;
}

static void
script_data(script *self, wire *data, size_t number, uint8_t how)
{
    const char *mark = templates[number % TEMPLATES];
    const size_t size = (how & EVENT_TEXT) < self->len ? how & EVENT_TEXT : self->len;
    char digits[24];

    if ((how & EVENT_REPEATED) == 0)
        self->sequence += (how & EVENT_GAP) != 0 ? 2 : 1;
    snprintf(digits, sizeof digits, "%lu", self->sequence);
    wire_clear(data);
    for (; *mark != '\0'; mark++) {
        if (*mark == '#')
            wire_text(data, digits);
        else if (*mark == '@')
            wire_add(data, self->ptr, size);
        else if (*mark == '~')
            wire_add(data, "pppppppppppppppp", size);
        else
            wire_add(data, mark, 1);
    }
    self->ptr += size;
    self->len -= size;
    if ((how & EVENT_MUTATED) != 0 && data->len > 0) {
        const size_t at = script_byte(self) % data->len;

        data->ptr[at] = script_byte(self);
    }
}

static void
script_play(script *self, wire *out, const wire_style *style)
{
    static const char *const types[] = {"d", "a", "", "stop"};
    wire data = {0};

    while (self->len > 0 && out->len < STREAM_MAX) {
        const uint8_t op = script_byte(self);
        const char *type = NULL;
        uint8_t how;

        if (op >= SCRIPT_RAW) {
            const size_t size = (op & 31u) < self->len ? op & 31u : self->len;

            wire_add(out, self->ptr, size);
            self->ptr += size;
            self->len -= size;
            continue;
        }
        how = script_byte(self);
        if ((how & EVENT_TYPED) != 0)
            type = types[script_byte(self) & 3];
        script_data(self, &data, op, how);
        wire_event(out, style, type, data.ptr, data.len);
    }
    wire_free(&data);
}

/* ---- options ----------------------------------------------------------------------------------
 */

/* 0 to 240: the limit itself, small; above: the default. */
static void
fuzz_limit(size_t *limit, uint8_t byte)
{
    if (byte <= 240)
        *limit = byte;
}

static reader_setup
fuzz_setup(const uint8_t *options)
{
    static const tg_framing framings[] = {TG_FRAMING_SSE, TG_FRAMING_NDJSON, TG_FRAMING_ARRAY,
                                          TG_FRAMING_EVENTSTREAM};
    reader_setup setup = reader_setup_default();

    setup.stream.framing = framings[options[0] & 3];
    setup.stream.flags = (options[0] & 4) != 0 ? TG_SSE_STRICT_UTF8 : 0;
    if (setup.stream.framing == TG_FRAMING_SSE && (options[0] & 8) != 0)
        setup.stream.flags |= TG_SSE_ERROR_FIELD;
    fuzz_limit(&setup.lane_room, options[2]);
    fuzz_limit(&setup.room, options[3]);
    fuzz_limit(&setup.stream.limits.max_event_bytes, options[4]);
    fuzz_limit(&setup.stream.limits.max_line_bytes, options[5]);
    return setup;
}

static wire_style
fuzz_style(const uint8_t *options, tg_framing framing)
{
    static const char *const eols[] = {"\n", "\r\n", "\r", "\n"};
    wire_style style = wire_style_of(framing);

    style.eol = eols[options[1] & 3];
    style.colon = (options[1] & 4) != 0 ? ":" : ": ";
    style.is_type_behind = (options[1] & 8) != 0;
    return style;
}

/* Each byte is a distance from the cut before; small ones are likely, 200 and more jump far. */
static size_t
fuzz_cuts(const uint8_t *options, size_t len, size_t *cuts)
{
    size_t count, pos = 0;

    for (count = 0; count < CUTS && pos < len; count++) {
        pos += options[count] >= 200 ? len / 16 * (options[count] % 16) : options[count];
        cuts[count] = pos < len ? pos : len;
    }
    return count;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static void
fuzz_fail(const char *what, const record *a, const record *b)
{
    fprintf(stderr, "%s\n%s\n%s\n", what, a->ptr, b->ptr);
    abort();
}

/* At the start of a line: what was fed cannot stand there. */
static bool
fuzz_has_line(const record *found, const char *line)
{
    const char *at = found->ptr;

    while (strncmp(at, line, strlen(line)) != 0) {
        at = strchr(at, '\n');
        if (at == NULL)
            return false;
        at++;
    }
    return true;
}

static void
fuzz_same(const char *what, const record *expected, const record *found)
{
    if (!record_equal(expected, found) || fuzz_has_line(found, "BREACH"))
        fuzz_fail(what, expected, found);
}

/* shared: the stream's allocations are refused too, which is an error of its own. */
static void
fuzz_refusal(reader_setup setup, const record *expected, const wire *stream, const size_t *cuts,
             size_t count, unsigned refuse_at, bool is_shared)
{
    heap memory = {.refuse_at = refuse_at};
    const tg_alloc alloc = heap_alloc(&memory);
    record found = {0};

    setup.alloc = &alloc;
    if (is_shared)
        setup.stream.alloc = &alloc;
    reader_read(&found, &setup, stream->ptr, stream->len, cuts, count, NULL);
    if (memory.blocks != 0 || memory.bytes != 0 || memory.is_abused ||
        fuzz_has_line(&found, "BREACH"))
        fuzz_fail("after a refused allocation", expected, &found);
    if (!fuzz_has_line(&found, "error no_memory"))
        fuzz_same("one by one, and without memory", expected, &found);
    else if (!is_shared)
        fuzz_fail("prediction has no errors", expected, &found);
    record_free(&found);
}

static void
fuzz_compare(reader_setup setup, const uint8_t *options, const wire *stream)
{
    size_t cuts[CUTS];
    const size_t count = fuzz_cuts(options + 8, stream->len, cuts);
    record expected = {0}, found = {0};
    reader_counts counts;

    setup.predicts = false;
    reader_read(&expected, &setup, stream->ptr, stream->len, NULL, 0, &counts);
    if (counts.hits != 0)
        fuzz_fail("hits without prediction", &expected, &expected);
    fuzz_same("one by one", &expected, &expected);
    setup.predicts = true;
    reader_read(&found, &setup, stream->ptr, stream->len, NULL, 0, NULL);
    fuzz_same("one by one, and with prediction", &expected, &found);
    reader_read(&found, &setup, stream->ptr, stream->len, cuts, count, NULL);
    fuzz_same("one by one, and with prediction and cuts", &expected, &found);
    if (stream->len <= BYTE_BY_BYTE_UP_TO) {
        reader_read_step(&found, &setup, stream->ptr, stream->len, 1, NULL);
        fuzz_same("one by one, and with prediction and byte by byte", &expected, &found);
    }
    if ((options[6] & 63) != 0)
        fuzz_refusal(setup, &expected, stream, cuts, count, options[6] & 63,
                     (options[6] & 64) != 0);
    record_free(&expected);
    record_free(&found);
}

int
LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    reader_setup setup;
    guard_page page;
    wire stream = {0};
    wire_style style;
    script play;

    if (len <= OPTIONS)
        return 0;
    setup = fuzz_setup(ptr);
    style = fuzz_style(ptr, setup.stream.framing);
    play = (script){.ptr = ptr + OPTIONS, .len = len - OPTIONS, .sequence = ptr[7]};
    wire_add(&stream, "", 0);
    script_play(&play, &stream, &style);
    if (!guard_open(&page, stream.len + 1))
        abort();
    setup.stream.guard = &page;
    fuzz_compare(setup, ptr, &stream);
    guard_close(&page);
    wire_free(&stream);
    return 0;
}

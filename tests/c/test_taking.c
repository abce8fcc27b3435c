/* test_taking.c - whole streams read with prediction and without it: the same text in each lane,
 * the same events in the same order, the same errors, in every framing and however they are cut.
 */
#include "suites.h"

#include <string.h>

#include "check.h"
#include "taking.h"

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

/* ---- streams ----------------------------------------------------------------------------------
 */

static void
test_framings(void)
{
    static const tg_framing framings[] = {TG_FRAMING_SSE, TG_FRAMING_NDJSON, TG_FRAMING_ARRAY,
                                          TG_FRAMING_EVENTSTREAM};
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    size_t i;

    for (i = 0; i < COUNT(framings); i++) {
        const wire_style style = wire_style_of(framings[i]);

        setup.stream.framing = framings[i];
        TEST("pieces of several lanes are the same read one by one and unread, in each framing");
        taking_build(&stream, &style, taking_plain, TAKING_PLAIN, false);
        taking_check(setup, &stream, 10);
        TEST("and so is all that is more than a piece, or less");
        /* The array's framing ends at what is no JSON. */
        taking_build(&stream, &style, taking_troubled, TAKING_TROUBLED, false);
        taking_check(setup, &stream, 4);
    }
    wire_free(&stream);
}

static void
test_lines(void)
{
    static const char *const eols[] = {"\r\n", "\r", "\n"};
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    size_t i;

    for (i = 0; i < COUNT(eols); i++) {
        wire_style style = wire_style_of(TG_FRAMING_SSE);

        style.eol = eols[i];
        style.is_type_behind = i % 2 == 0;
        style.colon = i == 1 ? ":" : ": ";
        setup.stream.flags = i == 2 ? TG_SSE_STRICT_UTF8 : TG_SSE_ERROR_FIELD;
        TEST("whatever ends the lines, and whatever stands between the events");
        taking_build(&stream, &style, taking_plain, TAKING_PLAIN, true);
        taking_check(setup, &stream, 3);
        TEST("troubled streams too");
        taking_build(&stream, &style, taking_troubled, TAKING_TROUBLED, true);
        taking_check(setup, &stream, 0);
    }
    wire_free(&stream);
}

static void
test_starts(void)
{
    static const char *const starts[] = {"\xef\xbb\xbf", "\xef\xbb", "\r\n", "\n\n", ":\n\n"};
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    size_t i;

    TEST("a byte order mark, or half of one, or blank lines at the start");
    for (i = 0; i < COUNT(starts); i++) {
        wire_clear(&stream);
        wire_text(&stream, starts[i]);
        wire_say(&stream, &style, NULL, TAKING_D("1", "a"));
        wire_say(&stream, &style, NULL, TAKING_D("2", "b"));
        wire_say(&stream, &style, NULL, TAKING_D("3", "c"));
        wire_text(&stream, "data: cut \xf0\x9f");
        taking_check(setup, &stream, 1);
    }
    wire_free(&stream);
}

static void
test_strays(void)
{
    static const char *const strays[] = {"x", ":", "d", "data", " ", "event", "\xef\xbb\xbf"};
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    size_t i;

    TEST("a byte right before what would be a frame makes another line of it, in any chunk");
    for (i = 0; i < COUNT(strays); i++) {
        wire_clear(&stream);
        wire_say(&stream, &style, NULL, TAKING_D("1", "a"));
        wire_say(&stream, &style, NULL, TAKING_D("2", "b"));
        wire_text(&stream, strays[i]);
        wire_say(&stream, &style, NULL, TAKING_D("3", "c"));
        wire_say(&stream, &style, NULL, TAKING_D("3", "d"));
        wire_say(&stream, &style, NULL, TAKING_D("4", "e"));
        taking_check(setup, &stream, 2);
    }
    wire_free(&stream);
}

static void
test_turns(void)
{
    static const char *const colons[] = {": ", ":"};
    reader_setup setup = reader_setup_default();
    wire stream = {0};
    size_t i;

    TEST("other lines around the same data: no frame that is known, but an event that is");
    for (i = 0; i < 6; i++) {
        wire_style style = wire_style_of(TG_FRAMING_SSE);

        style.colon = colons[i % 2];
        style.eol = i == 4 ? "\r" : "\n"; /* as long as the one before */
        wire_say(&stream, &style, "d", TAKING_P("a", "pad"));
        wire_say(&stream, &style, "d", TAKING_P("b", ""));
    }
    taking_check(setup, &stream, 11);
    wire_free(&stream);
}

static void
test_ids(void)
{
    static const char text[] = "data: " TAKING_D("1", "a") "\n\nid: 5\ndata: " TAKING_D(
        "2",
        "b") "\n\n"
             "id: 5\n\ndata: " TAKING_D("3", "c") "\n\nid: 6\nretry: 7\ndata: " TAKING_D("4", "d") "\n\ndata: {}\n\nid: 7\n\ndata: " TAKING_D(
                 "5",
                 "e") "\n\n"
                      "data: " TAKING_D("6", "f") "\n\ndata: {}\n\nid: 8\ndata: " TAKING_D(
                          "7",
                          "g") "\n\nid: 8\ndata: {}\n\nid: 9\ndata: " TAKING_D("8",
                                                                               "h") "\n\nid: "
                                                                                    "8\n"
                                                                                    "data:"
                                                                                    " " TAKING_D(
                                                                                        "9",
                                                                                        "i") "\n\nd"
                                                                                             "ata: "
                                                                                             "{}"
                                                                                             "\n\n";
    const wire stream = {(uint8_t *)(uintptr_t)text, sizeof text - 1, 0};

    TEST("ids that come with pieces, or between them, are known at the next event that is read");
    taking_check(reader_setup_default(), &stream, 4);
}

static void
test_headers(void)
{
    const wire_style style = wire_style_of(TG_FRAMING_EVENTSTREAM);
    const tg_span none = tg_span_empty();
    reader_setup setup = reader_setup_default();
    wire stream = {0};

    TEST("messages of other headers are other events, whatever their payload");
    setup.stream.framing = TG_FRAMING_EVENTSTREAM;
    wire_say(&stream, &style, "delta", TAKING_P("a", "x"));
    wire_say(&stream, &style, "delta", TAKING_P("b", "xy"));
    wire_say(&stream, &style, "exception", TAKING_P("no text", "x"));
    wire_say(&stream, &style, "delta", TAKING_P("c", ""));
    wire_message(&stream, none, TAKING_P("no type", ""), strlen(TAKING_P("no type", "")));
    wire_say(&stream, &style, "delta", TAKING_P("d \xff", ""));
    wire_say(&stream, &style, "delta", TAKING_P("e", "\xff"));
    wire_say(&stream, &style, "delta", TAKING_P("f", "x"));
    wire_say(&stream, &style, "delta", TAKING_P("g", "x"));
    taking_check(setup, &stream, 2);
    wire_free(&stream);
}

void
test_taking(void)
{
    test_framings();
    test_lines();
    test_starts();
    test_strays();
    test_turns();
    test_ids();
    test_headers();
}

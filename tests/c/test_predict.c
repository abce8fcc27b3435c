/* test_predict.c - prediction by itself: what is taken and what is left, lanes, rooms, sequence
 * numbers, which templates are kept, and that no memory loses nothing.
 */
#include "suites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "delta.h"
#include "memory.h"
#include "record.h"
#include "wire.h"

typedef struct rig {
    tg_predict predict;
    tg_shapes *shapes;
    guard_page page;
} rig;

static void
rig_open(rig *self, const tg_alloc *alloc)
{
    self->shapes = calloc(1, sizeof *self->shapes);
    if (self->shapes == NULL || !guard_open(&self->page, 16384))
        exit(3);
    CHECK(delta_declare(self->shapes));
    tg_predict_init(&self->predict, alloc);
}

static void
rig_close(rig *self)
{
    tg_predict_free(&self->predict);
    guard_close(&self->page);
    free(self->shapes);
}

/* Learns the event of a frame as a piece for the lane, and its sequence number. */
static bool
teach(rig *self, const char *frame, size_t lane)
{
    bool is_learned = false;
    tg_stream stream;
    tg_event event;
    delta piece;
    tg_span text;

    tg_stream_init(&stream, NULL, NULL, 0);
    CHECK(tg_stream_feed(&stream, (const uint8_t *)frame, strlen(frame)) == TG_OK);
    if (tg_stream_next(&stream, &event) == TG_OK) {
        delta_read(&piece, event.data);
        text.ptr = piece.text.ptr;
        text.len = piece.text.len;
        is_learned = tg_predict_learn(&self->predict, self->shapes, &event, lane, text);
        if (piece.has_sequence) {
            self->predict.has_sequence = true;
            self->predict.sequence = piece.sequence;
        }
        delta_free(&piece);
    }
    tg_stream_free(&stream);
    return is_learned;
}

/* Takes a frame that a page follows which cannot be read: whole or not at all. */
static bool
take(rig *self, const char *frame)
{
    const size_t len = strlen(frame);
    const uint8_t *place = guard_place(&self->page, (const uint8_t *)frame, len);
    const size_t taken = tg_predict_frames(&self->predict, place, len, 0);

    CHECK(taken == 0 || taken == len);
    return taken > 0;
}

/* The same as an event that was framed already, with the bytes of its data as they are. */
static bool
take_event(rig *self, const char *data)
{
    const size_t len = strlen(data);
    tg_event event = {.type = tg_span_empty(), .head = tg_span_empty()};

    event.data.ptr = guard_place(&self->page, (const uint8_t *)data, len);
    event.data.len = len;
    return tg_predict_event(&self->predict, &event);
}

/* The runs are these, each as its lane, a colon and its text; they are drained. */
static bool
has_runs(rig *self, const char *expected)
{
    record said = {0};
    bool is_same;
    size_t i;

    record_clear(&said);
    for (i = 0; i < tg_predict_run_count(&self->predict); i++) {
        tg_span text;
        const size_t lane = tg_predict_run(&self->predict, i, &text);

        record_printf(&said, "%s%zu:%.*s", i > 0 ? " " : "", lane, (int)text.len,
                      (const char *)text.ptr);
    }
    is_same = strcmp(said.ptr, expected) == 0;
    if (!is_same)
        check_note(said.ptr);
    record_free(&said);
    tg_predict_drain(&self->predict);
    return is_same && tg_predict_run_count(&self->predict) == 0;
}

#define TEXT(text) "data: {\"type\":\"d\",\"text\":\"" text "\"}\n\n"
#define ARGS(text) "data: {\"type\":\"a\",\"delta\":{\"args\":\"" text "\"}}\n\n"
#define NUMBERED(seq, text) "data: {\"type\":\"d\",\"seq\":" seq ",\"text\":\"" text "\"}\n\n"
#define PADDED(text, pad) "data: {\"type\":\"d\",\"text\":\"" text "\",\"pad\":\"" pad "\"}\n\n"

/* ---- taking -----------------------------------------------------------------------------------
 */

static void
test_runs(rig *self)
{
    TEST("nothing is taken before anything is learned, nor without a lane");
    CHECK(!take(self, TEXT("Hi")) && has_runs(self, ""));
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0);
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 1);
    CHECK(!take(self, TEXT("Hi")) && self->predict.hits == 0);
    TEST("pieces of one lane are one run, those of two are runs in their order");
    CHECK(teach(self, TEXT("Hi"), 0) && teach(self, ARGS("{"), 1) && has_runs(self, ""));
    CHECK(take(self, TEXT("a")) && take(self, TEXT("b")) && take(self, ARGS("c")));
    CHECK(take(self, TEXT("")) && take(self, ARGS("d\\n")) && take(self, TEXT("e")));
    CHECK(self->predict.hits == 6 && has_runs(self, "0:ab 1:cd\n 0:e"));
    TEST("an empty piece is taken and is no run");
    CHECK(take(self, TEXT("")) && self->predict.hits == 7 && has_runs(self, ""));
    TEST("a frame and an event of the same data are the same piece");
    CHECK(take_event(self, "{\"type\":\"d\",\"text\":\"x\\u0041\"}") && take(self, TEXT("y")));
    CHECK(has_runs(self, "0:xAy"));
    TEST("what is near to a template is none: the right one beside it is found");
    CHECK(teach(self, "data: {\"type\":\"d\",\"text\":\"1\",\"i\":1}\n\n", 1));
    CHECK(teach(self, "data: {\"type\":\"d\",\"text\":\"1\",\"i\":12}\n\n", 0));
    CHECK(take(self, "data: {\"type\":\"d\",\"text\":\"q\",\"i\":1}\n\n"));
    CHECK(take(self, "data: {\"type\":\"d\",\"text\":\"r\",\"i\":12}\n\n") &&
          take(self, TEXT("s")));
    CHECK(!take(self, "data: {\"type\":\"d\",\"text\":\"q\",\"i\":2}\n\n"));
    CHECK(!take(self, "data: {\"type\":\"d\",\"text\":\"q\",\"i\":123}\n\n"));
    CHECK(!take(self, "data: {\"type\":\"d\",\"text\":\"q\", \"i\":1}\n\n"));
    CHECK(!take(self, "data:{\"type\":\"d\",\"text\":\"q\",\"i\":1}\n\n"));
    CHECK(has_runs(self, "1:q 0:rs"));
    TEST("text that JSON refuses is left, and leaves nothing behind");
    CHECK(!take(self, TEXT("good \\x")) && !take(self, TEXT("good \\ud83d")));
    CHECK(!take(self, TEXT("a\\\nb")) && !take(self, TEXT("a\nb")) && !take(self, TEXT("\\u12")));
    CHECK(has_runs(self, "") && self->predict.text.len == 0);
}

static void
test_learning(rig *self)
{
    static const delta_place two_texts[] = {{"a", TG_ROLE_TEXT, NULL}, {"b", TG_ROLE_TEXT, NULL}};
    static const delta_place no_text[] = {{"c", TG_ROLE_FIXED, NULL}};
    static const delta_place two_numbers[] = {
        {"d", TG_ROLE_TEXT, NULL}, {"e", TG_ROLE_SEQUENCE, NULL}, {"f", TG_ROLE_SEQUENCE, NULL}};
    static const char *const datas[] = {"{\"a\":\"x\",\"b\":\"x\"}", "{\"c\":1}",
                                        "{\"d\":\"x\",\"e\":1,\"f\":2}"};
    tg_shapes *odd = calloc(1, sizeof *odd);
    tg_span piece = {(const uint8_t *)"x", 1};
    size_t i;

    TEST("an event is learned only if its text is the piece that was read, and has a shape");
    CHECK(!teach(self, "data: {\"type\":\"d\",\"text\":\"1\",\"new\":1}\n\n", 0));
    CHECK(!teach(self, "data: {\"type\":\"d\",\"t\\u0065xt\":\"1\"}\n\n", 0));
    CHECK(!teach(self, TEXT("\\ud83d"), 0) && self->predict.template_count == 0);
    TEST("nor is it where the reader found another text in it");
    for (i = 0; i < 3; i++) {
        static const char *const found[] = {"y", "", "xx"};
        tg_event event = {.type = tg_span_empty(), .head = tg_span_empty()};

        event.data.ptr = (const uint8_t *)"{\"type\":\"d\",\"text\":\"x\"}";
        event.data.len = 23;
        piece.ptr = (const uint8_t *)found[i];
        piece.len = strlen(found[i]);
        CHECK(!tg_predict_learn(&self->predict, self->shapes, &event, 0, piece));
    }
    CHECK(self->predict.template_count == 0);
    TEST("a shape without a text, with two, or with two sequence numbers is learned by no event");
    CHECK(tg_shapes_begin(odd) && DELTA_DECLARE(odd, two_texts));
    CHECK(tg_shapes_begin(odd) && DELTA_DECLARE(odd, no_text));
    CHECK(tg_shapes_begin(odd) && DELTA_DECLARE(odd, two_numbers));
    for (i = 0; i < 3; i++) {
        tg_event event = {.type = tg_span_empty(), .head = tg_span_empty()};

        event.data.ptr = (const uint8_t *)datas[i];
        event.data.len = strlen(datas[i]);
        piece.ptr = (const uint8_t *)"x";
        piece.len = i != 1;
        CHECK(!tg_predict_learn(&self->predict, odd, &event, 0, piece));
    }
    CHECK(self->predict.template_count == 0 && self->predict.text.len == 0);
    free(odd);
}

static void
test_sequence(rig *self)
{
    TEST("a number must be one more than the last; else nothing is taken, nothing is changed");
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0 && teach(self, NUMBERED("8", "Hi"), 0));
    self->predict.has_sequence = false;
    CHECK(!take(self, NUMBERED("9", "a")));
    self->predict.has_sequence = true;
    CHECK(take(self, NUMBERED("9", "a")) && take(self, NUMBERED("10", "b")));
    CHECK(!take(self, NUMBERED("10", "c")) && !take(self, NUMBERED("9", "c")));
    CHECK(!take(self, NUMBERED("12", "c")) && !take(self, NUMBERED("011", "c")));
    CHECK(!take(self, NUMBERED("0", "c")) && !take(self, NUMBERED("-11", "c")));
    CHECK(self->predict.sequence == 10 && take(self, NUMBERED("11", "c")));
    TEST("an event without one does not change it");
    CHECK(teach(self, TEXT("x"), 0) && take(self, TEXT("d")) && take(self, NUMBERED("12", "e")));
    CHECK(has_runs(self, "0:abcde"));
    TEST("numbers end where eighteen digits do");
    self->predict.sequence = 999999999999999997;
    CHECK(take(self, NUMBERED("999999999999999998", "f")));
    CHECK(take(self, NUMBERED("999999999999999999", "g")));
    CHECK(!take(self, NUMBERED("1000000000000000000", "h")));
    self->predict.sequence = UINT64_MAX;
    CHECK(take(self, NUMBERED("0", "i")) && self->predict.sequence == 0);
    CHECK(has_runs(self, "0:fgi"));
}

/* ---- templates and lanes ----------------------------------------------------------------------
 */

/* The template of this number: alike, but for one member. */
static void
make_frame(char *out, size_t size, size_t number)
{
    snprintf(out, size, "data: {\"type\":\"d\",\"i\":%zu,\"text\":\"%zu,\"}\n\n", number, number);
}

static void
test_eviction(rig *self)
{
    char frame[128];
    size_t i;

    TEST("so many templates are kept; one more, and the one that was used longest ago is not");
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0);
    for (i = 0; i < TG_PREDICT_TEMPLATES; i++) {
        make_frame(frame, sizeof frame, i);
        CHECK(teach(self, frame, 0));
    }
    for (i = 0; i < TG_PREDICT_TEMPLATES; i++) {
        make_frame(frame, sizeof frame, i);
        CHECK(take(self, frame) && self->predict.template_count == TG_PREDICT_TEMPLATES);
    }
    CHECK(has_runs(self, "0:0,1,2,3,4,5,6,7,"));
    make_frame(frame, sizeof frame, 0);
    CHECK(take(self, frame)); /* now 1 was used longest ago */
    make_frame(frame, sizeof frame, 100);
    CHECK(teach(self, frame, 0));
    for (i = 0; i <= TG_PREDICT_TEMPLATES; i++) {
        make_frame(frame, sizeof frame, i < TG_PREDICT_TEMPLATES ? i : 100);
        CHECK(take(self, frame) == (i != 1));
    }
    CHECK(has_runs(self, "0:0,0,2,3,4,5,6,7,100,"));
    TEST("an equal event learned again takes the old one's place, for the lane that is said then");
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 1);
    for (i = 0; i < 20; i++)
        CHECK(teach(self, TEXT("x"), i % 2));
    CHECK(take(self, TEXT("y")) && has_runs(self, "1:y"));
    make_frame(frame, sizeof frame, 100);
    CHECK(take(self, frame) && self->predict.template_count == TG_PREDICT_TEMPLATES);
    tg_predict_drain(&self->predict);
    TEST("the lines around its data are those of the event that was learned last");
    CHECK(teach(self, "data: {\"type\":\"d\",\"text\":\"x\"}\r\n\r", 0));
    CHECK(!take(self, TEXT("a")) && take(self, "data: {\"type\":\"d\",\"text\":\"b\"}\r\n\r"));
    CHECK(teach(self, TEXT("x"), 0) && take(self, TEXT("a")) && has_runs(self, "0:ba"));
}

static void
test_lanes(rig *self)
{
    size_t i;

    TEST("there are so many lanes at one time, and after a close as many again");
    for (i = 0; i < TG_PREDICT_LANES; i++)
        CHECK(tg_predict_open(&self->predict, SIZE_MAX) == i);
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == TG_PREDICT_NO_LANE);
    CHECK(teach(self, TEXT("x"), TG_PREDICT_LANES - 1) && take(self, TEXT("a")));
    tg_predict_close(&self->predict);
    TEST("a closed lane takes nothing, and nothing is kept of it");
    CHECK(!take(self, TEXT("b")) && !take_event(self, "{\"type\":\"d\",\"text\":\"b\"}"));
    CHECK(self->predict.template_count == 0 && has_runs(self, "15:a"));
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0 && !take(self, TEXT("b")));
    CHECK(teach(self, ARGS("x"), 0) && !take(self, TEXT("b")) && take(self, ARGS("c")));
    CHECK(teach(self, TEXT("x"), 0) && take(self, TEXT("d")) && take(self, ARGS("e")));
    CHECK(self->predict.template_count == 2 && has_runs(self, "0:cde"));
    TEST("open and close, over and over, keeps no more than that");
    for (i = 0; i < 1000; i++) {
        tg_predict_close(&self->predict);
        CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0);
        CHECK(teach(self, i % 3 == 0 ? ARGS("x") : TEXT("x"), 0));
        CHECK(take(self, ARGS("y")) == (i % 3 == 0) && take(self, TEXT("z")) == (i % 3 != 0));
    }
    CHECK(self->predict.template_count == 1);
    tg_predict_drain(&self->predict);
}

/* ---- bounds -----------------------------------------------------------------------------------
 */

static void
test_rooms(rig *self)
{
    TEST("a lane takes what fits in its room, to the byte, as it will be and not as it came");
    CHECK(tg_predict_open(&self->predict, 4) == 0 && tg_predict_open(&self->predict, 100) == 1);
    CHECK(teach(self, TEXT("x"), 0) && teach(self, ARGS("x"), 1));
    CHECK(!take(self, TEXT("12345")) && take(self, TEXT("\\u00e9")) && !take(self, TEXT("123")));
    CHECK(take(self, TEXT("12")) && !take(self, TEXT("1")) && take(self, TEXT("")));
    CHECK(self->predict.rooms[0] == 0 && has_runs(self, "0:\xc3\xa9"
                                                        "12"));
    TEST("and all of them what fits in theirs");
    self->predict.room = 3;
    CHECK(!take(self, ARGS("1234")) && take(self, ARGS("12")) && !take(self, ARGS("34")));
    CHECK(take(self, ARGS("3")) && !take(self, ARGS("4")) && take(self, ARGS("")));
    CHECK(self->predict.room == 0 && self->predict.rooms[1] == 97 && has_runs(self, "1:123"));
    self->predict.room = SIZE_MAX;
    TEST("a frame that is longer than the longest is left, an event is not a frame");
    self->predict.max_frame = strlen(ARGS("123"));
    CHECK(take(self, ARGS("123")) && !take(self, ARGS("1234")));
    CHECK(take_event(self, "{\"type\":\"a\",\"delta\":{\"args\":\"1234\"}}"));
    CHECK(has_runs(self, "1:1231234"));
    self->predict.max_frame = SIZE_MAX;
}

static void
test_utf8_rules(rig *self)
{
    static const char *const bad[] = {"\xff",         "\xc3",        "\xe2\x82",
                                      "\xed\xa0\x80", "\xc0\x80",    "\xf4\x90\x80\x80",
                                      "a\x80",        "\xf0\x9f\x98"};
    char frame[128], data[128];
    size_t i, raw;

    TEST("where bytes were not checked before, text and padding must be well-formed UTF-8");
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0 && teach(self, PADDED("x", "y"), 0));
    for (raw = 0; raw < 4; raw++) {
        self->predict.is_frame_raw = (raw & 1) != 0;
        self->predict.is_event_raw = (raw & 2) != 0;
        for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            snprintf(frame, sizeof frame, PADDED("%s", "p"), bad[i]);
            CHECK(take(self, frame) == ((raw & 1) == 0));
            snprintf(frame, sizeof frame, PADDED("t", "%s"), bad[i]);
            CHECK(take(self, frame) == ((raw & 1) == 0));
            snprintf(data, sizeof data, "%.*s", (int)strlen(frame) - 8, frame + 6);
            CHECK(take_event(self, data) == ((raw & 2) == 0));
        }
        CHECK(take(self, PADDED("\xf0\x9f\x98\x80\\n", "\xe2\x82\xac")));
        tg_predict_drain(&self->predict);
    }
}

static void
test_each(rig *self)
{
    const char *last = "{\"type\":\"d\",\"text\":\"b\\n\"}";

    TEST("asked to, it keeps pieces apart, leaves empty ones, and has the last event's data");
    self->predict.keeps_each = true;
    CHECK(tg_predict_open(&self->predict, 3) == 0 && teach(self, TEXT("x"), 0));
    CHECK(self->predict.latest.len == 0);
    CHECK(take(self, TEXT("a")) && take(self, TEXT("b\\n")) && !take(self, TEXT("")));
    CHECK(!take(self, TEXT("cdef")) && !take(self, TEXT("\\x")));
    CHECK(self->predict.latest.len == strlen(last) &&
          memcmp(self->predict.latest.ptr, last, strlen(last)) == 0);
    CHECK(has_runs(self, "0:a 0:b\n"));
    self->predict.rooms[0] = 1;
    CHECK(take_event(self, "{\"type\":\"d\",\"text\":\"c\"}") && has_runs(self, "0:c"));
    CHECK(self->predict.latest.len == strlen(last) - 2 && self->predict.latest.ptr[20] == 'c');
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* A lesson and some takes; what was taken must be what came, and what was not must be left alone.
 */
static void
play(rig *self, wire *taken, bool keeps_each)
{
    static const char *const pieces[] = {"a", "bc\\n", "", "defghijklmnopqrstuvwxyz", "\\u0041"};
    static const char *const texts[] = {"a", "bc\n", "", "defghijklmnopqrstuvwxyz", "A"};
    char frame[256];
    size_t i;

    self->predict.keeps_each = keeps_each;
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 0);
    CHECK(tg_predict_open(&self->predict, SIZE_MAX) == 1);
    (void)teach(self, NUMBERED("0", "first"), 0);
    (void)teach(self, ARGS("{"), 1);
    for (i = 0; i < 60; i++) {
        const bool is_numbered = i % 4 != 3;
        const uint64_t sequence = self->predict.sequence;
        const size_t room = self->predict.room;

        if (is_numbered)
            snprintf(frame, sizeof frame, NUMBERED("%" PRIu64, "%s"), sequence + 1, pieces[i % 5]);
        else
            snprintf(frame, sizeof frame, ARGS("%s"), pieces[i % 5]);
        if (take(self, frame)) {
            wire_text(taken, texts[i % 5]);
            CHECK(self->predict.sequence == sequence + is_numbered);
            CHECK(room - self->predict.room == strlen(texts[i % 5]));
        } else {
            CHECK(self->predict.sequence == sequence && self->predict.room == room);
            (void)teach(self, frame, is_numbered ? 0 : 1);
        }
        CHECK(self->predict.text.len == taken->len);
    }
}

static void
test_no_memory(bool keeps_each)
{
    size_t n;

    TEST("each allocation refused in turn: what is not taken is left, and nothing is lost");
    for (n = 1; n < 200; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);
        wire taken = {0};
        tg_span text;
        size_t i, pos = 0;
        rig self;

        rig_open(&self, &alloc);
        play(&self, &taken, keeps_each);
        for (i = 0; i < tg_predict_run_count(&self.predict); i++) {
            CHECK(tg_predict_run(&self.predict, i, &text) < 2 && text.len > 0);
            CHECK(pos + text.len <= taken.len && memcmp(taken.ptr + pos, text.ptr, text.len) == 0);
            pos += text.len;
        }
        CHECK(pos == taken.len && self.predict.hits > 40);
        wire_free(&taken);
        rig_close(&self);
        CHECK(memory.blocks == 0 && memory.bytes == 0 && !memory.is_abused);
        if (memory.asked < n)
            break;
    }
    CHECK(n > 6 && n < 200);
}

static void
test_steady(void)
{
    heap memory = {0};
    const tg_alloc alloc = heap_alloc(&memory);
    size_t warm = 0, i;
    rig self;

    TEST("once warm nothing is allocated per piece, and work is that of the bytes");
    rig_open(&self, &alloc);
    CHECK(memory.asked == 0);
    CHECK(tg_predict_open(&self.predict, SIZE_MAX) == 0 && teach(&self, TEXT("x"), 0));
    for (i = 0; i < 1000; i++) {
        CHECK(take(&self, TEXT("a piece of text \\n")));
        if (i % 7 == 0)
            tg_predict_drain(&self.predict);
        if (i == 10)
            warm = memory.asked;
    }
    CHECK(memory.asked == warm && self.predict.hits == 1000);
    CHECK(self.predict.work == 1000 * strlen(TEXT("a piece of text \\n")));
    rig_close(&self);
    CHECK(memory.blocks == 0);
}

void
test_predict(void)
{
    static void (*const tests[])(rig *) = {test_runs,       test_learning, test_sequence,
                                           test_eviction,   test_lanes,    test_rooms,
                                           test_utf8_rules, test_each};
    size_t i;

    for (i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        guarded_heap memory = {0};
        const tg_alloc alloc = guarded_alloc(&memory);
        rig self;

        rig_open(&self, &alloc);
        tests[i](&self);
        rig_close(&self);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
    test_no_memory(false);
    test_no_memory(true);
    test_steady();
}

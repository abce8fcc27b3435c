/* test_template.c - one event kept as literal, hole, literal: what is the same but for its holes,
 * what is not, and where a frame ends.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lesson.h"

/* ---- frames -----------------------------------------------------------------------------------
 */

/* The frame of data, learned from another: taken whole, cut at every place not at all. */
static void
check_frame(lesson *self, const wire_style *style, const char *type)
{
    static const char other[] = LESSON_DATA("10", "more \xc3\xa9", "");
    tg_template *made = lesson_make_block(self, style, type, LESSON_DATA("9", "Hi", "abc"));
    wire block = {0};
    tg_match match;
    size_t len, at;

    wire_say(&block, style, type, other);
    /* The LF of the last CR LF does not belong to it. */
    len = block.len - (strcmp(style->eol, "\r\n") == 0);
    wire_text(&block, "data: of the next one");
    CHECK(lesson_begins(self, made, block.ptr, block.len, &match) && match.len == len);
    CHECK(match.text.len == 7 && memcmp(match.text.ptr, "more \xc3\xa9", 7) == 0);
    CHECK(match.has_sequence && match.sequence == 10 && !match.is_escaped);
    CHECK(match.padding_count == 1 && match.padding[0].len == 0);
    CHECK(lesson_begins(self, made, block.ptr, len, &match) && match.len == len);
    for (at = 0; at < len; at++)
        CHECK(!lesson_begins(self, made, block.ptr, at, &match));
    wire_free(&block);
    tg_template_free(made, &self->alloc);
}

static void
test_frames(lesson *self)
{
    static const char *const eols[] = {"\n", "\r", "\r\n"};
    static const char *const colons[] = {": ", ":"};
    wire_style style = wire_style_of(TG_FRAMING_SSE);
    size_t i;

    TEST("a frame is taken whole, whatever ends its lines and wherever its type stands, or not");
    for (i = 0; i < 12; i++) {
        style.eol = eols[i % 3];
        style.colon = colons[i / 3 % 2];
        style.is_type_behind = i >= 6;
        check_frame(self, &style, NULL);
        check_frame(self, &style, "d");
        check_frame(self, &style, "");
    }
}

static void
test_no_frames(lesson *self)
{
    static const char *const blocks[] = {
        ": a comment\ndata: " LESSON_DATA("9", "Hi", "abc") "\n\n",
        "data: " LESSON_DATA("9", "Hi", "abc") "\nid: 1\n\n",
        "retry: 1\ndata: " LESSON_DATA("9", "Hi", "abc") "\n\n",
        "unknown\ndata: " LESSON_DATA("9", "Hi", "abc") "\n\n",
        "data: {\"type\":\"d\",\ndata: \"text\":\"Hi\"}\n\n",
        /* What was replaced is not what came. */
        "event: \xff\ndata: " LESSON_DATA("9", "Hi", "abc") "\n\n",
        "data: " LESSON_DATA("9", "Hi \xff", "abc") "\n\n",
        "event: a\xff\nevent: b\ndata: " LESSON_DATA("9", "Hi", "\xf0\x9f") "\n\n",
    };
    tg_template *made;
    size_t i;

    TEST("a block with any other line, or with bytes that were replaced, has no frame");
    for (i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        made = lesson_make(self, TG_FRAMING_SSE, (const uint8_t *)blocks[i], strlen(blocks[i]));
        CHECK(made != NULL && made->prefix_len == 0 && made->suffix_len == 0);
        if (made == NULL)
            continue;
        CHECK(!lesson_begins(self, made, blocks[i], strlen(blocks[i]), &(tg_match){0}));
        tg_template_free(made, &self->alloc);
    }
    TEST("nor has an event of any other framing");
    made = lesson_make(self, TG_FRAMING_NDJSON, (const uint8_t *)LESSON_DATA("9", "Hi", "abc") "\n",
                       59);
    CHECK(made != NULL && made->prefix_len == 0);
    if (made != NULL)
        tg_template_free(made, &self->alloc);
}

/* ---- literals and holes -----------------------------------------------------------------------
 */

static bool
is_in_hole(const char *data, size_t at)
{
    const size_t seq = (size_t)(strstr(data, "\"seq\":") - data) + 6;
    const size_t text = (size_t)(strstr(data, "\"text\":") - data) + 8;
    const size_t pad = (size_t)(strstr(data, "\"pad\":") - data) + 7;

    return (at >= seq && at < seq + strcspn(data + seq, ",")) ||
           (at >= text && at < text + strcspn(data + text, "\"")) ||
           (at >= pad && at < pad + strcspn(data + pad, "\""));
}

static void
test_literals(lesson *self)
{
    static const char data[] = LESSON_DATA("9", "Hi", "abc");
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    tg_template *made = lesson_make_block(self, &style, "d", data);
    wire block = {0};
    tg_match match;
    size_t at, bit;

    TEST("a literal changed in one bit, at any place, is no match");
    wire_say(&block, &style, "d", data);
    CHECK(lesson_begins(self, made, block.ptr, block.len, &match));
    for (at = 0; at < block.len; at++) {
        const size_t in_data = at - 15; /* behind `event: d` and `data: ` */

        for (bit = 0; bit < 8; bit++) {
            block.ptr[at] ^= (uint8_t)(1u << bit);
            if (in_data < sizeof data - 1 && is_in_hole(data, in_data))
                (void)lesson_begins(self, made, block.ptr, block.len, &match);
            else
                CHECK(!lesson_begins(self, made, block.ptr, block.len, &match));
            block.ptr[at] ^= (uint8_t)(1u << bit);
        }
    }
    CHECK(lesson_fits(self, made, "d", data, &match) && match.len == sizeof data - 1);
    CHECK(!lesson_fits(self, made, "d", LESSON_DATA("9", "Hi", "abc") " ", &match));
    CHECK(!lesson_fits(self, made, "e", data, &match) &&
          !lesson_fits(self, made, "", data, &match));
    CHECK(!lesson_fits(self, made, "dd", data, &match) &&
          !lesson_fits(self, made, "d", "", &match));
    wire_free(&block);
    tg_template_free(made, &self->alloc);
}

/* ---- one beside another -----------------------------------------------------------------------
 */

static void
test_same(lesson *self)
{
    static const char *const datas[] = {
        LESSON_DATA("1", "a", "b"),
        "{\"type\":\"d\",\"seq\":1,\"text\":\"a\",\"i\":0,\"pad\":\"b\"}",
        "{\"type\":\"d\",\"seq\":1,\"text\":\"a\",\"pad\":2,\"i\":0}",
        "{\"type\":\"d\",\"seq\":1,\"text\":\"a\",\"pad\":\"b\",\"i\":1}",
        "{\"type\":\"d\",\"seq\":1,\"alt\":\"a\",\"pad\":\"b\",\"i\":0}",
    };
    const wire_style style = wire_style_of(TG_FRAMING_SSE);
    wire_style behind = style;
    tg_template *made[5], *other;
    size_t i, j;

    TEST("two templates are the same if they are but for their holes and their frames");
    behind.is_type_behind = true;
    for (i = 0; i < 5; i++)
        made[i] = lesson_make_block(self, &style, "d", datas[i]);
    for (i = 0; i < 5; i++)
        for (j = 0; j < 5; j++)
            CHECK(tg_template_is_same(made[i], made[j]) == (i == j));
    other = lesson_make_block(self, &behind, "d", LESSON_DATA("999", "other", ""));
    CHECK(tg_template_is_same(made[0], other) && tg_template_is_same(other, made[0]));
    tg_template_free(other, &self->alloc);
    other = lesson_make_block(self, &style, "e", LESSON_DATA("1", "a", "b"));
    CHECK(!tg_template_is_same(made[0], other));
    tg_template_free(other, &self->alloc);
    for (i = 0; i < 5; i++)
        tg_template_free(made[i], &self->alloc);
}

/* An event with these headers, or another framing's type, in a place of its own. */
static tg_event
event_of(const char *type, const char *head, const char *data)
{
    tg_event event = {.frame = tg_span_empty()};

    event.type.ptr = (const uint8_t *)type;
    event.type.len = strlen(type);
    event.head.ptr = (const uint8_t *)head;
    event.head.len = strlen(head);
    event.data.ptr = (const uint8_t *)data;
    event.data.len = strlen(data);
    return event;
}

static void
test_heads(lesson *self)
{
    static const char *const names[][2] = {{"", ""},   {"ab", ""},  {"", "ab"}, {"a", "b"},
                                           {"b", "a"}, {"", "abc"}, {"abc", ""}};
    const size_t count = sizeof names / sizeof names[0];
    const char *data = LESSON_DATA("1", "a", "b");
    tg_match match;
    size_t i, j;

    TEST("an event whose headers differ is another one, as is one of another type");
    for (i = 0; i < count; i++) {
        const tg_event event = event_of(names[i][0], names[i][1], data);
        tg_template *made;
        tg_pick pick;

        CHECK(tg_pick_find(self->shapes, event.data, &pick));
        made = tg_template_make(&self->alloc, &event, &pick);
        for (j = 0; j < count; j++) {
            const tg_event other = event_of(names[j][0], names[j][1], data);
            tg_template *again = tg_template_make(&self->alloc, &other, &pick);

            CHECK(tg_template_fits(made, &other, &match) == (i == j));
            CHECK(tg_template_is_same(made, again) == (i == j));
            tg_template_free(again, &self->alloc);
        }
        tg_template_free(made, &self->alloc);
    }
}

static void
test_size(lesson *self)
{
    const char *head = "{\"type\":\"d\",\"text\":\"", *tail = "\",\"i\":\"";
    const size_t rest = strlen(head) + strlen(tail) + 2 + strlen("data: \n\n");
    size_t extra;

    TEST("literals of so many bytes are kept and one byte more is not; holes do not count");
    for (extra = 0; extra <= 1; extra++) {
        wire block = {0};
        char *fill = malloc(2 * TG_TEMPLATE_MAX);
        tg_template *made;

        if (fill == NULL)
            exit(3);
        memset(fill, 'y', 2 * TG_TEMPLATE_MAX);
        wire_text(&block, "data: ");
        wire_text(&block, head);
        wire_add(&block, fill, 2 * TG_TEMPLATE_MAX);
        wire_text(&block, tail);
        wire_add(&block, fill, TG_TEMPLATE_MAX - rest + extra);
        wire_text(&block, "\"}\n\n");
        made = lesson_make(self, TG_FRAMING_SSE, block.ptr, block.len);
        CHECK((made != NULL) == (extra == 0));
        if (made != NULL) {
            tg_match match;

            CHECK(lesson_begins(self, made, block.ptr, block.len, &match) &&
                  match.len == block.len);
            tg_template_free(made, &self->alloc);
        }
        wire_free(&block);
        free(fill);
    }
}

void
test_template(void)
{
    guarded_heap memory = {0};
    heap counted = {.refuse_at = 1};
    const tg_alloc alloc = guarded_alloc(&memory);
    const tg_alloc refusing = heap_alloc(&counted);
    lesson self;

    TEST("a template that finds no memory is none");
    lesson_begin(&self, &refusing);
    CHECK(lesson_make(&self, TG_FRAMING_NDJSON, (const uint8_t *)"{\"type\":\"d\",\"text\":\"\"}\n",
                      23) == NULL);
    lesson_done(&self);
    lesson_begin(&self, &alloc);
    test_frames(&self);
    test_no_frames(&self);
    test_literals(&self);
    test_same(&self);
    test_heads(&self);
    test_size(&self);
    TEST("all of this stood right before a page that cannot be read, and was given back");
    CHECK(memory.blocks == 0 && !memory.is_abused && memory.exact > 0 && counted.blocks == 0);
    lesson_done(&self);
}

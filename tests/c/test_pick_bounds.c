/* test_pick_bounds.c - the bounds of a declaration and of a pick, and events that are cut or have a
 * byte changed: no harm, and where they match, what delta.h reads in them too.
 */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "delta.h"
#include "tg_pick.h"
#include "tg_unescape.h"
#include "wire.h"

static tg_span
span(const char *text)
{
    const tg_span made = {(const uint8_t *)text, strlen(text)};

    return made;
}

static bool
add(tg_shapes *shapes, const char *name, tg_role role, const char *literal)
{
    const tg_span path = span(name);

    return tg_shapes_add(shapes, &path, 1, role, span(literal));
}

static size_t
holes_of(const tg_shapes *shapes, const char *data)
{
    tg_pick pick;

    return tg_pick_find(shapes, span(data), &pick) ? pick.hole_count : 0;
}

/* ---- declarations -----------------------------------------------------------------------------
 */

static void
test_shape_bound(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    char name[16], data[64];
    size_t i;
    tg_pick pick;

    TEST("there may be so many shapes, each of which is found, and no more");
    for (i = 0; i < TG_PICK_SHAPES; i++) {
        snprintf(name, sizeof name, "\"%zu\"", i);
        CHECK(tg_shapes_begin(shapes) && add(shapes, "type", TG_ROLE_LITERAL, name) &&
              add(shapes, "t", TG_ROLE_TEXT, ""));
    }
    CHECK(!tg_shapes_begin(shapes) && !tg_shapes_begin(shapes));
    for (i = 0; i <= TG_PICK_SHAPES; i++) {
        const bool is_known = i < TG_PICK_SHAPES;

        snprintf(data, sizeof data, "{\"t\":\"x\",\"type\":\"%zu\"}", i);
        CHECK(tg_pick_find(shapes, span(data), &pick) == is_known);
        CHECK(!is_known || pick.shape == i);
    }
    free(shapes);
}

static void
test_node_bound(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    char name[16];
    wire data = {0};
    size_t i;

    TEST("there may be so many places, and a name twice is seen at each of them");
    CHECK(tg_shapes_begin(shapes) && add(shapes, "t", TG_ROLE_TEXT, ""));
    wire_text(&data, "{\"t\":\"x\"");
    for (i = 2; i < TG_PICK_NODES; i++) {
        snprintf(name, sizeof name, "n%zu", i);
        CHECK(add(shapes, name, TG_ROLE_FIXED, ""));
        wire_text(&data, ",\"");
        wire_text(&data, name);
        wire_text(&data, "\":0");
    }
    CHECK(!add(shapes, "more", TG_ROLE_FIXED, ""));
    CHECK(add(shapes, "n5", TG_ROLE_EMPTY, "")); /* a place that is there needs no room */
    for (i = 1; i < TG_PICK_NODES; i++) {
        const size_t len = data.len;

        snprintf(name, sizeof name, i == 1 ? "t" : "n%zu", i);
        wire_text(&data, ",\"");
        wire_text(&data, name);
        wire_add(&data, "\":0}", 5);
        CHECK(holes_of(shapes, (const char *)data.ptr) == 0);
        data.len = len;
    }
    wire_add(&data, "}", 2);
    CHECK(holes_of(shapes, (const char *)data.ptr) == 1);
    wire_free(&data);
    free(shapes);
}

static void
test_name_bound(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    char name[TG_PICK_NAMES + 2];
    wire data = {0};

    TEST("names and literals have so many bytes in all");
    memset(name, 'n', sizeof name);
    name[TG_PICK_NAMES + 1] = '\0';
    CHECK(tg_shapes_begin(shapes) && !add(shapes, name, TG_ROLE_TEXT, ""));
    name[TG_PICK_NAMES - 1] = '\0';
    CHECK(add(shapes, name, TG_ROLE_TEXT, ""));
    CHECK(!add(shapes, "ab", TG_ROLE_FIXED, "") && add(shapes, "b", TG_ROLE_FIXED, ""));
    CHECK(!add(shapes, "c", TG_ROLE_FIXED, "") && !add(shapes, "b", TG_ROLE_LITERAL, "1"));
    CHECK(shapes->name_size == TG_PICK_NAMES);
    wire_text(&data, "{\"b\":[],\"");
    wire_text(&data, name);
    wire_add(&data, "\":\"x\"}", 7);
    CHECK(holes_of(shapes, (const char *)data.ptr) == 1);
    wire_free(&data);
    free(shapes);
}

static void
test_literal_bound(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    char name[16];
    size_t i;

    TEST("there may be so many literals, and a refused one leaves the others");
    for (i = 0; i < TG_PICK_LITERALS; i++) {
        if (i % 32 == 0)
            CHECK(tg_shapes_begin(shapes) && add(shapes, "t", TG_ROLE_TEXT, ""));
        snprintf(name, sizeof name, "n%zu", i % 32);
        CHECK(add(shapes, name, TG_ROLE_LITERAL, i < 32 ? "1" : "2"));
    }
    CHECK(!add(shapes, "n1", TG_ROLE_LITERAL, "3") && shapes->literal_count == TG_PICK_LITERALS);
    CHECK(shapes->demands[0] == 33 && shapes->demands[1] == 33);
    free(shapes);
}

static bool
add_deep(tg_shapes *shapes, size_t depth, tg_role role)
{
    tg_span path[TG_PICK_DEPTH + 4];
    size_t i;

    for (i = 0; i < depth; i++)
        path[i] = span("d");
    return tg_shapes_add(shapes, path, depth, role, tg_span_empty());
}

/* `depth` objects in one another, the innermost with this in it. */
static void
make_deep(wire *data, size_t depth, const char *inner)
{
    size_t i;

    wire_clear(data);
    for (i = 0; i < depth; i++)
        wire_text(data, "{\"d\":");
    wire_text(data, inner);
    for (i = 0; i < depth; i++)
        wire_text(data, "}");
    wire_add(data, "", 1);
}

static void
test_depth_bound(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    wire data = {0};
    size_t i;

    TEST("a path has at least one name, and fewer than so many");
    CHECK(tg_shapes_begin(shapes) && !add_deep(shapes, 0, TG_ROLE_TEXT));
    CHECK(!add_deep(shapes, TG_PICK_DEPTH, TG_ROLE_TEXT));
    for (i = 1; i < TG_PICK_DEPTH - 1; i++)
        CHECK(add_deep(shapes, i, TG_ROLE_OBJECT));
    CHECK(add_deep(shapes, TG_PICK_DEPTH - 1, TG_ROLE_TEXT));
    make_deep(&data, TG_PICK_DEPTH - 1, "\"x\"");
    CHECK(holes_of(shapes, (const char *)data.ptr) == 1);
    TEST("an event that is deeper than the shape is no match, however deep it is");
    for (i = TG_PICK_DEPTH; i < 100; i++) {
        make_deep(&data, i, "\"x\"");
        CHECK(holes_of(shapes, (const char *)data.ptr) == 0);
    }
    CHECK(add_deep(shapes, TG_PICK_DEPTH - 1, TG_ROLE_OBJECT));
    for (i = TG_PICK_DEPTH - 2; i < 100; i++) {
        make_deep(&data, i, "{}");
        CHECK(holes_of(shapes, (const char *)data.ptr) == 0);
        make_deep(&data, i, "[]");
        CHECK(holes_of(shapes, (const char *)data.ptr) == 0);
    }
    wire_free(&data);
    free(shapes);
}

static void
test_hole_bound(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);
    wire data = {0};
    char name[16];
    size_t i;

    TEST("an event may have so many holes; one more, and it is no match");
    CHECK(tg_shapes_begin(shapes) && add(shapes, "t", TG_ROLE_TEXT, ""));
    wire_text(&data, "{\"t\":\"x\"");
    for (i = 1; i <= TG_HOLES; i++) {
        snprintf(name, sizeof name, "n%zu", i);
        CHECK(add(shapes, name, TG_ROLE_IGNORED, ""));
        wire_add(&data, "}", 2);
        CHECK(holes_of(shapes, (const char *)data.ptr) == i);
        data.len -= 2;
        wire_text(&data, ",\"");
        wire_text(&data, name);
        wire_text(&data, "\":1");
    }
    wire_add(&data, "}", 2);
    CHECK(holes_of(shapes, (const char *)data.ptr) == 0);
    TEST("so it is with spaces before the last brace");
    data.ptr[strlen((const char *)data.ptr) - strlen(",\"n8\":1}")] = '\0';
    data.len = strlen((const char *)data.ptr);
    wire_add(&data, "}", 2);
    CHECK(holes_of(shapes, (const char *)data.ptr) == TG_HOLES);
    data.len -= 2;
    wire_add(&data, " }", 3);
    CHECK(holes_of(shapes, (const char *)data.ptr) == 0);
    wire_free(&data);
    free(shapes);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

#define LIST(inner) "{\"list\":[{\"i\":0,\"delta\":{" inner "},\"end\":\"\"}],\"n\":\"1\"}"

static const char *const events[] = {
    "{\"type\":\"d\",\"seq\":12,\"i\":{\"a\":[1,\"]\\\"\"]},\"text\":\"Hi\\n\xc3\xa9\",\"pad\":"
    "\"ab\"}",
    " { \"pad\" : 17 , \"alt\" : \"\\ud83d\\ude00\" , \"type\" : \"d\" } ",
    "{\"type\":\"a\",\"delta\":{\"note\":[],\"args\":\"{\\\"a\\\":\"},\"seq\":0}",
    LIST("\"c\":\"x\",\"r\":null"),
    "{\"list\":[{\"delta\":{\"r\":\"x\"}}],\"meta\":[{}]}",
};
#define EVENTS (sizeof events / sizeof events[0])

static void
check_text(const tg_pick *pick, tg_span data, const delta *read)
{
    const tg_alloc alloc = tg_alloc_default();
    tg_buf text = {0};
    size_t i;

    for (i = 0; i < pick->hole_count; i++) {
        const tg_span hole = {data.ptr + pick->holes[i].pos, pick->holes[i].len};

        if (pick->holes[i].kind != TG_HOLE_TEXT)
            continue;
        CHECK(tg_unescape(&text, &alloc, hole) == (read->problem == NULL));
        CHECK(text.len == (read->problem == NULL ? read->text.len : 0));
        CHECK(text.len == 0 || memcmp(text.ptr, read->text.ptr, text.len) == 0);
    }
    tg_buf_free(&text, &alloc);
}

/* The reading of the whole, if it is JSON, must agree with a match; false: no match. */
static bool
check_damaged(const tg_shapes *shapes, const uint8_t *ptr, size_t len)
{
    static const char kinds[] = "txacr";
    uint8_t *block = malloc(len + (len == 0));
    const tg_span data = {block, len};
    size_t i, end = 0;
    tg_pick pick;
    delta read;
    bool is_match;

    if (block == NULL)
        exit(3);
    memcpy(block, ptr, len);
    is_match = tg_pick_find(shapes, data, &pick);
    if (is_match) {
        CHECK(pick.shape < 5 && pick.hole_count >= 1 && pick.hole_count <= TG_HOLES);
        for (i = 0; i < pick.hole_count; i++) {
            CHECK(pick.holes[i].pos >= end && pick.holes[i].pos <= len &&
                  pick.holes[i].len <= len - pick.holes[i].pos);
            end = pick.holes[i].pos + pick.holes[i].len;
        }
        delta_read(&read, data);
        if (read.problem == NULL || strcmp(read.problem, "half a character") == 0) {
            CHECK(read.kind == kinds[pick.shape]);
            check_text(&pick, data, &read);
        } else {
            CHECK(strcmp(read.problem, "no JSON") == 0 ||
                  strcmp(read.problem, "an odd sequence number") == 0);
        }
        delta_free(&read);
    }
    free(block);
    return is_match;
}

static void
test_damage(const tg_shapes *shapes)
{
    uint8_t data[256];
    size_t i, at, byte, matches;

    TEST("no beginning of an event is a match, and each byte changed does no harm");
    for (i = 0; i < EVENTS; i++) {
        const size_t len = strlen(events[i]);
        const bool is_padded = events[i][len - 1] == ' ';

        CHECK(check_damaged(shapes, (const uint8_t *)events[i], len));
        for (at = 0; at < len - is_padded; at++)
            CHECK(!check_damaged(shapes, (const uint8_t *)events[i], at));
        for (at = 0, matches = 0; at < len; at++) {
            for (byte = 0; byte < 256; byte++) {
                memcpy(data, events[i], len);
                data[at] = (uint8_t)byte;
                matches += check_damaged(shapes, data, len);
            }
        }
        CHECK(matches > len && matches < len * 128);
    }
}

static void
test_more_damage(const tg_shapes *shapes)
{
    static const char marks[] = "{}[]\",:\\u0 \n\x80-nd1";
    uint64_t seed = 11;
    uint8_t data[300];
    size_t i, round;

    TEST("bytes put in, taken out and changed, several at once, do no harm either");
    for (round = 0; round < 60000; round++) {
        size_t len, times;

        i = check_random(&seed) % EVENTS;
        len = strlen(events[i]);
        memcpy(data, events[i], len);
        for (times = 1 + check_random(&seed) % 4; times > 0; times--) {
            const size_t at = check_random(&seed) % len;
            const uint8_t mark = (uint8_t)marks[check_random(&seed) % (sizeof marks - 1)];

            if (check_random(&seed) % 3 == 0 && len > 1) {
                memmove(data + at, data + at + 1, len - at - 1);
                len--;
            } else if (check_random(&seed) % 2 == 0) {
                memmove(data + at + 1, data + at, len - at);
                data[at] = mark;
                len++;
            } else {
                data[at] = mark;
            }
        }
        (void)check_damaged(shapes, data, len);
    }
}

void
test_pick_bounds(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);

    test_shape_bound();
    test_node_bound();
    test_name_bound();
    test_literal_bound();
    test_depth_bound();
    test_hole_bound();
    CHECK(delta_declare(shapes));
    test_damage(shapes);
    test_more_damage(shapes);
    free(shapes);
}

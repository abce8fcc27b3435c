/* test_pick.c - shapes: what each role takes and refuses, where the holes are, the bounds of a
 * declaration, and that no byte changed anywhere does any harm.
 *
 * A row is an event and what a pick must say of it: the number of the shape, and the holes in
 * order, each as its kind (t text, s sequence, p string, i integer, b blanks) and what stands in
 * it.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "delta.h"
#include "record.h"
#include "tg_pick.h"

typedef struct row {
    const char *data;
    const char *expected; /* NULL: no match */
} row;

/* What a pick says, as a row has it; out stays empty where it says nothing. */
static void
say(record *out, const tg_shapes *shapes, const void *ptr, size_t len)
{
    static const char kinds[] = {'t', 's', 'p', 'i', 'b'};
    uint8_t *block = malloc(len + (len == 0));
    const tg_span data = {block, len};
    size_t i, end = 0;
    tg_pick pick;

    record_clear(out);
    if (block == NULL)
        exit(3);
    memcpy(block, ptr, len);
    if (tg_pick_find(shapes, data, &pick)) {
        record_printf(out, "%zu", pick.shape);
        for (i = 0; i < pick.hole_count; i++) {
            const tg_hole *hole = &pick.holes[i];
            const bool is_string = hole->kind == TG_HOLE_TEXT || hole->kind == TG_HOLE_STRING;

            record_printf(out, " %c:%.*s", kinds[hole->kind], (int)hole->len,
                          (const char *)block + hole->pos);
            CHECK(hole->pos >= end && hole->pos + hole->len < len);
            CHECK(!is_string ||
                  (block[hole->pos - 1] == '"' && block[hole->pos + hole->len] == '"'));
            end = hole->pos + hole->len;
        }
    }
    free(block);
}

static void
check_row(const tg_shapes *shapes, const char *data, size_t len, const char *expected)
{
    const bool was_failing = check_is_failing();
    record said = {0};

    say(&said, shapes, data, len);
    CHECK(strcmp(said.ptr, expected != NULL ? expected : "") == 0);
    if (check_is_failing() && !was_failing) {
        check_note(data);
        check_note(said.ptr);
    }
    record_free(&said);
}

static void
check_rows(const tg_shapes *shapes, const row *rows, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        check_row(shapes, rows[i].data, strlen(rows[i].data), rows[i].expected);
}

#define CHECK_ROWS(shapes, rows) check_rows((shapes), (rows), sizeof(rows) / sizeof(rows)[0])

/* ---- roles ------------------------------------------------------------------------------------
 */

static void
test_texts(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"type\":\"d\",\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"text\":\"Hi\",\"type\":\"d\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"text\":\"\"}", "0 t:"},
        {"{\"type\":\"d\",\"alt\":\"\\\"\\\\\\u0041\"}", "1 t:\\\"\\\\\\u0041"},
        {" \t\r\n{ \"type\" : \"d\" ,\n\"text\"\t: \"Hi\" } \n", "0 t:Hi b: "},
        {"{\"type\":\"d\",\"text\":\"{[]}\",\"i\":1}", "0 t:{[]}"},
        {"{\"type\":\"a\",\"delta\":{\"args\":\"x\"}}", "2 t:x"},
        {"{\"type\":\"d\"}", NULL},
        {"{\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"text\":null}", NULL},
        {"{\"type\":\"d\",\"text\":5}", NULL},
        {"{\"type\":\"d\",\"text\":[\"Hi\"]}", NULL},
        {"{\"type\":\"d\",\"text\":{}}", NULL},
        {"{\"type\":\"d\",\"text\":Hi}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\",\"text\":\"Ho\"}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\",\"alt\":\"Ho\"}", NULL},
        {"{\"type\":\"d\",\"delta\":{\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"a\",\"delta\":{}}", NULL},
        {"{\"type\":\"a\",\"delta\":{ }}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":null}}", NULL},
    };

    TEST("a text is a string and must be there; the literals say which shape it is of");
    CHECK_ROWS(shapes, rows);
}

static void
test_literals(const tg_shapes *shapes)
{
    static const delta_place number[] = {{"v", TG_ROLE_LITERAL, "1"}, {"t", TG_ROLE_TEXT, NULL}};
    static const delta_place empty[] = {{"v", TG_ROLE_LITERAL, "[]"}, {"t", TG_ROLE_TEXT, NULL}};
    static const row rows[] = {
        {"{\"type\":\"D\",\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d \",\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"dd\",\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"\",\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"\\u0064\",\"text\":\"Hi\"}", NULL},
        {"{\"type\":d,\"text\":\"Hi\"}", NULL},
        {"{\"type\":null,\"text\":\"Hi\"}", NULL},
        {"{\"type\":{\"a\":\"d\"},\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"type\":\"d\",\"text\":\"Hi\"}", NULL},
    };
    static const row others[] = {
        {"{\"v\":1,\"t\":\"x\"}", "0 t:x"},      {"{\"v\":[],\"t\":\"x\"}", "1 t:x"},
        {"{\"v\":1.0,\"t\":\"x\"}", NULL},       {"{\"v\":01,\"t\":\"x\"}", NULL},
        {"{\"v\":[ ],\"t\":\"x\"}", NULL},       {"{\"v\":\"1\",\"t\":\"x\"}", NULL},
        {"{\"v\":{},\"t\":\"x\"}", NULL},        {"{\"v\":12,\"t\":\"x\"}", NULL},
        {"{\"t\":\"x\",\"v\": 1 }", "0 t:x b: "}};
    tg_shapes *more = calloc(1, sizeof *more);

    TEST("a literal is its bytes, in no other spelling");
    CHECK_ROWS(shapes, rows);
    CHECK(tg_shapes_begin(more) && DELTA_DECLARE(more, number));
    CHECK(tg_shapes_begin(more) && DELTA_DECLARE(more, empty));
    CHECK_ROWS(more, others);
    free(more);
}

static void
test_fixed(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"type\":\"d\",\"i\":0,\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":-1.5e+3,\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":null,\"meta\":true,\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":{},\"meta\":[],\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":{ },\"meta\":[ ],\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":[[1,{\"a\":[2]},[]],{}],\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":{\"a\":\"}]\",\"b\":\"\\\"}\",\"c\":\"\\\\\"},\"text\":\"Hi\"}",
         "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":{\"text\":\"No\",\"type\":\"a\"},\"text\":\"Hi\"}", "0 t:Hi"},
        {"{\"type\":\"d\",\"text\":\"Hi\",\"i\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", "0 t:Hi"},
        {"{\"type\":\"d\",\"i\":1,\"i\":1,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"i\":[1,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"i\":{\"a\":\"]},\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"i\":,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"i\" 1,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"i\":1 2,\"text\":\"Hi\"}", NULL},
    };

    TEST("a fixed member is passed over whole, whatever stands in it");
    CHECK_ROWS(shapes, rows);
}

static void
test_numbers(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"type\":\"d\",\"seq\":7,\"text\":\"Hi\"}", "0 s:7 t:Hi"},
        {"{\"type\":\"d\",\"text\":\"Hi\",\"seq\": 12345678901234567890 }",
         "0 t:Hi s:12345678901234567890 b: "},
        {"{\"type\":\"d\",\"seq\":-7,\"text\":\"Hi\"}", "0 s:-7 t:Hi"},
        {"{\"type\":\"d\",\"seq\":7.0,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":7e0,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":\"7\",\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":null,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":-,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":--7,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":+7,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":[7],\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"seq\":7,\"seq\":8,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"pad\":\"ab\",\"text\":\"Hi\"}", "0 p:ab t:Hi"},
        {"{\"type\":\"d\",\"pad\":\"\",\"text\":\"Hi\"}", "0 p: t:Hi"},
        {"{\"type\":\"d\",\"pad\":\"\\\"\",\"text\":\"Hi\"}", "0 p:\\\" t:Hi"},
        {"{\"type\":\"d\",\"pad\":42,\"text\":\"Hi\"}", "0 i:42 t:Hi"},
        {"{\"type\":\"d\",\"pad\":-42,\"text\":\"Hi\"}", "0 i:-42 t:Hi"},
        {"{\"type\":\"d\",\"pad\":4.2,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"pad\":null,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"pad\":true,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"pad\":[],\"text\":\"Hi\"}", NULL},
        {"{\"seq\":1,\"pad\":\"p\",\"i\":0,\"text\":\"Hi\",\"meta\":[],\"type\":\"d\"}",
         "0 s:1 p:p t:Hi"},
    };

    TEST("a sequence number is an integer, padding a string or an integer");
    CHECK_ROWS(shapes, rows);
}

static void
test_empty(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"type\":\"a\",\"delta\":{\"args\":\"x\",\"note\":null}}", "2 t:x"},
        {"{\"type\":\"a\",\"delta\":{\"note\":\"\",\"args\":\"x\"}}", "2 t:x"},
        {"{\"type\":\"a\",\"delta\":{\"note\":[],\"args\":\"x\"}}", "2 t:x"},
        {"{\"type\":\"a\",\"delta\":{\"note\":{},\"args\":\"x\"}}", "2 t:x"},
        {"{\"type\":\"a\",\"delta\":{\"note\": null ,\"args\":\"x\"}}", "2 t:x"},
        /* Nothing as well, but in no spelling that is known here. */
        {"{\"type\":\"a\",\"delta\":{\"note\":[ ],\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":{ },\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":\" \",\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":\"y\",\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":0,\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":10,\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":no,\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":false,\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":nul,\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":nulll,\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":[0],\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":[]],\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":{\"a\":1},\"args\":\"x\"}}", NULL},
        {"{\"type\":\"a\",\"delta\":{\"note\":[},\"args\":\"x\"}}", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\",\"r\":null},\"end\":\"\"}]}", "3 t:x"},
        {"{\"list\":[{\"delta\":{\"c\":\"\",\"r\":\"x\"},\"end\":null}],\"n\":1}", "4 t:x i:1"},
        {"{\"list\":[{\"delta\":{\"c\":\"x\",\"r\":\"y\"}}]}", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\",\"r\":\"\"},\"end\":\"stop\"}]}", NULL},
        /* Two shapes fit, and nothing says which is meant. */
        {"{\"list\":[{\"delta\":{\"c\":\"\",\"r\":\"\"}}]}", NULL},
    };

    TEST("an empty member is null, \"\", [] or {}, and where two shapes fit none does");
    CHECK_ROWS(shapes, rows);
}

static void
test_blanks(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"type\":\"d\",\"text\":\"Hi\" }", "0 t:Hi b: "},
        {"{\"type\":\"d\",\"text\":\"Hi\"     }  ", "0 t:Hi b:     "},
        {"{\"text\":\"Hi\",\"type\":\"d\"  }", "0 t:Hi b:  "},
        {"{\"text\":\"Hi\",\"type\":\"d\",\"seq\":1  }", "0 t:Hi s:1 b:  "},
        {"{\"type\":\"a\",\"delta\":{\"args\":\"x\"  }}", "2 t:x"},
        {"{\"type\":\"a\",\"delta\":{\"args\":\"x\"  } }", "2 t:x b: "},
        {"{\"type\":\"d\",\"text\":\"Hi  \"}", "0 t:Hi  "},
        /* Other white space is none of these. */
        {"{\"type\":\"d\",\"text\":\"Hi\"\t}", "0 t:Hi"},
        {"{\"type\":\"d\",\"text\":\"Hi\" \t }", "0 t:Hi b: "},
        {"{\"type\":\"d\",\"text\":\"Hi\"\n }", "0 t:Hi b: "},
    };

    TEST("spaces before the last brace are a hole, if there are any");
    CHECK_ROWS(shapes, rows);
}

static void
test_containers(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"list\":[{\"delta\":{\"c\":\"x\"}}]}", "3 t:x"},
        {" { \"list\" : [ { \"i\" : [1] , \"delta\" : { \"c\" : \"x\" } } ] } ", "3 t:x b: "},
        {"{\"n\":\"pad\",\"list\":[{\"delta\":{\"r\":\"x\"},\"i\":\"]\"}]}", "4 p:pad t:x"},
        {"{\"list\":[]}", NULL},
        {"{\"list\":[ ]}", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\"}},{\"delta\":{\"c\":\"x\"}}]}", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\"}},]}", NULL},
        {"{\"list\":[,{\"delta\":{\"c\":\"x\"}}]}", NULL},
        {"{\"list\":{\"\":{\"delta\":{\"c\":\"x\"}}}}", NULL},
        {"{\"list\":[[{\"delta\":{\"c\":\"x\"}}]]}", NULL},
        {"{\"list\":[\"x\"]}", NULL},
        {"{\"list\":\"x\"}", NULL},
        {"{\"list\":null}", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\"}}}", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\"]}]}", NULL},
        {"{\"list\":[{\"delta\":[\"x\"]}]}", NULL},
        {"[{\"list\":[{\"delta\":{\"c\":\"x\"}}]}]", NULL},
        {"{\"list\":[{\"delta\":{\"c\":\"x\"}}]", NULL},
    };

    TEST("an array has its one element, an object its members, each with its own closer");
    CHECK_ROWS(shapes, rows);
}

static void
test_member_names(const tg_shapes *shapes)
{
    static const row rows[] = {
        {"{\"type\":\"d\",\"text\":\"Hi\",\"new\":1}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\",\"\":1}", NULL},
        {"{\"type\":\"d\",\"tex\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"texts\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"Text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"te\\u0078t\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\",\"\\u0069\":1}", NULL},
        {"{\"type\":\"d\",text:\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"text\\\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",,\"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\",}", NULL},
        {"{\"type\":\"d\" \"text\":\"Hi\"}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\"}x", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\"}}", NULL},
        {"{\"type\":\"d\",\"text\":\"Hi\"}{}", NULL},
        {"\xef\xbb\xbf{\"type\":\"d\",\"text\":\"Hi\"}", NULL},
        {"{}", NULL},
        {"", NULL},
        {" ", NULL},
        {"\"text\"", NULL},
        {"{", NULL},
    };

    TEST("a name that the shape does not have, spells otherwise or has twice is no match");
    CHECK_ROWS(shapes, rows);
    TEST("a NUL is a byte like any other");
    check_row(shapes, "{\"type\":\"d\",\"text\":\"H\0\"}", 24, "0 t:H");
    check_row(shapes, "{\"type\":\"d\",\"text\":\"Hi\"}\0", 25, NULL);
    check_row(shapes, "{\"type\":\"d\",\"text\":\"Hi\"\0}", 25, NULL);
}

static void
test_forks(void)
{
    /* Where one goes into a container that another lets stand, the first is meant. */
    static const delta_place inside[] = {{"x", TG_ROLE_OBJECT, NULL}, {"x.t", TG_ROLE_TEXT, NULL}};
    static const delta_place around[] = {{"x", TG_ROLE_FIXED, NULL}, {"t", TG_ROLE_TEXT, NULL}};
    static const delta_place list[] = {{"x", TG_ROLE_ARRAY, NULL}, {"x.*", TG_ROLE_TEXT, NULL}};
    static const delta_place any[] = {{"u", TG_ROLE_TEXT, NULL}};
    static const delta_place idle[] = {{"u", TG_ROLE_IGNORED, NULL}, {"w", TG_ROLE_TEXT, NULL}};
    static const row rows[] = {
        {"{\"x\":{\"t\":\"a\"}}", "0 t:a"},
        {"{\"x\":\"b\",\"t\":\"a\"}", "1 t:a"},
        {"{\"x\":[\"a\"]}", "2 t:a"},
        {"{\"x\":[{\"\":\"a\"}]}", NULL},
        {"{\"x\":{\"t\":\"a\"},\"t\":\"b\"}", NULL},
        {"{\"x\":{},\"t\":\"b\"}", "1 t:b"},
        {"{\"u\":\"a\"}", "3 t:a"},
        /* A hole of the shape that is left, not of the one that was not. */
        {"{\"u\":\"a\",\"w\":\"b\"}", "4 p:a t:b"},
        {"{\"u\":1,\"w\":\"b\"}", "4 i:1 t:b"},
    };
    tg_shapes *shapes = calloc(1, sizeof *shapes);

    TEST("shapes that begin alike part where they differ, in kind or in place");
    CHECK(tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, inside));
    CHECK(tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, around));
    CHECK(tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, list));
    CHECK(tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, any));
    CHECK(tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, idle));
    CHECK_ROWS(shapes, rows);
    free(shapes);
}

void
test_pick(void)
{
    tg_shapes *shapes = calloc(1, sizeof *shapes);

    TEST("no shapes match nothing");
    check_row(shapes, "{\"type\":\"d\",\"text\":\"Hi\"}", 24, NULL);
    CHECK(delta_declare(shapes));
    test_texts(shapes);
    test_literals(shapes);
    test_fixed(shapes);
    test_numbers(shapes);
    test_empty(shapes);
    test_blanks(shapes);
    test_containers(shapes);
    test_member_names(shapes);
    test_forks();
    free(shapes);
}

/* test_members.c - names of members: unique, repeated, and those of which it is not known. */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tg_members.h"

/* In a block of its exact size, so that a byte too much is seen. */
static bool
are_unique(const char *text, size_t len)
{
    uint8_t *block = malloc(len + (len == 0));
    const tg_span span = {block, len};
    bool answer;

    if (block == NULL)
        exit(3);
    memcpy(block, text, len);
    answer = tg_members_are_unique(span);
    free(block);
    return answer;
}

static void
check_all(const char *const *texts, size_t count, bool expected)
{
    size_t i;

    for (i = 0; i < count; i++)
        CHECK(are_unique(texts[i], strlen(texts[i])) == expected);
}

#define CHECK_ALL(texts, expected) check_all((texts), sizeof(texts) / sizeof(texts)[0], (expected))

static void
test_answers(void)
{
    static const char *const unique[] = {
        "",
        "{}",
        "[]",
        "1",
        "\"a\"",
        "{\"a\":1}",
        "{\"\":1,\"a\":2}",
        "{\"a\":1,\"b\":\"a\",\"aa\":{\"a\":[{\"a\":1},{\"a\":2}]},\"c\":\"a\"}",
        "{ \"a\" : 1 , \"b\" : \"\\\"a\\\":\" }",
        "{\"a\":\"\\\\\",\"b\":\"\\\\\\\"\"}",
        "[\"a\",\"a\",\"a\"]",
        "{\"ab\":1,\"aB\":2,\"\xe2\x82\xac\":3,\"\xe2\x82\xad\":4}",
        "{\"a\":{\"x\":1},\"b\":{\"x\":1},\"x\":{\"x\":{\"x\":0}}}",
    };
    static const char *const repeated[] = {
        "{\"a\":1,\"a\":1}",
        "{\"\":1,\"\":1}",
        "{\"a\":1,\"b\":{\"c\":1,\"d\":[],\"c\":2}}",
        "{\"a\":{\"b\":1},\"c\":[{\"d\":1}],\"a\":2}",
        "[{\"a\" : 1, \"a\"\t:1}]",
        "{\"a\":\"\\\\\",\"a\":2}",
        "{\"\xf0\x9f\x98\x80\":1,\"\xf0\x9f\x98\x80\":1}",
    };
    static const char *const unknown[] = {"{\"\\u0061\":1}", "{\"a\":1,\"b\\n\":2}"};

    TEST("a name twice in one object is seen, in two objects it may stand");
    CHECK_ALL(unique, true);
    CHECK_ALL(repeated, false);
    TEST("a name with an escape could be another one");
    CHECK_ALL(unknown, false);
}

/* An object of so many names, inside of so many arrays. */
static bool
is_known(unsigned names, unsigned levels)
{
    char text[4096];
    size_t len = 0;
    unsigned i;

    for (i = 0; i < levels; i++)
        text[len++] = '[';
    text[len++] = '{';
    for (i = 0; i < names; i++)
        len += (size_t)sprintf(text + len, "%s\"n%u\":%u", i > 0 ? "," : "", i, i);
    text[len++] = '}';
    for (i = 0; i < levels; i++)
        text[len++] = ']';
    return are_unique(text, len);
}

static void
test_bounds(void)
{
    TEST("names and levels are counted up to their bounds, and no further");
    CHECK(is_known(TG_MEMBERS_MOST, 0));
    CHECK(!is_known(TG_MEMBERS_MOST + 1, 0));
    CHECK(is_known(1, TG_MEMBERS_LEVELS - 1));
    CHECK(!is_known(1, TG_MEMBERS_LEVELS));
}

static void
test_any_bytes(void)
{
    static const char letters[] = "{}[]\":\\,a";
    uint64_t seed = 7;
    char text[24];
    unsigned i;

    TEST("what is no JSON is read to its end at most");
    for (i = 0; i < 20000; i++) {
        const size_t len = check_random(&seed) % sizeof text;
        size_t j;

        for (j = 0; j < len; j++)
            text[j] = letters[check_random(&seed) % (sizeof letters - 1)];
        (void)are_unique(text, len);
    }
    CHECK(true);
}

void
test_members(void)
{
    test_answers();
    test_bounds();
    test_any_bytes();
}

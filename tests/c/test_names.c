/* test_names.c - the lists of names: statuses, limits, states. */
#include "suites.h"

#include <string.h>

#include "check.h"
#include "tg.h"

static const char *const limit_names[] = {
#define LIMIT_NAME(name, value, reason) #name,
    TG_LIMITS_LIST(LIMIT_NAME)
#undef LIMIT_NAME
};

static bool
is_limit_name(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof limit_names / sizeof limit_names[0]; i++)
        if (strcmp(limit_names[i], name) == 0)
            return true;
    return false;
}

static void
test_statuses(void)
{
    static const tg_status all[] = {
#define STATUS_NAME(name, code, layer, limit, text) name,
        TG_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    };
    const size_t count = sizeof all / sizeof all[0];
    size_t i, j;

    TEST("every status has a code of its own and a text");
    for (i = 0; i < count; i++) {
        CHECK(tg_status_code(all[i])[0] != '\0' && tg_status_text(all[i])[0] != '\0');
        for (j = 0; j < i; j++)
            CHECK(strcmp(tg_status_code(all[i]), tg_status_code(all[j])) != 0);
    }
    TEST("a status that names a limit names one that exists, in the layer limit");
    for (i = 0; i < count; i++) {
        if (tg_status_limit(all[i])[0] == '\0')
            continue;
        CHECK(is_limit_name(tg_status_limit(all[i])));
        CHECK(strcmp(tg_status_layer(all[i]), "limit") == 0);
    }
    TEST("a value outside the list gets empty words, never NULL");
    CHECK(tg_status_code((tg_status)999)[0] == '\0' && tg_status_layer((tg_status)999)[0] == '\0');
    CHECK(tg_status_limit((tg_status)999)[0] == '\0' && tg_status_text((tg_status)999)[0] == '\0');
}

/* A sentence reads "seen so far / awaiting". */
#define CHECK_STATE(name_of, name, sentence) \
    CHECK(strcmp(name_of(name), #name) == 0 && strstr(sentence, " / ") != NULL);
#define CHECK_LINE_STATE(name, sentence) CHECK_STATE(tg_line_state_name, name, sentence)
#define CHECK_SSE_STATE(name, sentence) CHECK_STATE(tg_sse_state_name, name, sentence)
#define CHECK_JSON_STATE(name, sentence) CHECK_STATE(tg_json_state_name, name, sentence)

void
test_names(void)
{
    test_statuses();
    TEST("each state of the line machine has its name and a sentence of two halves");
    TG_LINE_STATES(CHECK_LINE_STATE)
    TEST("each state of the SSE machine has its name and a sentence of two halves");
    TG_SSE_STATES(CHECK_SSE_STATE)
    TEST("each state of the JSON machines has its name and a sentence of two halves");
    TG_JSON_STATES(CHECK_JSON_STATE)
    TEST("the default limits are those of the list");
    CHECK(tg_limits_default().max_event_bytes == 32 * TG_MIB);
    CHECK(tg_limits_default().max_depth == 1024);
}

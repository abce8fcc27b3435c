/* test_whole.c - up to where the bytes of a stream belong to whole events, byte by byte. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tg.h"

/* The bytes, and below each byte the offset just behind which it leaves the border. */
typedef struct whole_case {
    const char *name;
    tg_framing framing;
    const char *bytes;
    const char *borders; /* for each byte a letter: the border behind it, `a` for 0 */
} whole_case;

static const whole_case cases[] = {
    {"SSE: the block that is open is not whole", TG_FRAMING_SSE, "data: a\n\nd", "aaaaaaaajj"},
    {"SSE: nor is one of fields alone", TG_FRAMING_SSE, "id: 1\n\n", "aaaaaah"},
    {"SSE: a comment counts to the block that it begins", TG_FRAMING_SSE, ":\n\n:", "aadd"},
    {"SSE: a blank line is whole", TG_FRAMING_SSE, "\n\n", "bc"},
    {"SSE: a CR ends a line, and its LF belongs to nothing", TG_FRAMING_SSE, "data\r\n\r\nd",
     "aaaaaahii"},
    {"SSE: a BOM in the making may be a line", TG_FRAMING_SSE, "\xef\xbb\xbf\n", "aade"},
    {"NDJSON: a line", TG_FRAMING_NDJSON, "{}\n\n[]", "aadeee"},
    {"array: brackets and commas around an element", TG_FRAMING_ARRAY, " [1, {}\n]\n",
     "bcceffhiii"},
};
#define CASES (sizeof cases / sizeof cases[0])

static bool
is_as_told(const whole_case *told)
{
    const size_t len = strlen(told->bytes);
    bool is_right = true;
    tg_stream stream;
    tg_event event;
    size_t i;

    tg_stream_init_framing(&stream, told->framing, NULL, NULL, 0);
    CHECK(tg_stream_whole_off(&stream) == 0);
    for (i = 0; i < len; i++) {
        CHECK(tg_stream_feed(&stream, (const uint8_t *)told->bytes + i, 1) == TG_OK);
        while (tg_stream_next(&stream, &event) == TG_OK)
            is_right = is_right && event.end_off <= i + 1;
        is_right = is_right && tg_stream_whole_off(&stream) == (uint64_t)(told->borders[i] - 'a');
    }
    tg_stream_free(&stream);
    return is_right;
}

void
test_whole(void)
{
    size_t i;

    for (i = 0; i < CASES; i++) {
        TEST(cases[i].name);
        CHECK(is_as_told(&cases[i]));
    }
}

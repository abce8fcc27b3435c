/* framers.c - the checks of framers.h. */
#include "framers.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define THREE_UP_TO 40
#define TWO_UP_TO 400
/* Of one stream at rest: two buffers of a page and a stack. */
#define IDLE_BYTES (3 * (size_t)4096)

/* ---- one input --------------------------------------------------------------------------------
 */

static size_t
count_of(const char *text, const char *word)
{
    size_t count = 0;

    while ((text = strstr(text, word)) != NULL) {
        count++;
        text += strlen(word);
    }
    return count;
}

static bool
is_expected(const char *text, const char *expected)
{
    const size_t events = count_of(text, "event type=");
    const size_t places = strncmp(expected, "data=", 5) == 0 ? 1 : 0;

    if (events != places + count_of(expected, "\ndata="))
        return false;
    while (*expected != '\0') {
        const size_t len = strcspn(expected, "\n");
        char piece[512];

        if (len >= sizeof piece)
            return false;
        memcpy(piece, expected, len);
        piece[len] = '\0';
        text = strstr(text, piece);
        if (text == NULL)
            return false;
        text += len;
        expected += expected[len] == '\n' ? len + 1 : len;
    }
    return true;
}

static void
check_same(const record *whole, const record *cut)
{
    const bool was_failing = check_is_failing();

    CHECK(record_equal(whole, cut));
    CHECK(strstr(cut->ptr, "BREACH") == NULL);
    if (check_is_failing() && !was_failing) {
        check_note("whole and cut:");
        check_note(whole->ptr);
        check_note(cut->ptr);
    }
}

static void
check_cuts(const record_setup *setup, const record *whole, const uint8_t *ptr, size_t len)
{
    record cut = {0};
    size_t at[2];

    for (at[0] = 0; at[0] <= len && len <= TWO_UP_TO; at[0]++) {
        at[1] = at[0]; /* an empty chunk in the cut as well */
        record_stream(&cut, setup, ptr, len, at, 1 + at[0] % 2);
        check_same(whole, &cut);
        for (; at[1] <= len && len <= THREE_UP_TO; at[1]++) {
            record_stream(&cut, setup, ptr, len, at, 2);
            check_same(whole, &cut);
        }
    }
    record_free(&cut);
}

/* step 0: one cut, after the first byte. */
static void
check_refusals(record_setup setup, const record *whole, const uint8_t *ptr, size_t len, size_t step)
{
    const size_t first = len < 1 ? len : 1;
    record again = {0};
    size_t n;

    for (n = 1;; n++) {
        heap memory = {.refuse_at = n};
        const tg_alloc alloc = heap_alloc(&memory);

        setup.alloc = &alloc;
        if (step == 0)
            record_stream(&again, &setup, ptr, len, &first, 1);
        else
            record_stream_step(&again, &setup, ptr, len, step);
        CHECK(memory.blocks == 0 && memory.bytes == 0 && !memory.is_abused);
        CHECK(strstr(again.ptr, "BREACH") == NULL);
        if (memory.asked < n)
            break;
        CHECK(strstr(again.ptr, "error no_memory") != NULL);
    }
    check_same(whole, &again);
    record_free(&again);
}

void
framer_check(const record_setup *setup, const uint8_t *ptr, size_t len, const char *expected)
{
    static const size_t steps[] = {1, 5, 37, SIZE_MAX};
    const bool was_failing = check_is_failing();
    record_setup guarded = *setup;
    guard_page page;
    record whole = {0}, cut = {0};
    size_t i;

    if (!guard_open(&page, len + 1))
        exit(3);
    guarded.guard = &page;
    record_stream(&whole, &guarded, ptr, len, NULL, 0);
    CHECK(strstr(whole.ptr, "BREACH") == NULL);
    CHECK(is_expected(whole.ptr, expected));
    if (check_is_failing() && !was_failing) {
        check_note(expected);
        check_note(whole.ptr);
    }
    check_cuts(&guarded, &whole, ptr, len);
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const size_t step = steps[i] < len ? steps[i] : len + 1;

        record_stream_step(&cut, setup, ptr, len, step);
        check_same(&whole, &cut);
        check_refusals(*setup, &whole, ptr, len, step);
    }
    check_refusals(*setup, &whole, ptr, len, 0);
    guard_close(&page);
    record_free(&whole);
    record_free(&cut);
}

void
framer_check_rows(record_setup setup, framer_set set, const framer_row *rows, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (set != NULL)
            set(&setup, rows[i].limit);
        framer_check(&setup, (const uint8_t *)rows[i].input, strlen(rows[i].input),
                     rows[i].expected);
    }
}

/* ---- work and memory --------------------------------------------------------------------------
 */

size_t
framer_feed_all(tg_stream *stream, const uint8_t *ptr, size_t len, size_t step)
{
    size_t events = 0, pos = 0;
    tg_event event;

    while (pos < len) {
        const size_t size = len - pos < step ? len - pos : step;

        if (tg_stream_feed(stream, ptr + pos, size) != TG_OK)
            return events;
        while (tg_stream_next(stream, &event) == TG_OK)
            events++;
        pos += size;
    }
    return events;
}

void
framer_check_work(const record_setup *setup, const uint8_t *ptr, size_t len, size_t events,
                  size_t per_byte)
{
    static const size_t steps[] = {1, 64, 64 * 1024};
    size_t i;

    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        heap memory = {0};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_stream stream;

        tg_stream_init_framing(&stream, setup->framing, &alloc, &setup->limits, setup->flags);
        CHECK(framer_feed_all(&stream, ptr, len, steps[i]) == events);
        CHECK(tg_stream_work(&stream) >= len);
        CHECK(tg_stream_work(&stream) <= per_byte * len);
        CHECK(memory.bytes <= IDLE_BYTES && memory.most <= 4 * len);
        tg_stream_free(&stream);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
}

void
framer_check_steady(const record_setup *setup, const uint8_t *head, size_t head_len,
                    const uint8_t *block, size_t len)
{
    static const size_t steps[] = {1, 7, 64, 100000};
    const size_t count = 400;
    uint8_t *text = malloc(count * len);
    size_t i;

    if (text == NULL)
        exit(3);
    for (i = 0; i < count; i++)
        memcpy(text + i * len, block, len);
    for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        heap memory = {0};
        const tg_alloc alloc = heap_alloc(&memory);
        tg_stream stream;
        size_t warm;

        tg_stream_init_framing(&stream, setup->framing, &alloc, &setup->limits, setup->flags);
        CHECK(memory.asked == 0);
        CHECK(framer_feed_all(&stream, head, head_len, steps[i]) == 0);
        CHECK(framer_feed_all(&stream, text, 10 * len, steps[i]) == 10);
        warm = memory.asked;
        CHECK(framer_feed_all(&stream, text, count * len, steps[i]) == count);
        CHECK(memory.asked == warm);
        tg_stream_free(&stream);
        CHECK(memory.blocks == 0 && !memory.is_abused);
    }
    free(text);
}

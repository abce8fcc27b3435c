/* fuzz_sse.c - libFuzzer target: a stream must say the same however its input is cut.
 *
 * The first OPTIONS bytes choose flags, limits, a refused allocation and cuts; the rest is fed
 *   whole, in the chosen cuts, and byte by byte.
 * Events, errors, offsets and the rest must be equal (record.h); with a refused allocation nothing
 * may leak.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "record.h"

#define CUTS 8
#define OPTIONS (4 + CUTS)
#define BYTE_BY_BYTE_UP_TO 2048

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len);

static void
fuzz_fail(const char *what, const record *a, const record *b)
{
    fprintf(stderr, "%s\n%s\n%s\n", what, a->ptr, b->ptr);
    abort();
}

/* 0 to 240: the limit itself, small; above: the default. */
static void
fuzz_limit(size_t *limit, uint8_t byte)
{
    if (byte <= 240)
        *limit = byte;
}

static record_setup
fuzz_setup(const uint8_t *options)
{
    record_setup setup = record_setup_default();

    setup.flags = options[0] & (TG_SSE_STRICT_UTF8 | TG_SSE_ERROR_FIELD);
    fuzz_limit(&setup.limits.max_line_bytes, options[1]);
    fuzz_limit(&setup.limits.max_event_bytes, options[2]);
    if ((options[0] & 4) != 0) {
        setup.limits.max_id_bytes = options[3] & 15;
        setup.limits.max_retry_digits = options[3] >> 4;
    }
    return setup;
}

/* Each byte is a distance from the cut before; small ones are likely, 255 jumps far. */
static size_t
fuzz_cuts(const uint8_t *options, size_t len, size_t *cuts)
{
    size_t count, pos = 0;

    for (count = 0; count < CUTS && pos < len; count++) {
        pos += options[count] == 255 ? len / 2 : options[count] % 64;
        cuts[count] = pos < len ? pos : len;
    }
    return count;
}

static void
fuzz_refusal(record_setup setup, unsigned refuse_at, const uint8_t *ptr, size_t len,
             const size_t *cuts, size_t count)
{
    heap memory = {.refuse_at = refuse_at};
    const tg_alloc alloc = heap_alloc(&memory);
    record out = {0};

    setup.alloc = &alloc;
    record_stream(&out, &setup, ptr, len, cuts, count);
    if (memory.blocks != 0 || memory.bytes != 0 || memory.is_abused || strstr(out.ptr, "\nBREACH"))
        fuzz_fail("after a refused allocation", &out, &out);
    record_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    record whole = {0}, cut = {0};
    record_setup setup;
    size_t cuts[CUTS], count;

    if (len < OPTIONS)
        return 0;
    setup = fuzz_setup(ptr);
    count = fuzz_cuts(ptr + 4, len - OPTIONS, cuts);
    record_stream(&whole, &setup, ptr + OPTIONS, len - OPTIONS, NULL, 0);
    if (strstr(whole.ptr, "\nBREACH") != NULL)
        fuzz_fail("a breach in the whole", &whole, &whole);
    record_stream(&cut, &setup, ptr + OPTIONS, len - OPTIONS, cuts, count);
    if (!record_equal(&whole, &cut))
        fuzz_fail("whole and cut differ", &whole, &cut);
    if (len <= BYTE_BY_BYTE_UP_TO) {
        record_stream_step(&cut, &setup, ptr + OPTIONS, len - OPTIONS, 1);
        if (!record_equal(&whole, &cut))
            fuzz_fail("whole and byte by byte differ", &whole, &cut);
    }
    if ((ptr[0] & 8) != 0)
        fuzz_refusal(setup, 1u + (ptr[0] >> 4), ptr + OPTIONS, len - OPTIONS, cuts, count);
    record_free(&whole);
    record_free(&cut);
    return 0;
}

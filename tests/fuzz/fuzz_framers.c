/* fuzz_framers.c - libFuzzer target: NDJSON, a JSON array and event-stream messages must say the
 * same however their input is cut.
 *
 * The first OPTIONS bytes choose the framing, flags, limits, a refused allocation and cuts; the
 *   rest is fed whole, in the chosen cuts, and byte by byte.
 * No mutation finds a CRC-32: where the options ask for it, the checksums of messages are made
 * right before the input is fed, so that lengths, headers and limits are reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "record.h"
#include "tg_crc32.h"

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
    static const tg_framing framings[] = {TG_FRAMING_NDJSON, TG_FRAMING_ARRAY,
                                          TG_FRAMING_EVENTSTREAM, TG_FRAMING_EVENTSTREAM};
    record_setup setup = record_setup_default();

    setup.framing = framings[options[0] & 3];
    setup.flags = (options[0] & 4) != 0 ? TG_RECORD_STRICT_UTF8 : 0;
    fuzz_limit(&setup.limits.max_event_bytes, options[1]);
    fuzz_limit(&setup.limits.max_depth, options[2]);
    fuzz_limit(&setup.limits.max_header_bytes, options[2]);
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

static size_t
fuzz_number(const uint8_t *ptr)
{
    return (size_t)ptr[0] << 24 | (size_t)ptr[1] << 16 | (size_t)ptr[2] << 8 | ptr[3];
}

static void
fuzz_put_crc(uint8_t *ptr, size_t len)
{
    const uint32_t crc = tg_crc32(0, ptr, len);

    ptr[len] = (uint8_t)(crc >> 24);
    ptr[len + 1] = (uint8_t)(crc >> 16);
    ptr[len + 2] = (uint8_t)(crc >> 8);
    ptr[len + 3] = (uint8_t)crc;
}

static void
fuzz_make_right(uint8_t *ptr, size_t len)
{
    while (len >= 12) {
        const size_t total = fuzz_number(ptr);

        fuzz_put_crc(ptr, 8);
        if (total < 16 || total > len)
            return;
        fuzz_put_crc(ptr, total - 4);
        ptr += total;
        len -= total;
    }
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

static void
fuzz_compare(const record_setup *setup, const uint8_t *ptr, size_t len, const size_t *cuts,
             size_t count)
{
    record whole = {0}, cut = {0};

    record_stream(&whole, setup, ptr, len, NULL, 0);
    if (strstr(whole.ptr, "\nBREACH") != NULL)
        fuzz_fail("a breach in the whole", &whole, &whole);
    record_stream(&cut, setup, ptr, len, cuts, count);
    if (!record_equal(&whole, &cut))
        fuzz_fail("whole and cut differ", &whole, &cut);
    if (len <= BYTE_BY_BYTE_UP_TO) {
        record_stream_step(&cut, setup, ptr, len, 1);
        if (!record_equal(&whole, &cut))
            fuzz_fail("whole and byte by byte differ", &whole, &cut);
    }
    record_free(&whole);
    record_free(&cut);
}

int
LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    record_setup setup;
    size_t cuts[CUTS], count;
    uint8_t *text;

    if (len <= OPTIONS)
        return 0;
    setup = fuzz_setup(ptr);
    count = fuzz_cuts(ptr + 4, len - OPTIONS, cuts);
    text = malloc(len - OPTIONS);
    if (text == NULL)
        abort();
    memcpy(text, ptr + OPTIONS, len - OPTIONS);
    if ((ptr[0] & 3) == 3)
        fuzz_make_right(text, len - OPTIONS);
    fuzz_compare(&setup, text, len - OPTIONS, cuts, count);
    if ((ptr[0] & 8) != 0)
        fuzz_refusal(setup, 1u + (ptr[0] >> 4), text, len - OPTIONS, cuts, count);
    free(text);
    return 0;
}

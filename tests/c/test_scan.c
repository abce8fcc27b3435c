/* test_scan.c - the kernels of tg_scan against one-line definitions, on the same bytes. */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory.h"
#include "tg_scan.h"

typedef struct scan_kernel {
    const char *sentence;
    size_t (*scan)(const uint8_t *ptr, size_t len);
    bool (*is_stop)(uint8_t byte);
} scan_kernel;

static bool
is_line_end(uint8_t byte)
{
    return byte == '\n' || byte == '\r';
}

static bool
is_non_ascii(uint8_t byte)
{
    return byte >= 0x80;
}

static bool
is_json_stop(uint8_t byte)
{
    return byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\';
}

static bool
is_quote(uint8_t byte)
{
    return byte == '"' || byte == '\\';
}

static bool
is_mark(uint8_t byte)
{
    return byte != 0 && strchr("\"{}[]", byte) != NULL;
}

static bool
is_non_digit(uint8_t byte)
{
    return byte < '0' || byte > '9';
}

static bool
is_non_blank(uint8_t byte)
{
    return byte == 0 || strchr(" \t\r\n", byte) == NULL;
}

static const scan_kernel kernels[] = {
    {"tg_scan_line_end stops at LF and CR alone", tg_scan_line_end, is_line_end},
    {"tg_scan_non_ascii stops at 0x80 and above alone", tg_scan_non_ascii, is_non_ascii},
    {"tg_scan_json_text stops at what does not stand for itself", tg_scan_json_text, is_json_stop},
    {"tg_scan_quote stops at quote and backslash alone", tg_scan_quote, is_quote},
    {"tg_scan_json_mark stops at quotes and brackets alone", tg_scan_json_mark, is_mark},
    {"tg_scan_non_digit stops at all but digits", tg_scan_non_digit, is_non_digit},
    {"tg_scan_non_blank stops at all but white space", tg_scan_non_blank, is_non_blank},
};

static size_t
plain_scan(const scan_kernel *kernel, const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len && !kernel->is_stop(ptr[pos]))
        pos++;
    return pos;
}

/* Every byte value at every place of a run that does not stop, up to the forbidden page. */
static void
check_each_byte(const scan_kernel *kernel, guard_page *guard, uint8_t filler)
{
    uint8_t bytes[41];
    size_t len, pos;
    unsigned byte;

    for (len = 0; len <= sizeof bytes; len++) {
        for (pos = 0; pos < len; pos++) {
            for (byte = 0; byte < 256; byte++) {
                const uint8_t *place;

                memset(bytes, filler, len);
                bytes[pos] = (uint8_t)byte;
                place = guard_place(guard, bytes, len);
                CHECK(kernel->scan(place, len) == plain_scan(kernel, place, len));
            }
        }
    }
}

static void
check_random_bytes(const scan_kernel *kernel, guard_page *guard)
{
    uint64_t seed = 88172645463325252u;
    uint8_t bytes[100];
    unsigned round;

    for (round = 0; round < 20000; round++) {
        const size_t len = check_random(&seed) % sizeof bytes;
        const uint8_t mask = (uint8_t)check_random(&seed);
        const uint8_t *place;
        size_t i;

        for (i = 0; i < len; i++)
            bytes[i] = (uint8_t)(check_random(&seed) & mask);
        place = guard_place(guard, bytes, len);
        CHECK(kernel->scan(place, len) == plain_scan(kernel, place, len));
    }
}

void
test_scan(void)
{
    guard_page guard;
    size_t i;

    if (!guard_open(&guard, 4096))
        exit(3);
    for (i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        TEST(kernels[i].sentence);
        check_each_byte(&kernels[i], &guard, 'a');
        check_each_byte(&kernels[i], &guard, '7');
        check_each_byte(&kernels[i], &guard, ' ');
        check_random_bytes(&kernels[i], &guard);
    }
    guard_close(&guard);
}

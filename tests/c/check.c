/* check.c - counting and printing for check.h. */
#include "check.h"

#include <stdio.h>

static struct {
    char sentence[200]; /* a copy: a vector's name dies with it */
    bool is_open;
    bool is_failing;
    unsigned passed;
    unsigned failed;
} check;

static void
check_end(void)
{
    if (!check.is_open)
        return;
    if (check.is_failing)
        check.failed++;
    else
        check.passed++;
    check.is_open = false;
}

void
check_begin(const char *sentence)
{
    check_end();
    snprintf(check.sentence, sizeof check.sentence, "%s", sentence);
    check.is_open = true;
    check.is_failing = false;
}

void
check_that(bool is_true, const char *file, int line, const char *text)
{
    if (is_true || check.is_failing)
        return;
    check.is_failing = true;
    printf("FAILED: %s\n  %s:%d: %s\n", check.sentence, file, line, text);
}

void
check_note(const char *text)
{
    printf("  %s\n", text);
}

bool
check_is_failing(void)
{
    return check.is_failing;
}

int
check_close(void)
{
    check_end();
    printf("%u passed, %u failed\n", check.passed, check.failed);
    return check.failed == 0 ? 0 : 1;
}

uint64_t
check_random(uint64_t *seed)
{
    uint64_t x = *seed;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *seed = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

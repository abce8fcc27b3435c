/* fuzz_json.c - libFuzzer target: a JSON text must end at the same place however it is cut.
 *
 * The first OPTIONS bytes choose the depth limit and cuts; the rest is fed to both views, whole, in
 * the chosen cuts, and byte by byte. Verdicts, offsets and depths must be equal (record.h), and a
 * text that the strict view closes must be closed by the structural view at the same place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define CUTS 8
#define OPTIONS (1 + CUTS)
#define BYTE_BY_BYTE_UP_TO 2048

int LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len);

static void
fuzz_fail(const char *what, const record *a, const record *b)
{
    fprintf(stderr, "%s\n%s\n%s\n", what, a->ptr, b->ptr);
    abort();
}

/* The state before finish depends on no cut either, but the status of the last feed does when that
 * feed is empty after an error: the record from "final" on is compared. */
static void
fuzz_compare(const char *what, const record *a, const record *b)
{
    if (strcmp(strstr(a->ptr, "final"), strstr(b->ptr, "final")) != 0)
        fuzz_fail(what, a, b);
}

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
fuzz_view(record *whole, const record_setup *setup, const uint8_t *options, const uint8_t *ptr,
          size_t len)
{
    record cut = {0};
    size_t cuts[BYTE_BY_BYTE_UP_TO], count = fuzz_cuts(options, len, cuts);

    record_json(whole, setup, ptr, len, NULL, 0);
    if (strstr(whole->ptr, "BREACH") != NULL)
        fuzz_fail("a breach in the whole", whole, whole);
    record_json(&cut, setup, ptr, len, cuts, count);
    fuzz_compare("whole and cut differ", whole, &cut);
    if (len <= BYTE_BY_BYTE_UP_TO) {
        for (count = 0; count < len; count++)
            cuts[count] = count;
        record_json(&cut, setup, ptr, len, cuts, count);
        fuzz_compare("whole and byte by byte differ", whole, &cut);
    }
    record_free(&cut);
}

/* "closed=12": where the value ended. */
static void
fuzz_compare_views(const record *strict, const record *structural)
{
    const char *a = strstr(strict->ptr, " closed=");
    const char *b = strstr(structural->ptr, " closed=");

    if (strstr(strict->ptr, "final=closed") == NULL)
        return;
    if (strstr(structural->ptr, "final=closed") == NULL ||
        strncmp(a, b, strcspn(a + 1, " ") + 2) != 0)
        fuzz_fail("closed in the strict view alone, or elsewhere", strict, structural);
}

int
LLVMFuzzerTestOneInput(const uint8_t *ptr, size_t len)
{
    record strict = {0}, structural = {0};
    record_setup setup = record_setup_default();

    if (len < OPTIONS)
        return 0;
    if (ptr[0] < 128)
        setup.limits.max_depth = ptr[0];
    fuzz_view(&strict, &setup, ptr + 1, ptr + OPTIONS, len - OPTIONS);
    setup.view = TG_JSON_STRUCTURAL;
    fuzz_view(&structural, &setup, ptr + 1, ptr + OPTIONS, len - OPTIONS);
    fuzz_compare_views(&strict, &structural);
    record_free(&strict);
    record_free(&structural);
    return 0;
}

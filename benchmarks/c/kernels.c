/* kernels.c - the speed of each function of tg_scan by each of its kernels: long runs without a
 * hit, and comparing what is as long as the literals of a delta, beside memcmp.
 *
 * Rules
 *  - Kernels take turns, round after round, so that a busy machine hurts all alike.
 *  - Every answer is checked.
 *
 * usage: kernels ROUNDS
 * Prints one JSON object: for each row its name, the bytes of a call, the calls of a round, and for
 * each kernel the nanoseconds of each round.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tg_scan.h"

#define RUN ((size_t)64 * 1024)
#define ROUND_BYTES ((size_t)4 * 1024 * 1024)
#define ROUND_CALLS ((size_t)20 * 1000)
#define MAX_ROUNDS 1000
#define MAX_KERNELS 8
#define MIXED ((size_t)0)
#define PLACES ((size_t)4096)

/* What the bytes are: text of one script alone. */
static uint8_t ascii[RUN];
static uint8_t chinese[RUN];
static uint8_t again[RUN];
/* What is compared, call by call: so long, from there on. */
static size_t lengths[PLACES];

typedef struct row {
    const char *name;
    size_t (*scan)(const uint8_t *ptr, size_t len); /* NULL: the comparison */
    const uint8_t *bytes;
    size_t len;
} row;

static const row ROWS[] = {
    {"line_end", tg_scan_line_end, ascii, RUN},
    {"non_ascii", tg_scan_non_ascii, ascii, RUN},
    {"json_special", tg_scan_json_special, ascii, RUN},
    {"quote", tg_scan_quote, ascii, RUN},
    {"json_mark", tg_scan_json_mark, ascii, RUN},
    {"utf8, ASCII", tg_scan_utf8, ascii, RUN},
    {"utf8, Chinese", tg_scan_utf8, chinese, RUN},
    {"is_equal, 8 bytes", NULL, ascii, 8},
    {"is_equal, 24 bytes", NULL, ascii, 24},
    {"is_equal, 48 bytes", NULL, ascii, 48},
    {"is_equal, 96 bytes", NULL, ascii, 96},
    {"is_equal, 192 bytes", NULL, ascii, 192},
    {"is_equal, 4 to 131 bytes, by chance", NULL, ascii, MIXED},
};

#define N_ROWS (sizeof ROWS / sizeof ROWS[0])

static void
fill(void)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz ,.";
    static const uint8_t signs[] = "\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c";

    for (size_t i = 0; i < RUN; i++) {
        ascii[i] = (uint8_t)letters[i % (sizeof letters - 1)];
        chinese[i] = signs[i % (sizeof signs - 1)];
    }
    /* The last sign is whole. */
    memset(chinese + RUN - RUN % 3, 'a', RUN % 3);
    memcpy(again, ascii, RUN);
}

/* For a row of comparisons. By chance means the same chance each time. */
static void
choose_lengths(const row *what)
{
    uint32_t chance = 1;

    for (size_t i = 0; i < PLACES; i++) {
        chance = chance * 1664525u + 1013904223u;
        lengths[i] = what->len != MIXED ? what->len : 4 + (chance >> 25);
    }
}

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static size_t
calls_of(const row *what)
{
    return what->scan != NULL ? ROUND_BYTES / what->len : ROUND_CALLS;
}

/* memcmp, as far as a caller who wants to know no more is concerned. */
static bool
is_equal_to_libc(const uint8_t *a, const uint8_t *b, size_t len)
{
    return memcmp(a, b, len) == 0;
}

/* Nanoseconds of a round; 0: a wrong answer. */
static uint64_t
time_round(const row *what, bool is_libc)
{
    bool (*volatile choice)(const uint8_t *, const uint8_t *, size_t) =
        is_libc ? is_equal_to_libc : tg_scan_is_equal;
    bool (*const compare)(const uint8_t *, const uint8_t *, size_t) = choice;
    const size_t n_calls = calls_of(what);
    const uint64_t start = now_ns();
    size_t n_right = 0;

    for (size_t i = 0; i < n_calls; i++) {
        if (what->scan != NULL) {
            n_right += what->scan(what->bytes, what->len) == what->len;
        } else {
            /* Four KiB of the two, at every alignment in its turn. */
            const size_t at = i * 65 % PLACES;
            n_right += compare(what->bytes + at, again + at, lengths[i % PLACES]);
        }
    }
    const uint64_t ns = now_ns() - start;
    return n_right == n_calls && ns > 0 ? ns : 0;
}

static bool
print_kernel(const row *what, const char *name, const uint64_t *ns, size_t n_rounds, bool is_first)
{
    printf("%s\"%s\": [", is_first ? "" : ", ", name);
    for (size_t round = 0; round < n_rounds; round++) {
        if (ns[round] == 0) {
            fprintf(stderr, "kernels: %s is wrong in %s\n", name, what->name);
            return false;
        }
        printf("%s%" PRIu64, round == 0 ? "" : ", ", ns[round]);
    }
    printf("]");
    return true;
}

/* One row by all kernels, and by memcmp where it is a comparison. */
static bool
measure(const row *what, size_t n_rounds)
{
    static uint64_t ns[MAX_KERNELS + 1][MAX_ROUNDS];
    size_t n_kernels = 0;

    while (n_kernels < MAX_KERNELS && tg_scan_kernel_at(n_kernels) != NULL) {
        n_kernels++;
    }
    choose_lengths(what);
    for (size_t round = 0; round < n_rounds; round++) {
        for (size_t turn = 0; turn < n_kernels; turn++) {
            const size_t i = (turn + round) % n_kernels;
            tg_scan_use(tg_scan_kernel_at(i));
            ns[i][round] = time_round(what, false);
        }
        ns[n_kernels][round] = what->scan == NULL ? time_round(what, true) : 0;
    }
    printf("{\"name\": \"%s\", \"len\": %zu, \"calls\": %zu, \"ns\": {", what->name, what->len,
           calls_of(what));
    for (size_t i = 0; i < n_kernels; i++) {
        if (!print_kernel(what, tg_scan_kernel_at(i), ns[i], n_rounds, i == 0)) {
            return false;
        }
    }
    if (what->scan == NULL && !print_kernel(what, "memcmp", ns[n_kernels], n_rounds, false)) {
        return false;
    }
    printf("}}");
    return true;
}

int
main(int argc, char **argv)
{
    const size_t n_rounds = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;

    if (n_rounds == 0 || n_rounds > MAX_ROUNDS) {
        fprintf(stderr, "usage: kernels ROUNDS\n");
        return 2;
    }
    fill();
    printf("{\"rows\": [");
    for (size_t i = 0; i < N_ROWS; i++) {
        printf("%s", i == 0 ? "" : ",\n");
        if (!measure(&ROWS[i], n_rounds)) {
            return 1;
        }
    }
    printf("]}\n");
    return 0;
}

/* core.c - the speed of the core alone, beside what the memory gives: memcpy and memchr of the same
 * bytes in the same run.
 *
 * Rules
 *  - Lanes take turns, round after round, so that a busy machine hurts all alike. One round comes
 *    before those that are timed: it touches every page, and its results are what the others must
 *    find again.
 *  - Input is one file of whole events, repeated until it has the size that was asked for.
 *
 * usage: core FILE BYTES PASSES ROUNDS
 * Prints one JSON object: the bytes of a run, the copies of the file in them, and for each lane
 * what it found and the nanoseconds of each round.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lane.h"

#define CHUNK ((size_t)64 * 1024)
#define MAX_ROUNDS 100

static uint64_t
run_memcpy(const lane_input *in)
{
    uint64_t n_copies = 0;

    for (size_t pass = 0; pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->chunk) {
            size_t left = in->len - pos;
            memcpy(in->room + pos, in->data + pos, left < in->chunk ? left : in->chunk);
            __asm__ volatile("" : : "r"(in->room) : "memory");
            n_copies++;
        }
    }
    return n_copies;
}

/* No stream holds a NUL, so that every byte is looked at. */
static uint64_t
run_memchr(const lane_input *in)
{
    uint64_t n_found = 0;

    for (size_t pass = 0; pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->chunk) {
            size_t left = in->len - pos;
            n_found += memchr(in->data + pos, 0, left < in->chunk ? left : in->chunk) != NULL;
        }
    }
    return n_found;
}

static const lane LANES[] = {
    {"memcpy", run_memcpy},
    {"memchr", run_memchr},
    {"framing", lane_frame},
};

#define N_LANES (sizeof LANES / sizeof LANES[0])

typedef struct timing {
    uint64_t found;
    uint64_t ns[MAX_ROUNDS];
} timing;

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool
race(const lane_input *in, size_t n_rounds, timing *timings)
{
    for (size_t i = 0; i < N_LANES; i++) {
        timings[i].found = LANES[i].run(in);
        if (timings[i].found == LANE_FAILED) {
            fprintf(stderr, "core: %s failed\n", LANES[i].name);
            return false;
        }
    }
    for (size_t round = 0; round < n_rounds; round++) {
        for (size_t turn = 0; turn < N_LANES; turn++) {
            size_t i = (turn + round) % N_LANES;
            uint64_t start = now_ns();
            uint64_t found = LANES[i].run(in);
            timings[i].ns[round] = now_ns() - start;
            if (found != timings[i].found) {
                fprintf(stderr, "core: %s found something else\n", LANES[i].name);
                return false;
            }
        }
    }
    return true;
}

static void
print(const lane_input *in, size_t n_copies, size_t n_rounds, const timing *timings)
{
    printf("{\"bytes\": %zu, \"copies\": %zu, \"lanes\": {", in->len * in->passes,
           n_copies * in->passes);
    for (size_t i = 0; i < N_LANES; i++) {
        printf("%s\"%s\": {\"found\": %" PRIu64 ", \"ns\": [", i == 0 ? "" : ", ", LANES[i].name,
               timings[i].found);
        for (size_t round = 0; round < n_rounds; round++) {
            printf("%s%" PRIu64, round == 0 ? "" : ", ", timings[i].ns[round]);
        }
        printf("]}");
    }
    printf("}}\n");
}

/* The file, as often as it fits into `bytes`, once at least; NULL if that cannot be had. */
static uint8_t *
tiled(const char *path, size_t bytes, size_t *len, size_t *n_copies)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size = -1;

    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0) {
        *n_copies = bytes > (size_t)size ? bytes / (size_t)size : 1;
        *len = *n_copies * (size_t)size;
        data = malloc(*len);
        if (data != NULL && fread(data, 1, (size_t)size, file) != (size_t)size) {
            free(data);
            data = NULL;
        }
        for (size_t i = 1; data != NULL && i < *n_copies; i++) {
            memcpy(data + i * (size_t)size, data, (size_t)size);
        }
    }
    fclose(file);
    return data;
}

int
main(int argc, char **argv)
{
    static timing timings[N_LANES];
    lane_input in = {.chunk = CHUNK};
    size_t n_copies = 0;

    if (argc != 5) {
        fprintf(stderr, "usage: core FILE BYTES PASSES ROUNDS\n");
        return 2;
    }
    uint8_t *data = tiled(argv[1], strtoull(argv[2], NULL, 10), &in.len, &n_copies);
    size_t n_rounds = strtoull(argv[4], NULL, 10);
    in.passes = strtoull(argv[3], NULL, 10);
    in.data = data;
    in.room = malloc(in.len);
    bool ok = data != NULL && in.room != NULL && n_rounds <= MAX_ROUNDS;
    if (!ok) {
        fprintf(stderr, "core: no such file, no memory, or too many rounds\n");
    } else if ((ok = race(&in, n_rounds, timings))) {
        print(&in, n_copies, n_rounds, timings);
    }
    free(in.room);
    free(data);
    return ok ? 0 : 1;
}

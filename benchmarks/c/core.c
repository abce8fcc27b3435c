/* core.c - the speed of the core alone, beside what the memory gives: memcpy and memchr of the same
 * bytes in the same run.
 *
 * Rules
 *  - Lanes take turns, round after round, so that a busy machine hurts all alike. One round comes
 *    before those that are timed: it touches every page, and its results are what the others must
 *    find again.
 *  - Input is one file of whole events, repeated until it has the size that was asked for.
 *
 * usage: core SHAPES FILE BYTES PASSES ROUNDS
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

#include "declared.h"
#include "lane.h"

#define CHUNK ((size_t)64 * 1024)
#define MAX_ROUNDS 100

static lane_found
run_memcpy(const lane_input *in)
{
    lane_found found = {.bytes = in->len * in->passes};

    for (size_t pass = 0; pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->chunk) {
            size_t left = in->len - pos;
            memcpy(in->room + pos, in->data + pos, left < in->chunk ? left : in->chunk);
            __asm__ volatile("" : : "r"(in->room) : "memory");
            found.count++;
        }
    }
    return found;
}

/* No stream holds a NUL, so that every byte is looked at. */
static lane_found
run_memchr(const lane_input *in)
{
    lane_found found = {.bytes = in->len * in->passes};

    for (size_t pass = 0; pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->chunk) {
            size_t left = in->len - pos;
            found.count += memchr(in->data + pos, 0, left < in->chunk ? left : in->chunk) != NULL;
        }
    }
    return found;
}

static const lane LANES[] = {
    {"memcpy", run_memcpy},
    {"memchr", run_memchr},
    {"framing", lane_frame},
    {"template hits", lane_hits},
    {"template hits, one event a chunk", lane_hits_each},
    {"pick", lane_pick},
};

#define N_LANES (sizeof LANES / sizeof LANES[0])

typedef struct timing {
    lane_found found;
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
check(const lane_input *in, timing *timings)
{
    lane_input checked = *in;

    checked.is_checked = true;
    for (size_t i = 0; i < N_LANES; i++) {
        timings[i].found = LANES[i].run(&checked);
        if (timings[i].found.count == LANE_FAILED) {
            fprintf(stderr, "core: %s failed\n", LANES[i].name);
            return false;
        }
    }
    return true;
}

static bool
race(const lane_input *in, size_t n_rounds, timing *timings)
{
    for (size_t round = 0; round < n_rounds; round++) {
        for (size_t turn = 0; turn < N_LANES; turn++) {
            size_t i = (turn + round) % N_LANES;
            uint64_t start = now_ns();
            lane_found found = LANES[i].run(in);
            timings[i].ns[round] = now_ns() - start;
            if (found.count != timings[i].found.count || found.text != timings[i].found.text) {
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
        const lane_found *found = &timings[i].found;
        printf("%s\"%s\": {\"found\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"text\": %" PRIu64
               ", \"sum\": %" PRIu32 ", \"ns\": [",
               i == 0 ? "" : ", ", LANES[i].name, found->count, found->bytes, found->text,
               found->sum);
        for (size_t round = 0; round < n_rounds; round++) {
            printf("%s%" PRIu64, round == 0 ? "" : ", ", timings[i].ns[round]);
        }
        printf("]}");
    }
    printf("}}\n");
}

/* The tape, as often as it fits into `bytes`, once at least; NULL if that cannot be had. */
static uint8_t *
tiled(const tape *played, size_t bytes, size_t *n_copies)
{
    *n_copies = bytes > played->len ? bytes / played->len : 1;
    uint8_t *data = malloc(*n_copies * played->len);
    for (size_t i = 0; data != NULL && i < *n_copies; i++) {
        memcpy(data + i * played->len, played->bytes, played->len);
    }
    return data;
}

static bool
measure(const tape *played, const tg_shapes *shapes, char **numbers)
{
    static timing timings[N_LANES];
    size_t n_copies = 0;
    uint8_t *data = tiled(played, strtoull(numbers[0], NULL, 10), &n_copies);
    lane_input in = {.data = data, .len = n_copies * played->len, .chunk = CHUNK};
    size_t n_rounds = strtoull(numbers[2], NULL, 10);

    in.passes = strtoull(numbers[1], NULL, 10);
    in.room = malloc(in.len);
    in.tape = played;
    in.shapes = shapes;
    bool ok = data != NULL && in.room != NULL && n_rounds <= MAX_ROUNDS;
    if (!ok) {
        fprintf(stderr, "core: no memory, or too many rounds\n");
    } else if ((ok = check(&in, timings) && race(&in, n_rounds, timings))) {
        print(&in, n_copies, n_rounds, timings);
    }
    free(in.room);
    free(data);
    return ok;
}

int
main(int argc, char **argv)
{
    static tg_shapes shapes;
    tape played;

    if (argc != 6) {
        fprintf(stderr, "usage: core SHAPES FILE BYTES PASSES ROUNDS\n");
        return 2;
    }
    if (!declared_load(&shapes, argv[1]) || !tape_load(&played, argv[2], &shapes)) {
        fprintf(stderr, "core: no such files, or other events than the shapes say\n");
        return 1;
    }
    bool ok = measure(&played, &shapes, argv + 3);
    tape_free(&played);
    return ok ? 0 : 1;
}

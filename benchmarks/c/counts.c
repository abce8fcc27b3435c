/* counts.c - one thing done to so many events, for a tool that counts instructions: run with two
 * counts, the difference is that of the events between them, and nothing else.
 *
 * Rules
 *  - The whole file is loaded and understood whatever the count, so that this falls out.
 *  - Nothing looks at a clock.
 *
 * usage: counts SHAPES FILE MODE EVENTS
 * Prints how many events it met, how many of them came out of the stream, and the kernel.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "tape.h"
#include "taker.h"
#include "tg_pick.h"

#define CHUNK ((size_t)64 * 1024)

/* The bytes of the first events. */
static size_t
size_of(const tape *played, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        size += played->frames[i].len;
    }
    return size;
}

static bool
feed_chunks(taker *self, size_t count)
{
    const tape *played = self->tape;
    const size_t len = size_of(played, count);

    for (size_t pos = 0; pos < len; pos += CHUNK) {
        if (!taker_feed(self, played->bytes + pos, len - pos < CHUNK ? len - pos : CHUNK)) {
            return false;
        }
    }
    return true;
}

static bool
feed_frames(taker *self, size_t count)
{
    const uint8_t *frame = self->tape->bytes;

    for (size_t i = 0; i < count; i++) {
        if (!taker_feed(self, frame, self->tape->frames[i].len)) {
            return false;
        }
        frame += self->tape->frames[i].len;
    }
    return true;
}

static bool
pick_all(taker *self, size_t count)
{
    const uint8_t *frame = self->tape->bytes;
    tg_pick pick;

    for (size_t i = 0; i < count; i++) {
        const tape_frame *part = &self->tape->frames[i];
        const tg_span data = {frame + part->data_pos, part->data_len};
        if (!tg_pick_find(self->shapes, data, &pick)) {
            return false;
        }
        frame += part->len;
    }
    self->n_read = count;
    return true;
}

/* n_learnt, is_forgetful: as a taker has them; -1: there is no prediction. */
typedef struct mode {
    const char *name;
    bool (*run)(taker *self, size_t count);
    int n_learnt;
    bool is_forgetful;
} mode;

static const mode MODES[] = {
    {"hits", feed_chunks, TG_PREDICT_TEMPLATES, false},
    {"hits each", feed_frames, TG_PREDICT_TEMPLATES, false},
    {"misses", feed_chunks, TG_PREDICT_TEMPLATES, false},
    {"frames", feed_chunks, -1, false},
    {"learnt", feed_chunks, INT32_MAX, true},
    {"picks", pick_all, -1, false},
};

static bool
run(const mode *how, const tape *played, const tg_shapes *shapes, size_t count)
{
    taker self;

    taker_init(&self, played, shapes);
    self.is_forgetful = how->is_forgetful;
    self.n_learnt = how->n_learnt < 0 ? 0 : (size_t)how->n_learnt;
    if (how->n_learnt < 0) {
        tg_stream_set_predict(&self.stream, NULL);
    }
    const bool ok = count <= played->count && how->run(&self, count);
    printf("%" PRIu64 " %" PRIu64 " %s\n", taker_count(&self), self.n_read, tg_scan_kernel_name());
    taker_free(&self);
    return ok;
}

int
main(int argc, char **argv)
{
    static tg_shapes shapes;
    bool ok = false;
    tape played;

    if (argc != 5) {
        fprintf(stderr, "usage: counts SHAPES FILE MODE EVENTS\n");
        return 2;
    }
    if (!declared_load(&shapes, argv[1]) || !tape_load(&played, argv[2], &shapes)) {
        fprintf(stderr, "counts: no such files, or other events than the shapes say\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof MODES / sizeof MODES[0]; i++) {
        if (strcmp(MODES[i].name, argv[3]) == 0) {
            ok = run(&MODES[i], &played, &shapes, strtoull(argv[4], NULL, 10));
        }
    }
    tape_free(&played);
    return ok ? 0 : 1;
}

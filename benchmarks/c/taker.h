/* taker.h - a stream with a prediction, and the caller that both need: it reads what comes out,
 * opens a lane for it and lets it be learned.
 *
 * Rules
 *  - It knows from the tape what an event says; nothing is parsed while the clock runs.
 *  - Runs are read and drained after each chunk, and before an event that came out is read, as the
 *    binding does it.
 */
#ifndef TAKER_H
#define TAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tape.h"
#include "tg.h"

typedef struct taker {
    tg_stream stream;
    tg_predict predict;
    const tape *tape;
    const tg_shapes *shapes;
    size_t n_learnt;   /* so many of the events that come out are learned; SIZE_MAX: all */
    bool is_forgetful; /* closes all lanes after each event that it learned */
    bool is_checked;   /* sum is wanted */
    uint64_t n_read;   /* events that came out */
    uint64_t text;     /* bytes of it, those of events that came out included */
    uint32_t sum;
} taker;

/* The tape and the shapes must outlive it; it must not move. */
void taker_init(taker *self, const tape *played, const tg_shapes *shapes);
void taker_free(taker *self);
/* false: the core refused the bytes, or did not learn an event. */
bool taker_feed(taker *self, const uint8_t *ptr, size_t len);
/* The tape begins again. Its sequence numbers are set back, or an event of each copy would be read
 * that in a real stream, where they go on, would not be. */
void taker_rewind(taker *self);
/* Events that came out, and those that did not. */
uint64_t taker_count(const taker *self);

#endif

/* reader.h - a tiny interpreter of the deltas of delta.h over tg_stream, with prediction or without
 * it; all that it finds, in order, as one text.
 *
 * With prediction it does as the binding does: it opens a lane for each piece that it reads, has
 * the event learned, and closes all lanes at whatever is more than a piece. Both ways, and every
 * cut of the input, must give the same text: that is how "an optimisation, never a second truth" is
 * tested, here and in the fuzzer.
 *
 * Rules
 *  - Consecutive pieces of one lane are one entry, whatever chunk they came in. All else (what was
 *    no piece, a lane that is new, a gap in the sequence, a lane that is full) is an entry of its
 *    own, with offsets and ids.
 *  - Chunks are blocks of their exact size, overwritten and freed as soon as the contract allows.
 *  - A breach of the contract is a line that begins with "BREACH".
 */
#ifndef READER_H
#define READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"
#include "tg.h"

typedef struct reader_setup {
    record_setup stream;
    bool predicts;
    const tg_alloc *alloc; /* of the prediction; NULL: the default */
    size_t lane_room;      /* bytes that a lane may have in all */
    size_t room;           /* and all lanes together */
} reader_setup;

typedef struct reader_counts {
    uint64_t hits;   /* events that were taken unread */
    uint64_t events; /* events that were read */
    uint64_t work;
} reader_counts;

reader_setup reader_setup_default(void);
/* cuts: as in record_stream. counts may be NULL. */
void reader_read(record *out, const reader_setup *setup, const uint8_t *ptr, size_t len,
                 const size_t *cuts, size_t cut_count, reader_counts *counts);
/* The same with a chunk for every step bytes. */
void reader_read_step(record *out, const reader_setup *setup, const uint8_t *ptr, size_t len,
                      size_t step, reader_counts *counts);

#endif

/* lane.h - one thing that the core does to bytes, as the benchmark of the core sees it.
 *
 * Rules
 *  - A lane reads all bytes of its input, `passes` times, in chunks, and returns how many things it
 *    found (events, copies ...), so that its work can be checked and not be optimised away.
 *  - A lane is one row of LANES in core.c and one function, in a file of its own where it needs
 * more than a loop. Another machine of the core comes in the same way.
 */
#ifndef LANE_H
#define LANE_H

#include <stddef.h>
#include <stdint.h>

typedef struct lane_input {
    const uint8_t *data;
    size_t len;
    uint8_t *room; /* as long as data, to be written to */
    size_t chunk;
    size_t passes;
} lane_input;

typedef struct lane {
    const char *name;
    uint64_t (*run)(const lane_input *in);
} lane;

/* LANE_FAILED from a lane: the core refused the bytes. */
#define LANE_FAILED UINT64_MAX

/* frame.c: server-sent events by tg_stream_feed and tg_stream_next. */
uint64_t lane_frame(const lane_input *in);

#endif

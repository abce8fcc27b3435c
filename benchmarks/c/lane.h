/* lane.h - one thing that the core does to bytes, as the benchmark of the core sees it.
 *
 * Rules
 *  - A lane reads all bytes of its input, `passes` times, and tells what it found (events, copies
 *    ...), so that its work can be checked and not be optimised away.
 *  - Once, before it is timed, it is asked for the checksum of the text that it found.
 *  - A lane is one row of LANES in core.c and one function, in a file of its own where it needs
 *    more than a loop. Another machine of the core comes in the same way.
 */
#ifndef LANE_H
#define LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tape.h"
#include "tg.h"

typedef struct lane_input {
    const uint8_t *data; /* the tape's bytes, again and again */
    size_t len;
    uint8_t *room; /* as long as data, to be written to */
    size_t chunk;
    size_t passes;
    const tape *tape; /* what one copy holds */
    const tg_shapes *shapes;
    bool is_checked; /* now: tell the text's checksum */
} lane_input;

typedef struct lane_found {
    uint64_t count; /* of what it is that the lane finds; LANE_FAILED: the core refused the bytes */
    uint64_t bytes; /* that it looked at */
    uint64_t text;  /* bytes of text, where that is what it finds */
    uint32_t sum;   /* CRC-32 of the text, decoded, if is_checked */
} lane_found;

#define LANE_FAILED UINT64_MAX

typedef struct lane {
    const char *name;
    lane_found (*run)(const lane_input *in);
} lane;

/* frame.c: server-sent events by tg_stream_feed and tg_stream_next. */
lane_found lane_frame(const lane_input *in);
/* hits.c: the same with a prediction, in chunks and event by event. */
lane_found lane_hits(const lane_input *in);
lane_found lane_hits_each(const lane_input *in);
/* pick.c: the places of the bare data's text, by tg_pick_find. */
lane_found lane_pick(const lane_input *in);

#endif

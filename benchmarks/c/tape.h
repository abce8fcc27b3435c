/* tape.h - a file of whole events, cut into its frames, and what each of them says.
 *
 * Rules
 *  - Frames end with a blank line and have one line of data each.
 *  - A file that is anything else is refused: what is timed later would be something else too.
 *  - What a frame says is found here once, by tg_pick_find and tg_unescape, so that the lanes need
 *    not ask while the clock runs. Whether it is right, the caller's checksum tells.
 */
#ifndef TAPE_H
#define TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_buf.h"
#include "tg_event.h"
#include "tg_shapes.h"

/* Small, because a lane that goes from event to event reads them all. */
typedef struct tape_frame {
    uint32_t len;
    uint32_t data_pos; /* in the frame */
    uint32_t data_len;
} tape_frame;

/* What whoever reads the event knows of it. */
typedef struct tape_piece {
    size_t pos; /* in the tape's text */
    size_t len;
    bool has_sequence;
    uint64_t sequence;
} tape_piece;

typedef struct tape {
    uint8_t *bytes;
    size_t len;
    size_t count;
    size_t room; /* for so many frames and pieces */
    tape_frame *frames;
    tape_piece *pieces;
    tg_buf text;
} tape;

/* false: there is no such file or no memory, or a frame has none of the shapes; nothing is kept. */
bool tape_load(tape *self, const char *path, const tg_shapes *shapes);
void tape_free(tape *self);
/* The text of a piece. */
tg_span tape_text(const tape *self, const tape_piece *piece);

#endif

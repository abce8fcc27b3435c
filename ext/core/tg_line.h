/* tg_line.h - chunks in, lines out (WHATWG HTML 9.2.5: stream = [ bom ] *event, end-of-line).
 *
 * Consumes bytes as they come; yields each line without its end, at the byte that ended it.
 *
 * Theory of operation
 *   A line that lies within one chunk is lent out in place. One that straddles chunks is gathered
 *   in the carry buffer: only new bytes are scanned and copied, so a line dripped one byte at a
 *   time costs O(n). At the end of a chunk the caller is shown the unended line, saves what it has
 *   borrowed (perhaps from the carry), and then calls tg_line_keep, which takes over the chunk's
 *   tail. So nothing is copied that the caller does not need, and nothing lent is overwritten.
 *
 *     chunk 1              chunk 2
 *     data: a\n data: b|   |cd\n data: e\n
 *     ^ in place ^ keep ->  carry "data: b" + "cd"; then in place again
 *
 * Refuses: a line of more than max bytes, at its first byte over, ended or not. Knows no fields.
 *
 * Invariants
 *  I1  off(pos) - start_off is the length of the open line (a BOM aside, see TG_LINE_BOM).
 *  I2  is_carried: the carry holds the open line up to mark; else it lies in chunk[mark, pos).
 *  I3  the open line never has more than max + 1 bytes.
 */
#ifndef TG_LINE_H
#define TG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"
#include "tg_status.h"

/* X(state, sentence): "seen so far / awaiting". */
#define TG_LINE_STATES(X)                                                              \
    X(TG_LINE_BOM,                                                                     \
      "nothing of the stream, or part of a BOM / the rest of the BOM or a first line") \
    X(TG_LINE_BODY, "part of a line, maybe none / an end of line")                     \
    X(TG_LINE_AFTER_CR, "a CR that already ended a line / perhaps its LF")

typedef enum tg_line_state {
#define TG_LINE_ENUM(name, sentence) name,
    TG_LINE_STATES(TG_LINE_ENUM)
#undef TG_LINE_ENUM
} tg_line_state;

typedef struct tg_line {
    tg_line_state state;
    uint8_t bom_len; /* bytes of the BOM matched so far */
    bool is_carried;
    bool is_ascii; /* the open line is, up to pos; false says nothing */
    const uint8_t *chunk;
    size_t len;
    size_t pos;         /* next byte to look at */
    size_t mark;        /* first byte of the open line that is not in the carry */
    uint64_t chunk_off; /* absolute offset of chunk[0] */
    uint64_t start_off; /* absolute offset of the open line's first byte */
    uint64_t work;      /* bytes looked at; the carry counts its own */
    tg_buf carry;
} tg_line;

typedef struct tg_line_view {
    tg_span text;       /* without its end */
    bool is_carried;    /* text lies in the carry, not in the chunk */
    bool is_ascii;      /* all of it is known to be ASCII */
    uint64_t start_off; /* of its first byte */
    uint64_t
        end_off; /* just past the LF or CR that ended it; of an unended line: of its last byte */
} tg_line_view;

const char *tg_line_state_name(tg_line_state state);

void tg_line_init(tg_line *self);
void tg_line_free(tg_line *self, const tg_alloc *alloc);

/* The chunk before must have been read up to TG_MORE and kept. */
void tg_line_feed(tg_line *self, const uint8_t *ptr, size_t len);
/* TG_OK: a whole line. TG_MORE: the chunk is used up, out is the unended line so far.
 * TG_ERR_LINE_TOO_LARGE: out is its first max + 1 bytes. TG_ERR_NO_MEMORY. */
tg_status tg_line_next(tg_line *self, const tg_alloc *alloc, size_t max, tg_line_view *out);
/* Whether the next byte of the chunk begins a line; the LF of a line that its CR has ended is
 * passed over. */
bool tg_line_is_at_start(tg_line *self);
/* At the start of a line: how many bytes it and the blank line behind it take, both with their
 * ends; 0 if there is no such blank line, if the line is longer than max, or if the chunk cuts
 * either. */
size_t tg_line_lone(const tg_line *self, size_t max);
/* Whether all of the chunk is read, and no line is open. */
bool tg_line_is_used_up(const tg_line *self);
/* The chunk is used up so, and may go. */
void tg_line_leave(tg_line *self, const tg_alloc *alloc);
/* Passes over whole lines at the start of one: so many bytes, the last of which ends a line. */
void tg_line_skip(tg_line *self, size_t size);
/* After TG_MORE: takes what it needs of the chunk, which may then go. false: no memory. */
bool tg_line_keep(tg_line *self, const tg_alloc *alloc, size_t max);

#endif

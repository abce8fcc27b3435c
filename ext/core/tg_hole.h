/* tg_hole.h - what may differ between two events that are alike: the holes, the pattern of literals
 * around them, and what bytes that have the pattern hold there.
 *
 * Rules
 *  - A literal is compared byte for byte; a hole is what JSON lets stand between two literals.
 *  - No literal behind a hole begins with what the hole could hold, so its end is never in doubt.
 *
 * Refuses: code (tg_scan_walk.h walks a pattern).
 */
#ifndef TG_HOLE_H
#define TG_HOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_event.h"

/* Holes of one event. */
#define TG_HOLES 8

typedef enum tg_hole_kind {
    TG_HOLE_TEXT,     /* between the quotes of a string */
    TG_HOLE_SEQUENCE, /* the digits of an integer */
    TG_HOLE_STRING,   /* between the quotes of a string that means nothing */
    TG_HOLE_INTEGER,  /* the digits, and perhaps a minus, of an integer that means nothing */
    TG_HOLE_BLANK,    /* spaces before the last brace: padding that hides how long a text is */
    TG_HOLE_NONE      /* no hole: the end of a pattern */
} tg_hole_kind;

typedef struct tg_hole {
    tg_hole_kind kind;
    size_t pos; /* in the event's data */
    size_t len;
} tg_hole;

/* A longer text is not taken in a row (tg_repeat). */
#define TG_REPEAT_TEXT 256u

/* Bytes that may be read behind the last literal, whatever they are: those of the widest vector. */
#define TG_PATTERN_PAD 64

typedef struct tg_pattern {
    size_t hole_count;
    const uint8_t *holes;    /* tg_hole_kind; behind them TG_HOLE_NONE */
    const uint32_t *sizes;   /* of the literals, one more than holes */
    const uint8_t *literals; /* end to end, then TG_PATTERN_PAD bytes */
    size_t reach;            /* TG_PATTERN_REACH, of its literals and holes */
} tg_pattern;

/* How far a row reads for one frame: its holes may have a vector each, and the text more. */
#define TG_PATTERN_REACH(literals, holes) \
    ((literals) + ((holes) + 1) * (size_t)TG_PATTERN_PAD + TG_REPEAT_TEXT)

/* What stands in the holes of bytes that begin with a pattern. */
typedef struct tg_match {
    size_t len; /* of all of it */
    tg_span text;
    bool is_escaped; /* the text has escapes, not yet judged */
    bool has_sequence;
    uint64_t sequence;
    bool is_ascii; /* all strings are */
    size_t padding_count;
    tg_span padding[TG_HOLES]; /* strings that mean nothing, whose UTF-8 the caller may check */
} tg_match;

/* Frames of one pattern, one behind the other. The pattern has one text, and one sequence number or
 * none. */
typedef struct tg_repeat {
    uint8_t *out;      /* where the texts go, end to end; what stands behind them is lost */
    size_t space;      /* bytes that may be written there, TG_REPEAT_TEXT at least */
    size_t room;       /* bytes of text that may be taken */
    size_t max_frame;  /* a longer frame is not taken */
    bool ends_with_cr; /* each frame; a LF behind it is passed over */
    bool is_raw;       /* frames that are not ASCII are not taken */
    bool has_sequence;
    uint64_t sequence; /* of the event before */
    size_t count;      /* grows by each frame taken */
    size_t written;    /* bytes of their texts */
} tg_repeat;

#endif

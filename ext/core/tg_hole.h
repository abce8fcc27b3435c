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
    TG_HOLE_BLANK     /* spaces before the last brace: padding that hides how long a text is */
} tg_hole_kind;

typedef struct tg_hole {
    tg_hole_kind kind;
    size_t pos; /* in the event's data */
    size_t len;
} tg_hole;

/* Bytes that may be read behind the last literal, whatever they are: those of the widest vector. */
#define TG_PATTERN_PAD 64

typedef struct tg_pattern {
    size_t hole_count;
    const uint8_t *holes;    /* tg_hole_kind */
    const uint32_t *sizes;   /* of the literals, one more than holes */
    const uint8_t *literals; /* end to end, then TG_PATTERN_PAD bytes */
} tg_pattern;

/* What stands in the holes of bytes that begin with a pattern. */
typedef struct tg_match {
    size_t len; /* of all of it */
    tg_span text;
    bool is_escaped; /* the text has escapes, not yet judged */
    bool has_sequence;
    uint64_t sequence;
    size_t padding_count;
    tg_span padding[TG_HOLES]; /* strings that mean nothing, whose UTF-8 the caller may check */
} tg_match;

#endif

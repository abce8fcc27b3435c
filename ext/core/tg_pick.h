/* tg_pick.h - shapes: which events of a protocol are nothing but a piece of text, and where it is.
 *
 * Consumes a declaration (tg_shapes) and the JSON of one event; yields the places of the members
 * that may differ from one piece to the next: the text, a sequence number, padding.
 *
 * Theory of operation
 *   The paths of all shapes form one trie of member names. Each node says, for each shape, what may
 *   stand there. A pick walks the event once, with an explicit stack of trie nodes, and keeps a set
 *   of the shapes that still fit; at the end exactly one must be left, with all that it demands.
 *
 *     {"type":"d","index":0,"delta":{"text":"Hi"}}      shapes alive: 1 2 3
 *      ^literal    ^fixed     ^object  ^text                          1   3, then 1
 *
 * Rules
 *  - Exactly the members of the shape: a name that it does not declare, a name twice, a value of
 *    another kind, or anything that is not plain JSON is no match.
 *  - The event need not be valid JSON; a pick is safe on any bytes, and a caller who must know has
 *    checked it. What a pick skips (the value of a fixed member) it does not judge.
 *
 * Refuses: values, keys with escapes, arrays of other than one element, recursion.
 */
#ifndef TG_PICK_H
#define TG_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_event.h"

/* Bounds of one protocol's declaration: the largest needs about half of each. */
#define TG_PICK_SHAPES 32
#define TG_PICK_NODES 128
#define TG_PICK_LITERALS 64
#define TG_PICK_NAMES 4096
#define TG_PICK_DEPTH 12
/* Holes of one event. */
#define TG_PICK_HOLES 8

/* X(role, sentence): what may stand at a place of a shape. */
#define TG_ROLES(X)                                                                       \
    X(TG_ROLE_OBJECT, "an object of the members below; it may be missing")                \
    X(TG_ROLE_ARRAY, "an array of one element, which stands below; it may be missing")    \
    X(TG_ROLE_LITERAL, "this text of JSON, byte for byte; it must be there")              \
    X(TG_ROLE_FIXED, "any value, the same in each piece; it may be missing")              \
    X(TG_ROLE_EMPTY, "null, \"\", [] or {}, or nothing")                                  \
    X(TG_ROLE_TEXT, "a string that is the piece; it must be there")                       \
    X(TG_ROLE_SEQUENCE, "an integer that is one more with each event; it may be missing") \
    X(TG_ROLE_IGNORED, "a string or an integer that means nothing; it may be missing")

typedef enum tg_role {
#define TG_ROLE_ENUM(name, sentence) name,
    TG_ROLES(TG_ROLE_ENUM)
#undef TG_ROLE_ENUM
} tg_role;

#define TG_ROLE_ONE(name, sentence) +1
enum { TG_ROLE_COUNT = 0 TG_ROLES(TG_ROLE_ONE) };
#undef TG_ROLE_ONE

/* One member name at one place of the trie. */
typedef struct tg_pick_node {
    uint16_t name_pos; /* in names */
    uint16_t name_len;
    uint8_t child;                 /* the first of the members below, 0 for none */
    uint8_t next;                  /* the next member beside it, 0 for none */
    uint32_t roles[TG_ROLE_COUNT]; /* the shapes that have this role here, one bit each */
} tg_pick_node;

/* What a shape demands at a node. */
typedef struct tg_pick_literal {
    uint8_t node;
    uint32_t shapes;
    uint16_t pos; /* in names */
    uint16_t len;
} tg_pick_literal;

/* All shapes of one protocol. Node 0 is the event's object. All zero: no shapes. Once declared it
 * never changes, so that any number of streams may share it. */
typedef struct tg_shapes {
    size_t shape_count;
    size_t node_count;
    size_t literal_count;
    size_t name_size;
    uint8_t demands[TG_PICK_SHAPES]; /* literals and texts of each shape */
    tg_pick_node nodes[TG_PICK_NODES];
    tg_pick_literal literals[TG_PICK_LITERALS];
    uint8_t names[TG_PICK_NAMES]; /* member names and literals, end to end */
} tg_shapes;

typedef enum tg_hole_kind {
    TG_HOLE_TEXT,     /* between the quotes of a string */
    TG_HOLE_SEQUENCE, /* the digits of an integer */
    TG_HOLE_STRING,   /* between the quotes of a string that means nothing */
    TG_HOLE_INTEGER   /* the digits, and perhaps a minus, of an integer that means nothing */
} tg_hole_kind;

typedef struct tg_hole {
    tg_hole_kind kind;
    size_t pos; /* in the event's data */
    size_t len;
} tg_hole;

typedef struct tg_pick {
    size_t shape;
    size_t hole_count; /* at least the text's */
    tg_hole holes[TG_PICK_HOLES];
} tg_pick;

/* Begins the next shape. false: there are TG_PICK_SHAPES. */
bool tg_shapes_begin(tg_shapes *self);
/* Declares a place of the newest shape: `path` are the member names from the event's object on, the
 * element of an array has the empty name. literal: of TG_ROLE_LITERAL. false: one of the bounds
 * above is passed. */
bool tg_shapes_add(tg_shapes *self, const tg_span *path, size_t depth, tg_role role,
                   tg_span literal);

/* Whether the data has exactly one of the shapes. */
bool tg_pick_find(const tg_shapes *shapes, tg_span data, tg_pick *out);

#endif

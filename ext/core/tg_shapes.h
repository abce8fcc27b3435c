/* tg_shapes.h - which events of a protocol are nothing but a piece of text: declared once, as a
 * trie.
 *
 * Rules
 *  - The paths of all shapes form one trie of member names. Each node says, for each shape, what
 * may stand there.
 *  - Once declared it never changes, so that any number of streams may share it.
 *
 * Refuses: more than the bounds below; reading an event (tg_pick does).
 */
#ifndef TG_SHAPES_H
#define TG_SHAPES_H

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

/* Begins the next shape. false: there are TG_PICK_SHAPES. */
bool tg_shapes_begin(tg_shapes *self);
/* Declares a place of the newest shape: `path` are the member names from the event's object on, the
 * element of an array has the empty name. literal: of TG_ROLE_LITERAL. false: one of the bounds
 * above is passed. */
bool tg_shapes_add(tg_shapes *self, const tg_span *path, size_t depth, tg_role role,
                   tg_span literal);

/* The member of that name below a node, or 0; the element of an array has the empty name. */
size_t tg_shapes_child(const tg_shapes *self, size_t node, tg_span name);
/* Whether the literal is this text. */
bool tg_shapes_is_literal(const tg_shapes *self, const tg_pick_literal *literal, tg_span text);

#endif

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
#include "tg_hole.h"
#include "tg_shapes.h"

typedef struct tg_pick {
    size_t shape;
    size_t hole_count; /* at least the text's */
    tg_hole holes[TG_HOLES];
} tg_pick;

/* Whether the data has exactly one of the shapes. */
bool tg_pick_find(const tg_shapes *shapes, tg_span data, tg_pick *out);

#endif

/* delta.h - a small protocol of deltas, read naively: what the fast path is compared with.
 *
 * The events, and the shapes that are declared of them (holes in capitals):
 *
 *   {"type":"d","seq":SEQUENCE,"i":FIXED,"meta":FIXED,"text":TEXT,"pad":IGNORED}
 *   {"type":"d","seq":SEQUENCE,"i":FIXED,"meta":FIXED,"alt":TEXT,"pad":IGNORED}
 *   {"type":"a","seq":SEQUENCE,"i":FIXED,"meta":FIXED,"delta":{"args":TEXT,"note":EMPTY}}
 *   {"list":[{"i":FIXED,"delta":{"c":TEXT,"r":EMPTY},"end":EMPTY}],"n":IGNORED,"meta":FIXED}
 *   {"list":[{"i":FIXED,"delta":{"c":EMPTY,"r":TEXT},"end":EMPTY}],"n":IGNORED,"meta":FIXED}
 *
 * Rules
 *  - It shares nothing with tg_pick, tg_template and tg_unescape; tg_json says beforehand that the
 *    text is JSON, so that the rest may be simple. Last one wins where a member repeats, as most
 *    readers of JSON have it.
 *  - What is not read as a piece has a problem; nothing is ever both.
 */
#ifndef DELTA_H
#define DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg.h"
#include "wire.h"

typedef struct delta {
    const char *problem; /* why it is no piece; NULL if it is one */
    char kind;           /* which of the shapes, one letter each */
    tg_span index;       /* the JSON of "i", empty if it is missing */
    tg_span meta;
    bool has_sequence;
    uint64_t sequence;
    wire text;
} delta;

/* One place of a shape. */
typedef struct delta_place {
    const char *path; /* names with a dot between them; `*` is the element of an array */
    tg_role role;
    const char *literal;
} delta_place;

/* Places of the newest shape. false: one was refused, and those before it stand. */
bool delta_declare_places(tg_shapes *shapes, const delta_place *places, size_t count);
#define DELTA_DECLARE(shapes, places) \
    delta_declare_places((shapes), (places), sizeof(places) / sizeof(places)[0])
/* Declares the shapes above. false: there is no room, which cannot be. */
bool delta_declare(tg_shapes *shapes);
/* Reads one event's data; the spans point into it. */
void delta_read(delta *out, tg_span data);
void delta_free(delta *self);

#endif

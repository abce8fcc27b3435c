/* tg_template.h - one event that came, kept as what the next one will look like: literal, hole,
 * literal, hole ... literal.
 *
 * Consumes an event and the places that may differ (tg_pick); then takes bytes and says whether
 * they are the same event but for its holes.
 *
 * Theory of operation
 *   The bytes of the event stand end to end, its holes left out. A match compares a literal, scans
 * a hole for its end as JSON demands, compares the next literal: the whole frame in one pass.
 *
 *     event: d\ndata: {"type":"d","text":"  Hi  ","seq":  7  }\n\n
 *     |--prefix------||----literal-----| hole |-lit--| hole |lit||suffix|
 *
 *   With prefix and suffix it is compared with a frame as it came; without them with an event whose
 *   lines are already read (because chunks cut its frame, or its framing has none).
 *
 * Why it is exact: the same literal bytes read the same. A hole can hold no quote, no bracket's
 * end and no end of line but inside an escape, so it cannot move the border between the two; what
 * stands in it is checked as JSON checks it.
 *
 * Refuses: holes that JSON would refuse, escapes in padding, numbers of more than 18 digits, signs.
 */
#ifndef TG_TEMPLATE_H
#define TG_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_event.h"
#include "tg_pick.h"

/* A frame whose literals are longer is no delta. */
#define TG_TEMPLATE_MAX ((size_t)4096)

typedef struct tg_template {
    size_t size;       /* of this block, bytes included */
    uint32_t name_len; /* of its type, and of its head */
    uint32_t type_len;
    uint32_t prefix_len; /* 0: no frame is known */
    uint32_t suffix_len;
    tg_pattern frame;      /* of all from the prefix to the suffix; it points into this block */
    const uint8_t *suffix; /* of the frame; in this block too */
    bool has_sequence;
    uint8_t hole_count;
    uint8_t holes[TG_HOLES + 1];  /* tg_hole_kind; TG_HOLE_NONE behind them */
    uint32_t sizes[TG_HOLES + 1]; /* of the literals; prefix and suffix belong to the first and the
                                   * last */
    uint32_t lane;                /* the caller's: where the text goes */
    uint8_t bytes[];              /* type, head, prefix, literals, suffix, TG_PATTERN_PAD zeros */
} tg_template;

/* NULL: too long, or no memory. */
tg_template *tg_template_make(const tg_alloc *alloc, const tg_event *event, const tg_pick *pick);
void tg_template_free(tg_template *self, const tg_alloc *alloc);

/* Whether an event is this one but for its holes: by its type, head and data. */
bool tg_template_fits(const tg_template *self, const tg_event *event, tg_match *out);
/* Whether bytes begin with its frame. */
bool tg_template_begins(const tg_template *self, const uint8_t *ptr, size_t len, tg_match *out);
/* Whether the bytes around an event's data are those of its frame: then it begins with the template
 * if and only if it fits. */
bool tg_template_is_around(const tg_template *self, const tg_event *event);
/* The data in a frame of that length that begins with this template. */
tg_span tg_template_data(const tg_template *self, const uint8_t *ptr, size_t len);
/* Whether two templates are one but for their frames. */
bool tg_template_is_same(const tg_template *self, const tg_template *other);

#endif

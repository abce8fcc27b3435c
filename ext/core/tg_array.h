/* tg_array.h - one JSON array whose elements arrive in pieces: `[{..} , {..}]`.
 *
 * Consumes chunks; yields the text of each element, as an event without a type, at the byte that
 * decides it: the closing bracket or quote of the element, or what follows a bare word.
 *
 * Theory of operation
 *   Between elements the machine looks for brackets, commas and white space itself. An element that
 *   begins with a bracket or a quote is given to tg_json in the structural view, which says where
 * it ends; so bytes inside are read once. A bare word (a number, true, null) ends at white space,
 * at
 *   `,` or at `]`. start_off and data_off are the element's first byte, end_off is just past its
 *   last.
 *
 * Order of errors: an error belongs to the byte at which it is known, and all bytes before it are
 * processed first.
 *
 * Refuses: anything but white space before `[` and after its `]`; an element without a comma
 * before it, a comma without an element; an element of more than max_event_bytes; nesting beyond
 * max_depth, the outer array counted. Does not judge what stands inside an element beyond brackets
 * and strings: whoever reads the element does.
 */
#ifndef TG_ARRAY_H
#define TG_ARRAY_H

#include <stdint.h>

#include "tg_json.h"
#include "tg_record.h"

/* X(state, sentence): "seen so far / awaiting". The end and errors are states of tg_record. */
#define TG_ARRAY_STATES(X)                                                                     \
    X(TG_ARRAY_START, "nothing of the stream, or part of a BOM / the rest of the BOM, or `[`") \
    X(TG_ARRAY_BEFORE_ARRAY, "white space, perhaps a BOM / `[`")                               \
    X(TG_ARRAY_BEFORE_FIRST, "`[` / an element or `]`")                                        \
    X(TG_ARRAY_BEFORE_ELEMENT, "a comma / an element")                                         \
    X(TG_ARRAY_IN_VALUE, "part of an array, object or string / its closing bracket or quote")  \
    X(TG_ARRAY_IN_WORD, "part of a bare word / white space, `,` or `]`")                       \
    X(TG_ARRAY_AFTER_ELEMENT, "a whole element / `,` or `]`")                                  \
    X(TG_ARRAY_AFTER_ARRAY, "the whole array / white space alone")

typedef enum tg_array_state {
#define TG_ARRAY_ENUM(name, sentence) name,
    TG_ARRAY_STATES(TG_ARRAY_ENUM)
#undef TG_ARRAY_ENUM
} tg_array_state;

typedef struct tg_array {
    tg_array_state state;
    tg_json json;       /* of the open element */
    uint64_t close_off; /* of the closing bracket, once it has come */
    tg_record record;
} tg_array;

_Static_assert(sizeof(tg_array) <= 768, "an idle stream is to stay small");

const char *tg_array_state_name(tg_array_state state);

/* The contract of these is that of the tg_stream functions of the same names (tg_stream.h).
 * flags: TG_RECORD_STRICT_UTF8. */
void tg_array_init(tg_array *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags);
void tg_array_reset(tg_array *self);
void tg_array_free(tg_array *self);
tg_status tg_array_feed(tg_array *self, const uint8_t *ptr, size_t len);
tg_status tg_array_next(tg_array *self, tg_event *out);
/* out->where is TG_REST_NONE after the closing bracket alone. */
tg_status tg_array_finish(tg_array *self, tg_rest *out);
/* As tg_stream_whole_off; the closing bracket counts as part of an event that may come before it.
 */
uint64_t tg_array_whole_off(const tg_array *self);
uint64_t tg_array_work(const tg_array *self);

#endif

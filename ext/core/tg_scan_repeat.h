/* tg_scan_repeat.h - frames of one pattern that stand one behind the other, taken in one go: what
 * tg_scan_walk.h finds in them, without what most of them do not need. Included once for each
 * kernel of vectors, behind the walk.
 *
 * What it takes, a walk finds too, and its caller accepts: a text that is not empty, has no escape
 * and for which there is room, the next sequence number, a frame that is not too long. It stops at
 * the first frame that is not like that or comes near the end, and takes nothing of it.
 *
 * A delta of openai-responses took 531 instructions with a walk for each frame, and takes 310, for
 *  - the end is far: nothing is asked before a load (TG_PATTERN_REACH);
 *  - a number is not read. Its digits are those of the next one or they are not, so that where the
 *    bytes behind it begin is known before it is looked at;
 *  - a text is copied as the vectors in which its end is looked for;
 *  - the vectors it compares with are loaded once, and the books are kept once.
 *
 * The includer also defines
 *   store    a vector to its place
 *   same     which bytes of two vectors are equal
 *   up_to    which bytes are not above those of another vector
 *   head     the first bytes of a vector, fewer than all, then zeros
 *   apart    a vector that the compiler takes for one it does not know, and so keeps
 *
 * Refuses: judging what it stops at.
 */
#include "tg_hole.h"
#include "tg_repeat_row.h"
#include "tg_scan_kernel.h"

#ifdef V

/* What ends the plain text of a string. */
typedef struct V(ends) {
    V_VEC quote;
    V_VEC backslash;
    V_VEC control; /* the highest of them */
} V(ends);

/* Up to what ends the plain text of a string, a quote if the literal behind it is to be found
 * there. SIZE_MAX: it has `most` bytes or more. It is copied to `to`, if that is not NULL, with
 * what stands behind it. */
TG_SCAN_INLINE V_TARGET size_t
V(repeat_string)(const uint8_t *ptr, const V(ends) * ends, uint64_t odd, size_t most, uint8_t *to)
{
    size_t pos;

    for (pos = 0; pos < most; pos += V_SIZE) {
        const V_VEC v = V(load)(ptr + pos);
        const uint64_t bits =
            V(bits)(V(either)(V(either)(V(same)(v, ends->quote), V(same)(v, ends->backslash)),
                              V(up_to)(v, ends->control))) |
            (V(bits)(V(high)(v)) & odd);

        if (to != NULL)
            V(store)(to + pos, v);
        if (bits != 0)
            return pos + scan_lowest(bits) / V_STEP;
    }
    return SIZE_MAX;
}

TG_SCAN_INLINE V_TARGET size_t
V(repeat_blank)(const uint8_t *ptr)
{
    const uint64_t all = ~(uint64_t)0 >> (64 - V_SIZE * V_STEP);
    const uint64_t others = V(bits)(V(equal)(V(load)(ptr), ' ')) ^ all;

    return others != 0 ? scan_lowest(others) / V_STEP : SIZE_MAX;
}

/* Not all zero if the bytes are not those of the literal. */
TG_SCAN_INLINE V_TARGET V_VEC
V(repeat_literal)(const uint8_t *ptr, const uint8_t *literal, size_t size)
{
    V_VEC rest = V(difference)(ptr, literal);
    size_t pos;

    if (size < V_SIZE)
        return V(head)(rest, size);
    rest = V(join)(rest, V(difference)(ptr + size - V_SIZE, literal + size - V_SIZE));
    for (pos = V_SIZE; pos + V_SIZE < size; pos += V_SIZE)
        rest = V(join)(rest, V(difference)(ptr + pos, literal + pos));
    return rest;
}

/* One frame; where it ends, or NULL. A text goes behind the others: row->out is then its end. */
TG_SCAN_INLINE V_TARGET const uint8_t *
V(repeat_frame)(const tg_pattern *pattern, const uint8_t *at, const V(ends) * ends, repeat_row *row)
{
    const uint8_t *hole = pattern->holes;
    const uint8_t *literal = pattern->literals;
    const uint32_t *sizes = pattern->sizes;
    size_t found;

    for (;;) {
        const size_t size = *sizes++;
        const uint8_t kind = *hole++;

        if (V(is_any)(V(repeat_literal)(at, literal, size)))
            return NULL;
        at += size;
        literal += size;
        if (kind == TG_HOLE_TEXT) {
            found = V(repeat_string)(at, ends, row->odd, TG_REPEAT_TEXT, row->out);
            if (found - 1 >= (size_t)(row->end - row->out)) /* an empty one too */
                return NULL;
            row->out += found;
        } else if (kind == TG_HOLE_STRING) {
            found = V(repeat_string)(at, ends, row->odd, TG_PATTERN_PAD, NULL);
        } else if (kind == TG_HOLE_NONE) {
            return at;
        } else if (kind == TG_HOLE_SEQUENCE) {
            found = repeat_number(row, at);
        } else if (kind == TG_HOLE_BLANK) {
            found = V(repeat_blank)(at);
        } else {
            found = scan_integer_length(at, TG_PATTERN_PAD);
        }
        if (found == SIZE_MAX)
            return NULL;
        at += found;
    }
}

static V_TARGET size_t
V(repeat)(tg_repeat *self, const tg_pattern *pattern, const uint8_t *ptr, size_t len)
{
    const V(ends)
        ends = {V(apart)(V(splat)('"')), V(apart)(V(splat)('\\')), V(apart)(V(splat)(0x1f))};
    const uint8_t *const last = ptr + len - pattern->reach;
    const uint8_t *const full = self->out + self->space - TG_REPEAT_TEXT;
    const uint8_t *at = ptr;
    const uint8_t *end = ptr;
    repeat_row row = repeat_begin(self);
    uint8_t *out = row.out;

    while (at <= last && out <= full && row.next <= REPEAT_MOST) {
        const uint8_t *const next = V(repeat_frame)(pattern, at, &ends, &row);

        if (next == NULL || (size_t)(next - at) > self->max_frame)
            break;
        at = end = next;
        out = row.out;
        self->count++;
        if (self->has_sequence)
            repeat_count(&row);
        /* The LF behind a CR belongs to the frame before. */
        at += self->ends_with_cr && *at == '\n';
    }
    self->written = (size_t)(out - self->out);
    return (size_t)(end - ptr);
}

#endif

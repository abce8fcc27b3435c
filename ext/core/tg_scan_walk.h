/* tg_scan_walk.h - the walk over a pattern, written once for all kernels: literal, hole, literal.
 * It is included behind what a kernel finds bytes with, so that nothing of that is called.
 *
 * The includer defines
 *   V(name), V_TARGET   as for tg_scan_vector.h
 *   begins              whether bytes begin with a literal that they have room for
 *   json_special        tg_scan_json_special
 *   near_special        the same, but it may stop at the end of a vector; len if it is not near,
 * else what stands before it may be ASCII non_ascii           tg_scan_non_ascii blank how many
 * spaces bytes begin with integer             scan_integer integer_length      the same without the
 * value
 *
 * The bytes of most literals and of most holes fit one or two vectors. Where each was a call
 * through the table of kernels, a walk over three holes took about 440 instructions; it takes 280.
 *
 * Refuses: reading past the end. Bytes that the end cuts have no pattern.
 */
#include "tg_hole.h"
#include "tg_scan_kernel.h"

#ifdef V

/* The length of the string up to its closing quote, or SIZE_MAX if there is none. Apart: few have
 * an escape or are longer than a vector. */
TG_SCAN_APART V_TARGET size_t
V(long_string)(const uint8_t *ptr, size_t len, bool *is_escaped)
{
    size_t pos = 0;

    *is_escaped = false;
    for (;;) {
        pos += V(json_special)(ptr + pos, len - pos);
        if (pos >= len || ptr[pos] < 0x20)
            return SIZE_MAX;
        if (ptr[pos] == '"')
            return pos;
        *is_escaped = true;
        if (len - pos < 2)
            return SIZE_MAX;
        pos += 2;
    }
}

TG_SCAN_INLINE V_TARGET size_t
V(string)(const uint8_t *ptr, size_t len, bool *is_escaped, bool *is_ascii)
{
    bool is_near_ascii = true;
    const size_t pos = V(near_special)(ptr, len, &is_near_ascii);
    size_t size;

    if (pos < len && ptr[pos] == '"') {
        *is_escaped = false;
        *is_ascii = *is_ascii && is_near_ascii;
        return pos;
    }
    size = V(long_string)(ptr, len, is_escaped);
    if (size != SIZE_MAX && V(non_ascii)(ptr, size) < size)
        *is_ascii = false;
    return size;
}

/* Scans one hole; returns its length, or SIZE_MAX if nothing like it is there. Not a switch: the
 * first kinds are by far the most. */
TG_SCAN_INLINE V_TARGET size_t
V(hole)(uint8_t kind, const uint8_t *ptr, size_t len, tg_match *out)
{
    bool is_escaped;
    size_t size;

    if (kind == TG_HOLE_TEXT || kind == TG_HOLE_STRING) {
        size = V(string)(ptr, len, &is_escaped, &out->is_ascii);
        if (kind == TG_HOLE_TEXT) {
            out->is_escaped = is_escaped;
            out->text.ptr = ptr;
            out->text.len = size;
            return size;
        }
        out->padding[out->padding_count].ptr = ptr;
        out->padding[out->padding_count].len = size;
        out->padding_count++;
        return is_escaped ? SIZE_MAX : size;
    }
    if (kind == TG_HOLE_BLANK)
        return V(blank)(ptr, len);
    if (kind == TG_HOLE_INTEGER)
        return V(integer_length)(ptr, len);
    out->has_sequence = true;
    return V(integer)(ptr, len, &out->sequence);
}

static V_TARGET bool
V(walk)(const tg_pattern *pattern, const uint8_t *ptr, size_t len, tg_match *out)
{
    const uint8_t *const end = ptr + len;
    const uint8_t *const last = pattern->holes + pattern->hole_count;
    const uint8_t *hole = pattern->holes;
    const uint8_t *literal = pattern->literals;
    const uint32_t *sizes = pattern->sizes;
    const uint8_t *at = ptr;

    out->padding_count = 0;
    out->has_sequence = false;
    out->is_ascii = true;
    for (;; hole++) {
        const size_t size = *sizes++;
        size_t found;

        if (size > (size_t)(end - at) || !V(begins)(at, (size_t)(end - at), literal, size))
            return false;
        at += size;
        if (hole == last)
            break;
        literal += size;
        found = V(hole)(*hole, at, (size_t)(end - at), out);
        if (found == SIZE_MAX)
            return false;
        at += found;
    }
    out->len = (size_t)(at - ptr);
    return true;
}

#endif

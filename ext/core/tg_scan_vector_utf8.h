/* tg_scan_vector_utf8.h - UTF-8 by vector, in a kernel that can look bytes up in a table. It is
 * included behind tg_scan_vector.h, on the same terms.
 *
 * The includer also defines both (and), lookup (in a table of 16, by bytes of 0 to 15), high_half
 * (the high half of each byte, as a number) and minus (never below 0).
 *
 * The way is that of Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte"
 * (2020): a fault shows in two bytes that follow each other. Each of three tables - by either half
 * of the first byte, by the high half of the second - has a bit for every fault that this half
 * allows; a bit that stands in all three is a fault.
 *
 * Refuses: the exact place. It is found one character at a time, from the last character that began
 * before the vectors at fault: three bytes more than four vectors at most.
 */
#include "tg_scan_kernel.h"
#include "tg_scan_utf8.h"

#ifdef V

/* Do the bytes of the vector at ptr break a rule, together with the three before them? A character
 * that is open where the vector ends does not: the next one tells. */
TG_SCAN_INLINE V_TARGET bool
V(is_faulty)(const uint8_t *ptr)
{
    const V_VEC v = V(load)(ptr), third_last = V(load)(ptr - 3);
    V_VEC last, fault, due;

    if (V(bits)(V(high)(V(join)(v, third_last))) == 0)
        return false; /* ASCII, and nothing open before it */
    last = V(load)(ptr - 1);
    fault = V(both)(V(lookup)(scan_first_high, V(high_half)(last)),
                    V(lookup)(scan_first_low, V(both)(last, V(splat)(0x0f))));
    fault = V(both)(fault, V(lookup)(scan_second_high, V(high_half)(v)));
    /* Two continuations in a row are right where a lead byte calls for them, and only there: one of
     * three or four bytes stands two before the second, or one of four three before it. */
    due = V(join)(V(minus)(V(load)(ptr - 2), 0xe0 - SCAN_TWO_TAILS),
                  V(minus)(third_last, 0xf0 - SCAN_TWO_TAILS));
    return V(is_any)(V(differ)(fault, V(both)(due, V(splat)(SCAN_TWO_TAILS))));
}

/* Whether four vectors and the three bytes before them are ASCII: two instructions a vector where
 * the full look takes ten. */
TG_SCAN_INLINE V_TARGET bool
V(is_ascii_4)(const uint8_t *ptr)
{
    const V_VEC two = V(join)(V(load)(ptr), V(load)(ptr + V_SIZE));
    const V_VEC more = V(join)(V(load)(ptr + 2 * V_SIZE), V(load)(ptr + 3 * V_SIZE));

    return V(bits)(V(high)(V(join)(V(join)(two, more), V(load)(ptr - 3)))) == 0;
}

TG_SCAN_INLINE V_TARGET bool
V(is_faulty_4)(const uint8_t *ptr)
{
    size_t i;

    for (i = 0; i < 4; i++) {
        if (V(is_faulty)(ptr + i * V_SIZE))
            return true;
    }
    return false;
}

static V_TARGET size_t
V(utf8)(const uint8_t *ptr, size_t len)
{
    size_t pos;

    if (len < V_SIZE + 3) {
#ifdef V_NARROW
        return V_NARROW(utf8)(ptr, len);
#else
        return scan_utf8_short(ptr, len);
#endif
    }
    pos = (scan_half(ptr) & 0x80808080u) == 0 ? 4 : 0;
    while (pos < 3) {
        const size_t size = scan_character(ptr + pos, len - pos);

        if (size == 0)
            return pos;
        pos += size;
    }
    for (; len - pos >= 4 * V_SIZE; pos += 4 * V_SIZE) {
        if (!V(is_ascii_4)(ptr + pos) && V(is_faulty_4)(ptr + pos))
            return scan_characters(ptr, scan_character_start(ptr, pos), len);
    }
    while (len - pos >= V_SIZE && !V(is_faulty)(ptr + pos))
        pos += V_SIZE;
    if (len - pos < V_SIZE && !V(is_faulty)(ptr + len - V_SIZE))
        pos = len;
    return scan_characters(ptr, scan_character_start(ptr, pos), len);
}

#endif

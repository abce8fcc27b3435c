/* tg_scan_vector.h - the bodies of a vector kernel, written once over a vector of V_SIZE bytes. It
 * is included once for each instruction set, by the file that says what V(...) stands for.
 *
 * The includer defines
 *   V(name)        the name with the prefix of its kernel
 *   V_TARGET       the attribute that allows its instructions
 *   V_SIZE         bytes of a vector
 *   V_STEP         bits that V(bits) has for each byte: 1, or 4
 *   V_VEC, V_HITS  a vector, and which bytes of one belong to a set
 * and the few operations on them: load, splat, join (or), differ (xor), is_any, equal, below,
 * high (the top bit), either (or of hits), bits.
 *
 * A kernel of wide vectors leaves short texts to another:
 *   V_NARROW(name) what it calls for texts shorter than its vector
 *   V_FIRST(name)  the kernel that looks at the first V_FIRST_SIZE bytes of all others
 * One that has no narrower beside it defines load_short: 1 to V_SIZE - 1 bytes, then zeros.
 *
 * Rules
 *  - No load touches a byte outside of the text. Its last vector ends where it ends and overlaps
 *    the one before: what is seen twice held no hit the first time.
 *  - The answer is mostly near: the first vector comes before everything else.
 *
 * Refuses: intrinsics of its own.
 */
#include "tg_scan_kernel.h"

#ifdef V

TG_SCAN_INLINE V_TARGET V_HITS
V(among)(V_VEC v, scan_set set)
{
    const V_VEC folded = V(join)(v, V(splat)(0x20));

    switch (set) {
    case SCAN_LINE_END:
        return V(either)(V(equal)(v, '\n'), V(equal)(v, '\r'));
    case SCAN_NON_ASCII:
        return V(high)(v);
    case SCAN_JSON_SPECIAL:
        return V(either)(V(either)(V(equal)(v, '"'), V(equal)(v, '\\')), V(below)(v, 0x20));
    case SCAN_QUOTE:
        return V(either)(V(equal)(v, '"'), V(equal)(v, '\\'));
    case SCAN_JSON_MARK:
        break;
    }
    /* `[` `]` and `{` `}` differ in bit 0x20 alone. */
    return V(either)(V(equal)(v, '"'), V(either)(V(equal)(folded, '{'), V(equal)(folded, '}')));
}

TG_SCAN_INLINE V_TARGET uint64_t
V(look)(const uint8_t *ptr, scan_set set)
{
    return V(bits)(V(among)(V(load)(ptr), set));
}

TG_SCAN_INLINE V_TARGET size_t
V(find)(const uint8_t *ptr, size_t len, scan_set set)
{
    size_t pos = 0;
    uint64_t bits;

#ifdef V_NARROW
    if (len < V_SIZE)
        return V_NARROW(find)(ptr, len, set);
    /* A narrow load more rarely touches two lines of the cache, which doubles its time. */
    bits = V_FIRST(look)(ptr, set);
    if (bits != 0)
        return scan_lowest(bits) / V_STEP;
    pos = V_FIRST_SIZE;
#else
    if (len < V_SIZE) {
        if (len == 0)
            return 0;
        bits = V(bits)(V(among)(V(load_short)(ptr, len), set));
        return scan_lowest(bits | (uint64_t)1 << (len * V_STEP)) / V_STEP;
    }
#endif
    for (; len - pos >= V_SIZE; pos += V_SIZE) {
        bits = V(look)(ptr + pos, set);
        if (bits != 0)
            return pos + scan_lowest(bits) / V_STEP;
    }
    if (pos == len)
        return len;
    bits = V(look)(ptr + len - V_SIZE, set);
    return bits != 0 ? len - V_SIZE + scan_lowest(bits) / V_STEP : len;
}

static V_TARGET size_t
V(line_end)(const uint8_t *ptr, size_t len)
{
    return V(find)(ptr, len, SCAN_LINE_END);
}

/* A vector in which a line ends, at the first of these bits; seen: all vectors before, joined. */
TG_SCAN_INLINE V_TARGET size_t
V(line_at)(V_VEC v, V_VEC seen, uint64_t bits, bool *is_ascii)
{
    const uint64_t before = (bits & (~bits + 1)) - 1;

    *is_ascii = ((V(bits)(V(high)(v)) & before) | V(bits)(V(high)(seen))) == 0;
    return scan_lowest(bits) / V_STEP;
}

/* Lines of data are long: here the first vector is as wide as the others. */
static V_TARGET size_t
V(line)(const uint8_t *ptr, size_t len, bool *is_ascii)
{
    V_VEC v, seen = V(splat)(0);
    size_t pos = 0;
    uint64_t bits;

    if (len < V_SIZE) {
#ifdef V_NARROW
        return V_NARROW(line)(ptr, len, is_ascii);
#else
        *is_ascii = true;
        if (len == 0)
            return 0;
        v = V(load_short)(ptr, len);
        bits = V(bits)(V(among)(v, SCAN_LINE_END)) | (uint64_t)1 << (len * V_STEP);
        return V(line_at)(v, seen, bits, is_ascii);
#endif
    }
    for (; len - pos >= V_SIZE; pos += V_SIZE) {
        v = V(load)(ptr + pos);
        bits = V(bits)(V(among)(v, SCAN_LINE_END));
        if (bits != 0)
            return pos + V(line_at)(v, seen, bits, is_ascii);
        seen = V(join)(seen, v);
    }
    if (pos < len) {
        v = V(load)(ptr + len - V_SIZE);
        bits = V(bits)(V(among)(v, SCAN_LINE_END));
        if (bits != 0)
            return len - V_SIZE + V(line_at)(v, seen, bits, is_ascii);
        seen = V(join)(seen, v);
    }
    *is_ascii = V(bits)(V(high)(seen)) == 0;
    return len;
}

static V_TARGET size_t
V(non_ascii)(const uint8_t *ptr, size_t len)
{
    return V(find)(ptr, len, SCAN_NON_ASCII);
}

static V_TARGET size_t
V(json_special)(const uint8_t *ptr, size_t len)
{
    return V(find)(ptr, len, SCAN_JSON_SPECIAL);
}

static V_TARGET size_t
V(quote)(const uint8_t *ptr, size_t len)
{
    return V(find)(ptr, len, SCAN_QUOTE);
}

static V_TARGET size_t
V(json_mark)(const uint8_t *ptr, size_t len)
{
    return V(find)(ptr, len, SCAN_JSON_MARK);
}

/* Not all zero if the vectors at the two places differ. */
TG_SCAN_INLINE V_TARGET V_VEC
V(difference)(const uint8_t *a, const uint8_t *b)
{
    return V(differ)(V(load)(a), V(load)(b));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(difference_2)(const uint8_t *a, const uint8_t *b, size_t pos, size_t next)
{
    return V(join)(V(difference)(a + pos, b + pos), V(difference)(a + next, b + next));
}

static V_TARGET bool
V(is_equal)(const uint8_t *a, const uint8_t *b, size_t len)
{
    size_t pos = 0;
    V_VEC rest;

#ifdef V_NARROW
    if (len < V_SIZE)
        return V_NARROW(is_equal)(a, b, len);
#else
    if (len < V_SIZE)
        return scan_is_equal_short(a, b, len);
#endif
    for (; len - pos > 4 * V_SIZE; pos += 4 * V_SIZE) {
        if (V(is_any)(V(join)(V(difference_2)(a, b, pos, pos + V_SIZE),
                              V(difference_2)(a, b, pos + 2 * V_SIZE, pos + 3 * V_SIZE))))
            return false;
    }
    /* One to four vectors more, the last one or two of them from the end backwards. */
    rest = V(difference)(a + len - V_SIZE, b + len - V_SIZE);
    if (len - pos > V_SIZE)
        rest = V(join)(rest, V(difference)(a + pos, b + pos));
    if (len - pos > 2 * V_SIZE)
        rest = V(join)(rest, V(difference_2)(a, b, pos + V_SIZE, len - 2 * V_SIZE));
    return !V(is_any)(rest);
}

/* Whether bytes begin with a literal of that size, of which they have enough; behind the literal
 * stand as many bytes as a vector has. */
TG_SCAN_INLINE V_TARGET bool
V(begins)(const uint8_t *ptr, size_t room, const uint8_t *literal, size_t size)
{
    size_t pos;
    V_VEC rest;

    if (size < V_SIZE) {
        uint64_t same;

#ifdef V_NARROW
        if (room < V_SIZE)
            return V_NARROW(is_equal)(ptr, literal, size);
#else
        if (room < V_SIZE)
            return scan_is_equal_short(ptr, literal, size);
#endif
        same = V(bits)(V(equal)(V(difference)(ptr, literal), 0));
        return (~same & (((uint64_t)1 << (size * V_STEP)) - 1)) == 0;
    }
    /* As is_equal does it, but without the branches of one that may be of any size. */
    rest = V(difference_2)(ptr, literal, 0, size - V_SIZE);
    if (size > 2 * V_SIZE) {
        rest = V(join)(rest, V(difference_2)(ptr, literal, V_SIZE, size - 2 * V_SIZE));
        for (pos = 2 * V_SIZE; pos + 2 * V_SIZE < size; pos += V_SIZE)
            rest = V(join)(rest, V(difference)(ptr + pos, literal + pos));
    }
    return !V(is_any)(rest);
}

TG_SCAN_INLINE V_TARGET size_t
V(near_special)(const uint8_t *ptr, size_t len, bool *is_ascii)
{
    V_VEC v;
    uint64_t bits;

    if (len < V_SIZE)
        return len;
    v = V(load)(ptr);
    bits = V(bits)(V(among)(v, SCAN_JSON_SPECIAL));
    if (bits == 0)
        return len;
    /* Those below the lowest of the others. */
    *is_ascii = (V(bits)(V(high)(v)) & (bits ^ (bits - 1))) == 0;
    return scan_lowest(bits) / V_STEP;
}

TG_SCAN_INLINE V_TARGET size_t
V(blank)(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    for (; len - pos >= V_SIZE; pos += V_SIZE) {
        const uint64_t all = ~(uint64_t)0 >> (64 - V_SIZE * V_STEP);
        const uint64_t others = V(bits)(V(equal)(V(load)(ptr + pos), ' ')) ^ all;

        if (others != 0)
            return pos + scan_lowest(others) / V_STEP;
    }
    while (pos < len && ptr[pos] == ' ')
        pos++;
    return pos;
}

/* The digits of a number are mostly fewer than a word has bytes. Order: the first byte is low. */
TG_SCAN_INLINE size_t
V(integer)(const uint8_t *ptr, size_t len, uint64_t *value)
{
    return scan_integer_by_word(ptr, len, value);
}

TG_SCAN_INLINE size_t
V(integer_length)(const uint8_t *ptr, size_t len)
{
    return scan_integer_length(ptr, len);
}

#include "tg_scan_walk.h"

#endif

/* tg_scan_kernel.h - what a kernel of tg_scan is, and the few lines that all kernels share.
 *
 * Rules
 *  - A kernel is one constant table of functions; tg_scan.c alone chooses between them.
 *  - The scalar kernel is the reference: every other gives its answers on the same bytes.
 *  - What stands here is plain C on machine words, for what is shorter than a vector.
 *
 * Refuses: vectors.
 */
#ifndef TG_SCAN_KERNEL_H
#define TG_SCAN_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tg_hole.h"

#if defined(_MSC_VER)
#include <intrin.h> /* _BitScanForward64, which 32-bit Windows lacks */
#endif

/* gcc leaves out the vzeroupper before the call of a function that it knows to use no vector
 * register. What is not AVX behind it then waits for the upper halves of the vectors: 130 ns for
 * each text that is not ASCII. */
#if defined(__GNUC__) && !defined(__clang__)
#define TG_SCAN_NO_IPA , noipa
#else
#define TG_SCAN_NO_IPA
#endif

/* One function may use instructions that the rest of the build may not. MSVC needs no leave; a
 * clang that plays MSVC hides the intrinsics, and is left the scalar kernel like any other
 * compiler. */
#if defined(__GNUC__)
#define TG_SCAN_TARGET(names) __attribute__((target(names)))
#define TG_SCAN_INLINE static inline __attribute__((always_inline))
#define TG_SCAN_APART static __attribute__((noinline TG_SCAN_NO_IPA))
#elif defined(_MSC_VER) && !defined(__clang__)
#define TG_SCAN_TARGET(names)
#define TG_SCAN_INLINE static __forceinline
#define TG_SCAN_APART static __declspec(noinline)
#else
#define TG_SCAN_INLINE static inline
#define TG_SCAN_APART static
#endif

/* Which kernels this build has beside scalar. ARM64EC is ARM, although MSVC names x86-64; and an
 * ARM of the other byte order would number the bytes of a vector backwards. */
#if defined(TG_SCAN_TARGET)
#if defined(__x86_64__) || (defined(_M_X64) && !defined(_M_ARM64EC))
#define TG_SCAN_HAS_X86 1
#elif defined(__AARCH64EL__) || defined(_M_ARM64)
#define TG_SCAN_HAS_NEON 1
#endif
#endif

typedef struct tg_scan_kernel {
    const char *name;
    size_t (*line_end)(const uint8_t *ptr, size_t len);
    size_t (*line)(const uint8_t *ptr, size_t len, bool *is_ascii);
    size_t (*non_ascii)(const uint8_t *ptr, size_t len);
    size_t (*json_special)(const uint8_t *ptr, size_t len);
    size_t (*quote)(const uint8_t *ptr, size_t len);
    size_t (*json_mark)(const uint8_t *ptr, size_t len);
    size_t (*utf8)(const uint8_t *ptr, size_t len);
    bool (*is_equal)(const uint8_t *a, const uint8_t *b, size_t len);
    bool (*walk)(const tg_pattern *pattern, const uint8_t *ptr, size_t len, tg_match *out);
    size_t (*repeat)(tg_repeat *self, const tg_pattern *pattern, const uint8_t *ptr, size_t len);
} tg_scan_kernel;

extern const tg_scan_kernel tg_scan_scalar;
#ifdef TG_SCAN_HAS_X86
extern const tg_scan_kernel tg_scan_sse2;
extern const tg_scan_kernel tg_scan_avx2;
extern const tg_scan_kernel tg_scan_avx512;
#endif
#ifdef TG_SCAN_HAS_NEON
extern const tg_scan_kernel tg_scan_neon;
#endif

/* The sets of bytes that a scan stops at. */
typedef enum scan_set {
    SCAN_LINE_END,
    SCAN_NON_ASCII,
    SCAN_JSON_SPECIAL,
    SCAN_QUOTE,
    SCAN_JSON_MARK
} scan_set;

TG_SCAN_INLINE uint64_t
scan_word(const uint8_t *ptr)
{
    uint64_t word;

    memcpy(&word, ptr, sizeof word);
    return word;
}

TG_SCAN_INLINE uint32_t
scan_half(const uint8_t *ptr)
{
    uint32_t half;

    memcpy(&half, ptr, sizeof half);
    return half;
}

/* Sixteen bytes, the first ones low; where the order of bytes is the little-endian one alone. */
typedef struct scan_pair {
    uint64_t low;
    uint64_t high;
} scan_pair;

/* The len bytes at ptr, 1 to 15, then zeros. Loads overlap: a byte in both is or-ed with itself. */
TG_SCAN_INLINE scan_pair
scan_load_short(const uint8_t *ptr, size_t len)
{
    scan_pair pair = {0, 0};

    if (len >= 8) {
        pair.low = scan_word(ptr);
        pair.high = scan_word(ptr + len - 8) >> (8 * (15 - len)) >> 8;
    } else if (len >= 4) {
        pair.low = scan_half(ptr) | (uint64_t)scan_half(ptr + len - 4) << (8 * (len - 4));
    } else {
        pair.low = ptr[0] | (uint64_t)ptr[len / 2] << (8 * (len / 2)) |
                   (uint64_t)ptr[len - 1] << (8 * (len - 1));
    }
    return pair;
}

/* Number of the lowest bit that is set; bits is not 0. */
TG_SCAN_INLINE size_t
scan_lowest(uint64_t bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(bits);
#elif defined(_WIN64) && defined(_MSC_VER)
    unsigned long place;

    _BitScanForward64(&place, bits);
    return place;
#else
    size_t place = 0;

    for (; (bits & 1) == 0; bits >>= 1)
        place++;
    return place;
#endif
}

/* More digits may not fit 64 bits. */
#define SCAN_DIGITS 18

/* The length of a JSON integer without a sign and its value, or SIZE_MAX if there is none. */
TG_SCAN_INLINE size_t
scan_integer(const uint8_t *ptr, size_t len, uint64_t *value)
{
    const size_t most = len < SCAN_DIGITS + 1 ? len : SCAN_DIGITS + 1;
    uint64_t sum = 0;
    size_t pos;

    for (pos = 0; pos < most; pos++) {
        const uint8_t digit = (uint8_t)(ptr[pos] - '0');

        if (digit > 9)
            break;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return pos == 0 || pos > SCAN_DIGITS || (pos > 1 && ptr[0] == '0') ? SIZE_MAX : pos;
}

/* The top bit of each byte that is no digit, up to the first at least: a carry goes up. */
TG_SCAN_INLINE uint64_t
scan_no_digits(uint64_t word)
{
    const uint64_t digits = word ^ 0x3030303030303030u;

    return (digits | (digits + 0x7676767676767676u)) & 0x8080808080808080u;
}

/* The length of an integer whose value nobody wants, where the order of bytes is the little-endian
 * one: those of ten digits (a time) took 90 instructions of a hit. */
TG_SCAN_INLINE size_t
scan_integer_length(const uint8_t *ptr, size_t len)
{
    uint64_t others, value;
    size_t pos;

    for (pos = 0; pos < 16; pos += 8) {
        if (len - pos < 8)
            break;
        others = scan_no_digits(scan_word(ptr + pos));
        if (others != 0) {
            pos += scan_lowest(others) / 8;
            return pos == 0 || (pos > 1 && ptr[0] == '0') ? SIZE_MAX : pos;
        }
    }
    return scan_integer(ptr, len, &value);
}

/* As scan_integer, where the order of bytes is the little-endian one: up to seven digits at once.
 * One digit after the other takes 9 instructions each, this 25 in all. */
TG_SCAN_INLINE size_t
scan_integer_by_word(const uint8_t *ptr, size_t len, uint64_t *value)
{
    uint64_t digits, others;
    size_t size;

    if (len < sizeof digits)
        return scan_integer(ptr, len, value);
    digits = scan_word(ptr) ^ 0x3030303030303030u;
    others = scan_no_digits(scan_word(ptr));
    if (others == 0)
        return scan_integer(ptr, len, value);
    size = scan_lowest(others) / 8;
    if (size == 0 || (size > 1 && ptr[0] == '0'))
        return SIZE_MAX;
    /* The last digit goes to the top, zeros before the first; then pairs, fours, eights join. */
    digits <<= 64 - 8 * size;
    digits = digits * 10 + (digits >> 8);
    *value = ((digits & 0x000000ff000000ffu) * 0x000f424000000064u +
              (digits >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u) >>
             32;
    return size;
}

/* Two loads that overlap say it for any length between one word and two. */
TG_SCAN_INLINE bool
scan_is_equal_short(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len >= 8)
        return ((scan_word(a) ^ scan_word(b)) |
                (scan_word(a + len - 8) ^ scan_word(b + len - 8))) == 0;
    if (len >= 4)
        return ((scan_half(a) ^ scan_half(b)) |
                (scan_half(a + len - 4) ^ scan_half(b + len - 4))) == 0;
    /* One, two or three bytes: the first, the middle and the last are all of them. */
    return len == 0 || ((a[0] ^ b[0]) | (a[len / 2] ^ b[len / 2]) | (a[len - 1] ^ b[len - 1])) == 0;
}

#endif

/* tg_scan_x86.c - the kernels of x86-64: SSE2, which every such machine has, AVX2 and AVX-512.
 *
 * Each part says what a vector is; the bodies are those of tg_scan_vector.h. All three look at the
 * first 16 bytes alike, since most answers lie there; a wider vector shows in runs of hundreds of
 * bytes, in equal texts, and in UTF-8.
 *
 * Refuses: choosing. A function here may only be called where its instructions exist.
 */
#include "tg_scan_kernel.h"
#include "tg_scan_utf8.h"

#ifdef TG_SCAN_HAS_X86

#include <immintrin.h>

/* A constant that is made anew at each use takes three instructions. */
#if defined(__GNUC__)
#define SCAN_APART(v) __asm__("" : "+x"(v))
#else
#define SCAN_APART(v) ((void)(v))
#endif

/* Ones, then zeros: read from the middle minus n on it has n ones. */
static const uint8_t scan_heads[64] = {
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
};

/* ---- SSE2 -------------------------------------------------------------------------------------
 */

#define V(name) scan_sse2_##name
#define V_TARGET
#define V_SIZE 16u
#define V_STEP 1u
#define V_VEC __m128i
#define V_HITS __m128i

TG_SCAN_INLINE V_VEC
V(load)(const uint8_t *ptr)
{
    return _mm_loadu_si128((const __m128i *)(const void *)ptr);
}

TG_SCAN_INLINE V_VEC
V(load_short)(const uint8_t *ptr, size_t len)
{
    const scan_pair pair = scan_load_short(ptr, len);

    return _mm_set_epi64x((int64_t)pair.high, (int64_t)pair.low);
}

TG_SCAN_INLINE V_VEC
V(splat)(uint8_t byte)
{
    return _mm_set1_epi8((char)byte);
}

TG_SCAN_INLINE V_VEC
V(join)(V_VEC v, V_VEC w)
{
    return _mm_or_si128(v, w);
}

TG_SCAN_INLINE V_HITS
V(equal)(V_VEC v, uint8_t byte)
{
    return _mm_cmpeq_epi8(v, V(splat)(byte));
}

TG_SCAN_INLINE V_HITS
V(below)(V_VEC v, uint8_t byte)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(v, V(splat)((uint8_t)(byte - 1))), v);
}

TG_SCAN_INLINE V_HITS
V(high)(V_VEC v)
{
    return v; /* bits() reads nothing but the top bits */
}

TG_SCAN_INLINE V_HITS
V(either)(V_HITS a, V_HITS b)
{
    return _mm_or_si128(a, b);
}

TG_SCAN_INLINE uint64_t
V(bits)(V_HITS hits)
{
    return (uint32_t)_mm_movemask_epi8(hits);
}

TG_SCAN_INLINE V_VEC
V(differ)(V_VEC v, V_VEC w)
{
    return _mm_xor_si128(v, w);
}

TG_SCAN_INLINE bool
V(is_any)(V_VEC v)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())) != 0xffff;
}

TG_SCAN_INLINE void
V(store)(uint8_t *to, V_VEC v)
{
    _mm_storeu_si128((__m128i *)(void *)to, v);
}

TG_SCAN_INLINE V_HITS
V(same)(V_VEC v, V_VEC w)
{
    return _mm_cmpeq_epi8(v, w);
}

TG_SCAN_INLINE V_HITS
V(up_to)(V_VEC v, V_VEC w)
{
    return _mm_cmpeq_epi8(_mm_min_epu8(v, w), v);
}

TG_SCAN_INLINE V_VEC
V(head)(V_VEC v, size_t size)
{
    return _mm_and_si128(v,
                         _mm_loadu_si128((const __m128i *)(const void *)(scan_heads + 32 - size)));
}

TG_SCAN_INLINE V_VEC
V(apart)(V_VEC v)
{
    SCAN_APART(v);
    return v;
}

#include "tg_scan_vector.h"
#include "tg_scan_repeat.h"

const tg_scan_kernel tg_scan_sse2 = {
    .name = "sse2",
    .line_end = scan_sse2_line_end,
    .line = scan_sse2_line,
    .non_ascii = scan_sse2_non_ascii,
    .json_special = scan_sse2_json_special,
    .quote = scan_sse2_quote,
    .json_mark = scan_sse2_json_mark,
    .utf8 = scan_utf8, /* by word: a lookup of bytes came only with SSSE3 */
    .is_equal = scan_sse2_is_equal,
    .walk = scan_sse2_walk,
    .repeat = scan_sse2_repeat,
};

/* What AVX2 calls for texts shorter than its vectors. */

#undef V_TARGET
#define V_TARGET TG_SCAN_TARGET("ssse3")

TG_SCAN_INLINE V_TARGET V_VEC
V(both)(V_VEC v, V_VEC w)
{
    return _mm_and_si128(v, w);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(minus)(V_VEC v, uint8_t byte)
{
    return _mm_subs_epu8(v, V(splat)(byte));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(high_half)(V_VEC v)
{
    return V(both)(_mm_srli_epi16(v, 4), V(splat)(0x0f));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(lookup)(const uint8_t *table, V_VEC v)
{
    return _mm_shuffle_epi8(V(load)(table), v);
}

#include "tg_scan_vector_utf8.h"

#undef V
#undef V_TARGET
#undef V_SIZE
#undef V_VEC
#undef V_HITS

/* ---- AVX2 -------------------------------------------------------------------------------------
 */

#define V(name) scan_avx2_##name
#define V_TARGET TG_SCAN_TARGET("avx2")
#define V_SIZE 32u
#define V_NARROW(name) scan_sse2_##name
#define V_FIRST(name) scan_sse2_##name
#define V_FIRST_SIZE 16u
#define V_VEC __m256i
#define V_HITS __m256i

TG_SCAN_INLINE V_TARGET V_VEC
V(load)(const uint8_t *ptr)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)ptr);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(splat)(uint8_t byte)
{
    return _mm256_set1_epi8((char)byte);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(join)(V_VEC v, V_VEC w)
{
    return _mm256_or_si256(v, w);
}

TG_SCAN_INLINE V_TARGET V_HITS
V(equal)(V_VEC v, uint8_t byte)
{
    return _mm256_cmpeq_epi8(v, V(splat)(byte));
}

TG_SCAN_INLINE V_TARGET V_HITS
V(below)(V_VEC v, uint8_t byte)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(v, V(splat)((uint8_t)(byte - 1))), v);
}

TG_SCAN_INLINE V_TARGET V_HITS
V(high)(V_VEC v)
{
    return v; /* bits() reads nothing but the top bits */
}

TG_SCAN_INLINE V_TARGET V_HITS
V(either)(V_HITS a, V_HITS b)
{
    return _mm256_or_si256(a, b);
}

TG_SCAN_INLINE V_TARGET uint64_t
V(bits)(V_HITS hits)
{
    return (uint32_t)_mm256_movemask_epi8(hits);
}

TG_SCAN_INLINE V_TARGET bool
V(is_any)(V_VEC v)
{
    return !_mm256_testz_si256(v, v);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(both)(V_VEC v, V_VEC w)
{
    return _mm256_and_si256(v, w);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(differ)(V_VEC v, V_VEC w)
{
    return _mm256_xor_si256(v, w);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(minus)(V_VEC v, uint8_t byte)
{
    return _mm256_subs_epu8(v, V(splat)(byte));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(high_half)(V_VEC v)
{
    return V(both)(_mm256_srli_epi16(v, 4), V(splat)(0x0f));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(lookup)(const uint8_t *table, V_VEC v)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(scan_sse2_load(table)), v);
}

TG_SCAN_INLINE V_TARGET void
V(store)(uint8_t *to, V_VEC v)
{
    _mm256_storeu_si256((__m256i *)(void *)to, v);
}

TG_SCAN_INLINE V_TARGET V_HITS
V(same)(V_VEC v, V_VEC w)
{
    return _mm256_cmpeq_epi8(v, w);
}

TG_SCAN_INLINE V_TARGET V_HITS
V(up_to)(V_VEC v, V_VEC w)
{
    return _mm256_cmpeq_epi8(_mm256_min_epu8(v, w), v);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(head)(V_VEC v, size_t size)
{
    return _mm256_and_si256(
        v, _mm256_loadu_si256((const __m256i *)(const void *)(scan_heads + 32 - size)));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(apart)(V_VEC v)
{
    SCAN_APART(v);
    return v;
}

#include "tg_scan_vector.h"
#include "tg_scan_repeat.h"
#include "tg_scan_vector_utf8.h"

const tg_scan_kernel tg_scan_avx2 = {
    .name = "avx2",
    .line_end = scan_avx2_line_end,
    .line = scan_avx2_line,
    .non_ascii = scan_avx2_non_ascii,
    .json_special = scan_avx2_json_special,
    .quote = scan_avx2_quote,
    .json_mark = scan_avx2_json_mark,
    .utf8 = scan_avx2_utf8,
    .is_equal = scan_avx2_is_equal,
    .walk = scan_avx2_walk,
    .repeat = scan_avx2_repeat,
};

#undef V
#undef V_TARGET
#undef V_SIZE
#undef V_VEC
#undef V_HITS
#undef V_NARROW
#define V_NARROW(name) scan_avx2_##name

/* ---- AVX-512 ----------------------------------------------------------------------------------
 */

#define V(name) scan_avx512_##name
#define V_TARGET TG_SCAN_TARGET("avx512bw,avx512vl,bmi2")
#define V_SIZE 64u
#define V_VEC __m512i
#define V_HITS __mmask64

TG_SCAN_INLINE V_TARGET V_VEC
V(load)(const uint8_t *ptr)
{
    return _mm512_loadu_si512(ptr);
}

/* A masked load touches no byte that its mask leaves out. */
TG_SCAN_INLINE V_TARGET V_VEC
V(load_short)(const uint8_t *ptr, size_t len)
{
    return _mm512_maskz_loadu_epi8(((uint64_t)1 << len) - 1, ptr);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(splat)(uint8_t byte)
{
    return _mm512_set1_epi8((char)byte);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(join)(V_VEC v, V_VEC w)
{
    return _mm512_or_si512(v, w);
}

TG_SCAN_INLINE V_TARGET V_HITS
V(equal)(V_VEC v, uint8_t byte)
{
    return _mm512_cmpeq_epi8_mask(v, V(splat)(byte));
}

TG_SCAN_INLINE V_TARGET V_HITS
V(below)(V_VEC v, uint8_t byte)
{
    return _mm512_cmplt_epu8_mask(v, V(splat)(byte));
}

TG_SCAN_INLINE V_TARGET V_HITS
V(high)(V_VEC v)
{
    return _mm512_movepi8_mask(v);
}

TG_SCAN_INLINE V_TARGET V_HITS
V(either)(V_HITS a, V_HITS b)
{
    return a | b;
}

TG_SCAN_INLINE V_TARGET uint64_t
V(bits)(V_HITS hits)
{
    return hits;
}

TG_SCAN_INLINE V_TARGET bool
V(is_any)(V_VEC v)
{
    return _mm512_test_epi8_mask(v, v) != 0;
}

TG_SCAN_INLINE V_TARGET V_VEC
V(both)(V_VEC v, V_VEC w)
{
    return _mm512_and_si512(v, w);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(differ)(V_VEC v, V_VEC w)
{
    return _mm512_xor_si512(v, w);
}

TG_SCAN_INLINE V_TARGET V_VEC
V(minus)(V_VEC v, uint8_t byte)
{
    return _mm512_subs_epu8(v, V(splat)(byte));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(high_half)(V_VEC v)
{
    return V(both)(_mm512_srli_epi16(v, 4), V(splat)(0x0f));
}

TG_SCAN_INLINE V_TARGET V_VEC
V(lookup)(const uint8_t *table, V_VEC v)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(scan_sse2_load(table)), v);
}

#include "tg_scan_vector.h"
#include "tg_scan_vector_utf8.h"

/* One masked load takes whatever is shorter than a vector. */
static V_TARGET bool
scan_avx512_is_equal_any(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len < V_SIZE)
        return !V(is_any)(V(differ)(V(load_short)(a, len), V(load_short)(b, len)));
    return scan_avx512_is_equal(a, b, len);
}

const tg_scan_kernel tg_scan_avx512 = {
    .name = "avx512",
    .line_end = scan_avx512_line_end,
    .line = scan_avx512_line,
    .non_ascii = scan_avx512_non_ascii,
    .json_special = scan_avx512_json_special,
    .quote = scan_avx512_quote,
    .json_mark = scan_avx512_json_mark,
    .utf8 = scan_avx512_utf8,
    .is_equal = scan_avx512_is_equal_any,
    .walk = scan_avx512_walk,
    .repeat = scan_avx2_repeat, /* a load of 64 bytes mostly touches two lines of the cache */
};

#undef V
#undef V_TARGET
#undef V_SIZE
#undef V_STEP
#undef V_VEC
#undef V_HITS
#undef V_NARROW
#undef V_FIRST
#undef V_FIRST_SIZE

#endif

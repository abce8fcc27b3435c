/* tg_scan_neon.c - the kernel of aarch64, where NEON is always there.
 *
 * It says what a vector is; the bodies are those of tg_scan_vector.h.
 *
 * Refuses: an ARM that numbers the bytes of a word from the other end; that one is scalar.
 */
#include "tg_scan_kernel.h"

#ifdef TG_SCAN_HAS_NEON

#include <arm_neon.h>

#define V(name) scan_neon_##name
#define V_TARGET
#define V_SIZE 16u
#define V_STEP 4u

#define V_VEC uint8x16_t
#define V_HITS uint8x16_t

TG_SCAN_INLINE V_VEC
V(load)(const uint8_t *ptr)
{
    return vld1q_u8(ptr);
}

TG_SCAN_INLINE V_VEC
V(load_short)(const uint8_t *ptr, size_t len)
{
    const scan_pair pair = scan_load_short(ptr, len);

    return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(pair.low), vcreate_u64(pair.high)));
}

TG_SCAN_INLINE V_VEC
V(splat)(uint8_t byte)
{
    return vdupq_n_u8(byte);
}

TG_SCAN_INLINE V_VEC
V(join)(V_VEC v, V_VEC w)
{
    return vorrq_u8(v, w);
}

TG_SCAN_INLINE V_HITS
V(equal)(V_VEC v, uint8_t byte)
{
    return vceqq_u8(v, vdupq_n_u8(byte));
}

TG_SCAN_INLINE V_HITS
V(below)(V_VEC v, uint8_t byte)
{
    return vcltq_u8(v, vdupq_n_u8(byte));
}

TG_SCAN_INLINE V_HITS
V(high)(V_VEC v)
{
    return vcgeq_u8(v, vdupq_n_u8(0x80));
}

TG_SCAN_INLINE V_HITS
V(either)(V_HITS a, V_HITS b)
{
    return vorrq_u8(a, b);
}

/* NEON has no instruction that gathers the top bits. Narrowing by four leaves a half byte each. */
TG_SCAN_INLINE uint64_t
V(bits)(V_HITS hits)
{
    const uint8x8_t halves = vshrn_n_u16(vreinterpretq_u16_u8(hits), 4);

    return vget_lane_u64(vreinterpret_u64_u8(halves), 0);
}

TG_SCAN_INLINE bool
V(is_any)(V_VEC v)
{
    return vmaxvq_u32(vreinterpretq_u32_u8(v)) != 0;
}

TG_SCAN_INLINE V_VEC
V(both)(V_VEC v, V_VEC w)
{
    return vandq_u8(v, w);
}

TG_SCAN_INLINE V_VEC
V(differ)(V_VEC v, V_VEC w)
{
    return veorq_u8(v, w);
}

TG_SCAN_INLINE V_VEC
V(minus)(V_VEC v, uint8_t byte)
{
    return vqsubq_u8(v, vdupq_n_u8(byte));
}

TG_SCAN_INLINE V_VEC
V(high_half)(V_VEC v)
{
    return vshrq_n_u8(v, 4);
}

TG_SCAN_INLINE V_VEC
V(lookup)(const uint8_t *table, V_VEC v)
{
    return vqtbl1q_u8(vld1q_u8(table), v);
}

TG_SCAN_INLINE void
V(store)(uint8_t *to, V_VEC v)
{
    vst1q_u8(to, v);
}

TG_SCAN_INLINE V_HITS
V(same)(V_VEC v, V_VEC w)
{
    return vceqq_u8(v, w);
}

TG_SCAN_INLINE V_HITS
V(up_to)(V_VEC v, V_VEC w)
{
    return vcleq_u8(v, w);
}

TG_SCAN_INLINE V_VEC
V(head)(V_VEC v, size_t size)
{
    static const uint8_t heads[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                      255, 255, 255, 255, 255, 255, 255, 255};

    return vandq_u8(v, vld1q_u8(heads + 16 - size));
}

TG_SCAN_INLINE V_VEC
V(apart)(V_VEC v)
{
    return v;
}

#include "tg_scan_vector.h"
#include "tg_scan_repeat.h"
#include "tg_scan_vector_utf8.h"

const tg_scan_kernel tg_scan_neon = {
    .name = "neon",
    .line_end = scan_neon_line_end,
    .line = scan_neon_line,
    .non_ascii = scan_neon_non_ascii,
    .json_special = scan_neon_json_special,
    .quote = scan_neon_quote,
    .json_mark = scan_neon_json_mark,
    .utf8 = scan_neon_utf8,
    .is_equal = scan_neon_is_equal,
    .walk = scan_neon_walk,
    .repeat = scan_neon_repeat,
};

#undef V
#undef V_TARGET
#undef V_SIZE
#undef V_STEP
#undef V_VEC
#undef V_HITS

#endif

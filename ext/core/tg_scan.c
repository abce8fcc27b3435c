/* tg_scan.c - the choice: which kernel this machine runs, made once, at the first scan.
 *
 * The core has no globals, but for the one here: which instructions the machine has is a fact about
 * the machine, the same for every stream. It is one pointer to a constant table, read and written
 * whole, and two threads that choose at the same time choose alike.
 *
 * Refuses: vectors (a kernel has them), and asking the environment (the caller does).
 */
#include "tg_scan.h"

#include <string.h>

#include "tg_scan_kernel.h"

#if defined(_MSC_VER) && defined(TG_SCAN_HAS_X86)
#include <immintrin.h>
#endif

/* Each needs more of the machine than the one before. */
static const tg_scan_kernel *const scan_kernels[] = {
    &tg_scan_scalar,
#if defined(TG_SCAN_HAS_X86)
    &tg_scan_sse2,
    &tg_scan_avx2,
    &tg_scan_avx512,
#elif defined(TG_SCAN_HAS_NEON)
    &tg_scan_neon,
#endif
};
#define SCAN_KERNELS (sizeof scan_kernels / sizeof scan_kernels[0])

/* ---- the machine ------------------------------------------------------------------------------
 */

#ifdef TG_SCAN_HAS_X86

#if defined(_MSC_VER)

/* Bits of CPUID leaf 7, and of XCR0: which registers the system saves. */
#define SCAN_EBX_AVX2 (1u << 5)
#define SCAN_EBX_AVX512 (1u << 8 | 1u << 16 | 1u << 30 | 1u << 31) /* BMI2, F, BW, VL */
#define SCAN_ECX_VBMI (1u << 1)
#define SCAN_XCR_YMM 0x06u
#define SCAN_XCR_ZMM 0xe6u

static bool
scan_has(unsigned ebx_bits, unsigned ecx_bits, unsigned xcr_bits)
{
    int leaf[4];

    __cpuid(leaf, 0);
    if (leaf[0] < 7)
        return false;
    __cpuid(leaf, 1);
    if (((unsigned)leaf[2] >> 27 & 1) == 0 || ((unsigned)_xgetbv(0) & xcr_bits) != xcr_bits)
        return false;
    __cpuidex(leaf, 7, 0);
    return ((unsigned)leaf[1] & ebx_bits) == ebx_bits && ((unsigned)leaf[2] & ecx_bits) == ecx_bits;
}

static bool
scan_has_avx2(void)
{
    return scan_has(SCAN_EBX_AVX2, 0, SCAN_XCR_YMM);
}

static bool
scan_has_avx512(void)
{
    return scan_has(SCAN_EBX_AVX2 | SCAN_EBX_AVX512, 0, SCAN_XCR_ZMM);
}

static bool
scan_has_vbmi(void)
{
    return scan_has(0, SCAN_ECX_VBMI, 0);
}

#else

/* These ask the system too: a register that it does not save is not there. */
static bool
scan_has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

static bool
scan_has_avx512(void)
{
    return scan_has_avx2() && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

static bool
scan_has_vbmi(void)
{
    return __builtin_cpu_supports("avx512vbmi");
}

#endif

/* How many of scan_kernels, from the first on, this machine can run. */
static size_t
scan_count(void)
{
    if (scan_has_avx512())
        return SCAN_KERNELS;
    return scan_has_avx2() ? SCAN_KERNELS - 1 : SCAN_KERNELS - 2;
}

/* The first processors with AVX-512 lower their clock for it, for all that runs on the core. Those
 * since Ice Lake, and AMD's, do not, and have VBMI too. */
static size_t
scan_best(void)
{
    const size_t last = scan_count() - 1;

    return last == SCAN_KERNELS - 1 && !scan_has_vbmi() ? last - 1 : last;
}

#else

static size_t
scan_count(void)
{
    return SCAN_KERNELS;
}

static size_t
scan_best(void)
{
    return SCAN_KERNELS - 1;
}

#endif

/* ---- the choice -------------------------------------------------------------------------------
 */

/* NULL until the first scan. Where there is no atomic access, a volatile one of an aligned pointer
 * is one (MSVC). */
#if defined(__GNUC__)
static const tg_scan_kernel *scan_in_use;
#define SCAN_READ() __atomic_load_n(&scan_in_use, __ATOMIC_RELAXED)
#define SCAN_WRITE(kernel) __atomic_store_n(&scan_in_use, (kernel), __ATOMIC_RELAXED)
#else
static const tg_scan_kernel *volatile scan_in_use;
#define SCAN_READ() (scan_in_use)
#define SCAN_WRITE(kernel) ((void)(scan_in_use = (kernel)))
#endif

static const tg_scan_kernel *
scan_choose(void)
{
    const tg_scan_kernel *kernel = scan_kernels[scan_best()];

    SCAN_WRITE(kernel);
    return kernel;
}

static inline const tg_scan_kernel *
scan_kernel(void)
{
    const tg_scan_kernel *kernel = SCAN_READ();

    return kernel != NULL ? kernel : scan_choose();
}

const char *
tg_scan_kernel_name(void)
{
    return scan_kernel()->name;
}

const char *
tg_scan_kernel_at(size_t index)
{
    return index < scan_count() ? scan_kernels[index]->name : NULL;
}

bool
tg_scan_use(const char *name)
{
    const size_t count = scan_count();
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(scan_kernels[i]->name, name) == 0) {
            SCAN_WRITE(scan_kernels[i]);
            return true;
        }
    }
    return false;
}

/* ---- the scans --------------------------------------------------------------------------------
 */

size_t
tg_scan_line_end(const uint8_t *ptr, size_t len)
{
    return scan_kernel()->line_end(ptr, len);
}

size_t
tg_scan_line(const uint8_t *ptr, size_t len, bool *is_ascii)
{
    return scan_kernel()->line(ptr, len, is_ascii);
}

size_t
tg_scan_non_ascii(const uint8_t *ptr, size_t len)
{
    return scan_kernel()->non_ascii(ptr, len);
}

size_t
tg_scan_json_special(const uint8_t *ptr, size_t len)
{
    return scan_kernel()->json_special(ptr, len);
}

size_t
tg_scan_quote(const uint8_t *ptr, size_t len)
{
    return scan_kernel()->quote(ptr, len);
}

size_t
tg_scan_json_mark(const uint8_t *ptr, size_t len)
{
    return scan_kernel()->json_mark(ptr, len);
}

size_t
tg_scan_utf8(const uint8_t *ptr, size_t len)
{
    return scan_kernel()->utf8(ptr, len);
}

bool
tg_scan_is_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    return scan_kernel()->is_equal(a, b, len);
}

bool
tg_scan_walk(const tg_pattern *pattern, const uint8_t *ptr, size_t len, tg_match *out)
{
    return scan_kernel()->walk(pattern, ptr, len, out);
}

size_t
tg_scan_repeat(tg_repeat *self, const tg_pattern *pattern, const uint8_t *ptr, size_t len)
{
    return scan_kernel()->repeat(self, pattern, ptr, len);
}

/* The two below are the same whatever the kernel, and stand in no table: a number, or the space
 * between two tokens, is mostly a byte or two, for which the call alone would cost more. */

size_t
tg_scan_non_digit(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len && ptr[pos] >= '0' && ptr[pos] <= '9')
        pos++;
    return pos;
}

size_t
tg_scan_non_blank(const uint8_t *ptr, size_t len)
{
    size_t pos = 0;

    while (pos < len &&
           (ptr[pos] == ' ' || ptr[pos] == '\t' || ptr[pos] == '\n' || ptr[pos] == '\r'))
        pos++;
    return pos;
}

/* tg_scan.h - how far a run of uninteresting bytes goes: the only place where speed is bought.
 *
 * Rules
 *  - Each function answers the index of the first byte of its set, or len if there is none.
 *  - It never reads at or past ptr + len; ptr may be anything when len is 0.
 *  - There are several kernels (tg_scan_kernel.h). Each gives the same answers on the same bytes;
 *    the best that the machine has is chosen at the first scan.
 */
#ifndef TG_SCAN_H
#define TG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_hole.h"

/* LF or CR. */
size_t tg_scan_line_end(const uint8_t *ptr, size_t len);
/* The same; and whether all before it is ASCII. */
size_t tg_scan_line(const uint8_t *ptr, size_t len, bool *is_ascii);
/* A byte of 0x80 or more. */
size_t tg_scan_non_ascii(const uint8_t *ptr, size_t len);
/* What ends a run of text in a JSON string: `"`, `\`, a control character. */
size_t tg_scan_json_special(const uint8_t *ptr, size_t len);
/* `"` or `\`. */
size_t tg_scan_quote(const uint8_t *ptr, size_t len);
/* `"` or a bracket of JSON. */
size_t tg_scan_json_mark(const uint8_t *ptr, size_t len);
/* Anything but an ASCII digit. */
size_t tg_scan_non_digit(const uint8_t *ptr, size_t len);
/* Anything but JSON's white space: space, tab, LF, CR. */
size_t tg_scan_non_blank(const uint8_t *ptr, size_t len);

/* The first byte of the first sequence that is ill-formed UTF-8 or that the end cuts: what stands
 * before it is well-formed and whole. A caller who must know at which byte the sequence cannot go
 * on takes it from there one byte at a time (tg_utf8); it is the last look at those bytes. */
size_t tg_scan_utf8(const uint8_t *ptr, size_t len);

/* Are the len bytes at a those at b? */
bool tg_scan_is_equal(const uint8_t *a, const uint8_t *b, size_t len);

/* Whether bytes begin with the pattern; if so, *out says what stands in its holes. */
bool tg_scan_walk(const tg_pattern *pattern, const uint8_t *ptr, size_t len, tg_match *out);
/* Takes frames that stand at ptr, of a pattern whose reach is not above len; their length. May
 * leave any to the walk. */
size_t tg_scan_repeat(tg_repeat *self, const tg_pattern *pattern, const uint8_t *ptr, size_t len);

/* Name of the kernel in use: "scalar", "sse2", "avx2", "avx512", "neon". */
const char *tg_scan_kernel_name(void);
/* Names of the kernels that this build and this machine have, the slowest first; NULL at the end.
 */
const char *tg_scan_kernel_at(size_t index);
/* Another kernel from now on, for all threads; false if it is not one of those. */
bool tg_scan_use(const char *name);

#endif

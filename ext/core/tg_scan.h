/* tg_scan.h - how far a run of uninteresting bytes goes: the only place where speed is bought.
 *
 * Rules
 *  - Each function answers the index of the first byte of its set, or len if there is none.
 *  - It never reads at or past ptr + len; ptr may be anything when len is 0.
 *  - Any other kernel gives the same answers on the same bytes.
 */
#ifndef TG_SCAN_H
#define TG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LF or CR. */
size_t tg_scan_line_end(const uint8_t *ptr, size_t len);
/* A byte of 0x80 or more. */
size_t tg_scan_non_ascii(const uint8_t *ptr, size_t len);
/* What ends plain text in a JSON string: `"`, `\`, a control character, a byte of 0x80 or more. */
size_t tg_scan_json_text(const uint8_t *ptr, size_t len);
/* `"` or `\`. */
size_t tg_scan_quote(const uint8_t *ptr, size_t len);
/* `"` or a bracket of JSON. */
size_t tg_scan_json_mark(const uint8_t *ptr, size_t len);
/* Anything but an ASCII digit. */
size_t tg_scan_non_digit(const uint8_t *ptr, size_t len);
/* Anything but JSON's white space: space, tab, LF, CR. */
size_t tg_scan_non_blank(const uint8_t *ptr, size_t len);
/* What ends a JSON string's raw bytes: `"`, `\`, a control character. Bytes of 0x80 or more pass.
 */
size_t tg_scan_json_special(const uint8_t *ptr, size_t len);

/* Are these len bytes the same? */
bool tg_scan_is_equal(const uint8_t *a, const uint8_t *b, size_t len);

/* Length of a prefix that is well-formed UTF-8 and ends between two characters (or at len). It is
 * not always the longest such prefix, and not always more than 0: whoever needs the exact place of
 * a fault goes on there, one sequence at a time. */
size_t tg_scan_utf8(const uint8_t *ptr, size_t len);

#endif

/* tg_wide.h - UTF-8 as characters of one width, as a str of Python's keeps them.
 *
 * Consumes well-formed UTF-8 (tg_utf8 says what is); yields its characters, 1, 2 or 4 bytes each.
 *
 * Theory of operation
 *   The greatest byte of a text tells how wide its widest character is: leads of longer sequences
 *   are greater, and so is every lead than every continuation. So one pass that looks at single
 *   bytes counts the characters and finds their width, and a second one writes them where they
 *   stay. Who does not know both at the start has to grow and to widen what is written.
 *
 * Refuses: judging; on anything that is not well-formed the answer, and what is touched, is any.
 */
#ifndef TG_WIDE_H
#define TG_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include "tg_event.h"

typedef struct tg_wide {
    size_t ascii;   /* bytes before the first that is not ASCII */
    size_t count;   /* characters */
    size_t width;   /* bytes that each needs: 1, 2, 4 */
    uint32_t bound; /* none is greater: U+007F, U+00FF, U+FFFF, U+10FFFF */
} tg_wide;

tg_wide tg_wide_measure(tg_span text);
/* The characters of a text that was measured, from out on, which is aligned for them. */
void tg_wide_write(tg_span text, const tg_wide *wide, void *out);

#endif

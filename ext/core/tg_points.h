/* tg_points.h - a text as code points, for those who keep each character in as many bytes.
 *
 * Rules
 *  - The text is well-formed UTF-8: who calls has checked it. Of any other, what comes out means
 *    nothing; but nothing is read or written beyond the text and as many points as it has bytes.
 */
#ifndef TG_POINTS_H
#define TG_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "tg_event.h"

/* How many code points the text has; out has room for as many as the text has bytes. */
size_t tg_points(tg_span text, uint32_t *out);

#endif

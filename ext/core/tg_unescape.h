/* tg_unescape.h - the text that stands between the quotes of a JSON string (RFC 8259, 7).
 *
 * Rules
 *  - The result is UTF-8. Bytes outside of escapes are copied as they are: who calls has checked
 *    them.
 *  - Half a surrogate pair has no UTF-8, so it is refused, as is every escape that JSON does not
 *    know.
 */
#ifndef TG_UNESCAPE_H
#define TG_UNESCAPE_H

#include <stdbool.h>

#include "tg_alloc.h"
#include "tg_buf.h"
#include "tg_event.h"

/* Appends the text. false: refused, or no memory; out is then as it was. */
bool tg_unescape(tg_buf *out, const tg_alloc *alloc, tg_span string);

/* Where the string ends that begins `from`, just behind its opening quote: the place of its closing
 * quote, if what stands before that is the text; TG_UNESCAPE_OTHER if it is not. Nothing is copied.
 */
size_t tg_unescape_compare(tg_span from, tg_span text);

#define TG_UNESCAPE_OTHER SIZE_MAX

#endif

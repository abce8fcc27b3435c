/* tg_field.h - one line of an SSE stream as a field: which one, and its value.
 *
 * Rules
 *  - A pure function of the line. The name is compared with the line's first bytes; no line is
 *    searched for its colon.
 *  - A line that has not ended may be read too: it is then TG_FIELD_DATA with an empty value where
 *    the name alone is there, and the caller must not rely on it.
 */
#ifndef TG_FIELD_H
#define TG_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "tg_event.h"

typedef enum tg_field_kind {
    TG_FIELD_BLANK,   /* the empty line */
    TG_FIELD_IGNORED, /* a comment or an unknown field */
    TG_FIELD_DATA,
    TG_FIELD_EVENT,
    TG_FIELD_ID,
    TG_FIELD_RETRY,
    TG_FIELD_ERROR /* only where asked for */
} tg_field_kind;

typedef struct tg_field {
    tg_field_kind kind;
    size_t pos;    /* where the value begins in the line */
    tg_span value; /* without the one space after the colon; empty for the first two kinds */
} tg_field;

tg_field tg_field_read(tg_span line, bool is_error_known);

#endif

/* tg_escape.h - a text as a JSON string (RFC 8259, 7): quotes around it, and escapes where JSON
 * demands them. All else stands for itself.
 *
 * Refuses: judging the text. Ill-formed UTF-8 comes out as it went in.
 */
#ifndef TG_ESCAPE_H
#define TG_ESCAPE_H

#include "tg_event.h"

/* How many bytes tg_escape writes. */
size_t tg_escape_size(tg_span text);
/* out has room for them, apart from the text. */
void tg_escape(tg_span text, uint8_t *out);

#endif

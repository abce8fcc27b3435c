/* wire.h - bytes that grow, and events put into them in any framing: what the tests of prediction
 * feed.
 *
 * It exits where there is no memory.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg.h"

/* All zero is empty. */
typedef struct wire {
    uint8_t *ptr;
    size_t len;
    size_t size;
} wire;

typedef struct wire_style {
    tg_framing framing;
    const char *eol;     /* SSE: what ends a line */
    const char *colon;   /* SSE: what stands between a name and its value */
    bool is_type_behind; /* SSE: the event line follows the data line */
} wire_style;

wire_style wire_style_of(tg_framing framing);
void wire_clear(wire *self);
void wire_free(wire *self);
void wire_add(wire *self, const void *ptr, size_t len);
void wire_text(wire *self, const char *text);
/* One event. type: NULL for none; framings that have no types leave it out. The first event of an
 * array opens it. */
void wire_event(wire *self, const wire_style *style, const char *type, const void *data,
                size_t len);
/* The same with a text as data. */
void wire_say(wire *self, const wire_style *style, const char *type, const char *data);
/* One event-stream message with these headers. */
void wire_message(wire *self, tg_span headers, const void *data, size_t len);

#endif

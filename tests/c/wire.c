/* wire.c - growing, and the four framings of wire.h. */
#include "wire.h"

#include <stdlib.h>
#include <string.h>

#include "tg_crc32.h"

wire_style
wire_style_of(tg_framing framing)
{
    const wire_style style = {.framing = framing, .eol = "\n", .colon = ": "};

    return style;
}

void
wire_clear(wire *self)
{
    self->len = 0;
}

void
wire_free(wire *self)
{
    free(self->ptr);
    memset(self, 0, sizeof *self);
}

void
wire_add(wire *self, const void *ptr, size_t len)
{
    if (self->len + len > self->size || self->ptr == NULL) {
        self->size = 2 * (self->len + len) + 256;
        self->ptr = realloc(self->ptr, self->size);
        if (self->ptr == NULL)
            exit(3);
    }
    if (len > 0)
        memcpy(self->ptr + self->len, ptr, len);
    self->len += len;
}

void
wire_text(wire *self, const char *text)
{
    wire_add(self, text, strlen(text));
}

/* ---- framings ---------------------------------------------------------------------------------
 */

static void
wire_field(wire *self, const wire_style *style, const char *name, const void *value, size_t len)
{
    wire_text(self, name);
    wire_text(self, style->colon);
    wire_add(self, value, len);
    wire_text(self, style->eol);
}

static void
wire_block(wire *self, const wire_style *style, const char *type, const void *data, size_t len)
{
    if (type != NULL && !style->is_type_behind)
        wire_field(self, style, "event", type, strlen(type));
    wire_field(self, style, "data", data, len);
    if (type != NULL && style->is_type_behind)
        wire_field(self, style, "event", type, strlen(type));
    wire_text(self, style->eol);
}

static void
wire_number(wire *self, uint32_t number)
{
    const uint8_t bytes[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 8), (uint8_t)number};

    wire_add(self, bytes, sizeof bytes);
}

void
wire_message(wire *self, tg_span headers, const void *data, size_t len)
{
    const size_t from = self->len;

    wire_number(self, (uint32_t)(16 + headers.len + len));
    wire_number(self, (uint32_t)headers.len);
    wire_number(self, tg_crc32(0, self->ptr + from, 8));
    wire_add(self, headers.ptr, headers.len);
    wire_add(self, data, len);
    wire_number(self, tg_crc32(0, self->ptr + from, self->len - from));
}

static void
wire_typed_message(wire *self, const char *type, const void *data, size_t len)
{
    static const char name[] = "\x0b:event-type\x07";
    const size_t type_len = type != NULL ? strlen(type) : 0;
    const uint8_t counted[2] = {(uint8_t)(type_len >> 8), (uint8_t)type_len};
    wire headers = {0};
    tg_span span;

    if (type != NULL) {
        wire_add(&headers, name, sizeof name - 1);
        wire_add(&headers, counted, sizeof counted);
    }
    wire_add(&headers, type, type_len);
    span.ptr = headers.ptr;
    span.len = headers.len;
    wire_message(self, span, data, len);
    wire_free(&headers);
}

void
wire_event(wire *self, const wire_style *style, const char *type, const void *data, size_t len)
{
    switch (style->framing) {
    case TG_FRAMING_SSE:
        wire_block(self, style, type, data, len);
        break;
    case TG_FRAMING_NDJSON:
        wire_add(self, data, len);
        wire_text(self, style->eol);
        break;
    case TG_FRAMING_ARRAY:
        wire_text(self, self->len == 0 ? "[" : ",");
        wire_add(self, data, len);
        break;
    case TG_FRAMING_EVENTSTREAM:
        wire_typed_message(self, type, data, len);
        break;
    }
}

void
wire_say(wire *self, const wire_style *style, const char *type, const char *data)
{
    wire_event(self, style, type, data, strlen(data));
}

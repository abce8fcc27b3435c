/* tg_json_step.c - what both views share (verdicts, the stack of open containers), and the step of
 * the structural view, which needs nothing else.
 *
 * Refuses: judging anything between brackets but strings; that is tg_json_strict.c's part.
 */
#include "tg_json_step.h"

#include <string.h>

#define JSON_FIRST_STACK ((size_t)16)

bool
tg_json_break(tg_json *self, tg_status status)
{
    self->state = TG_JSON_BROKEN;
    self->error = status;
    self->error_off = self->off;
    return false;
}

bool
tg_json_invalid(tg_json *self)
{
    return tg_json_break(self, TG_ERR_JSON_INVALID);
}

bool
tg_json_go(tg_json *self, tg_json_state state)
{
    self->state = state;
    return true;
}

bool
tg_json_is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

bool
tg_json_is_digit(uint8_t byte)
{
    return byte >= '0' && byte <= '9';
}

bool
tg_json_close(tg_json *self, unsigned size)
{
    self->closed_off = self->off + size;
    return tg_json_go(self, TG_JSON_AFTER_TEXT);
}

bool
tg_json_end_value(tg_json *self)
{
    if (self->depth == 0)
        return tg_json_close(self, 1);
    return tg_json_go(self,
                      self->view == TG_JSON_STRICT ? TG_JSON_AFTER_VALUE : TG_JSON_IN_CONTAINER);
}

bool
tg_json_after_text(tg_json *self, uint8_t byte)
{
    return tg_json_is_blank(byte) || tg_json_break(self, TG_ERR_JSON_TRAILING);
}

static bool
json_grow_stack(tg_json *self)
{
    const size_t most = self->max_depth / 8 + (self->max_depth % 8 != 0);
    size_t size = self->stack_size == 0 ? JSON_FIRST_STACK : self->stack_size;
    uint8_t *stack;

    if (self->depth / 8 < self->stack_size)
        return true;
    if (self->stack_size > 0)
        size = size > most / 2 ? most : size * 2;
    if (size > most)
        size = most;
    stack = self->alloc.resize(self->alloc.ctx, self->stack, self->stack_size, size);
    if (stack == NULL)
        return false;
    self->stack = stack;
    self->stack_size = size;
    return true;
}

bool
tg_json_push(tg_json *self, bool is_object, tg_json_state state)
{
    const uint8_t bit = (uint8_t)(1u << (self->depth % 8));
    uint8_t *byte;

    if (self->depth >= self->max_depth)
        return tg_json_break(self, TG_ERR_DEPTH_TOO_LARGE);
    if (!json_grow_stack(self))
        return tg_json_break(self, TG_ERR_NO_MEMORY);
    byte = &self->stack[self->depth / 8];
    *byte = (uint8_t)(is_object ? *byte | bit : *byte & ~bit);
    self->depth++;
    if (self->depth > self->max_depth_seen)
        self->max_depth_seen = self->depth;
    return tg_json_go(self, state);
}

bool
tg_json_in_object(const tg_json *self)
{
    const size_t top = self->depth - 1;

    return (self->stack[top / 8] >> (top % 8) & 1) != 0;
}

bool
tg_json_pop(tg_json *self, bool is_object)
{
    if (self->depth == 0 || tg_json_in_object(self) != is_object)
        return tg_json_invalid(self);
    self->depth--;
    return tg_json_end_value(self);
}

bool
tg_json_open_string(tg_json *self, bool is_key)
{
    self->is_key = is_key;
    self->is_high_pending = false;
    return tg_json_go(self, TG_JSON_IN_STRING);
}

void
tg_json_drop_high(tg_json *self)
{
    self->is_lone_surrogate = self->is_lone_surrogate || self->is_high_pending;
    self->is_high_pending = false;
}

/* ---- the structural view ----------------------------------------------------------------------
 */

static bool
json_is_mark(uint8_t byte)
{
    return byte != 0 && strchr("{}[],:\"", byte) != NULL;
}

static bool
json_light_value(tg_json *self, uint8_t byte)
{
    switch (byte) {
    case '{':
        return tg_json_push(self, true, TG_JSON_IN_CONTAINER);
    case '[':
        return tg_json_push(self, false, TG_JSON_IN_CONTAINER);
    case '}':
        return tg_json_pop(self, true);
    case ']':
        return tg_json_pop(self, false);
    case '"':
        return tg_json_open_string(self, false);
    default:
        return true;
    }
}

bool
tg_json_step_structural(tg_json *self, uint8_t byte)
{
    switch (self->state) {
    case TG_JSON_BEFORE_VALUE:
        if (tg_json_is_blank(byte))
            return true;
        if (byte == ',' || byte == ':')
            return tg_json_invalid(self);
        self->state = TG_JSON_IN_WORD;
        return json_light_value(self, byte);
    case TG_JSON_IN_CONTAINER:
        return json_light_value(self, byte);
    case TG_JSON_IN_STRING:
        if (byte == '"')
            return tg_json_end_value(self);
        return byte != '\\' || tg_json_go(self, TG_JSON_AFTER_BACKSLASH);
    case TG_JSON_AFTER_BACKSLASH:
        return tg_json_go(self, TG_JSON_IN_STRING);
    case TG_JSON_IN_WORD:
        if (tg_json_is_blank(byte))
            return tg_json_close(self, 0);
        return !json_is_mark(byte) || tg_json_invalid(self);
    case TG_JSON_AFTER_TEXT:
        return tg_json_after_text(self, byte);
    case TG_JSON_BEFORE_FIRST_ELEMENT:
    case TG_JSON_BEFORE_FIRST_KEY:
    case TG_JSON_BEFORE_KEY:
    case TG_JSON_BEFORE_COLON:
    case TG_JSON_AFTER_VALUE:
    case TG_JSON_IN_CHARACTER:
    case TG_JSON_IN_HEX:
    case TG_JSON_AFTER_MINUS:
    case TG_JSON_AFTER_ZERO:
    case TG_JSON_IN_INTEGER:
    case TG_JSON_AFTER_POINT:
    case TG_JSON_IN_FRACTION:
    case TG_JSON_AFTER_E:
    case TG_JSON_AFTER_E_SIGN:
    case TG_JSON_IN_EXPONENT:
    case TG_JSON_IN_LITERAL:
    case TG_JSON_BROKEN:
        break;
    }
    return false; /* not a state of this view */
}

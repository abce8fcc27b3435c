/* tg_json_strict.c - the step of the strict view: RFC 8259, byte by byte.
 *
 * A number has no end of its own: the byte after it ends it, and is then read as what follows a
 * value; at top level only white space may.
 *
 * Refuses: every leniency (comments, NaN, a BOM, trailing commas, raw control characters).
 */
#include "tg_json_step.h"

static bool
json_open_literal(tg_json *self, const char *literal)
{
    self->literal = literal;
    self->literal_pos = 1;
    return tg_json_go(self, TG_JSON_IN_LITERAL);
}

static bool
json_open_integer(tg_json *self)
{
    self->number_off = self->off;
    return tg_json_go(self, TG_JSON_IN_INTEGER);
}

/* RFC 8259, 3: "A JSON value MUST be an object, array, number, or string, or one of the following
 * three literal names". */
static bool
json_open_value(tg_json *self, uint8_t byte)
{
    switch (byte) {
    case '{':
        return tg_json_push(self, true, TG_JSON_BEFORE_FIRST_KEY);
    case '[':
        return tg_json_push(self, false, TG_JSON_BEFORE_FIRST_ELEMENT);
    case '"':
        return tg_json_open_string(self, false);
    case '-':
        return tg_json_go(self, TG_JSON_AFTER_MINUS);
    case '0':
        return tg_json_go(self, TG_JSON_AFTER_ZERO);
    case 't':
        return json_open_literal(self, "true");
    case 'f':
        return json_open_literal(self, "false");
    case 'n':
        return json_open_literal(self, "null");
    default:
        return tg_json_is_digit(byte) ? json_open_integer(self) : tg_json_invalid(self);
    }
}

static bool
json_after_value(tg_json *self, uint8_t byte)
{
    switch (byte) {
    case ',':
        return tg_json_go(self,
                          tg_json_in_object(self) ? TG_JSON_BEFORE_KEY : TG_JSON_BEFORE_VALUE);
    case '}':
        return tg_json_pop(self, true);
    case ']':
        return tg_json_pop(self, false);
    default:
        return tg_json_is_blank(byte) || tg_json_invalid(self);
    }
}

/* The byte does not belong to the number: it ends it, if it may follow a value. */
static bool
json_after_number(tg_json *self, uint8_t byte)
{
    if (self->depth > 0) {
        self->state = TG_JSON_AFTER_VALUE;
        return json_after_value(self, byte);
    }
    if (!tg_json_is_blank(byte))
        return tg_json_invalid(self);
    return tg_json_close(self, 0);
}

static bool
json_after_fraction(tg_json *self, uint8_t byte)
{
    if (byte == 'e' || byte == 'E') {
        self->has_large_number = true;
        return tg_json_go(self, TG_JSON_AFTER_E);
    }
    return json_after_number(self, byte);
}

static bool
json_after_integer(tg_json *self, uint8_t byte)
{
    if (byte == '.')
        return tg_json_go(self, TG_JSON_AFTER_POINT);
    return json_after_fraction(self, byte);
}

/* RFC 8259, 7: all but quotation mark, reverse solidus and U+0000 to U+001F stand for themselves.
 */
static bool
json_in_string(tg_json *self, uint8_t byte)
{
    if (byte == '\\')
        return tg_json_go(self, TG_JSON_AFTER_BACKSLASH);
    tg_json_drop_high(self);
    if (byte == '"')
        return self->is_key ? tg_json_go(self, TG_JSON_BEFORE_COLON) : tg_json_end_value(self);
    if (byte < 0x20)
        return tg_json_invalid(self);
    if (byte < 0x80)
        return true;
    if (!tg_utf8_open(&self->utf8, byte))
        return tg_json_invalid(self);
    return tg_json_go(self, TG_JSON_IN_CHARACTER);
}

static bool
json_in_character(tg_json *self, uint8_t byte)
{
    if (!tg_utf8_take(&self->utf8, byte))
        return tg_json_invalid(self);
    return tg_json_go(self, self->utf8.need > 0 ? TG_JSON_IN_CHARACTER : TG_JSON_IN_STRING);
}

static bool
json_after_backslash(tg_json *self, uint8_t byte)
{
    if (byte == 'u') {
        self->hex_len = 0;
        self->hex_value = 0;
        return tg_json_go(self, TG_JSON_IN_HEX);
    }
    switch (byte) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        tg_json_drop_high(self);
        return tg_json_go(self, TG_JSON_IN_STRING);
    default:
        return tg_json_invalid(self);
    }
}

static bool
json_in_hex(tg_json *self, uint8_t byte)
{
    const uint8_t lower = (uint8_t)(byte | 0x20);
    unsigned digit;

    if (tg_json_is_digit(byte))
        digit = byte - (unsigned)'0';
    else if (lower >= 'a' && lower <= 'f')
        digit = lower - (unsigned)'a' + 10;
    else
        return tg_json_invalid(self);
    self->hex_value = (uint16_t)((unsigned)self->hex_value << 4 | digit);
    self->hex_len++;
    if (self->hex_len < 4)
        return true;
    /* RFC 8259, 8.2: the grammar allows an unpaired surrogate; a reader wants to know of it. */
    if (self->hex_value >= 0xdc00 && self->hex_value <= 0xdfff && self->is_high_pending) {
        self->is_high_pending = false;
    } else {
        tg_json_drop_high(self);
        self->is_high_pending = self->hex_value >= 0xd800 && self->hex_value <= 0xdbff;
        if (self->hex_value >= 0xdc00 && self->hex_value <= 0xdfff)
            self->is_lone_surrogate = true;
    }
    return tg_json_go(self, TG_JSON_IN_STRING);
}

static bool
json_in_literal(tg_json *self, uint8_t byte)
{
    if (byte != (uint8_t)self->literal[self->literal_pos])
        return tg_json_invalid(self);
    self->literal_pos++;
    if (self->literal[self->literal_pos] != '\0')
        return true;
    return tg_json_end_value(self);
}

bool
tg_json_step_strict(tg_json *self, uint8_t byte)
{
    switch (self->state) {
    case TG_JSON_BEFORE_VALUE:
        return tg_json_is_blank(byte) || json_open_value(self, byte);
    case TG_JSON_BEFORE_FIRST_ELEMENT:
        if (byte == ']')
            return tg_json_pop(self, false);
        return tg_json_is_blank(byte) || json_open_value(self, byte);
    case TG_JSON_BEFORE_FIRST_KEY:
        if (byte == '}')
            return tg_json_pop(self, true);
        if (byte == '"')
            return tg_json_open_string(self, true);
        return tg_json_is_blank(byte) || tg_json_invalid(self);
    case TG_JSON_BEFORE_KEY:
        if (byte == '"')
            return tg_json_open_string(self, true);
        return tg_json_is_blank(byte) || tg_json_invalid(self);
    case TG_JSON_BEFORE_COLON:
        if (byte == ':')
            return tg_json_go(self, TG_JSON_BEFORE_VALUE);
        return tg_json_is_blank(byte) || tg_json_invalid(self);
    case TG_JSON_AFTER_VALUE:
        return json_after_value(self, byte);
    case TG_JSON_AFTER_TEXT:
        return tg_json_after_text(self, byte);
    case TG_JSON_IN_STRING:
        return json_in_string(self, byte);
    case TG_JSON_IN_CHARACTER:
        return json_in_character(self, byte);
    case TG_JSON_AFTER_BACKSLASH:
        return json_after_backslash(self, byte);
    case TG_JSON_IN_HEX:
        return json_in_hex(self, byte);
    case TG_JSON_AFTER_MINUS:
        if (byte == '0')
            return tg_json_go(self, TG_JSON_AFTER_ZERO);
        return tg_json_is_digit(byte) ? json_open_integer(self) : tg_json_invalid(self);
    case TG_JSON_AFTER_ZERO:
        /* RFC 8259, 6: "Leading zeros are not allowed": a zero is followed by no digit. */
        return json_after_integer(self, byte);
    case TG_JSON_IN_INTEGER:
        if (tg_json_is_digit(byte))
            return true;
        /* The largest double has 309 digits. */
        self->has_large_number = self->has_large_number || self->off - self->number_off >= 309;
        return json_after_integer(self, byte);
    case TG_JSON_AFTER_POINT:
        return tg_json_is_digit(byte) ? tg_json_go(self, TG_JSON_IN_FRACTION)
                                      : tg_json_invalid(self);
    case TG_JSON_IN_FRACTION:
        return tg_json_is_digit(byte) || json_after_fraction(self, byte);
    case TG_JSON_AFTER_E:
        if (byte == '+' || byte == '-')
            return tg_json_go(self, TG_JSON_AFTER_E_SIGN);
        return tg_json_is_digit(byte) ? tg_json_go(self, TG_JSON_IN_EXPONENT)
                                      : tg_json_invalid(self);
    case TG_JSON_AFTER_E_SIGN:
        return tg_json_is_digit(byte) ? tg_json_go(self, TG_JSON_IN_EXPONENT)
                                      : tg_json_invalid(self);
    case TG_JSON_IN_EXPONENT:
        return tg_json_is_digit(byte) || json_after_number(self, byte);
    case TG_JSON_IN_LITERAL:
        return json_in_literal(self, byte);
    case TG_JSON_IN_CONTAINER:
    case TG_JSON_IN_WORD:
    case TG_JSON_BROKEN:
        break;
    }
    return false; /* not a state of this view */
}

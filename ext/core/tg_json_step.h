/* tg_json_step.h - between tg_json.c and the two step functions; no business of a caller.
 *
 * Rules
 *  - Every function that returns bool answers false for: the text is broken now (or, of the
 *    predicates, for no). The byte in hand is then not taken.
 *  - A step takes one byte in any state of its view; off is moved by its caller.
 */
#ifndef TG_JSON_STEP_H
#define TG_JSON_STEP_H

#include "tg_json.h"

/* The two machines: one byte each. */
bool tg_json_step_strict(tg_json *self, uint8_t byte);
bool tg_json_step_structural(tg_json *self, uint8_t byte);

/* Their common parts. */
bool tg_json_break(tg_json *self, tg_status status);
bool tg_json_invalid(tg_json *self);
bool tg_json_go(tg_json *self, tg_json_state state);
/* The top-level value is whole; its end lies size bytes after the bytes taken. */
bool tg_json_close(tg_json *self, unsigned size);
/* A value whose last byte is the one in hand is whole. */
bool tg_json_end_value(tg_json *self);
bool tg_json_after_text(tg_json *self, uint8_t byte);
bool tg_json_push(tg_json *self, bool is_object, tg_json_state state);
bool tg_json_pop(tg_json *self, bool is_object);
bool tg_json_open_string(tg_json *self, bool is_key);
/* Anything but the low half that an escaped high surrogate waits for leaves it alone. */
void tg_json_drop_high(tg_json *self);

bool tg_json_in_object(const tg_json *self); /* the innermost container; depth > 0 */
bool tg_json_is_blank(uint8_t byte);
bool tg_json_is_digit(uint8_t byte);

#endif

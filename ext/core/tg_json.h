/* tg_json.h - where a JSON text that arrives in pieces ends, and whether it can still be one.
 *
 * Two views of the same text:
 *  - TG_JSON_STRICT: RFC 8259 in full: grammar, escapes, control characters, UTF-8, no NaN. Invalid
 *    at the first byte that cannot be part of any JSON text.
 *  - TG_JSON_STRUCTURAL: brackets, strings and backslashes alone; validity is somebody else's work.
 *
 * Rules
 *  - No recursion: one bit per open array or object, so memory is max_depth / 8 bytes at most.
 *  - The cut of the input is not an input.
 *  - A bare number (structural: a bare word) at top level is closed only by white space or finish.
 */
#ifndef TG_JSON_H
#define TG_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_alloc.h"
#include "tg_status.h"
#include "tg_utf8.h"

typedef enum tg_json_view { TG_JSON_STRICT, TG_JSON_STRUCTURAL } tg_json_view;

typedef enum tg_json_verdict {
    TG_JSON_EMPTY,   /* nothing or white space so far */
    TG_JSON_OPEN,    /* a proper beginning; more must or may come */
    TG_JSON_CLOSED,  /* exactly one value, and perhaps white space */
    TG_JSON_INVALID, /* nothing that follows can make it right */
    TG_JSON_TRAILING /* a value, then something other than white space */
} tg_json_verdict;

#define TG_JSON_NOWHERE UINT64_MAX

/* X(state, sentence): "seen so far / awaiting". One list for both views; the table in
 * docs/state-machines.md is made from it. */
#define TG_JSON_STATES(X)                                                                    \
    X(TG_JSON_BEFORE_VALUE, "where a value must stand / its first byte")                     \
    X(TG_JSON_BEFORE_FIRST_ELEMENT, "`[` / a value or `]`")                                  \
    X(TG_JSON_BEFORE_FIRST_KEY, "`{` / a key or `}`")                                        \
    X(TG_JSON_BEFORE_KEY, "`,` in an object / a key")                                        \
    X(TG_JSON_BEFORE_COLON, "a key / `:`")                                                   \
    X(TG_JSON_AFTER_VALUE, "a value in an array or object / `,` or the closer")              \
    X(TG_JSON_AFTER_TEXT, "the whole top-level value / white space alone")                   \
    X(TG_JSON_IN_STRING, "the opening quote and perhaps characters / the closing quote")     \
    X(TG_JSON_IN_CHARACTER, "part of a UTF-8 sequence in a string / its next byte")          \
    X(TG_JSON_AFTER_BACKSLASH, "a backslash in a string / the letter of the escape")         \
    X(TG_JSON_IN_HEX, "`\\u` and fewer than four digits / a hexadecimal digit")              \
    X(TG_JSON_AFTER_MINUS, "`-` / the first digit")                                          \
    X(TG_JSON_AFTER_ZERO, "a leading `0` / `.`, `e`, or the end of the number")              \
    X(TG_JSON_IN_INTEGER, "digits / more digits, `.`, `e`, or the end of the number")        \
    X(TG_JSON_AFTER_POINT, "`.` / the first digit of the fraction")                          \
    X(TG_JSON_IN_FRACTION, "digits of the fraction / more digits, `e`, or the end")          \
    X(TG_JSON_AFTER_E, "`e` / a sign or the first digit of the exponent")                    \
    X(TG_JSON_AFTER_E_SIGN, "the sign of the exponent / its first digit")                    \
    X(TG_JSON_IN_EXPONENT, "digits of the exponent / more digits, or the end of the number") \
    X(TG_JSON_IN_LITERAL, "part of true, false or null / its next letter")                   \
    X(TG_JSON_IN_CONTAINER, "(structural) an opener / its closer, or a string")              \
    X(TG_JSON_IN_WORD, "(structural) a bare word at top level / white space or the end")     \
    X(TG_JSON_BROKEN, "the byte that made it wrong / nothing")

typedef enum tg_json_state {
#define TG_JSON_ENUM(name, sentence) name,
    TG_JSON_STATES(TG_JSON_ENUM)
#undef TG_JSON_ENUM
} tg_json_state;

typedef struct tg_json {
    tg_alloc alloc;
    tg_json_view view;
    tg_json_state state;
    tg_status error; /* sticky; TG_OK while nothing is wrong */
    bool is_finished;
    bool has_large_number;  /* strict: one has an exponent or 309 digits and more: it may overflow a
                               double */
    bool is_lone_surrogate; /* an escape \uD800..\uDFFF without its partner was seen */
    bool is_high_pending;   /* the last thing in this string was an escaped high surrogate */
    bool is_key;            /* the open string is a member name */
    uint8_t hex_len;        /* digits of the open \u escape so far */
    uint16_t hex_value;
    tg_utf8 utf8; /* the open character of a string */
    uint8_t literal_pos;
    const char *literal; /* "true", "false" or "null" while one is open */
    uint8_t *stack;      /* one bit per open container: 1 object, 0 array */
    size_t stack_size;   /* bytes allocated */
    size_t depth;
    size_t max_depth;
    size_t max_depth_seen;
    uint64_t off;        /* bytes taken */
    uint64_t number_off; /* of the open integer */
    uint64_t closed_off; /* just past the value, or TG_JSON_NOWHERE */
    uint64_t error_off;  /* the byte that broke it, or TG_JSON_NOWHERE */
} tg_json;

const char *tg_json_state_name(tg_json_state state);

/* alloc is copied; NULL means the default. Allocates nothing. */
void tg_json_init(tg_json *self, const tg_alloc *alloc, tg_json_view view, size_t max_depth);
/* Back to the state after init, errors included; frees the stack. */
void tg_json_reset(tg_json *self);
void tg_json_free(tg_json *self);

/* Takes all of the bytes, or those before the one that broke it. TG_MORE: empty or open.
 * TG_OK: closed. TG_ERR_JSON_INVALID, TG_ERR_JSON_TRAILING, TG_ERR_DEPTH_TOO_LARGE,
 * TG_ERR_NO_MEMORY: sticky. TG_ERR_FINISHED: fed after finish, changes nothing. */
tg_status tg_json_feed(tg_json *self, const uint8_t *ptr, size_t len);
/* Declares the end of the text: closes a bare number or word. Idempotent. TG_OK: closed;
 * TG_MORE: empty or open; else the sticky error. */
tg_status tg_json_finish(tg_json *self);
/* A pure reading of the state; TG_JSON_INVALID for every error but TG_ERR_JSON_TRAILING. */
tg_json_verdict tg_json_read(const tg_json *self);

#endif

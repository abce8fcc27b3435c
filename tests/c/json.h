/* json.h - a small reader for the vector files: trusted, plain ASCII, one vector per line.
 *
 * It shares nothing with tg_json, which it helps to test. It exits on what it cannot read.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
} json_kind;

typedef struct json_value {
    json_kind kind;
    bool truth;
    char *text; /* a string in UTF-8, or a number as written; ends with a NUL */
    size_t len;
    struct json_value *items; /* of an array or an object */
    char **names;             /* of an object */
    size_t count;
} json_value;

/* One value from the start of text. */
json_value json_read(const char *text);
void json_free(json_value *value);
/* The member; NULL if there is none or it is null. */
const json_value *json_get(const json_value *object, const char *name);
/* The number of a member, or otherwise if it is absent or null. */
uint64_t json_number(const json_value *object, const char *name, uint64_t otherwise);
/* The bytes of a Base64 string, of their exact size; free() them. */
uint8_t *json_base64(const json_value *string, size_t *len);

/* Calls take with each line of a vector file that holds a vector. */
void json_each_line(const char *path, void (*take)(const json_value *vector));

#endif

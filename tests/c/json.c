/* json.c - the reader of json.h: one function for each kind of value. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_value json_read_value(const char **at);

static void
json_die(const char *what, const char *at)
{
    fprintf(stderr, "json.c: %s at: %.40s\n", what, at);
    exit(3);
}

static void *
json_grow(void *ptr, size_t size)
{
    void *fresh = realloc(ptr, size);

    if (fresh == NULL)
        json_die("no memory", "");
    return fresh;
}

static void
json_skip(const char **at)
{
    while (**at == ' ' || **at == '\t' || **at == '\n' || **at == '\r')
        ++*at;
}

static unsigned
json_read_hex(const char **at)
{
    unsigned value = 0;
    int i;

    for (i = 0; i < 4; i++, ++*at) {
        const char c = **at;

        if (c >= '0' && c <= '9')
            value = value * 16 + (unsigned)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            value = value * 16 + (unsigned)((c | 0x20) - 'a' + 10);
        else
            json_die("bad escape", *at);
    }
    return value;
}

static void
json_put(json_value *out, unsigned code)
{
    static const struct {
        unsigned below, lead;
        int more;
    } forms[] = {{0x80, 0, 0}, {0x800, 0xc0, 1}, {0x10000, 0xe0, 2}, {0x110000, 0xf0, 3}};
    size_t form = 0;
    int i;

    while (code >= forms[form].below)
        form++;
    out->text[out->len++] = (char)(forms[form].lead | code >> (6 * forms[form].more));
    for (i = forms[form].more - 1; i >= 0; i--)
        out->text[out->len++] = (char)(0x80 | (code >> (6 * i) & 0x3f));
}

static void
json_read_escape(const char **at, json_value *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char c = *(*at)++;
    const char *found;
    unsigned code;

    if (c != 'u') {
        found = strchr(from, c);
        if (c == '\0' || found == NULL)
            json_die("bad escape", *at);
        else
            out->text[out->len++] = to[found - from];
        return;
    }
    code = json_read_hex(at);
    if (code >= 0xd800 && code < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        *at += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + (json_read_hex(at) - 0xdc00);
    }
    json_put(out, code);
}

static json_value
json_read_string(const char **at)
{
    json_value value = {.kind = JSON_STRING};
    const char *end = *at + 1;

    while (*end != '"') {
        if (*end == '\0')
            json_die("open string", *at);
        end += *end == '\\' ? 2 : 1;
    }
    value.text = json_grow(NULL, (size_t)(end - *at) + 1); /* no escape is shorter than its text */
    ++*at;
    while (*at < end) {
        if (**at == '\\') {
            ++*at;
            json_read_escape(at, &value);
        } else {
            value.text[value.len++] = *(*at)++;
        }
    }
    value.text[value.len] = '\0';
    ++*at;
    return value;
}

static json_value
json_read_list(const char **at, char closer)
{
    json_value value = {.kind = closer == ']' ? JSON_ARRAY : JSON_OBJECT};

    ++*at;
    json_skip(at);
    while (**at != closer) {
        if ((value.count & (value.count + 1)) == 0) {
            value.items = json_grow(value.items, (2 * value.count + 1) * sizeof *value.items);
            value.names = json_grow(value.names, (2 * value.count + 1) * sizeof *value.names);
        }
        value.names[value.count] = NULL;
        if (closer == '}') {
            value.names[value.count] = json_read_string(at).text;
            json_skip(at);
            if (*(*at)++ != ':')
                json_die("no colon", *at);
        }
        value.items[value.count++] = json_read_value(at);
        json_skip(at);
        if (**at == ',')
            ++*at;
        else if (**at != closer)
            json_die("no comma", *at);
        json_skip(at);
    }
    ++*at;
    return value;
}

static json_value
json_read_word(const char **at)
{
    json_value value = {.kind = JSON_NUMBER};
    const size_t len = strcspn(*at, ",]} \t\r\n");

    if (len == 0)
        json_die("no value", *at);
    value.text = json_grow(NULL, len + 1);
    memcpy(value.text, *at, len);
    value.text[len] = '\0';
    value.len = len;
    *at += len;
    value.truth = strcmp(value.text, "true") == 0;
    if (value.truth || strcmp(value.text, "false") == 0)
        value.kind = JSON_BOOL;
    else if (strcmp(value.text, "null") == 0)
        value.kind = JSON_NULL;
    return value;
}

static json_value
json_read_value(const char **at)
{
    json_skip(at);
    if (**at == '"')
        return json_read_string(at);
    if (**at == '[')
        return json_read_list(at, ']');
    if (**at == '{')
        return json_read_list(at, '}');
    return json_read_word(at);
}

json_value
json_read(const char *text)
{
    return json_read_value(&text);
}

void
json_free(json_value *value)
{
    size_t i;

    for (i = 0; i < value->count; i++) {
        json_free(&value->items[i]);
        free(value->names[i]);
    }
    free(value->items);
    free(value->names);
    free(value->text);
}

const json_value *
json_get(const json_value *object, const char *name)
{
    size_t i;

    for (i = 0; i < object->count; i++)
        if (strcmp(object->names[i], name) == 0)
            return object->items[i].kind == JSON_NULL ? NULL : &object->items[i];
    return NULL;
}

uint64_t
json_number(const json_value *object, const char *name, uint64_t otherwise)
{
    const json_value *value = json_get(object, name);

    return value != NULL ? strtoull(value->text, NULL, 10) : otherwise;
}

uint8_t *
json_base64(const json_value *string, size_t *len)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t pad = strcspn(string->text, "=");
    uint8_t *bytes = json_grow(NULL, pad * 3 / 4 + 1);
    unsigned bits = 0;
    size_t i;

    *len = 0;
    for (i = 0; i < pad; i++) {
        const char *found = strchr(alphabet, string->text[i]);

        if (found == NULL)
            json_die("bad Base64", string->text + i);
        else
            bits = bits << 6 | (unsigned)(found - alphabet);
        if (i % 4 != 0)
            bytes[(*len)++] = (uint8_t)(bits >> (6 - i % 4 * 2));
    }
    return bytes;
}

void
json_each_line(const char *path, void (*take)(const json_value *vector))
{
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t size = 0, len = 0;

    if (file == NULL)
        json_die("cannot open the vectors", path);
    for (;;) {
        const int c = fgetc(file);

        if (c != EOF && c != '\n') {
            if (len + 1 >= size)
                line = json_grow(line, size = 2 * size + 4096);
            line[len++] = (char)c;
            continue;
        }
        if (len > 0 && line[0] == '{') {
            json_value vector;

            line[len] = '\0';
            vector = json_read(line);
            take(&vector);
            json_free(&vector);
        }
        len = 0;
        if (c == EOF)
            break;
    }
    free(line);
    fclose(file);
}

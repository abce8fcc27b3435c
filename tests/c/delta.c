/* delta.c - the shapes of delta.h, and a reader that looks at everything as often as it likes. */
#include "delta.h"

#include <string.h>

#include "tg_json.h"

/* ---- the shapes -------------------------------------------------------------------------------
 */

static tg_span
span_of(const char *text, size_t len)
{
    const tg_span span = {(const uint8_t *)text, len};

    return span;
}

static bool
declare(tg_shapes *shapes, const delta_place *row)
{
    tg_span path[TG_PICK_DEPTH];
    const char *name = row->path;
    size_t depth = 0;

    for (;;) {
        const size_t len = strcspn(name, ".");

        path[depth++] = span_of(name, *name == '*' ? 0 : len);
        if (name[len] == '\0')
            break;
        name += len + 1;
    }
    return tg_shapes_add(shapes, path, depth, row->role,
                         span_of(row->literal, row->literal != NULL ? strlen(row->literal) : 0));
}

bool
delta_declare_places(tg_shapes *shapes, const delta_place *places, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (!declare(shapes, &places[i]))
            return false;
    return true;
}

bool
delta_declare(tg_shapes *shapes)
{
    static const delta_place common[] = {{"seq", TG_ROLE_SEQUENCE, NULL},
                                         {"i", TG_ROLE_FIXED, NULL},
                                         {"meta", TG_ROLE_FIXED, NULL},
                                         {"pad", TG_ROLE_IGNORED, NULL}};
    static const delta_place text[] = {{"type", TG_ROLE_LITERAL, "\"d\""},
                                       {"text", TG_ROLE_TEXT, NULL}};
    static const delta_place alt[] = {{"type", TG_ROLE_LITERAL, "\"d\""},
                                      {"alt", TG_ROLE_TEXT, NULL}};
    static const delta_place args[] = {{"type", TG_ROLE_LITERAL, "\"a\""},
                                       {"delta", TG_ROLE_OBJECT, NULL},
                                       {"delta.args", TG_ROLE_TEXT, NULL},
                                       {"delta.note", TG_ROLE_EMPTY, NULL}};
    static const delta_place list[] = {
        {"list", TG_ROLE_ARRAY, NULL},          {"list.*", TG_ROLE_OBJECT, NULL},
        {"list.*.i", TG_ROLE_FIXED, NULL},      {"list.*.end", TG_ROLE_EMPTY, NULL},
        {"list.*.delta", TG_ROLE_OBJECT, NULL}, {"n", TG_ROLE_IGNORED, NULL},
        {"meta", TG_ROLE_FIXED, NULL}};
    static const delta_place content[] = {{"list.*.delta.c", TG_ROLE_TEXT, NULL},
                                          {"list.*.delta.r", TG_ROLE_EMPTY, NULL}};
    static const delta_place reason[] = {{"list.*.delta.c", TG_ROLE_EMPTY, NULL},
                                         {"list.*.delta.r", TG_ROLE_TEXT, NULL}};

    return tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, common) &&
           DELTA_DECLARE(shapes, text) && tg_shapes_begin(shapes) &&
           DELTA_DECLARE(shapes, common) && DELTA_DECLARE(shapes, alt) && tg_shapes_begin(shapes) &&
           DELTA_DECLARE(shapes, common) && DELTA_DECLARE(shapes, args) &&
           tg_shapes_begin(shapes) && DELTA_DECLARE(shapes, list) &&
           DELTA_DECLARE(shapes, content) && tg_shapes_begin(shapes) &&
           DELTA_DECLARE(shapes, list) && DELTA_DECLARE(shapes, reason);
}

/* ---- JSON that is known to be right -----------------------------------------------------------
 */

static const uint8_t *
skip_blank(const uint8_t *ptr, const uint8_t *end)
{
    while (ptr < end && (*ptr == ' ' || *ptr == '\t' || *ptr == '\n' || *ptr == '\r'))
        ptr++;
    return ptr;
}

static const uint8_t *
skip_string(const uint8_t *ptr)
{
    for (ptr++; *ptr != '"'; ptr++)
        ptr += *ptr == '\\';
    return ptr + 1;
}

static const uint8_t *
skip_value(const uint8_t *ptr, const uint8_t *end)
{
    size_t depth = 0;

    do {
        if (*ptr == '"') {
            ptr = skip_string(ptr);
            continue;
        }
        if (*ptr == '{' || *ptr == '[')
            depth++;
        else if (*ptr == '}' || *ptr == ']')
            depth--;
        else if (depth == 0) {
            while (ptr < end && strchr(" \t\n\r,]}", *ptr) == NULL)
                ptr++;
            return ptr;
        }
        ptr++;
    } while (depth > 0);
    return ptr;
}

static bool
is_json(tg_span text)
{
    tg_json json;
    tg_status status;

    tg_json_init(&json, NULL, TG_JSON_STRICT, 64);
    status = tg_json_feed(&json, text.ptr, text.len);
    status = status == TG_OK || status == TG_MORE ? tg_json_finish(&json) : status;
    tg_json_free(&json);
    return status == TG_OK;
}

/* The next thing in a container: of an object its name too. *from moves behind it. */
static bool
next_in(tg_span container, size_t *from, tg_span *name, tg_span *value)
{
    const uint8_t *end = container.ptr + container.len - 1;
    const uint8_t *ptr = skip_blank(container.ptr + *from, end);

    if (ptr == end)
        return false;
    ptr = *ptr == ',' || *from == 0 ? skip_blank(ptr + 1, end) : ptr;
    if (ptr == end)
        return false; /* nothing but blanks in it */
    if (container.ptr[0] == '{') {
        name->ptr = ptr;
        ptr = skip_string(ptr);
        name->len = (size_t)(ptr - name->ptr);
        ptr = skip_blank(skip_blank(ptr, end) + 1, end);
    }
    value->ptr = ptr;
    ptr = skip_value(ptr, end);
    value->len = (size_t)(ptr - value->ptr);
    *from = (size_t)(ptr - container.ptr);
    return true;
}

/* ---- strings ----------------------------------------------------------------------------------
 */

static uint32_t
hex_of(const uint8_t *ptr)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    uint32_t value = 0;
    size_t i;

    for (i = 0; i < 4; i++)
        value = value * 16 + ((uint32_t)(strchr(digits, ptr[i]) - digits) & 15);
    return value;
}

static void
add_character(wire *out, uint32_t code)
{
    const uint8_t tail = (uint8_t)(0x80 | (code & 63));
    const uint8_t two[2] = {(uint8_t)(0xc0 | code >> 6), tail};
    const uint8_t three[3] = {(uint8_t)(0xe0 | code >> 12), (uint8_t)(0x80 | (code >> 6 & 63)),
                              tail};
    const uint8_t four[4] = {(uint8_t)(0xf0 | code >> 18), (uint8_t)(0x80 | (code >> 12 & 63)),
                             (uint8_t)(0x80 | (code >> 6 & 63)), tail};

    if (code < 0x80)
        wire_add(out, &(uint8_t){(uint8_t)code}, 1);
    else if (code < 0x800)
        wire_add(out, two, 2);
    else if (code < 0x10000)
        wire_add(out, three, 3);
    else
        wire_add(out, four, 4);
}

/* The text of a string; false if it has half a surrogate pair. */
static bool
decode(tg_span string, wire *out)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const uint8_t *ptr = string.ptr + 1;
    uint32_t code, low;

    while (*ptr != '"') {
        if (*ptr != '\\') {
            wire_add(out, ptr++, 1);
        } else if (ptr[1] != 'u') {
            const char *name = strchr(from, ptr[1]);

            wire_add(out, name != NULL ? (const uint8_t *)to + (name - from) : ptr + 1, 1);
            ptr += 2;
        } else {
            code = hex_of(ptr + 2);
            ptr += 6;
            if (code >= 0xd800 && code < 0xe000) {
                low = code < 0xdc00 && ptr[0] == '\\' && ptr[1] == 'u' ? hex_of(ptr + 2) : 0;
                if (low < 0xdc00 || low >= 0xe000)
                    return false;
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                ptr += 6;
            }
            add_character(out, code);
        }
    }
    return true;
}

static bool
is_text(tg_span string, const char *text)
{
    wire decoded = {0};
    bool is_same;

    /* What has no escape in it, as nearly all, is compared where it stands. */
    if (memchr(string.ptr, '\\', string.len) == NULL)
        return string.len == strlen(text) + 2 && memcmp(string.ptr + 1, text, strlen(text)) == 0;
    wire_add(&decoded, "", 0);
    is_same = decode(string, &decoded) && decoded.len == strlen(text) &&
              memcmp(decoded.ptr, text, decoded.len) == 0;
    wire_free(&decoded);
    return is_same;
}

/* ---- the events -------------------------------------------------------------------------------
 */

/* The member, the last one of that name; of length 0 if there is none. */
static tg_span
member(tg_span object, const char *name)
{
    tg_span found = tg_span_empty();
    tg_span key, value;
    size_t from = 0;

    while (next_in(object, &from, &key, &value))
        if (is_text(key, name))
            found = value;
    return found;
}

/* Whether all names are among those of the list, each of which ends with a NUL. */
static bool
has_only(tg_span object, const char *list)
{
    tg_span key, value;
    size_t from = 0;

    while (next_in(object, &from, &key, &value)) {
        const char *word = list;
        bool is_known = false;

        for (word = list; *word != '\0' && !is_known; word += strlen(word) + 1)
            is_known = is_text(key, word);
        if (!is_known)
            return false;
    }
    return true;
}

static bool
is_kind(tg_span value, char opener)
{
    return value.len > 0 && value.ptr[0] == opener;
}

static bool
is_integer(tg_span value)
{
    size_t i = value.len > 0 && value.ptr[0] == '-';

    if (i == value.len)
        return false;
    while (i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9')
        i++;
    return i == value.len;
}

/* Missing, null, or nothing within. */
static bool
is_nothing(tg_span value)
{
    tg_span key, inner;
    size_t from = 0;

    if (value.len == 0 || is_kind(value, 'n') || (is_kind(value, '"') && value.len == 2))
        return true;
    return (is_kind(value, '{') || is_kind(value, '[')) && !next_in(value, &from, &key, &inner);
}

static const char *
read_sequence(delta *out, tg_span value)
{
    size_t i;

    if (value.len == 0)
        return NULL;
    if (!is_integer(value) || value.ptr[0] == '-' || value.len > 18)
        return "an odd sequence number";
    out->has_sequence = true;
    for (i = 0; i < value.len; i++)
        out->sequence = out->sequence * 10 + (uint64_t)(value.ptr[i] - '0');
    return NULL;
}

static bool
is_padding(tg_span value)
{
    return value.len == 0 || is_kind(value, '"') || is_integer(value);
}

static const char *
read_text(delta *out, tg_span value)
{
    if (!is_kind(value, '"'))
        return "no text";
    return decode(value, &out->text) ? NULL : "half a character";
}

static const char *
read_typed(delta *out, tg_span event)
{
    const tg_span type = member(event, "type");
    const tg_span text = member(event, "text"), alt = member(event, "alt");
    const tg_span inner = member(event, "delta");
    const char *problem = read_sequence(out, member(event, "seq"));

    out->index = member(event, "i");
    if (problem != NULL)
        return problem;
    if (!is_kind(type, '"') || !is_padding(member(event, "pad")))
        return "no type, or an odd padding";
    if (is_text(type, "d") && has_only(event, "type\0seq\0i\0meta\0text\0alt\0pad\0")) {
        out->kind = text.len > 0 ? 't' : 'x';
        return text.len > 0 && alt.len > 0 ? "two texts"
                                           : read_text(out, text.len > 0 ? text : alt);
    }
    if (!is_text(type, "a") || !is_kind(inner, '{') || !is_nothing(member(inner, "note")) ||
        !has_only(event, "type\0seq\0i\0meta\0delta\0pad\0") || !has_only(inner, "args\0note\0"))
        return "no such delta";
    out->kind = 'a';
    return read_text(out, member(inner, "args"));
}

static const char *
read_list(delta *out, tg_span event, tg_span list)
{
    tg_span element, more, name, inner, content, reason;
    size_t from = 0;

    if (!is_kind(list, '[') || !next_in(list, &from, &name, &element) ||
        next_in(list, &from, &name, &more) || !is_kind(element, '{'))
        return "no list of one";
    inner = member(element, "delta");
    if (!has_only(event, "list\0n\0meta\0") || !is_padding(member(event, "n")) ||
        !has_only(element, "i\0delta\0end\0") || !is_nothing(member(element, "end")) ||
        !is_kind(inner, '{') || !has_only(inner, "c\0r\0"))
        return "no such element";
    content = member(inner, "c");
    reason = member(inner, "r");
    out->index = member(element, "i");
    out->kind = is_nothing(content) && is_kind(reason, '"') ? 'r' : 'c';
    if (out->kind == 'c' && !is_nothing(reason))
        return "two texts";
    return read_text(out, out->kind == 'r' ? reason : content);
}

void
delta_read(delta *out, tg_span data)
{
    const tg_span none = tg_span_empty();
    const uint8_t *end = data.ptr + data.len;
    tg_span list;

    memset(out, 0, sizeof *out);
    out->index = out->meta = none;
    if (!is_json(data)) {
        out->problem = "no JSON";
        return;
    }
    data.ptr = skip_blank(data.ptr, end);
    data.len = (size_t)(skip_value(data.ptr, end) - data.ptr);
    if (!is_kind(data, '{')) {
        out->problem = "no object";
        return;
    }
    list = member(data, "list");
    out->meta = member(data, "meta");
    out->problem = list.len > 0 ? read_list(out, data, list) : read_typed(out, data);
}

void
delta_free(delta *self)
{
    wire_free(&self->text);
}

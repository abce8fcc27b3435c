/* tg_field.c - WHATWG HTML 9.2.6, "process the field": name, colon, space, value.
 *
 * Refuses: judging a value; that is the machine's part.
 */
#include "tg_field.h"

#include <string.h>

#include "tg_buf.h"

/* "Field names must be compared literally, with no case folding performed." The name of the line is
 * what precedes its first colon, or all of it. */
static bool
field_is(tg_span line, const char *name, size_t len)
{
    if (line.len < len || memcmp(line.ptr, name, len) != 0)
        return false;
    return line.len == len || line.ptr[len] == ':';
}

static tg_field_kind
field_kind(tg_span line, bool is_error_known, size_t *name_len)
{
    switch (line.ptr[0]) {
    case 'd':
        *name_len = 4;
        return field_is(line, "data", 4) ? TG_FIELD_DATA : TG_FIELD_IGNORED;
    case 'e':
        *name_len = 5;
        if (field_is(line, "event", 5))
            return TG_FIELD_EVENT;
        return is_error_known && field_is(line, "error", 5) ? TG_FIELD_ERROR : TG_FIELD_IGNORED;
    case 'i':
        *name_len = 2;
        return field_is(line, "id", 2) ? TG_FIELD_ID : TG_FIELD_IGNORED;
    case 'r':
        *name_len = 5;
        return field_is(line, "retry", 5) ? TG_FIELD_RETRY : TG_FIELD_IGNORED;
    default:
        /* "If the line starts with a U+003A COLON character: Ignore the line." "Otherwise: The
         * field is ignored." */
        *name_len = 0;
        return TG_FIELD_IGNORED;
    }
}

tg_field
tg_field_read(tg_span line, bool is_error_known)
{
    tg_field field = {TG_FIELD_BLANK, 0, tg_span_empty()};
    size_t pos;

    if (line.len == 0)
        return field;
    field.kind = field_kind(line, is_error_known, &pos);
    if (field.kind == TG_FIELD_IGNORED)
        return field;
    if (pos < line.len) {
        pos++;
        /* "If value starts with a U+0020 SPACE character, remove it from value." */
        if (pos < line.len && line.ptr[pos] == ' ')
            pos++;
        field.value.ptr = line.ptr + pos;
        field.value.len = line.len - pos;
    }
    /* else "the string is not empty but does not contain a U+003A COLON character": the whole line
     * is the name, and the empty string the value. */
    field.pos = pos;
    return field;
}

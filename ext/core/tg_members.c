/* tg_members.c - one walk over the marks of a JSON text; the names of the open objects are kept.
 *
 * A string is a name if a colon follows it. What is no mark (numbers, words, commas) is skipped.
 *
 * Refuses: judging the text; tg_json does.
 */
#include "tg_members.h"

#include <string.h>

#include "tg_scan.h"

typedef struct members {
    tg_span names[TG_MEMBERS_MOST]; /* of all open objects, the outermost first */
    size_t count;
    size_t first[TG_MEMBERS_LEVELS]; /* the count when the array or object began */
    size_t depth;
} members;

/* The place of the closing quote of the string whose text begins at pos, or len. Text is full of
 * escapes; only those of quotes stop memchr. */
static size_t
members_string_end(tg_span text, size_t pos)
{
    const size_t start = pos;

    while (pos < text.len) {
        const uint8_t *quote = memchr(text.ptr + pos, '"', text.len - pos);
        size_t at, before;

        if (quote == NULL)
            return text.len;
        at = (size_t)(quote - text.ptr);
        before = at;
        while (before > start && text.ptr[before - 1] == '\\')
            before--;
        if ((at - before) % 2 == 0)
            return at;
        pos = at + 1;
    }
    return text.len;
}

static bool
members_add(members *self, tg_span name)
{
    size_t i;

    if (self->depth == 0 || self->count == TG_MEMBERS_MOST)
        return false;
    if (name.len > 0 && memchr(name.ptr, '\\', name.len) != NULL)
        return false;
    for (i = self->first[self->depth - 1]; i < self->count; i++) {
        const tg_span other = self->names[i];

        if (other.len == name.len && memcmp(other.ptr, name.ptr, name.len) == 0)
            return false;
    }
    self->names[self->count++] = name;
    return true;
}

bool
tg_members_are_unique(tg_span text)
{
    members self;
    size_t pos = 0;

    self.count = 0;
    self.depth = 0;
    for (;;) {
        pos += tg_scan_json_mark(text.ptr + pos, text.len - pos);
        if (pos == text.len)
            return true;
        switch (text.ptr[pos++]) {
        case '"': {
            const size_t end = members_string_end(text, pos);
            const tg_span name = {text.ptr + pos, end - pos};

            if (end == text.len)
                return false;
            pos = end + 1;
            pos += tg_scan_non_blank(text.ptr + pos, text.len - pos);
            if (pos < text.len && text.ptr[pos] == ':' && !members_add(&self, name))
                return false;
            break;
        }
        case '{':
        case '[':
            if (self.depth == TG_MEMBERS_LEVELS)
                return false;
            self.first[self.depth++] = self.count;
            break;
        default:
            if (self.depth == 0)
                return false;
            self.count = self.first[--self.depth];
            break;
        }
    }
}

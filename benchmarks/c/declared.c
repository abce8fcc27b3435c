/* declared.c - reading of declared.h. */
#include "declared.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1024

typedef struct role_name {
    const char *name;
    tg_role role;
} role_name;

static const role_name ROLES[] = {
    {"object", TG_ROLE_OBJECT},     {"array", TG_ROLE_ARRAY},     {"literal", TG_ROLE_LITERAL},
    {"fixed", TG_ROLE_FIXED},       {"empty", TG_ROLE_EMPTY},     {"text", TG_ROLE_TEXT},
    {"sequence", TG_ROLE_SEQUENCE}, {"ignored", TG_ROLE_IGNORED},
};

/* The next word of the line; *rest becomes NULL behind the last one. */
static tg_span
next_word(const char **rest)
{
    const char *word = *rest;
    const char *tab = strchr(word, '\t');
    const tg_span span = {(const uint8_t *)word, tab != NULL ? (size_t)(tab - word) : strlen(word)};

    *rest = tab != NULL ? tab + 1 : NULL;
    return span;
}

static bool
take_place(tg_shapes *out, const char *line)
{
    tg_span path[TG_PICK_DEPTH];
    size_t depth = 0;
    const char *rest = line;
    const tg_span name = next_word(&rest);

    if (rest == NULL) {
        return false;
    }
    const tg_span literal = next_word(&rest);
    while (rest != NULL && depth < TG_PICK_DEPTH) {
        path[depth++] = next_word(&rest);
    }
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        if (strlen(ROLES[i].name) == name.len && memcmp(ROLES[i].name, name.ptr, name.len) == 0) {
            return rest == NULL && tg_shapes_add(out, path, depth, ROLES[i].role, literal);
        }
    }
    return false;
}

bool
declared_load(tg_shapes *out, const char *path)
{
    char line[LINE_MAX_BYTES];
    FILE *file = fopen(path, "r");
    bool ok = file != NULL;

    memset(out, 0, sizeof *out);
    while (ok && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        ok = strcmp(line, "shape") == 0 ? tg_shapes_begin(out) : take_place(out, line);
    }
    if (file != NULL) {
        fclose(file);
    }
    return ok && out->shape_count > 0;
}

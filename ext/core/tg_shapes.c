/* tg_shapes.c - growing the trie of tg_shapes.h, and looking names up in it.
 *
 * Refuses: a name twice at one place; it is one node.
 */
#include "tg_shapes.h"

#include <string.h>

bool
tg_shapes_begin(tg_shapes *self)
{
    if (self->shape_count == TG_PICK_SHAPES)
        return false;
    self->shape_count++;
    if (self->node_count == 0)
        self->node_count = 1;
    return true;
}

static bool
shapes_note(tg_shapes *self, tg_span text, uint16_t *pos, uint16_t *len)
{
    if (text.len > TG_PICK_NAMES - self->name_size)
        return false;
    *pos = (uint16_t)self->name_size;
    *len = (uint16_t)text.len;
    memcpy(self->names + self->name_size, text.ptr, text.len);
    self->name_size += text.len;
    return true;
}

static bool
shapes_is(const tg_shapes *self, uint16_t pos, uint16_t len, tg_span text)
{
    return len == text.len && memcmp(self->names + pos, text.ptr, len) == 0;
}

/* The member of that name below a node, or 0. */
size_t
tg_shapes_child(const tg_shapes *self, size_t node, tg_span name)
{
    size_t index = self->nodes[node].child;

    while (index != 0 &&
           !shapes_is(self, self->nodes[index].name_pos, self->nodes[index].name_len, name))
        index = self->nodes[index].next;
    return index;
}

/* The same, made if it is not there; 0 if there is no room. */
static size_t
shapes_grow(tg_shapes *self, size_t parent, tg_span name)
{
    const size_t found = tg_shapes_child(self, parent, name);
    tg_pick_node *node;

    if (found != 0)
        return found;
    if (self->node_count == TG_PICK_NODES)
        return 0;
    node = &self->nodes[self->node_count];
    if (!shapes_note(self, name, &node->name_pos, &node->name_len))
        return 0;
    node->next = self->nodes[parent].child;
    self->nodes[parent].child = (uint8_t)self->node_count;
    return self->node_count++;
}

static bool
shapes_demand(tg_shapes *self, size_t node, uint32_t shapes, tg_span text)
{
    tg_pick_literal *literal = &self->literals[self->literal_count];

    if (self->literal_count == TG_PICK_LITERALS ||
        !shapes_note(self, text, &literal->pos, &literal->len))
        return false;
    literal->node = (uint8_t)node;
    literal->shapes = shapes;
    self->literal_count++;
    return true;
}

bool
tg_shapes_add(tg_shapes *self, const tg_span *path, size_t depth, tg_role role, tg_span literal)
{
    const size_t shape = self->shape_count - 1;
    const uint32_t bit = (uint32_t)1 << shape;
    size_t node = 0;
    size_t i;

    if (depth == 0 || depth >= TG_PICK_DEPTH)
        return false;
    for (i = 0; i < depth; i++) {
        node = shapes_grow(self, node, path[i]);
        if (node == 0)
            return false;
    }
    if (role == TG_ROLE_LITERAL && !shapes_demand(self, node, bit, literal))
        return false;
    if (role == TG_ROLE_LITERAL || role == TG_ROLE_TEXT)
        self->demands[shape]++;
    self->nodes[node].roles[role] |= bit;
    return true;
}

bool
tg_shapes_is_literal(const tg_shapes *self, const tg_pick_literal *literal, tg_span text)
{
    return shapes_is(self, literal->pos, literal->len, text);
}

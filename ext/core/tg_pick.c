/* tg_pick.c - the walk of tg_pick.h along a trie of shapes.
 *
 * Refuses: anything that costs more than one pass; a doubtful event is simply no match.
 */
#include "tg_pick.h"

#include <string.h>

#include "tg_buf.h"
#include "tg_scan.h"

typedef enum pick_type {
    PICK_BROKEN,
    PICK_OBJECT,
    PICK_ARRAY,
    PICK_STRING,
    PICK_INTEGER,
    PICK_NULL,
    PICK_OTHER
} pick_type;

typedef struct pick_value {
    pick_type type;
    size_t pos; /* of its first byte */
    size_t len; /* of all of it; of an object or array that is gone into, of its bracket */
} pick_value;

/* What is there in another spelling of nothing: null, "", [] or {}. */
static bool
pick_is_empty(const pick_value *value)
{
    return value->type == PICK_NULL ||
           (value->len == 2 && value->type != PICK_INTEGER && value->type != PICK_OTHER);
}

/* A string, sequence or ignored member: a hole, if a shape that is left at the end says so. */
typedef struct pick_place {
    uint8_t node;
    pick_value value;
} pick_place;

typedef struct pick_walk {
    const tg_shapes *shapes;
    tg_span data;
    size_t pos;
    uint32_t alive;
    uint8_t demands[TG_PICK_SHAPES]; /* met so far */
    uint64_t seen[(TG_PICK_NODES + 63) / 64];
    size_t depth;
    uint8_t stack[TG_PICK_DEPTH]; /* the open objects' and arrays' nodes */
    size_t place_count;
    pick_place places[TG_HOLES];
} pick_walk;

static void
pick_skip_blank(pick_walk *self)
{
    self->pos += tg_scan_non_blank(self->data.ptr + self->pos, self->data.len - self->pos);
}

/* The next byte that is not blank, or 0 at the end. */
static uint8_t
pick_peek(pick_walk *self)
{
    pick_skip_blank(self);
    return self->pos < self->data.len ? self->data.ptr[self->pos] : 0;
}

static bool
pick_take(pick_walk *self, uint8_t byte)
{
    if (pick_peek(self) != byte || self->pos == self->data.len)
        return false;
    self->pos++;
    return true;
}

/* From just past the opening quote to just past the closing one; false if there is none. */
static bool
pick_pass_string(pick_walk *self)
{
    for (;;) {
        self->pos += tg_scan_quote(self->data.ptr + self->pos, self->data.len - self->pos);
        if (self->pos == self->data.len)
            return false;
        if (self->data.ptr[self->pos] == '"') {
            self->pos++;
            return true;
        }
        if (self->data.len - self->pos < 2)
            return false;
        self->pos += 2;
    }
}

/* From the opening bracket to just past its closing one. Brackets are counted, not matched: the
 * value is judged elsewhere. */
static bool
pick_pass_container(pick_walk *self)
{
    size_t depth = 0;

    do {
        uint8_t byte;

        self->pos += tg_scan_json_mark(self->data.ptr + self->pos, self->data.len - self->pos);
        if (self->pos == self->data.len)
            return false;
        byte = self->data.ptr[self->pos++];
        if (byte == '"') {
            if (!pick_pass_string(self))
                return false;
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else {
            depth--;
        }
    } while (depth > 0);
    return true;
}

static bool
pick_is_delimiter(uint8_t byte)
{
    return byte == ',' || byte == '}' || byte == ']' || byte <= ' ';
}

/* A number or a word, up to what ends it. */
static pick_type
pick_pass_word(pick_walk *self)
{
    const uint8_t *word = self->data.ptr + self->pos;
    bool is_integer = true;
    size_t len;

    for (len = 0; self->pos + len < self->data.len && !pick_is_delimiter(word[len]); len++)
        is_integer =
            is_integer && ((word[len] >= '0' && word[len] <= '9') || (word[0] == '-' && len == 0));
    self->pos += len;
    if (len == 0)
        return PICK_BROKEN;
    if (len == 4 && memcmp(word, "null", 4) == 0)
        return PICK_NULL;
    return is_integer && word[len - 1] != '-' ? PICK_INTEGER : PICK_OTHER;
}

/* Reads a value; an object or array only up to its bracket. */
static pick_value
pick_read(pick_walk *self)
{
    const uint8_t byte = pick_peek(self);
    pick_value value = {PICK_BROKEN, self->pos, 1};

    if (self->pos == self->data.len)
        return value;
    if (byte == '{' || byte == '[') {
        value.type = byte == '{' ? PICK_OBJECT : PICK_ARRAY;
        /* A closer differs from its opener by two. */
        if (self->data.len - self->pos > 1 && self->data.ptr[self->pos + 1] == byte + 2) {
            value.len = 2;
            self->pos += 2;
        }
        return value;
    }
    if (byte == '"') {
        self->pos++;
        if (pick_pass_string(self))
            value.type = PICK_STRING;
    } else {
        value.type = pick_pass_word(self);
    }
    value.len = self->pos - value.pos;
    return value;
}

/* The shapes whose literal stands here. */
static uint32_t
pick_literal(const pick_walk *self, size_t node, const pick_value *value)
{
    const tg_span text = {self->data.ptr + value->pos, value->len};
    uint32_t fits = 0;
    size_t i;

    for (i = 0; i < self->shapes->literal_count; i++) {
        const tg_pick_literal *literal = &self->shapes->literals[i];

        if (literal->node == node && tg_shapes_is_literal(self->shapes, literal, text))
            fits |= literal->shapes;
    }
    return fits;
}

/* Counts what was demanded, for each of these shapes. */
static void
pick_meet(pick_walk *self, uint32_t shapes)
{
    size_t i;

    for (i = 0; i < self->shapes->shape_count; i++)
        self->demands[i] = (uint8_t)(self->demands[i] + (shapes >> i & 1));
}

/* A value that no shape goes into: which shapes allow it here? */
static bool
pick_judge(pick_walk *self, size_t node, const pick_value *value)
{
    const uint32_t *roles = self->shapes->nodes[node].roles;
    const bool is_string = value->type == PICK_STRING;
    const bool is_integer = value->type == PICK_INTEGER;
    uint32_t demanded = 0;
    uint32_t holes = 0;
    uint32_t fits = roles[TG_ROLE_FIXED];

    if (pick_is_empty(value))
        fits |= roles[TG_ROLE_EMPTY];
    if (roles[TG_ROLE_LITERAL] != 0)
        demanded = pick_literal(self, node, value);
    if (is_string)
        demanded |= roles[TG_ROLE_TEXT];
    if (is_string || is_integer)
        holes = roles[TG_ROLE_IGNORED];
    if (is_integer)
        holes |= roles[TG_ROLE_SEQUENCE];
    self->alive &= fits | demanded | holes;
    pick_meet(self, demanded & self->alive);
    if (((holes | (is_string ? roles[TG_ROLE_TEXT] : 0)) & self->alive) != 0) {
        if (self->place_count == TG_HOLES)
            return false;
        self->places[self->place_count].node = (uint8_t)node;
        self->places[self->place_count].value = *value;
        self->place_count++;
    }
    return self->alive != 0;
}

/* The value of a member or element: gone into, skipped or judged. */
static bool
pick_value_at(pick_walk *self, size_t node)
{
    const uint32_t *roles = self->shapes->nodes[node].roles;
    pick_value value = pick_read(self);
    uint32_t inner;

    if (value.type == PICK_BROKEN)
        return false;
    if ((value.type != PICK_OBJECT && value.type != PICK_ARRAY) || value.len == 2)
        return pick_judge(self, node, &value);
    inner = roles[value.type == PICK_OBJECT ? TG_ROLE_OBJECT : TG_ROLE_ARRAY] & self->alive;
    if (inner == 0) {
        self->alive &= roles[TG_ROLE_FIXED];
        return self->alive != 0 && pick_pass_container(self);
    }
    self->alive = inner;
    if (self->depth == TG_PICK_DEPTH)
        return false;
    self->stack[self->depth++] = (uint8_t)node;
    self->pos++;
    return true;
}

/* A name and its colon; the node of the member, or 0. */
static size_t
pick_member(pick_walk *self, size_t object)
{
    tg_span name;
    size_t node;
    uint64_t bit;

    if (!pick_take(self, '"'))
        return 0;
    name.ptr = self->data.ptr + self->pos;
    if (!pick_pass_string(self))
        return 0;
    /* A name with an escape in it is none of the trie's. */
    name.len = (size_t)(self->data.ptr + self->pos - name.ptr) - 1;
    node = tg_shapes_child(self->shapes, object, name);
    bit = (uint64_t)1 << (node % 64);
    if (node == 0 || (self->seen[node / 64] & bit) != 0 || !pick_take(self, ':'))
        return 0;
    self->seen[node / 64] |= bit;
    return node;
}

static bool
pick_is_array(const pick_walk *self, size_t node)
{
    return (self->shapes->nodes[node].roles[TG_ROLE_ARRAY] & self->alive) != 0;
}

/* Behind a value: closes what ends here. true: another member follows. */
static bool
pick_close(pick_walk *self)
{
    while (self->depth > 0) {
        const bool is_array = pick_is_array(self, self->stack[self->depth - 1]);

        if (!is_array && pick_take(self, ','))
            return true;
        if (!pick_take(self, is_array ? ']' : '}')) {
            self->alive = 0;
            return false;
        }
        self->depth--;
    }
    return false;
}

/* The one shape that is left and has all that it demands; TG_PICK_SHAPES for none. */
static size_t
pick_winner(const pick_walk *self)
{
    size_t winner = TG_PICK_SHAPES;
    size_t i;

    for (i = 0; i < self->shapes->shape_count; i++) {
        if ((self->alive >> i & 1) == 0 || self->demands[i] != self->shapes->demands[i])
            continue;
        if (winner != TG_PICK_SHAPES)
            return TG_PICK_SHAPES;
        winner = i;
    }
    return winner;
}

static tg_hole
pick_hole(const pick_place *place, const uint32_t *roles, uint32_t bit)
{
    const bool is_string = place->value.type == PICK_STRING;
    tg_hole hole = {TG_HOLE_INTEGER, place->value.pos, place->value.len};

    if (is_string) {
        hole.pos++;
        hole.len -= 2;
        hole.kind = (roles[TG_ROLE_TEXT] & bit) != 0 ? TG_HOLE_TEXT : TG_HOLE_STRING;
    } else if ((roles[TG_ROLE_SEQUENCE] & bit) != 0) {
        hole.kind = TG_HOLE_SEQUENCE;
    }
    return hole;
}

static void
pick_tell(const pick_walk *self, size_t shape, tg_pick *out)
{
    const uint32_t bit = (uint32_t)1 << shape;
    size_t i;

    out->shape = shape;
    out->hole_count = 0;
    for (i = 0; i < self->place_count; i++) {
        const pick_place *place = &self->places[i];
        const uint32_t *roles = self->shapes->nodes[place->node].roles;

        if (((roles[TG_ROLE_TEXT] | roles[TG_ROLE_SEQUENCE] | roles[TG_ROLE_IGNORED]) & bit) != 0)
            out->holes[out->hole_count++] = pick_hole(place, roles, bit);
    }
}

/* Spaces before the brace that ends the event, which stands at `end`. Where there are none, nothing
 * says that there may be. */
static bool
pick_blank(tg_span data, size_t end, tg_pick *out)
{
    size_t len = 0;

    while (len < end && data.ptr[end - len - 1] == ' ')
        len++;
    if (len == 0)
        return true;
    if (out->hole_count == TG_HOLES)
        return false;
    out->holes[out->hole_count].kind = TG_HOLE_BLANK;
    out->holes[out->hole_count].pos = end - len;
    out->holes[out->hole_count].len = len;
    out->hole_count++;
    return true;
}

bool
tg_pick_find(const tg_shapes *shapes, tg_span data, tg_pick *out)
{
    pick_walk walk = {.shapes = shapes, .data = data};
    size_t shape;
    size_t end;

    if (shapes->shape_count == 0 || !pick_take(&walk, '{'))
        return false;
    walk.alive = shapes->shape_count == 32 ? UINT32_MAX : ((uint32_t)1 << shapes->shape_count) - 1;
    walk.stack[walk.depth++] = 0;
    for (;;) {
        const size_t depth = walk.depth;
        const size_t place = walk.stack[depth - 1];
        const size_t node = pick_is_array(&walk, place)
                                ? tg_shapes_child(shapes, place, tg_span_empty())
                                : pick_member(&walk, place);

        if (node == 0 || !pick_value_at(&walk, node))
            return false;
        if (walk.depth == depth && !pick_close(&walk))
            break;
    }
    end = walk.pos - 1;
    if (walk.alive == 0 || pick_peek(&walk) != 0 || walk.pos != data.len)
        return false;
    shape = pick_winner(&walk);
    if (shape == TG_PICK_SHAPES)
        return false;
    pick_tell(&walk, shape, out);
    return pick_blank(data, end, out);
}

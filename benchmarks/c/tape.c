/* tape.c - loading and cutting of tape.h. */
#include "tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tg_alloc.h"
#include "tg_pick.h"
#include "tg_unescape.h"

static bool
tape_read(tape *self, const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;

    if (file == NULL) {
        return false;
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        size = ftell(file);
    }
    if (size > 0 && (unsigned long)size < UINT32_MAX && fseek(file, 0, SEEK_SET) == 0) {
        self->len = (size_t)size;
        self->bytes = malloc(self->len);
    }
    bool ok = self->bytes != NULL && fread(self->bytes, 1, self->len, file) == self->len;
    fclose(file);
    return ok;
}

static bool
tape_grow(tape *self)
{
    size_t room = self->room == 0 ? 1024 : self->room * 2;
    tape_frame *frames = realloc(self->frames, room * sizeof *frames);

    if (frames == NULL) {
        return false;
    }
    self->frames = frames;
    tape_piece *pieces = realloc(self->pieces, room * sizeof *pieces);
    if (pieces == NULL) {
        return false;
    }
    self->pieces = pieces;
    self->room = room;
    return true;
}

/* The digits of a sequence number; the pick has seen that they are digits. */
static uint64_t
tape_number(tg_span digits)
{
    uint64_t value = 0;

    for (size_t i = 0; i < digits.len; i++) {
        value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
    }
    return value;
}

/* What the newest frame says. */
static bool
tape_understand(tape *self, const tg_shapes *shapes, tg_span data)
{
    tg_alloc alloc = tg_alloc_default();
    tape_piece piece = {.pos = self->text.len};
    tg_pick pick;

    if (!tg_pick_find(shapes, data, &pick)) {
        return false;
    }
    for (size_t i = 0; i < pick.hole_count; i++) {
        tg_span hole = {data.ptr + pick.holes[i].pos, pick.holes[i].len};
        if (pick.holes[i].kind == TG_HOLE_SEQUENCE) {
            piece.has_sequence = true;
            piece.sequence = tape_number(hole);
        } else if (pick.holes[i].kind == TG_HOLE_TEXT && !tg_unescape(&self->text, &alloc, hole)) {
            return false;
        }
    }
    piece.len = self->text.len - piece.pos;
    self->pieces[self->count] = piece;
    return true;
}

/* The length of a line without its end. */
static size_t
tape_trim(const uint8_t *line, size_t len)
{
    return len > 0 && line[len - 1] == '\r' ? len - 1 : len;
}

/* The frame at `pos`; its length, or 0. */
static size_t
tape_cut(const tape *self, size_t pos, tape_frame *out)
{
    static const char name[] = "data:";
    const size_t start = pos;

    out->data_len = 0;
    while (pos < self->len) {
        const uint8_t *line = self->bytes + pos;
        const uint8_t *end = memchr(line, '\n', self->len - pos);
        if (end == NULL) {
            return 0;
        }
        size_t len = tape_trim(line, (size_t)(end - line));
        pos += (size_t)(end - line) + 1;
        if (len == 0) {
            break;
        }
        if (len >= sizeof name - 1 && memcmp(line, name, sizeof name - 1) == 0) {
            size_t skip = len > sizeof name - 1 && line[sizeof name - 1] == ' ' ? sizeof name
                                                                                : sizeof name - 1;
            out->data_pos = (uint32_t)((size_t)(line - self->bytes) - start + skip);
            out->data_len = (uint32_t)(len - skip);
        }
    }
    out->len = (uint32_t)(pos - start);
    return out->data_len > 0 ? pos - start : 0;
}

static bool
tape_cut_all(tape *self, const tg_shapes *shapes)
{
    size_t pos = 0;

    while (pos < self->len) {
        tape_frame frame;
        size_t len = tape_cut(self, pos, &frame);
        if (len == 0 || (self->count == self->room && !tape_grow(self))) {
            return false;
        }
        tg_span data = {self->bytes + pos + frame.data_pos, frame.data_len};
        self->frames[self->count] = frame;
        if (!tape_understand(self, shapes, data)) {
            return false;
        }
        self->count++;
        pos += len;
    }
    return true;
}

bool
tape_load(tape *self, const char *path, const tg_shapes *shapes)
{
    memset(self, 0, sizeof *self);
    if (tape_read(self, path) && tape_cut_all(self, shapes)) {
        return true;
    }
    tape_free(self);
    return false;
}

void
tape_free(tape *self)
{
    tg_alloc alloc = tg_alloc_default();

    tg_buf_free(&self->text, &alloc);
    free(self->frames);
    free(self->pieces);
    free(self->bytes);
    memset(self, 0, sizeof *self);
}

tg_span
tape_text(const tape *self, const tape_piece *piece)
{
    const tg_span text = {self->text.ptr + piece->pos, piece->len};

    return text;
}

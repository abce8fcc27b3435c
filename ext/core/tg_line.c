/* tg_line.c - the machine of tg_line.h: one step per byte, and a run over what ends no line.
 *
 * TG_NO_RUN turns the run off; the step alone is complete.
 */
#include "tg_line.h"

#include <string.h>

#ifndef TG_NO_RUN
#include "tg_scan.h"
#endif

static const uint8_t line_bom[3] = {0xef, 0xbb, 0xbf};

/* What a step did with its byte. */
typedef enum line_act {
    LINE_RAN,     /* there was none: the run used up the chunk */
    LINE_KEPT,    /* it belongs to the open line */
    LINE_SKIPPED, /* it belongs to no line */
    LINE_ENDED,   /* it ends the open line */
    LINE_NO_MEMORY
} line_act;

const char *
tg_line_state_name(tg_line_state state)
{
    switch (state) {
#define TG_LINE_NAME(name, sentence) \
    case name:                       \
        return #name;
        TG_LINE_STATES(TG_LINE_NAME)
#undef TG_LINE_NAME
    }
    return "";
}

void
tg_line_init(tg_line *self)
{
    static const tg_line fresh = {.state = TG_LINE_BOM, .is_ascii = true};

    *self = fresh;
    self->chunk = tg_span_empty().ptr;
}

void
tg_line_free(tg_line *self, const tg_alloc *alloc)
{
    tg_buf_free(&self->carry, alloc);
}

void
tg_line_feed(tg_line *self, const uint8_t *ptr, size_t len)
{
    self->chunk = len == 0 ? tg_span_empty().ptr : ptr;
    self->len = len;
    self->pos = 0;
    self->mark = 0;
}

static size_t
line_cap(size_t max)
{
    return max == SIZE_MAX ? max : max + 1;
}

static bool
line_is_over(const tg_line *self, size_t max)
{
    /* A BOM is not part of a line, and whether it is one is not yet known. */
    return self->state != TG_LINE_BOM && self->chunk_off + self->pos - self->start_off > max;
}

/* The bytes of a BOM that turned out to be none are the first of the line. */
static bool
line_give_back_bom(tg_line *self, const tg_alloc *alloc)
{
    self->start_off = 0;
    self->is_ascii = false;
    if (self->pos >= self->bom_len) {
        self->mark = self->pos - self->bom_len;
        return true;
    }
    self->mark = self->pos;
    self->is_carried = true;
    return tg_buf_append(&self->carry, alloc, sizeof line_bom, line_bom, self->bom_len);
}

static line_act
line_step(tg_line *self, const tg_alloc *alloc, uint8_t byte)
{
    self->work++;
    if (byte >= 0x80)
        self->is_ascii = false;
    switch (self->state) {
    case TG_LINE_BOM:
        /* "one leading U+FEFF BYTE ORDER MARK character must be ignored if any are present" */
        if (byte == line_bom[self->bom_len]) {
            self->bom_len++;
            if (self->bom_len == sizeof line_bom)
                self->state = TG_LINE_BODY;
            return LINE_SKIPPED;
        }
        self->state = TG_LINE_BODY;
        if (!line_give_back_bom(self, alloc))
            return LINE_NO_MEMORY;
        break;
    case TG_LINE_AFTER_CR:
        self->state = TG_LINE_BODY;
        /* "a U+000D U+000A character pair" is one end of line; its CR has ended the line already,
         * since a parser that waits for the LF would hold back a whole event. */
        if (byte == '\n')
            return LINE_SKIPPED;
        break;
    case TG_LINE_BODY:
        break;
    }
    /* "a single U+000A not preceded by U+000D, and a single U+000D not followed by U+000A being the
     * ways in which a line can end": no other character ends one. */
    if (byte == '\r')
        self->state = TG_LINE_AFTER_CR;
    return byte == '\n' || byte == '\r' ? LINE_ENDED : LINE_KEPT;
}

/* Skips what ends no line; leaves pos at a byte for step, or at the end. */
static void
line_run(tg_line *self)
{
#ifndef TG_NO_RUN
    if (self->state == TG_LINE_BODY) {
        bool is_ascii;
        const size_t len = tg_scan_line(self->chunk + self->pos, self->len - self->pos, &is_ascii);

        self->is_ascii = self->is_ascii && is_ascii;
        self->pos += len;
        self->work += len;
    }
#else
    (void)self;
#endif
}

/* Shows the open line up to pos, max bytes of it at most. */
static bool
line_show(tg_line *self, const tg_alloc *alloc, size_t max, tg_line_view *out)
{
    size_t len = self->pos - self->mark;

    out->start_off = self->start_off;
    out->end_off = self->chunk_off + self->pos;
    out->is_carried = self->is_carried;
    out->is_ascii = self->is_ascii;
    if (self->is_carried) {
        const size_t room = self->carry.len < max ? max - self->carry.len : 0;

        if (!tg_buf_append(&self->carry, alloc, max, self->chunk + self->mark,
                           len < room ? len : room))
            return false;
        self->mark = self->pos;
        out->text = tg_buf_span(&self->carry, 0);
    } else {
        out->text.ptr = self->chunk + self->mark;
        out->text.len = len;
    }
    if (out->text.len > max)
        out->text.len = max;
    return true;
}

static void
line_restart(tg_line *self)
{
    self->mark = self->pos;
    self->start_off = self->chunk_off + self->pos;
    self->is_ascii = true;
}

/* The end of the chunk: a BOM in the making is shown as the bytes it may turn out to be. */
static tg_status
line_pause(tg_line *self, const tg_alloc *alloc, size_t max, tg_line_view *out)
{
    if (!line_show(self, alloc, line_cap(max), out))
        return TG_ERR_NO_MEMORY;
    if (self->state == TG_LINE_BOM) {
        out->text.ptr = line_bom;
        out->text.len = self->bom_len;
        out->is_ascii = false;
        out->start_off = 0;
    }
    return TG_MORE;
}

static tg_status
line_end(tg_line *self, const tg_alloc *alloc, size_t max, tg_line_view *out)
{
    if (!line_show(self, alloc, line_cap(max), out))
        return TG_ERR_NO_MEMORY;
    self->is_carried = false;
    self->pos++;
    line_restart(self);
    out->end_off = self->start_off;
    return TG_OK;
}

/* The common case, a line within the chunk, without the steps: they would show the same line. */
static bool
line_whole(tg_line *self, size_t max, tg_line_view *out)
{
#ifndef TG_NO_RUN
    if (tg_line_is_at_start(self)) {
        const uint8_t *ptr = self->chunk + self->pos;
        const size_t rest = self->len - self->pos;
        bool is_ascii;
        const size_t len = tg_scan_line(ptr, rest, &is_ascii);

        if (len > max)
            return false;
        if (len == rest) {
            self->pos += len; /* what follows need not look again */
            self->work += len;
            self->is_ascii = is_ascii;
            return false;
        }
        out->text.ptr = ptr;
        out->text.len = len;
        out->is_carried = false;
        out->is_ascii = is_ascii;
        out->start_off = self->start_off;
        tg_line_skip(self, len + 1);
        out->end_off = self->start_off;
        return true;
    }
#else
    (void)self;
    (void)max;
    (void)out;
#endif
    return false;
}

tg_status
tg_line_next(tg_line *self, const tg_alloc *alloc, size_t max, tg_line_view *out)
{
    if (line_whole(self, max, out))
        return TG_OK;
    while (self->pos < self->len) {
        line_act act = LINE_RAN;

        line_run(self);
        if (self->pos < self->len)
            act = line_step(self, alloc, self->chunk[self->pos]);
        switch (act) {
        case LINE_NO_MEMORY:
            return TG_ERR_NO_MEMORY;
        case LINE_SKIPPED:
            self->pos++;
            line_restart(self);
            break;
        case LINE_KEPT:
            self->pos++;
            break;
        case LINE_RAN:
        case LINE_ENDED:
            break;
        }
        if (line_is_over(self, max)) {
            const bool is_shown = line_show(self, alloc, line_cap(max), out);

            return is_shown ? TG_ERR_LINE_TOO_LARGE : TG_ERR_NO_MEMORY;
        }
        if (act == LINE_ENDED)
            return line_end(self, alloc, max, out);
    }
    return line_pause(self, alloc, max, out);
}

bool
tg_line_is_at_start(tg_line *self)
{
    if (self->state == TG_LINE_AFTER_CR && self->pos < self->len) {
        self->state = TG_LINE_BODY;
        if (self->chunk[self->pos] == '\n') {
            self->work++;
            self->pos++;
            line_restart(self);
        }
    }
    return self->pos < self->len && self->state == TG_LINE_BODY && !self->is_carried &&
           self->mark == self->pos;
}

size_t
tg_line_lone(const tg_line *self, size_t max)
{
#ifndef TG_NO_RUN
    const uint8_t *ptr = self->chunk + self->pos;
    const size_t len = self->len - self->pos;
    const size_t size = tg_scan_line_end(ptr, len);
    /* LF or CR LF, twice. A CR alone is left to the steps. */
    const size_t end = size < len && ptr[size] == '\r' ? 2 : 1;

    if (size > max || len - size < 2 * end || ptr[size + end - 1] != '\n' ||
        ptr[size + 2 * end - 1] != '\n' || (end == 2 && ptr[size + 2] != '\r'))
        return 0;
    return size + 2 * end;
#else
    (void)self;
    (void)max;
    return 0;
#endif
}

bool
tg_line_is_used_up(const tg_line *self)
{
    return self->pos == self->len && self->mark == self->pos && !self->is_carried &&
           self->state != TG_LINE_BOM;
}

void
tg_line_skip(tg_line *self, size_t size)
{
    self->pos += size;
    self->work += size;
    if (self->chunk[self->pos - 1] == '\r')
        self->state = TG_LINE_AFTER_CR;
    line_restart(self);
}

void
tg_line_leave(tg_line *self, const tg_alloc *alloc)
{
    if (self->carry.len > 0)
        tg_buf_clear(&self->carry, alloc);
    self->chunk_off += self->len;
    tg_line_feed(self, NULL, 0);
}

bool
tg_line_keep(tg_line *self, const tg_alloc *alloc, size_t max)
{
    if (!self->is_carried) {
        /* Nothing lent from the carry is alive now: the caller has saved it. */
        tg_buf_clear(&self->carry, alloc);
        if (self->state != TG_LINE_BOM && self->mark < self->len) {
            if (!tg_buf_append(&self->carry, alloc, line_cap(max), self->chunk + self->mark,
                               self->len - self->mark))
                return false;
            self->is_carried = true;
        }
    }
    self->chunk_off += self->len;
    tg_line_feed(self, NULL, 0);
    return true;
}

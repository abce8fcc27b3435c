/* tg_sse_frames.c - whole frames at once, where they are like the ones before.
 *
 * Refuses: anything that the lines would read in another way; it is left to them.
 */
#include "tg_sse_frames.h"

static void
sse_skip_frames(tg_sse *self)
{
    size_t taken;

    do {
        if (self->state != TG_SSE_BETWEEN || !tg_line_is_at_start(&self->line))
            return;
        taken = tg_predict_frames(self->predict, self->line.chunk + self->line.pos,
                                  self->line.len - self->line.pos, self->line.start_off);
        if (taken == 0)
            return;
        tg_line_skip(&self->line, taken);
    } while (self->line.state == TG_LINE_AFTER_CR ||
             (self->predict->is_frame_raw && !self->is_unchecked));
}

static bool
sse_take_frame(tg_sse *self, tg_frame *out)
{
    const tg_plain *plain = &self->plain;
    size_t size;

    if (self->state != TG_SSE_BETWEEN || self->last_id.is_touched ||
        !tg_line_is_at_start(&self->line) ||
        !tg_plain_find(plain, self->line.chunk + self->line.pos, self->line.len - self->line.pos,
                       &out->data, &out->is_ascii))
        return false;
    size = plain->head_len + out->data.len + plain->tail_len;
    if (size > self->limits.max_line_bytes || size > self->limits.max_event_bytes)
        return false;
    if (!out->is_ascii && (self->flags & TG_SSE_STRICT_UTF8) == 0) {
        self->work += out->data.len;
        if (tg_utf8_check(out->data) < out->data.len)
            return false;
    }
    out->start_off = self->line.start_off;
    out->data_off = out->start_off + plain->head_len;
    out->end_off = out->start_off + size;
    tg_line_skip(&self->line, size);
    return true;
}

size_t
tg_sse_frames(tg_sse *self, tg_frame *out, size_t max, tg_span *type)
{
    size_t count = 0;

    while (count < max && sse_take_frame(self, &out[count]))
        count++;
    *type = tg_plain_type(&self->plain);
    return count;
}

bool
tg_sse_next_frame(tg_sse *self, tg_event *out)
{
    const tg_event event = {.head = tg_span_empty()};
    tg_frame frame;

    if (!sse_take_frame(self, &frame))
        return false;
    *out = event;
    out->type = tg_plain_type(&self->plain);
    out->data = frame.data;
    out->is_ascii = frame.is_ascii;
    out->last_event_id = tg_buf_span(&self->last_id.string, 0);
    out->start_off = frame.start_off;
    out->data_off = frame.data_off;
    out->end_off = frame.end_off;
    out->frame.ptr = frame.data.ptr - self->plain.head_len;
    out->frame.len = (size_t)(frame.end_off - frame.start_off);
    return true;
}

/* Whether there was one. Their lines would change nothing. */
static bool
sse_skip_comments(tg_sse *self)
{
    bool is_any = false;

    while (self->state == TG_SSE_BETWEEN && tg_line_is_at_start(&self->line) &&
           self->line.chunk[self->line.pos] == ':') {
        const size_t size = tg_line_lone(&self->line, self->limits.max_line_bytes);

        if (size == 0)
            break;
        tg_line_skip(&self->line, size);
        is_any = true;
    }
    return is_any;
}

void
tg_sse_check(tg_sse *self)
{
    tg_line *line = &self->line;
    const size_t good = tg_utf8_feed(&self->utf8, line->chunk + line->pos, line->len - line->pos);

    self->work += good;
    if (good < line->len - line->pos) {
        self->chunk_error = TG_ERR_UTF8;
        self->chunk_error_off = line->chunk_off + line->pos + good - self->utf8.seen;
        line->len = line->pos + good;
    }
}

bool
tg_sse_skip(tg_sse *self)
{
    if (self->state != TG_SSE_BETWEEN)
        return false;
    if (self->is_unchecked) {
        sse_skip_frames(self);
        if (!tg_line_is_used_up(&self->line))
            tg_sse_check(self);
        self->is_unchecked = self->predict->is_frame_raw = false;
    }
    (void)sse_skip_comments(self);
    do {
        if (self->predict != NULL)
            sse_skip_frames(self);
    } while (sse_skip_comments(self));
    if (self->chunk_error != TG_OK || !tg_line_is_used_up(&self->line))
        return false;
    tg_line_leave(&self->line, &self->alloc);
    self->is_drained = true;
    return true;
}

/* tg_sse_frames.c - whole frames at once, where they are like the ones before.
 *
 * Refuses: anything that the lines would read in another way; it is left to them.
 */
#include "tg_sse_frames.h"

void
tg_sse_skip_frames(tg_sse *self)
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
    } while (self->line.state == TG_LINE_AFTER_CR);
}

bool
tg_sse_take_frame(tg_sse *self, tg_event *out)
{
    tg_event event = {.head = tg_span_empty()};
    size_t size;

    if (self->state != TG_SSE_BETWEEN || self->last_id.is_touched ||
        !tg_line_is_at_start(&self->line))
        return false;
    event.frame.ptr = self->line.chunk + self->line.pos;
    size = tg_plain_find(&self->plain, event.frame.ptr, self->line.len - self->line.pos,
                         &event.type, &event.data);
    if (size == 0 || size > self->limits.max_line_bytes || size > self->limits.max_event_bytes)
        return false;
    if ((self->flags & TG_SSE_STRICT_UTF8) == 0) {
        self->work += event.data.len;
        if (tg_utf8_check(event.data) < event.data.len)
            return false;
    }
    event.frame.len = size;
    event.last_event_id = tg_buf_span(&self->last_id.string, 0);
    event.start_off = self->line.start_off;
    event.data_off = event.start_off + self->plain.head_len;
    event.end_off = event.start_off + size;
    tg_line_skip(&self->line, size);
    *out = event;
    return true;
}

bool
tg_sse_skip_comments(tg_sse *self)
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

/* tg_sse.c - the machine of tg_sse.h: what each field does, limits, dispatch, chunks, the rest.
 *
 * TG_NO_RUN turns off what runs over a whole frame; the steps alone are complete.
 *
 * Refuses: touching bytes of the data; tg_line finds lines, tg_field values, tg_block joins them.
 */
#include "tg_sse.h"

#include <string.h>

#include "tg_field.h"
#include "tg_sse_frames.h"

static const char sse_error_name[] = "error";

static tg_span
sse_error_type(void)
{
    const tg_span span = {(const uint8_t *)sse_error_name, sizeof sse_error_name - 1};

    return span;
}

static tg_status
sse_fail(tg_sse *self, tg_status status, uint64_t off)
{
    self->start_off = tg_sse_whole_off(self);
    self->state = TG_SSE_BROKEN;
    self->error = status;
    self->error_off = off;
    return status;
}

static tg_status
sse_fail_memory(tg_sse *self)
{
    return sse_fail(self, TG_ERR_NO_MEMORY, self->line.chunk_off + self->line.pos);
}

static size_t
sse_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static void
sse_raise(tg_sse *self, tg_sse_state state)
{
    if (self->state < state)
        self->state = state;
}

/* "Set the data buffer and the event type buffer to the empty string." */
static void
sse_close_block(tg_sse *self)
{
    tg_block_close(&self->block);
    self->state = TG_SSE_BETWEEN;
    self->has_retry = false;
}

/* The event that was lent at the last call dies. */
static void
sse_take_back(tg_sse *self)
{
    if (self->is_event_out)
        tg_block_release(&self->block, &self->alloc);
    self->is_event_out = false;
}

static tg_home
sse_home(const tg_line_view *view)
{
    return view->is_carried ? TG_HOME_CARRY : TG_HOME_CHUNK;
}

static tg_field
sse_read_field(const tg_sse *self, const tg_line_view *view)
{
    return tg_field_read(view->text, (self->flags & TG_SSE_ERROR_FIELD) != 0);
}

static bool
sse_add_data(tg_sse *self, const tg_line_view *view, const tg_field *field)
{
    if (field->kind == TG_FIELD_ERROR)
        tg_block_set_type(&self->block, sse_error_type(), TG_HOME_OWN);
    sse_raise(self, TG_SSE_DATA);
    return tg_block_add_data(&self->block, &self->alloc, &self->line.carry, field->value,
                             sse_home(view));
}

/* ---- limits -----------------------------------------------------------------------------------
 */

/* Would the data field make the event too large? A line that has not ended counts as far as it is
 * known: its value, and the LF that joins it, once one byte of the value is there. */
static bool
sse_is_data_over(const tg_sse *self, const tg_field *field, bool is_whole, size_t *over)
{
    const size_t max = self->limits.max_event_bytes;
    size_t used = field->kind == TG_FIELD_ERROR ? sse_error_type().len : self->block.type.len;

    *over = 0;
    if (self->block.has_data)
        used = sse_add(used, self->block.data.len + 1);
    if (used > max)
        return is_whole || field->value.len > 0;
    *over = max - used;
    return field->value.len > *over;
}

/* The same for an event field. I1: the data alone fits. */
static bool
sse_is_type_over(const tg_sse *self, const tg_field *field, size_t *over)
{
    *over = self->limits.max_event_bytes - self->block.data.len;
    return field->value.len > *over;
}

static tg_status
sse_check_unended(tg_sse *self, const tg_line_view *view)
{
    const tg_field field = sse_read_field(self, view);
    size_t over;

    if (field.kind != TG_FIELD_DATA && field.kind != TG_FIELD_ERROR)
        return TG_MORE;
    if (!sse_is_data_over(self, &field, false, &over))
        return TG_MORE;
    return sse_fail(self, TG_ERR_EVENT_TOO_LARGE, view->start_off + field.pos + over);
}

/* Lines that are passed over with a whole frame are fields or comments, and no strays. */
static void
sse_note_stray(tg_sse *self, const tg_line_view *view)
{
    if (self->is_watching && self->stray_off == TG_NO_STRAY && view->text.len > 0 &&
        view->text.ptr[0] == '{')
        self->stray_off = view->start_off;
}

/* ---- one whole line ---------------------------------------------------------------------------
 */

static tg_status
sse_take_data(tg_sse *self, const tg_line_view *view, const tg_field *field)
{
    const uint64_t value_off = view->start_off + field->pos;
    size_t over;

    if (sse_is_data_over(self, field, true, &over))
        return sse_fail(self, TG_ERR_EVENT_TOO_LARGE, value_off + over);
    if (!self->block.has_data)
        self->data_off = value_off;
    return sse_add_data(self, view, field) ? TG_MORE : sse_fail_memory(self);
}

static tg_status
sse_take_event(tg_sse *self, const tg_line_view *view, const tg_field *field)
{
    size_t over;

    if (sse_is_type_over(self, field, &over))
        return sse_fail(self, TG_ERR_EVENT_TOO_LARGE, view->start_off + field->pos + over);
    tg_block_set_type(&self->block, field->value, sse_home(view));
    sse_raise(self, TG_SSE_FIELDS);
    return TG_MORE;
}

static tg_status
sse_take_id(tg_sse *self, const tg_line_view *view, const tg_field *field)
{
    const tg_span value = field->value;
    const size_t max = self->limits.max_id_bytes;

    sse_raise(self, TG_SSE_FIELDS);
    self->work += value.len;
    /* "If the field value does not contain U+0000 NULL, then set the last event ID buffer to the
     * field value. Otherwise, ignore the field." */
    if (memchr(value.ptr, 0, value.len) != NULL)
        return TG_MORE;
    if (value.len > max)
        return sse_fail(self, TG_ERR_ID_TOO_LARGE, view->start_off + field->pos + max);
    return tg_last_id_set(&self->last_id, &self->alloc, value) ? TG_MORE : sse_fail_memory(self);
}

static tg_status
sse_take_retry(tg_sse *self, const tg_line_view *view, const tg_field *field)
{
    const tg_span value = field->value;
    const size_t max = self->limits.max_retry_digits;
    uint64_t ms = 0;
    size_t i;

    sse_raise(self, TG_SSE_IGNORABLE);
    /* "If the field value consists of only ASCII digits ...; otherwise, ignore the field." The
     * empty value is no number, so it is ignored too, as browsers do. */
    for (i = 0; i < value.len; i++) {
        const uint8_t digit = (uint8_t)(value.ptr[i] - '0');

        self->work++;
        if (digit > 9)
            return TG_MORE;
        ms = ms > ((uint64_t)INT64_MAX - digit) / 10 ? (uint64_t)INT64_MAX : ms * 10 + digit;
    }
    if (value.len == 0)
        return TG_MORE;
    if (value.len > max)
        return sse_fail(self, TG_ERR_RETRY_TOO_LARGE, view->start_off + field->pos + max);
    self->has_retry = true;
    self->retry_ms = ms;
    self->has_reconnection = true;
    self->reconnection_ms = ms;
    return TG_MORE;
}

/* ---- dispatch ---------------------------------------------------------------------------------
 */

/* The bytes of the block that ends here, if they are what the event says (see tg_event). */
static tg_span
sse_frame(const tg_sse *self, const tg_event *event)
{
    tg_span frame = tg_span_empty();

    /* Data that were replaced lie elsewhere, and no bytes lie nowhere. */
    if (self->is_plain && self->block.data_home == TG_HOME_CHUNK && event->data.len > 0 &&
        event->data.ptr == self->block.data.ptr && event->start_off >= self->line.chunk_off) {
        frame.ptr = self->line.chunk + (event->start_off - self->line.chunk_off);
        frame.len = (size_t)(event->end_off - event->start_off);
    }
    return frame;
}

static tg_status
sse_dispatch(tg_sse *self, const tg_line_view *view, tg_event *out)
{
    tg_event event = {.type = self->block.type, .data = self->block.data, .head = tg_span_empty()};

    if (!tg_last_id_commit(&self->last_id, &self->alloc))
        return sse_fail_memory(self);
    /* "If the data buffer is an empty string, set the data buffer and the event type buffer to the
     * empty string and return." It is never empty after a data field: each appends a LF. */
    if (self->state != TG_SSE_DATA) {
        sse_close_block(self);
        return TG_MORE;
    }
    if (!tg_last_id_dispatch(&self->last_id, &self->alloc, &event.is_id_changed))
        return sse_fail_memory(self);
    /* A strict stream has been checked as a whole. */
    if (!self->is_ascii && (self->flags & TG_SSE_STRICT_UTF8) == 0 &&
        !tg_block_replace(&self->block, &self->alloc, &event.type, &event.data))
        return sse_fail_memory(self);
    event.is_ascii = self->is_ascii;
    event.last_event_id = tg_buf_span(&self->last_id.string, 0);
    event.has_retry = self->has_retry;
    event.retry_ms = self->has_retry ? self->retry_ms : 0;
    event.start_off = self->start_off;
    event.data_off = self->data_off;
    event.end_off = view->end_off;
    event.frame = sse_frame(self, &event);
#ifndef TG_NO_RUN
    if (event.frame.len > 0)
        tg_plain_learn(&self->plain, &event);
#endif
    sse_close_block(self);
    self->is_event_out = true;
    *out = event;
    return TG_OK;
}

/* TG_OK: dispatched. TG_MORE: taken in. */
static tg_status
sse_step(tg_sse *self, const tg_line_view *view, tg_event *out)
{
    const tg_field field = sse_read_field(self, view);

    if (self->state == TG_SSE_BETWEEN) {
        self->start_off = view->start_off;
        self->is_plain = true;
        self->is_ascii = true;
    }
    self->is_ascii = self->is_ascii && view->is_ascii;
    if (field.kind != TG_FIELD_BLANK && field.kind != TG_FIELD_DATA && field.kind != TG_FIELD_EVENT)
        self->is_plain = false;
    switch (field.kind) {
    case TG_FIELD_BLANK:
        /* "If the line is empty (a blank line): Dispatch the event" */
        return sse_dispatch(self, view, out);
    case TG_FIELD_IGNORED:
        /* "If the line starts with a U+003A COLON character: Ignore the line." and "Otherwise: The
         * field is ignored." */
        sse_note_stray(self, view);
        sse_raise(self, TG_SSE_IGNORABLE);
        return TG_MORE;
    case TG_FIELD_DATA:
    case TG_FIELD_ERROR:
        return sse_take_data(self, view, &field);
    case TG_FIELD_EVENT:
        /* "Set the event type buffer to the field value." */
        return sse_take_event(self, view, &field);
    case TG_FIELD_ID:
        return sse_take_id(self, view, &field);
    case TG_FIELD_RETRY:
        return sse_take_retry(self, view, &field);
    }
    return TG_MORE;
}

/* ---- chunks -----------------------------------------------------------------------------------
 */

/* The chunk is used up: what the open block borrowed is saved, then the unended line. */
static tg_status
sse_pause(tg_sse *self, const tg_line_view *view)
{
    const tg_status status = sse_check_unended(self, view);

    if (status != TG_MORE)
        return status;
    sse_note_stray(self, view);
    if (self->chunk_error != TG_OK)
        return sse_fail(self, self->chunk_error, self->chunk_error_off);
    if (!tg_block_keep(&self->block, &self->alloc, &self->line.carry) ||
        !tg_line_keep(&self->line, &self->alloc, self->limits.max_line_bytes))
        return sse_fail_memory(self);
    self->is_drained = true;
    return TG_MORE;
}

/* What is left of the chunk, line by line, up to the next event. */
static tg_status
sse_read(tg_sse *self, tg_event *out)
{
    tg_line_view view;
    tg_status status;

    do {
        if (tg_sse_next_frame(self, out))
            return TG_OK;
        status = tg_line_next(&self->line, &self->alloc, self->limits.max_line_bytes, &view);
        if (status == TG_MORE)
            return sse_pause(self, &view);
        if (status == TG_ERR_LINE_TOO_LARGE) {
            /* The smaller offset wins; the event's, where it is the same byte. */
            status = sse_check_unended(self, &view);
            if (status != TG_MORE)
                return status;
            return sse_fail(self, TG_ERR_LINE_TOO_LARGE,
                            view.start_off + self->limits.max_line_bytes);
        }
        if (status != TG_OK)
            return sse_fail_memory(self);
        status = sse_step(self, &view, out);
        if (status != TG_MORE)
            return status;
    } while (!tg_sse_skip(self));
    return TG_MORE;
}

tg_status
tg_sse_next(tg_sse *self, tg_event *out)
{
    if (self->error != TG_OK)
        return self->error;
    if (self->state == TG_SSE_ENDED)
        return TG_MORE;
    sse_take_back(self);
    return tg_sse_skip(self) ? TG_MORE : sse_read(self, out);
}

tg_status
tg_sse_feed(tg_sse *self, const uint8_t *ptr, size_t len)
{
    if (self->error != TG_OK)
        return self->error;
    if (self->state == TG_SSE_ENDED || !self->is_drained)
        return TG_ERR_FINISHED;
    sse_take_back(self);
    if (len == 0)
        return TG_OK;
    self->bytes_fed += len;
    self->is_drained = false;
    tg_line_feed(&self->line, ptr, len);
    if ((self->flags & TG_SSE_STRICT_UTF8) == 0)
        return TG_OK;
    /* Frames that the prediction takes are checked where they differ alone. */
    self->is_unchecked = self->predict != NULL && self->predict->template_count > 0 &&
                         self->state == TG_SSE_BETWEEN && tg_line_is_at_start(&self->line);
    if (self->is_unchecked)
        self->predict->is_frame_raw = true;
    else
        tg_sse_check(self);
    return TG_OK;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* The unended line's field counts as if the line were whole, past limits too: what is left over is
 * shown, not used. */
static bool
sse_take_unended(tg_sse *self, const tg_line_view *view)
{
    const tg_field field = sse_read_field(self, view);

    switch (field.kind) {
    case TG_FIELD_DATA:
    case TG_FIELD_ERROR:
        return sse_add_data(self, view, &field);
    case TG_FIELD_EVENT:
        tg_block_set_type(&self->block, field.value, sse_home(view));
        return true;
    case TG_FIELD_BLANK:
    case TG_FIELD_IGNORED:
    case TG_FIELD_ID:
    case TG_FIELD_RETRY:
        return true;
    }
    return true;
}

static tg_rest_where
sse_where(const tg_sse *self, tg_span line)
{
    if (tg_utf8_cut(line) > 0)
        return TG_REST_CHARACTER;
    if (line.len > 0)
        return TG_REST_LINE;
    return self->state >= TG_SSE_FIELDS ? TG_REST_EVENT : TG_REST_NONE;
}

tg_status
tg_sse_finish(tg_sse *self, tg_rest *out)
{
    tg_line_view view;
    tg_rest rest = {0};

    if (self->error != TG_OK)
        return self->error;
    if (self->state == TG_SSE_ENDED) {
        *out = self->rest;
        return TG_OK;
    }
    if (!self->is_drained)
        return TG_ERR_FINISHED;
    sse_take_back(self);
    if (tg_line_next(&self->line, &self->alloc, self->limits.max_line_bytes, &view) != TG_MORE)
        return sse_fail_memory(self);
    rest.where = sse_where(self, view.text);
    rest.line = view.text;
    self->start_off = tg_sse_whole_off(self);
    rest.start_off = self->start_off;
    if (!sse_take_unended(self, &view))
        return sse_fail_memory(self);
    rest.has_data = self->block.has_data;
    rest.type = self->block.type;
    rest.data = self->block.data;
    if (!tg_block_replace(&self->block, &self->alloc, &rest.type, &rest.data))
        return sse_fail_memory(self);
    self->state = TG_SSE_ENDED;
    self->rest = rest;
    *out = rest;
    return TG_OK;
}

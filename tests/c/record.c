/* record.c - feeding and writing down for record.h. */
#include "record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tg_utf8.h"

record_setup
record_setup_default(void)
{
    const record_setup setup = {.limits = tg_limits_default(), .view = TG_JSON_STRICT};

    return setup;
}

static void
record_reserve(record *self, size_t more)
{
    size_t size = self->size == 0 ? 256 : self->size;

    while (size < self->len + more + 1)
        size *= 2;
    if (size == self->size)
        return;
    self->ptr = realloc(self->ptr, size);
    if (self->ptr == NULL)
        exit(3);
    self->size = size;
}

void
record_clear(record *self)
{
    record_reserve(self, 0);
    self->len = 0;
    self->ptr[0] = '\0';
}

void
record_free(record *self)
{
    free(self->ptr);
    memset(self, 0, sizeof *self);
}

bool
record_equal(const record *a, const record *b)
{
    return a->len == b->len && memcmp(a->ptr, b->ptr, a->len) == 0;
}

void
record_printf(record *self, const char *format, ...)
{
    char line[512];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    record_reserve(self, (size_t)len);
    memcpy(self->ptr + self->len, line, (size_t)len + 1);
    self->len += (size_t)len;
}

void
record_span(record *self, const char *name, tg_span span, bool is_text)
{
    static const char digits[] = "0123456789abcdef";
    size_t i;

    record_reserve(self, strlen(name) + 4 * span.len + 8);
    record_printf(self, " %s=\"", name);
    for (i = 0; i < span.len; i++) {
        const uint8_t byte = span.ptr[i];

        if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
            self->ptr[self->len++] = (char)byte;
            continue;
        }
        self->ptr[self->len++] = '\\';
        self->ptr[self->len++] = 'x';
        self->ptr[self->len++] = digits[byte >> 4];
        self->ptr[self->len++] = digits[byte & 15];
    }
    self->ptr[self->len++] = '"';
    self->ptr[self->len] = '\0';
    if (span.ptr == NULL || (is_text && tg_utf8_check(span) != span.len))
        record_printf(self, "\nBREACH: %s is ill-formed or has no pointer\n", name);
}

static void
record_headers(record *self, tg_span block)
{
    tg_header header;

    while (tg_header_next(&block, &header)) {
        record_printf(self, " header=%d/%" PRId64, (int)header.type, header.number);
        record_span(self, "name", header.name, true);
        record_span(self, "value", header.value, header.type == TG_HEADER_STRING);
    }
    if (block.len > 0)
        record_printf(self, "\nBREACH: a header block that was checked is malformed\n");
}

static void
record_event(record *self, const tg_stream *stream, const tg_event *event)
{
    record_printf(self, "event");
    record_span(self, "type", event->type, true);
    record_span(self, "data", event->data, stream->framing != TG_FRAMING_EVENTSTREAM);
    record_span(self, "id", event->last_event_id, true);
    record_headers(self, tg_stream_headers(stream));
    record_printf(self, " changed=%d retry=%d/%" PRIu64 " at=%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                  event->is_id_changed, event->has_retry, event->retry_ms, event->start_off,
                  event->data_off, event->end_off);
}

static void
record_rest(record *self, const tg_rest *rest)
{
    static const char *const where[] = {"none", "character", "line", "event"};

    record_printf(self, "rest %s", where[rest->where]);
    record_span(self, "line", rest->line, false);
    record_printf(self, " has_data=%d", rest->has_data);
    record_span(self, "type", rest->type, true);
    record_span(self, "data", rest->data, true);
    record_printf(self, " at=%" PRIu64 "\n", rest->start_off);
}

uint8_t *
record_lend(const record_setup *setup, const uint8_t *ptr, size_t len)
{
    uint8_t *chunk = setup->guard != NULL ? guard_place(setup->guard, ptr, len) : NULL;

    if (len == 0)
        return NULL; /* a null pointer with no bytes is a legal chunk */
    if (chunk != NULL)
        return chunk;
    chunk = malloc(len);
    if (chunk == NULL)
        exit(3);
    memcpy(chunk, ptr, len);
    return chunk;
}

void
record_take(const record_setup *setup, uint8_t *chunk, size_t len)
{
    const bool is_guarded = setup->guard != NULL && chunk >= setup->guard->map &&
                            chunk < setup->guard->map + setup->guard->size;

    if (chunk == NULL)
        return;
    memset(chunk, 0xa5, len);
    if (!is_guarded)
        free(chunk);
}

static void
record_stream_error(record *out, tg_stream *stream, tg_status status)
{
    const uint64_t off = tg_stream_error_off(stream);
    tg_event event;
    tg_rest rest;

    record_printf(out, "error %s %" PRIu64 "\n", tg_status_code(status), off);
    if (tg_stream_next(stream, &event) != status ||
        tg_stream_feed(stream, (const uint8_t *)"\n\n", 2) != status ||
        tg_stream_finish(stream, &rest) != status || tg_stream_next(stream, &event) != status ||
        tg_stream_error_off(stream) != off)
        record_printf(out, "BREACH: the error is not sticky\n");
}

/* What frames come now, as the events that they are. */
static void
record_frames(record *self, tg_stream *stream)
{
    tg_frame frames[3]; /* fewer than come in a row */
    size_t count, i;

    do {
        tg_event event = {.last_event_id = tg_stream_last_event_id(stream)};

        count = tg_stream_frames(stream, frames, sizeof frames / sizeof frames[0], &event.type);
        for (i = 0; i < count; i++) {
            event.data = frames[i].data;
            event.start_off = frames[i].start_off;
            event.data_off = frames[i].data_off;
            event.end_off = frames[i].end_off;
            record_event(self, stream, &event);
            if (frames[i].is_ascii != tg_utf8_is_ascii(event.data))
                record_printf(self, "BREACH: a frame is wrong about ASCII\n");
        }
    } while (count > 0);
}

static tg_status
record_stream_chunk(record *out, tg_stream *stream, const uint8_t *chunk, size_t len)
{
    tg_event event;
    tg_status status = tg_stream_feed(stream, chunk, len);

    if (status != TG_OK)
        return status;
    for (;;) {
        /* In some chunks alone: they must come out of next as well. */
        if (len % 2 == 0)
            record_frames(out, stream);
        status = tg_stream_next(stream, &event);
        if (status != TG_OK)
            break;
        record_event(out, stream, &event);
        if (event.is_ascii && !tg_utf8_is_ascii(event.data))
            record_printf(out, "BREACH: an event is wrong about ASCII\n");
    }
    if (status == TG_MORE && tg_stream_next(stream, &event) != TG_MORE)
        record_printf(out, "BREACH: TG_MORE does not last\n");
    return status;
}

static void
record_stream_end(record *out, tg_stream *stream)
{
    tg_event event;
    tg_rest rest;
    tg_status status = tg_stream_finish(stream, &rest);

    if (status != TG_OK) {
        record_stream_error(out, stream, status);
        return;
    }
    record_rest(out, &rest);
    if (tg_stream_feed(stream, (const uint8_t *)"\n\n", 2) != TG_ERR_FINISHED ||
        tg_stream_next(stream, &event) != TG_MORE)
        record_printf(out, "BREACH: alive after finish\n");
    memset(&rest, 0, sizeof rest);
    if (tg_stream_finish(stream, &rest) != TG_OK)
        record_printf(out, "BREACH: finish is not idempotent\n");
    record_rest(out, &rest);
}

void
record_stream(record *out, const record_setup *setup, const uint8_t *ptr, size_t len,
              const size_t *cuts, size_t cut_count)
{
    tg_stream stream;
    tg_status status = TG_MORE;
    uint64_t ms = 0;
    size_t from = 0;
    size_t i;

    record_clear(out);
    tg_stream_init_framing(&stream, setup->framing, setup->alloc, &setup->limits, setup->flags);
    for (i = 0; i <= cut_count && status == TG_MORE; i++) {
        const size_t to = i < cut_count ? cuts[i] : len;
        uint8_t *chunk = record_lend(setup, ptr + from, to - from);

        status = record_stream_chunk(out, &stream, chunk, to - from);
        record_take(setup, chunk, to - from);
        from = to;
    }
    if (status == TG_MORE)
        record_stream_end(out, &stream);
    else
        record_stream_error(out, &stream, status);
    record_printf(out, "end");
    record_span(out, "id", tg_stream_last_event_id(&stream), true);
    if (tg_stream_reconnection_time(&stream, &ms))
        record_printf(out, " retry=%" PRIu64, ms);
    record_printf(out, "\n");
    tg_stream_free(&stream);
}

void
record_stream_step(record *out, const record_setup *setup, const uint8_t *ptr, size_t len,
                   size_t step)
{
    const size_t count = len == 0 ? 0 : (len - 1) / step;
    size_t *cuts = malloc((count + 1) * sizeof *cuts);
    size_t i;

    if (cuts == NULL)
        exit(3);
    for (i = 0; i < count; i++)
        cuts[i] = (i + 1) * step;
    record_stream(out, setup, ptr, len, cuts, count);
    free(cuts);
}

void
record_json(record *out, const record_setup *setup, const uint8_t *ptr, size_t len,
            const size_t *cuts, size_t cut_count)
{
    static const char *const verdicts[] = {"empty", "open", "closed", "invalid", "trailing"};
    tg_json json;
    tg_status status = TG_MORE;
    size_t from = 0;
    size_t i;

    record_clear(out);
    tg_json_init(&json, setup->alloc, setup->view, setup->limits.max_depth);
    for (i = 0; i <= cut_count; i++) {
        const size_t to = i < cut_count ? cuts[i] : len;
        uint8_t *chunk = record_lend(setup, ptr + from, to - from);
        const tg_status before = status;

        status = tg_json_feed(&json, chunk, to - from);
        record_take(setup, chunk, to - from);
        if (before != TG_MORE && before != TG_OK && status != before)
            record_printf(out, "BREACH: the error is not sticky\n");
        from = to;
    }
    record_printf(out, "%s %s depth=%zu", verdicts[tg_json_read(&json)], tg_status_code(status),
                  json.depth);
    status = tg_json_finish(&json);
    if (tg_json_finish(&json) != status)
        record_printf(out, "\nBREACH: finish is not idempotent\n");
    record_printf(out, " final=%s %s off=%" PRIu64 " closed=%" PRId64 " error=%" PRId64,
                  verdicts[tg_json_read(&json)], tg_status_code(status), json.off,
                  (int64_t)json.closed_off, (int64_t)json.error_off);
    record_printf(out, " most=%zu lone=%d\n", json.max_depth_seen, json.is_lone_surrogate);
    if ((status == TG_OK || status == TG_MORE) &&
        tg_json_feed(&json, (const uint8_t *)"x", 1) != TG_ERR_FINISHED)
        record_printf(out, "BREACH: alive after finish\n");
    tg_json_free(&json);
}

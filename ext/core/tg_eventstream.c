/* tg_eventstream.c - the machine of tg_eventstream.h.
 */
#include "tg_eventstream.h"

#include "tg_crc32.h"

#define EVENTSTREAM_PRELUDE ((size_t)12)
#define EVENTSTREAM_CRC ((size_t)4)
/* The smallest message: prelude and CRC, no headers, no payload. */
#define EVENTSTREAM_FRAME (EVENTSTREAM_PRELUDE + EVENTSTREAM_CRC)

const char *
tg_eventstream_state_name(tg_eventstream_state state)
{
    switch (state) {
#define TG_EVENTSTREAM_NAME(name, sentence) \
    case name:                              \
        return #name;
        TG_EVENTSTREAM_STATES(TG_EVENTSTREAM_NAME)
#undef TG_EVENTSTREAM_NAME
    }
    return "";
}

void
tg_eventstream_init(tg_eventstream *self, const tg_alloc *alloc, const tg_limits *limits)
{
    static const tg_eventstream fresh = {.state = TG_EVENTSTREAM_BETWEEN};

    *self = fresh;
    self->headers = tg_span_empty();
    tg_record_init(&self->record, alloc, limits, TG_RECORD_RAW);
    self->record.carry_max = SIZE_MAX / 2; /* read_prelude has bounded it */
}

static uint32_t
eventstream_number(const uint8_t *ptr)
{
    return (uint32_t)ptr[0] << 24 | (uint32_t)ptr[1] << 16 | (uint32_t)ptr[2] << 8 |
           (uint32_t)ptr[3];
}

static tg_status
eventstream_fail(tg_eventstream *self, tg_status status)
{
    return tg_record_fail(&self->record, status, self->record.start_off);
}

static tg_status
eventstream_read_prelude(tg_eventstream *self, const uint8_t *ptr)
{
    const tg_limits *limits = &self->record.limits;
    const size_t total_len = eventstream_number(ptr);
    const size_t header_len = eventstream_number(ptr + 4);
    size_t payload_len;

    self->record.work += EVENTSTREAM_PRELUDE;
    if (tg_crc32(0, ptr, 8) != eventstream_number(ptr + 8))
        return eventstream_fail(self, TG_ERR_PRELUDE_CRC);
    if (total_len < EVENTSTREAM_FRAME || header_len > total_len - EVENTSTREAM_FRAME)
        return eventstream_fail(self, TG_ERR_BAD_FRAME);
    if (header_len > limits->max_header_bytes)
        return eventstream_fail(self, TG_ERR_HEADERS_TOO_LARGE);
    payload_len = total_len - EVENTSTREAM_FRAME - header_len;
    if (payload_len > limits->max_event_bytes)
        return eventstream_fail(self, TG_ERR_EVENT_TOO_LARGE);
    self->need = total_len;
    self->header_len = header_len;
    self->state = TG_EVENTSTREAM_MESSAGE;
    return TG_MORE;
}

static tg_status
eventstream_read_message(tg_eventstream *self, tg_span message, tg_event *out)
{
    tg_record *record = &self->record;
    const size_t crc_pos = message.len - EVENTSTREAM_CRC;
    const tg_span headers = {message.ptr + EVENTSTREAM_PRELUDE, self->header_len};
    tg_span payload = {headers.ptr + headers.len, 0};
    size_t bad_pos;
    tg_status status;

    record->work += message.len + headers.len;
    payload.len = crc_pos - EVENTSTREAM_PRELUDE - headers.len;
    if (tg_crc32(0, message.ptr, crc_pos) != eventstream_number(message.ptr + crc_pos))
        return eventstream_fail(self, TG_ERR_MESSAGE_CRC);
    status = tg_header_check(headers, &record->scratch, &record->alloc, &bad_pos);
    if (status == TG_ERR_NO_MEMORY)
        return tg_record_fail_memory(record);
    if (status != TG_OK)
        return tg_record_fail(record, status, record->start_off + EVENTSTREAM_PRELUDE + bad_pos);
    self->headers = headers;
    self->state = TG_EVENTSTREAM_BETWEEN;
    status = tg_record_lend(record, payload, out);
    out->data_off = out->start_off + EVENTSTREAM_PRELUDE + headers.len;
    out->head = headers;
    return status;
}

/* The bytes that were waited for are there. */
static tg_status
eventstream_step(tg_eventstream *self, tg_event *out)
{
    tg_span text;

    if (!tg_record_text(&self->record, &text))
        return tg_record_fail_memory(&self->record);
    if (self->state == TG_EVENTSTREAM_PRELUDE)
        return eventstream_read_prelude(self, text.ptr);
    return eventstream_read_message(self, text, out);
}

tg_status
tg_eventstream_next(tg_eventstream *self, tg_event *out)
{
    tg_record *record = &self->record;
    tg_status status = tg_record_enter(record);

    if (status != TG_OK)
        return status;
    self->headers = tg_span_empty();
    while (record->pos < record->len) {
        size_t lack;

        if (self->state == TG_EVENTSTREAM_BETWEEN) {
            tg_record_open(record);
            self->need = EVENTSTREAM_PRELUDE;
            self->state = TG_EVENTSTREAM_PRELUDE;
        }
        lack = self->need - (size_t)tg_record_len(record);
        if (lack > record->len - record->pos) {
            record->pos = record->len;
            break;
        }
        record->pos += lack;
        status = eventstream_step(self, out);
        if (status != TG_MORE)
            return status;
    }
    return tg_record_pause(record);
}

tg_status
tg_eventstream_finish(tg_eventstream *self, tg_rest *out)
{
    const tg_rest_where where =
        self->state == TG_EVENTSTREAM_BETWEEN ? TG_REST_NONE : TG_REST_EVENT;

    return tg_record_end(&self->record, where, out);
}

void
tg_eventstream_free(tg_eventstream *self)
{
    tg_record_free(&self->record);
}

void
tg_eventstream_reset(tg_eventstream *self)
{
    const tg_alloc alloc = self->record.alloc;
    const tg_limits limits = self->record.limits;

    tg_eventstream_free(self);
    tg_eventstream_init(self, &alloc, &limits);
}

tg_status
tg_eventstream_feed(tg_eventstream *self, const uint8_t *ptr, size_t len)
{
    return tg_record_feed(&self->record, ptr, len);
}

uint64_t
tg_eventstream_work(const tg_eventstream *self)
{
    return tg_record_work(&self->record);
}

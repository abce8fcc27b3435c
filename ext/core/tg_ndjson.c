/* tg_ndjson.c - the machine of tg_ndjson.h.
 *
 * TG_NO_RUN turns the search for the LF by the C library off.
 */
#include "tg_ndjson.h"

#include <string.h>

#include "tg_scan.h"

const char *
tg_ndjson_state_name(tg_ndjson_state state)
{
    switch (state) {
#define TG_NDJSON_NAME(name, sentence) \
    case name:                         \
        return #name;
        TG_NDJSON_STATES(TG_NDJSON_NAME)
#undef TG_NDJSON_NAME
    }
    return "";
}

static size_t
ndjson_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

void
tg_ndjson_init(tg_ndjson *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags)
{
    self->state = TG_NDJSON_START;
    tg_record_init(&self->record, alloc, limits, tg_record_utf8_rule(flags));
    self->record.carry_max = ndjson_add(self->record.limits.max_event_bytes, 1); /* and its CR */
}

/* Index of the first LF, or len. */
static size_t
ndjson_find_end(const uint8_t *ptr, size_t len)
{
#ifndef TG_NO_RUN
    const uint8_t *end = memchr(ptr, '\n', len);

    return end != NULL ? (size_t)(end - ptr) : len;
#else
    size_t pos = 0;

    while (pos < len && ptr[pos] != '\n')
        pos++;
    return pos;
#endif
}

static tg_status
ndjson_fail_large(tg_ndjson *self)
{
    return tg_record_fail(&self->record, TG_ERR_EVENT_TOO_LARGE,
                          self->record.start_off + self->record.limits.max_event_bytes);
}

/* pos is at the LF. */
static tg_status
ndjson_end_record(tg_ndjson *self, tg_event *out)
{
    tg_record *record = &self->record;
    tg_span text;

    if (!tg_record_text(record, &text))
        return tg_record_fail_memory(record);
    if (text.ptr[text.len - 1] == '\r')
        text.len--;
    if (text.len > record->limits.max_event_bytes)
        return ndjson_fail_large(self);
    record->pos++;
    self->state = TG_NDJSON_BETWEEN;
    return tg_record_lend(record, text, out);
}

static tg_status
ndjson_take_record(tg_ndjson *self, tg_event *out)
{
    tg_record *record = &self->record;
    const size_t max = record->limits.max_event_bytes;
    const uint64_t most = ndjson_add(max, 2); /* a full record, its CR and its LF */
    const uint64_t held = tg_record_len(record);
    size_t len = record->len - record->pos;
    size_t end;

    if (held >= most)
        return ndjson_fail_large(self);
    if (len > most - held)
        len = (size_t)(most - held);
    end = ndjson_find_end(record->chunk + record->pos, len);
    record->pos += end;
    record->work += end;
    if (end < len)
        return ndjson_end_record(self, out);
    if (tg_record_len(record) <= max)
        return TG_MORE;
    if (tg_record_len(record) - max == 1 && record->chunk[record->pos - 1] == '\r')
        return TG_MORE;
    return ndjson_fail_large(self);
}

/* TG_OK: a record. TG_MORE: taken in. There is a byte at pos. */
static tg_status
ndjson_step(tg_ndjson *self, tg_event *out)
{
    tg_record *record = &self->record;
    tg_status status;
    size_t len;

    switch (self->state) {
    case TG_NDJSON_START:
        status = tg_record_skip_bom(record);
        if (status != TG_OK)
            return status;
        self->state = record->is_open ? TG_NDJSON_RECORD : TG_NDJSON_BETWEEN;
        return TG_MORE;
    case TG_NDJSON_BETWEEN:
        len = tg_scan_non_blank(record->chunk + record->pos, record->len - record->pos);
        record->pos += len;
        record->work += len;
        if (record->pos == record->len)
            return TG_MORE;
        tg_record_open(record);
        self->state = TG_NDJSON_RECORD;
        return TG_MORE;
    case TG_NDJSON_RECORD:
        return ndjson_take_record(self, out);
    }
    return TG_MORE;
}

tg_status
tg_ndjson_next(tg_ndjson *self, tg_event *out)
{
    tg_status status = tg_record_enter(&self->record);

    if (status != TG_OK)
        return status;
    while (self->record.pos < self->record.len) {
        status = ndjson_step(self, out);
        if (status != TG_MORE)
            return status;
    }
    return tg_record_pause(&self->record);
}

tg_status
tg_ndjson_finish(tg_ndjson *self, tg_rest *out)
{
    return tg_record_end(&self->record, self->record.is_open ? TG_REST_LINE : TG_REST_NONE, out);
}

void
tg_ndjson_free(tg_ndjson *self)
{
    tg_record_free(&self->record);
}

void
tg_ndjson_reset(tg_ndjson *self)
{
    const tg_alloc alloc = self->record.alloc;
    const tg_limits limits = self->record.limits;

    tg_ndjson_free(self);
    tg_ndjson_init(self, &alloc, &limits, tg_record_flags(&self->record));
}

tg_status
tg_ndjson_feed(tg_ndjson *self, const uint8_t *ptr, size_t len)
{
    return tg_record_feed(&self->record, ptr, len);
}

uint64_t
tg_ndjson_work(const tg_ndjson *self)
{
    return tg_record_work(&self->record);
}

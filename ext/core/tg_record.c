/* tg_record.c - chunks, carry, errors and the end for tg_record.h.
 *
 * Refuses: moving pos, but for the byte order mark.
 */
#include "tg_record.h"

static const uint8_t record_bom[3] = {0xef, 0xbb, 0xbf};

const char *
tg_record_state_name(tg_record_state state)
{
    switch (state) {
#define TG_RECORD_NAME(name, sentence) \
    case name:                         \
        return #name;
        TG_RECORD_STATES(TG_RECORD_NAME)
#undef TG_RECORD_NAME
    }
    return "";
}

static void
record_set_chunk(tg_record *self, const uint8_t *ptr, size_t len)
{
    self->chunk = len == 0 ? tg_span_empty().ptr : ptr;
    self->len = len;
    self->pos = 0;
    self->mark = 0;
}

tg_record_utf8
tg_record_utf8_rule(unsigned flags)
{
    return (flags & TG_RECORD_STRICT_UTF8) != 0 ? TG_RECORD_STRICT : TG_RECORD_REPLACE;
}

unsigned
tg_record_flags(const tg_record *self)
{
    return self->utf8_rule == TG_RECORD_STRICT ? TG_RECORD_STRICT_UTF8 : 0;
}

void
tg_record_init(tg_record *self, const tg_alloc *alloc, const tg_limits *limits,
               tg_record_utf8 utf8_rule)
{
    static const tg_record fresh = {.state = TG_RECORD_READY};

    *self = fresh;
    self->alloc = alloc != NULL ? *alloc : tg_alloc_default();
    self->limits = limits != NULL ? *limits : tg_limits_default();
    self->utf8_rule = utf8_rule;
    self->carry_max = self->limits.max_event_bytes;
    record_set_chunk(self, NULL, 0);
}

void
tg_record_free(tg_record *self)
{
    tg_buf_free(&self->carry, &self->alloc);
    tg_buf_free(&self->scratch, &self->alloc);
}

uint64_t
tg_record_work(const tg_record *self)
{
    return self->work + self->carry.work + self->scratch.work;
}

tg_status
tg_record_fail(tg_record *self, tg_status status, uint64_t off)
{
    self->state = TG_RECORD_BROKEN;
    self->error = status;
    self->error_off = off;
    return status;
}

tg_status
tg_record_fail_memory(tg_record *self)
{
    return tg_record_fail(self, TG_ERR_NO_MEMORY, tg_record_off(self));
}

/* ---- chunks -----------------------------------------------------------------------------------
 */

/* What was lent at the last call dies. */
static void
record_take_back(tg_record *self)
{
    if (!self->is_lent)
        return;
    tg_buf_clear(&self->carry, &self->alloc);
    tg_buf_clear(&self->scratch, &self->alloc);
    self->is_lent = false;
}

tg_status
tg_record_feed(tg_record *self, const uint8_t *ptr, size_t len)
{
    size_t good = len;

    if (self->error != TG_OK)
        return self->error;
    if (self->state != TG_RECORD_READY)
        return TG_ERR_FINISHED;
    record_take_back(self);
    if (len == 0)
        return TG_OK;
    if (self->utf8_rule == TG_RECORD_STRICT) {
        good = tg_utf8_feed(&self->utf8, ptr, len);
        self->work += good;
        if (good < len) {
            self->chunk_error = TG_ERR_UTF8;
            self->chunk_error_off = self->bytes_fed + good - self->utf8.seen;
        }
    }
    self->bytes_fed += len;
    self->state = TG_RECORD_READING;
    record_set_chunk(self, ptr, good);
    return TG_OK;
}

tg_status
tg_record_enter(tg_record *self)
{
    if (self->error != TG_OK)
        return self->error;
    if (self->state == TG_RECORD_ENDED)
        return TG_MORE;
    record_take_back(self);
    return TG_OK;
}

/* The carry holds the open record up to pos. */
static bool
record_gather(tg_record *self)
{
    if (!tg_buf_append(&self->carry, &self->alloc, self->carry_max, self->chunk + self->mark,
                       self->pos - self->mark))
        return false;
    self->mark = self->pos;
    self->is_carried = true;
    return true;
}

tg_status
tg_record_pause(tg_record *self)
{
    if (self->chunk_error != TG_OK)
        return tg_record_fail(self, self->chunk_error, self->chunk_error_off);
    if (self->is_open && !record_gather(self))
        return tg_record_fail_memory(self);
    self->chunk_off += self->len;
    record_set_chunk(self, NULL, 0);
    self->state = TG_RECORD_READY;
    return TG_MORE;
}

/* ---- the record -------------------------------------------------------------------------------
 */

tg_status
tg_record_skip_bom(tg_record *self)
{
    while (self->pos < self->len && self->bom_len < sizeof record_bom &&
           self->chunk[self->pos] == record_bom[self->bom_len]) {
        self->bom_len++;
        self->pos++;
        self->work++;
    }
    if (self->bom_len == sizeof record_bom)
        return TG_OK;
    if (self->pos == self->len)
        return TG_MORE;
    if (self->bom_len == 0)
        return TG_OK;
    self->is_open = true;
    self->start_off = 0;
    self->mark = 0;
    if (self->pos >= self->bom_len)
        return TG_OK;
    /* Some of it went with an earlier chunk. */
    self->mark = self->pos;
    self->is_carried = true;
    if (!tg_buf_append(&self->carry, &self->alloc, sizeof record_bom, record_bom, self->bom_len))
        return tg_record_fail_memory(self);
    return TG_OK;
}

uint64_t
tg_record_off(const tg_record *self)
{
    return self->chunk_off + self->pos;
}

void
tg_record_open(tg_record *self)
{
    self->is_open = true;
    self->is_carried = false;
    self->mark = self->pos;
    self->start_off = tg_record_off(self);
}

uint64_t
tg_record_len(const tg_record *self)
{
    return tg_record_off(self) - self->start_off;
}

bool
tg_record_text(tg_record *self, tg_span *out)
{
    if (self->is_carried) {
        if (!record_gather(self))
            return false;
        *out = tg_buf_span(&self->carry, 0);
        return true;
    }
    out->ptr = self->chunk + self->mark;
    out->len = self->pos - self->mark;
    return true;
}

/* The text as well-formed UTF-8: where it is, or from the scratch buffer. */
static bool
record_replace(tg_record *self, tg_span *text)
{
    self->work += text->len;
    if (tg_utf8_check(*text) == text->len)
        return true;
    tg_buf_clear(&self->scratch, &self->alloc);
    if (!tg_utf8_replace(&self->scratch, &self->alloc, *text))
        return false;
    *text = tg_buf_span(&self->scratch, 0);
    return true;
}

tg_status
tg_record_lend(tg_record *self, tg_span text, tg_event *out)
{
    tg_event event = {
        .type = tg_span_empty(), .last_event_id = tg_span_empty(), .head = tg_span_empty()};

    /* A strict stream has been checked as a whole. */
    if (self->utf8_rule == TG_RECORD_REPLACE && !record_replace(self, &text))
        return tg_record_fail_memory(self);
    event.data = text;
    event.start_off = self->start_off;
    event.data_off = self->start_off;
    event.end_off = tg_record_off(self);
    self->is_open = false;
    self->is_carried = false;
    self->is_lent = true;
    *out = event;
    return TG_OK;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* The open record as it stands, ill-formed and cut sequences of its text replaced. */
static bool
record_rest(tg_record *self, tg_rest *rest)
{
    if (!self->is_open) {
        if (self->bom_len > 0 && self->bom_len < sizeof record_bom) {
            rest->where = TG_REST_CHARACTER;
            rest->line.ptr = record_bom;
            rest->line.len = self->bom_len;
            rest->start_off = 0;
        }
        return true;
    }
    if (!tg_record_text(self, &rest->line))
        return false;
    rest->start_off = self->start_off;
    if (self->utf8_rule == TG_RECORD_RAW)
        return true;
    if (tg_utf8_cut(rest->line) > 0)
        rest->where = TG_REST_CHARACTER;
    rest->has_data = true;
    rest->data = rest->line;
    return record_replace(self, &rest->data);
}

tg_status
tg_record_end(tg_record *self, tg_rest_where where, tg_rest *out)
{
    tg_rest rest = {.where = where,
                    .line = tg_span_empty(),
                    .type = tg_span_empty(),
                    .data = tg_span_empty(),
                    .start_off = tg_record_off(self)};

    if (self->error != TG_OK)
        return self->error;
    if (self->state == TG_RECORD_READING)
        return TG_ERR_FINISHED;
    if (self->state == TG_RECORD_READY) {
        record_take_back(self);
        if (!record_rest(self, &rest))
            return tg_record_fail_memory(self);
        self->rest = rest;
        self->state = TG_RECORD_ENDED;
    }
    *out = self->rest;
    return TG_OK;
}

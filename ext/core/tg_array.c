/* tg_array.c - the machine of tg_array.h: what stands between elements, and where an element ends.
 */
#include "tg_array.h"

#include "tg_json_step.h"
#include "tg_scan.h"

const char *
tg_array_state_name(tg_array_state state)
{
    switch (state) {
#define TG_ARRAY_NAME(name, sentence) \
    case name:                        \
        return #name;
        TG_ARRAY_STATES(TG_ARRAY_NAME)
#undef TG_ARRAY_NAME
    }
    return "";
}

void
tg_array_init(tg_array *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags)
{
    self->state = TG_ARRAY_START;
    tg_record_init(&self->record, alloc, limits, tg_record_utf8_rule(flags));
    tg_json_init(&self->json, &self->record.alloc, TG_JSON_STRUCTURAL, 0);
}

void
tg_array_free(tg_array *self)
{
    tg_record_free(&self->record);
    tg_json_free(&self->json);
}

static tg_status
array_invalid(tg_array *self)
{
    return tg_record_fail(&self->record, TG_ERR_JSON_INVALID, tg_record_off(&self->record));
}

static tg_status
array_fail_large(tg_array *self)
{
    return tg_record_fail(&self->record, TG_ERR_EVENT_TOO_LARGE,
                          self->record.start_off + self->record.limits.max_event_bytes);
}

/* The byte at pos stands between elements. */
static tg_status
array_go(tg_array *self, tg_array_state state)
{
    self->record.pos++;
    self->state = state;
    return TG_MORE;
}

/* The closing bracket at pos. */
static tg_status
array_close(tg_array *self)
{
    self->close_off = tg_record_off(&self->record);
    return array_go(self, TG_ARRAY_AFTER_ARRAY);
}

/* ---- one element ------------------------------------------------------------------------------
 */

/* The tracker anew for each element; it keeps its stack, so that an element costs no allocation. */
static void
array_begin_json(tg_array *self)
{
    uint8_t *stack = self->json.stack;
    const size_t stack_size = self->json.stack_size;

    tg_json_init(&self->json, &self->record.alloc, TG_JSON_STRUCTURAL,
                 self->record.limits.max_depth - 1);
    self->json.stack = stack;
    self->json.stack_size = stack_size;
}

/* The byte at pos is where an element must begin. */
static tg_status
array_begin_element(tg_array *self, uint8_t byte)
{
    switch (byte) {
    case ',':
    case ':':
    case ']':
    case '}':
        return array_invalid(self);
    case '{':
    case '[':
    case '"':
        array_begin_json(self);
        self->state = TG_ARRAY_IN_VALUE;
        break;
    default:
        self->state = TG_ARRAY_IN_WORD;
        break;
    }
    tg_record_open(&self->record);
    return TG_MORE;
}

/* The element ends at pos. */
static tg_status
array_end_element(tg_array *self, tg_event *out)
{
    tg_span text;

    if (!tg_record_text(&self->record, &text))
        return tg_record_fail_memory(&self->record);
    self->state = TG_ARRAY_AFTER_ELEMENT;
    return tg_record_lend(&self->record, text, out);
}

static tg_status
array_take_value(tg_array *self, tg_event *out)
{
    tg_record *record = &self->record;
    tg_json *json = &self->json;
    const uint64_t held = tg_record_len(record);
    const uint64_t room = record->limits.max_event_bytes - held;
    const size_t rest = record->len - record->pos;
    const size_t len = rest < room ? rest : (size_t)room;

    (void)tg_json_feed(json, record->chunk + record->pos, len);
    record->work += json->off - held + (json->error != TG_OK);
    /* What the tracker has read after the element is for the states after it. */
    if (json->closed_off != TG_JSON_NOWHERE) {
        record->pos += (size_t)(json->closed_off - held);
        return array_end_element(self, out);
    }
    if (json->error == TG_ERR_NO_MEMORY)
        return tg_record_fail_memory(record);
    if (json->error != TG_OK)
        return tg_record_fail(record, json->error, record->start_off + json->error_off);
    record->pos += len;
    return len < rest ? array_fail_large(self) : TG_MORE;
}

static tg_status
array_take_word(tg_array *self, tg_event *out, uint8_t byte)
{
    tg_record *record = &self->record;

    record->work++;
    if (tg_json_is_blank(byte) || byte == ',' || byte == ']')
        return array_end_element(self, out);
    if (byte == '{' || byte == '}' || byte == '[' || byte == ':' || byte == '"')
        return array_invalid(self);
    if (tg_record_len(record) >= record->limits.max_event_bytes)
        return array_fail_large(self);
    record->pos++;
    return TG_MORE;
}

/* ---- what stands between ----------------------------------------------------------------------
 */

static void
array_skip_blanks(tg_array *self)
{
    tg_record *record = &self->record;
    const size_t len = tg_scan_non_blank(record->chunk + record->pos, record->len - record->pos);

    record->pos += len;
    record->work += len;
}

static tg_status
array_begin(tg_array *self)
{
    const tg_status status = tg_record_skip_bom(&self->record);

    if (status != TG_OK)
        return status;
    if (self->record.is_open)
        return tg_record_fail(&self->record, TG_ERR_JSON_INVALID, 0); /* part of a BOM alone */
    self->state = TG_ARRAY_BEFORE_ARRAY;
    return TG_MORE;
}

/* The byte at pos is no white space. */
static tg_status
array_take_mark(tg_array *self, uint8_t byte)
{
    self->record.work++;
    switch (self->state) {
    case TG_ARRAY_BEFORE_ARRAY:
        if (byte != '[')
            return array_invalid(self);
        if (self->record.limits.max_depth == 0)
            return tg_record_fail(&self->record, TG_ERR_DEPTH_TOO_LARGE,
                                  tg_record_off(&self->record));
        return array_go(self, TG_ARRAY_BEFORE_FIRST);
    case TG_ARRAY_BEFORE_FIRST:
        if (byte == ']')
            return array_close(self);
        return array_begin_element(self, byte);
    case TG_ARRAY_BEFORE_ELEMENT:
        return array_begin_element(self, byte);
    case TG_ARRAY_AFTER_ELEMENT:
        if (byte == ',')
            return array_go(self, TG_ARRAY_BEFORE_ELEMENT);
        return byte == ']' ? array_close(self) : array_invalid(self);
    case TG_ARRAY_AFTER_ARRAY:
        return tg_record_fail(&self->record, TG_ERR_JSON_TRAILING, tg_record_off(&self->record));
    case TG_ARRAY_START:
    case TG_ARRAY_IN_VALUE:
    case TG_ARRAY_IN_WORD:
        break;
    }
    return TG_MORE; /* not a state between elements */
}

/* TG_OK: an element. TG_MORE: taken in. There is a byte at pos. */
static tg_status
array_step(tg_array *self, tg_event *out)
{
    tg_record *record = &self->record;

    switch (self->state) {
    case TG_ARRAY_START:
        return array_begin(self);
    case TG_ARRAY_IN_VALUE:
        return array_take_value(self, out);
    case TG_ARRAY_IN_WORD:
        return array_take_word(self, out, record->chunk[record->pos]);
    case TG_ARRAY_BEFORE_ARRAY:
    case TG_ARRAY_BEFORE_FIRST:
    case TG_ARRAY_BEFORE_ELEMENT:
    case TG_ARRAY_AFTER_ELEMENT:
    case TG_ARRAY_AFTER_ARRAY:
        array_skip_blanks(self);
        if (record->pos == record->len)
            return TG_MORE;
        return array_take_mark(self, record->chunk[record->pos]);
    }
    return TG_MORE;
}

tg_status
tg_array_next(tg_array *self, tg_event *out)
{
    tg_status status = tg_record_enter(&self->record);

    if (status != TG_OK)
        return status;
    while (self->record.pos < self->record.len) {
        status = array_step(self, out);
        if (status != TG_MORE)
            return status;
    }
    return tg_record_pause(&self->record);
}

tg_status
tg_array_finish(tg_array *self, tg_rest *out)
{
    const tg_rest_where where = self->state == TG_ARRAY_AFTER_ARRAY ? TG_REST_NONE : TG_REST_EVENT;

    return tg_record_end(&self->record, where, out);
}

void
tg_array_reset(tg_array *self)
{
    const tg_alloc alloc = self->record.alloc;
    const tg_limits limits = self->record.limits;

    tg_array_free(self);
    tg_array_init(self, &alloc, &limits, tg_record_flags(&self->record));
}

tg_status
tg_array_feed(tg_array *self, const uint8_t *ptr, size_t len)
{
    return tg_record_feed(&self->record, ptr, len);
}

uint64_t
tg_array_whole_off(const tg_array *self)
{
    if (self->state == TG_ARRAY_AFTER_ARRAY)
        return self->close_off;
    return self->record.is_open ? self->record.start_off : tg_record_off(&self->record);
}

uint64_t
tg_array_work(const tg_array *self)
{
    return tg_record_work(&self->record);
}

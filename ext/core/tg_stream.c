/* tg_stream.c - the facade over the framers: one switch per verb.
 *
 * Refuses: any logic of its own; a rule belongs to the machine that obeys it.
 */
#include "tg_stream.h"

_Static_assert(TG_RECORD_STRICT_UTF8 == TG_SSE_STRICT_UTF8, "one flag for every framing");

/* What the framers of records share; NULL for SSE. */
static const tg_record *
stream_record(const tg_stream *self)
{
    switch (self->framing) {
    case TG_FRAMING_SSE:
        return NULL;
    case TG_FRAMING_NDJSON:
        return &self->ndjson.record;
    case TG_FRAMING_ARRAY:
        return &self->array.record;
    case TG_FRAMING_EVENTSTREAM:
        return &self->eventstream.record;
    }
    return NULL;
}

void
tg_stream_init_framing(tg_stream *self, tg_framing framing, const tg_alloc *alloc,
                       const tg_limits *limits, unsigned flags)
{
    self->framing = framing;
    self->predict = NULL;
    self->is_id_changed = false;
    switch (framing) {
    case TG_FRAMING_SSE:
        tg_sse_init(&self->sse, alloc, limits, flags);
        break;
    case TG_FRAMING_NDJSON:
        tg_ndjson_init(&self->ndjson, alloc, limits, flags);
        break;
    case TG_FRAMING_ARRAY:
        tg_array_init(&self->array, alloc, limits, flags);
        break;
    case TG_FRAMING_EVENTSTREAM:
        tg_eventstream_init(&self->eventstream, alloc, limits);
        break;
    }
}

void
tg_stream_init(tg_stream *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags)
{
    tg_stream_init_framing(self, TG_FRAMING_SSE, alloc, limits, flags);
}

void
tg_stream_set_predict(tg_stream *self, tg_predict *predict)
{
    self->predict = predict;
    if (predict != NULL)
        predict->is_event_raw = self->framing == TG_FRAMING_EVENTSTREAM;
    if (self->framing == TG_FRAMING_SSE)
        tg_sse_set_predict(&self->sse, predict);
}

void
tg_stream_reset(tg_stream *self)
{
    self->predict = NULL;
    self->is_id_changed = false;
    switch (self->framing) {
    case TG_FRAMING_SSE:
        tg_sse_reset(&self->sse);
        break;
    case TG_FRAMING_NDJSON:
        tg_ndjson_reset(&self->ndjson);
        break;
    case TG_FRAMING_ARRAY:
        tg_array_reset(&self->array);
        break;
    case TG_FRAMING_EVENTSTREAM:
        tg_eventstream_reset(&self->eventstream);
        break;
    }
}

void
tg_stream_free(tg_stream *self)
{
    switch (self->framing) {
    case TG_FRAMING_SSE:
        tg_sse_free(&self->sse);
        break;
    case TG_FRAMING_NDJSON:
        tg_ndjson_free(&self->ndjson);
        break;
    case TG_FRAMING_ARRAY:
        tg_array_free(&self->array);
        break;
    case TG_FRAMING_EVENTSTREAM:
        tg_eventstream_free(&self->eventstream);
        break;
    }
}

tg_status
tg_stream_feed(tg_stream *self, const uint8_t *ptr, size_t len)
{
    switch (self->framing) {
    case TG_FRAMING_SSE:
        return tg_sse_feed(&self->sse, ptr, len);
    case TG_FRAMING_NDJSON:
        return tg_ndjson_feed(&self->ndjson, ptr, len);
    case TG_FRAMING_ARRAY:
        return tg_array_feed(&self->array, ptr, len);
    case TG_FRAMING_EVENTSTREAM:
        return tg_eventstream_feed(&self->eventstream, ptr, len);
    }
    return TG_ERR_FINISHED; /* no such framing */
}

static tg_status
stream_next_event(tg_stream *self, tg_event *out)
{
    switch (self->framing) {
    case TG_FRAMING_SSE:
        return tg_sse_next(&self->sse, out);
    case TG_FRAMING_NDJSON:
        return tg_ndjson_next(&self->ndjson, out);
    case TG_FRAMING_ARRAY:
        return tg_array_next(&self->array, out);
    case TG_FRAMING_EVENTSTREAM:
        return tg_eventstream_next(&self->eventstream, out);
    }
    return TG_ERR_FINISHED; /* no such framing */
}

tg_status
tg_stream_next(tg_stream *self, tg_event *out)
{
    for (;;) {
        const tg_status status = stream_next_event(self, out);

        if (status != TG_OK)
            return status;
        /* Whoever reads events alone is to know of each change. */
        self->is_id_changed = self->is_id_changed || out->is_id_changed;
        if (self->predict != NULL && tg_predict_event(self->predict, out))
            continue;
        out->is_id_changed = self->is_id_changed;
        self->is_id_changed = false;
        return TG_OK;
    }
}

size_t
tg_stream_frames(tg_stream *self, tg_frame *out, size_t max, tg_span *type)
{
    if (self->framing != TG_FRAMING_SSE || self->predict != NULL)
        return 0;
    return tg_sse_frames(&self->sse, out, max, type);
}

tg_status
tg_stream_finish(tg_stream *self, tg_rest *out)
{
    switch (self->framing) {
    case TG_FRAMING_SSE:
        return tg_sse_finish(&self->sse, out);
    case TG_FRAMING_NDJSON:
        return tg_ndjson_finish(&self->ndjson, out);
    case TG_FRAMING_ARRAY:
        return tg_array_finish(&self->array, out);
    case TG_FRAMING_EVENTSTREAM:
        return tg_eventstream_finish(&self->eventstream, out);
    }
    return TG_ERR_FINISHED; /* no such framing */
}

tg_span
tg_stream_headers(const tg_stream *self)
{
    return self->framing == TG_FRAMING_EVENTSTREAM ? self->eventstream.headers : tg_span_empty();
}

tg_span
tg_stream_last_event_id(const tg_stream *self)
{
    return self->framing == TG_FRAMING_SSE ? tg_sse_last_event_id(&self->sse) : tg_span_empty();
}

bool
tg_stream_reconnection_time(const tg_stream *self, uint64_t *ms)
{
    if (self->framing != TG_FRAMING_SSE || !self->sse.has_reconnection)
        return false;
    *ms = self->sse.reconnection_ms;
    return true;
}

void
tg_stream_watch(tg_stream *self, bool is_watching)
{
    if (self->framing == TG_FRAMING_SSE)
        tg_sse_watch(&self->sse, is_watching);
}

uint64_t
tg_stream_stray_off(const tg_stream *self)
{
    return self->framing == TG_FRAMING_SSE ? self->sse.stray_off : TG_NO_STRAY;
}

uint64_t
tg_stream_bytes_fed(const tg_stream *self)
{
    const tg_record *record = stream_record(self);

    return record != NULL ? record->bytes_fed : self->sse.bytes_fed;
}

uint64_t
tg_stream_whole_off(const tg_stream *self)
{
    const tg_record *record = stream_record(self);

    if (record == NULL)
        return tg_sse_whole_off(&self->sse);
    if (self->framing == TG_FRAMING_ARRAY)
        return tg_array_whole_off(&self->array);
    return record->is_open ? record->start_off : tg_record_off(record);
}

uint64_t
tg_stream_error_off(const tg_stream *self)
{
    const tg_record *record = stream_record(self);

    return record != NULL ? record->error_off : self->sse.error_off;
}

uint64_t
tg_stream_work(const tg_stream *self)
{
    switch (self->framing) {
    case TG_FRAMING_SSE:
        return tg_sse_work(&self->sse);
    case TG_FRAMING_NDJSON:
        return tg_ndjson_work(&self->ndjson);
    case TG_FRAMING_ARRAY:
        return tg_array_work(&self->array);
    case TG_FRAMING_EVENTSTREAM:
        return tg_eventstream_work(&self->eventstream);
    }
    return 0;
}

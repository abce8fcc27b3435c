/* tg_stream.c - the facade over the framer. There is one framer so far: SSE.
 *
 * Refuses: any logic of its own; a rule belongs to the machine that obeys it.
 */
#include "tg_stream.h"

void
tg_stream_init(tg_stream *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags)
{
    tg_sse_init(&self->sse, alloc, limits, flags);
}

void
tg_stream_reset(tg_stream *self)
{
    tg_sse_reset(&self->sse);
}

void
tg_stream_free(tg_stream *self)
{
    tg_sse_free(&self->sse);
}

tg_status
tg_stream_feed(tg_stream *self, const uint8_t *ptr, size_t len)
{
    return tg_sse_feed(&self->sse, ptr, len);
}

tg_status
tg_stream_next(tg_stream *self, tg_event *out)
{
    return tg_sse_next(&self->sse, out);
}

tg_status
tg_stream_finish(tg_stream *self, tg_rest *out)
{
    return tg_sse_finish(&self->sse, out);
}

tg_span
tg_stream_last_event_id(const tg_stream *self)
{
    return tg_sse_last_event_id(&self->sse);
}

bool
tg_stream_reconnection_time(const tg_stream *self, uint64_t *ms)
{
    if (self->sse.has_reconnection)
        *ms = self->sse.reconnection_ms;
    return self->sse.has_reconnection;
}

uint64_t
tg_stream_bytes_fed(const tg_stream *self)
{
    return self->sse.bytes_fed;
}

uint64_t
tg_stream_error_off(const tg_stream *self)
{
    return self->sse.error_off;
}

uint64_t
tg_stream_work(const tg_stream *self)
{
    return tg_sse_work(&self->sse);
}

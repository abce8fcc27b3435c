/* tg_sse_life.c - birth and death of tg_sse, and what may be asked of it.
 *
 * Refuses: reading a byte; tg_sse.c does.
 */
#include "tg_sse.h"

const char *
tg_sse_state_name(tg_sse_state state)
{
    switch (state) {
#define TG_SSE_NAME(name, sentence) \
    case name:                      \
        return #name;
        TG_SSE_STATES(TG_SSE_NAME)
#undef TG_SSE_NAME
    }
    return "";
}

void
tg_sse_init(tg_sse *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags)
{
    static const tg_sse fresh = {
        .state = TG_SSE_BETWEEN, .is_drained = true, .stray_off = TG_NO_STRAY};

    *self = fresh;
    self->alloc = alloc != NULL ? *alloc : tg_alloc_default();
    self->limits = limits != NULL ? *limits : tg_limits_default();
    self->flags = flags;
    tg_line_init(&self->line);
    tg_block_init(&self->block);
}

void
tg_sse_free(tg_sse *self)
{
    tg_line_free(&self->line, &self->alloc);
    tg_block_free(&self->block, &self->alloc);
    tg_last_id_free(&self->last_id, &self->alloc);
}

void
tg_sse_reset(tg_sse *self)
{
    const tg_alloc alloc = self->alloc;
    const tg_limits limits = self->limits;

    tg_sse_free(self);
    tg_sse_init(self, &alloc, &limits, self->flags);
}

tg_span
tg_sse_last_event_id(const tg_sse *self)
{
    return tg_buf_span(&self->last_id.string, 0);
}

void
tg_sse_set_predict(tg_sse *self, tg_predict *predict)
{
    const tg_limits *limits = &self->limits;

    self->predict = predict;
    if (predict == NULL)
        return;
    predict->is_frame_raw = (self->flags & TG_SSE_STRICT_UTF8) == 0;
    predict->max_frame = limits->max_line_bytes < limits->max_event_bytes ? limits->max_line_bytes
                                                                          : limits->max_event_bytes;
}

void
tg_sse_watch(tg_sse *self, bool is_watching)
{
    self->is_watching = is_watching;
    self->stray_off = TG_NO_STRAY;
}

uint64_t
tg_sse_whole_off(const tg_sse *self)
{
    if (self->state != TG_SSE_BETWEEN)
        return self->start_off;
    /* A BOM in the making may turn out to be the beginning of a line. */
    return self->line.state == TG_LINE_BOM ? 0 : self->line.start_off;
}

uint64_t
tg_sse_work(const tg_sse *self)
{
    return self->work + self->line.work + self->line.carry.work + tg_block_work(&self->block) +
           tg_last_id_work(&self->last_id);
}

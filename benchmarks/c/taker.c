/* taker.c - the caller's part of taker.h. */
#include "taker.h"

#include "tg_crc32.h"

void
taker_init(taker *self, const tape *played, const tg_shapes *shapes)
{
    const taker fresh = {.tape = played, .shapes = shapes, .n_learnt = SIZE_MAX};

    *self = fresh;
    tg_predict_init(&self->predict, NULL);
    tg_stream_init(&self->stream, NULL, NULL, TG_SSE_STRICT_UTF8);
    tg_stream_set_predict(&self->stream, &self->predict);
}

void
taker_free(taker *self)
{
    tg_stream_free(&self->stream);
    tg_predict_free(&self->predict);
}

static void
taker_hear(taker *self, tg_span text)
{
    self->text += text.len;
    if (self->is_checked) {
        self->sum = tg_crc32(self->sum, text.ptr, text.len);
    }
}

static void
taker_drain(taker *self)
{
    const size_t count = tg_predict_run_count(&self->predict);
    tg_span text;

    for (size_t i = 0; i < count; i++) {
        tg_predict_run(&self->predict, i, &text);
        taker_hear(self, text);
    }
    if (count > 0) {
        tg_predict_drain(&self->predict);
    }
}

static bool
taker_learn(taker *self, const tg_event *event, const tape_piece *piece)
{
    size_t lane = 0;

    if (self->predict.lane_count == 0) {
        lane = tg_predict_open(&self->predict, SIZE_MAX);
    }
    if (!tg_predict_learn(&self->predict, self->shapes, event, lane,
                          tape_text(self->tape, piece))) {
        return false;
    }
    if (self->is_forgetful) {
        tg_predict_close(&self->predict);
    }
    return true;
}

static bool
taker_read(taker *self, const tg_event *event)
{
    const size_t index = (size_t)(taker_count(self) % self->tape->count);
    const tape_piece *piece = &self->tape->pieces[index];

    taker_drain(self);
    taker_hear(self, tape_text(self->tape, piece));
    self->predict.has_sequence = piece->has_sequence;
    self->predict.sequence = piece->sequence;
    return self->n_read++ >= self->n_learnt || taker_learn(self, event, piece);
}

bool
taker_feed(taker *self, const uint8_t *ptr, size_t len)
{
    tg_status status;
    tg_event event;

    if (tg_stream_feed(&self->stream, ptr, len) != TG_OK) {
        return false;
    }
    while ((status = tg_stream_next(&self->stream, &event)) == TG_OK) {
        if (!taker_read(self, &event)) {
            return false;
        }
    }
    taker_drain(self);
    return status == TG_MORE;
}

void
taker_rewind(taker *self)
{
    if (self->predict.has_sequence) {
        self->predict.sequence = self->tape->pieces[0].sequence - 1;
    }
}

uint64_t
taker_count(const taker *self)
{
    return self->n_read + self->predict.hits;
}

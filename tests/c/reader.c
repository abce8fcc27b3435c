/* reader.c - the interpreter of reader.h. */
#include "reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "delta.h"
#include "wire.h"

/* More than the core has, so that it runs out of them first. */
#define LANES 40

typedef struct reader_lane {
    wire key;
    tg_lane text;
} reader_lane;

typedef struct reader {
    record *out;
    const reader_setup *setup;
    tg_stream stream;
    tg_predict predict;
    tg_shapes shapes;
    reader_lane lanes[LANES];
    size_t lane_count;
    size_t open[TG_PREDICT_LANES]; /* the lane of each number of the core's */
    size_t room;
    bool has_sequence;
    uint64_t sequence;
    wire meta;      /* of the last piece */
    wire id;        /* as whoever looks at is_id_changed alone knows it */
    bool is_noted;  /* this event was more than a piece */
    bool is_in_run; /* the last entry is text of lane run */
    size_t run;
    size_t run_from;
    reader_counts counts;
    uint64_t taken_off; /* where the last run ended in the stream */
} reader;

reader_setup
reader_setup_default(void)
{
    const reader_setup setup = {
        .stream = record_setup_default(), .lane_room = SIZE_MAX / 2, .room = SIZE_MAX / 2};

    return setup;
}

/* ---- entries ----------------------------------------------------------------------------------
 */

static void
end_run(reader *self)
{
    tg_span text;

    if (!self->is_in_run)
        return;
    self->is_in_run = false;
    text = tg_lane_text(&self->lanes[self->run].text);
    text.ptr += self->run_from;
    text.len -= self->run_from;
    record_printf(self->out, "text %zu", self->run);
    record_span(self->out, "is", text, true);
    record_printf(self->out, "\n");
}

static void
note(reader *self, const char *what, const tg_event *event)
{
    tg_span id = {self->id.ptr, self->id.len};

    end_run(self);
    self->is_noted = true;
    record_printf(self->out, "%s: at=%" PRIu64 ",%" PRIu64 ",%" PRIu64, what, event->start_off,
                  event->data_off, event->end_off);
    record_span(self->out, "type", event->type, true);
    record_span(self->out, "data", event->data, self->stream.framing != TG_FRAMING_EVENTSTREAM);
    record_span(self->out, "head", event->head, false);
    record_span(self->out, "id", event->last_event_id, true);
    if (id.len != event->last_event_id.len ||
        (id.len > 0 && memcmp(id.ptr, event->last_event_id.ptr, id.len) != 0))
        record_span(self->out, "\nBREACH: an id that was not said to have changed", id, false);
    record_printf(self->out, "\n");
}

static void
add_text(reader *self, size_t lane, const uint8_t *ptr, size_t len)
{
    if (len == 0)
        return;
    if (!self->is_in_run || self->run != lane) {
        end_run(self);
        self->is_in_run = true;
        self->run = lane;
        self->run_from = self->lanes[lane].text.text.len;
    }
    if (!tg_lane_append(&self->lanes[lane].text, ptr, len))
        exit(3);
    self->room -= len;
}

/* ---- lanes ------------------------------------------------------------------------------------
 */

/* Where a piece of this event goes: by its kind, its index, its type and what else came with it. */
static void
make_key(wire *key, const delta *piece, const tg_event *event)
{
    wire_add(key, &piece->kind, 1);
    wire_add(key, piece->index.ptr, piece->index.len);
    wire_text(key, "|");
    wire_add(key, event->type.ptr, event->type.len);
    wire_text(key, "|");
    wire_add(key, event->head.ptr, event->head.len);
}

/* LANES if there is none. */
static size_t
find_lane(const reader *self, const wire *key)
{
    size_t i;

    for (i = 0; i < self->lane_count; i++)
        if (self->lanes[i].key.len == key->len &&
            memcmp(self->lanes[i].key.ptr, key->ptr, key->len) == 0)
            return i;
    return LANES;
}

static size_t
open_lane(reader *self, wire *key, const tg_event *event)
{
    reader_lane *lane = &self->lanes[self->lane_count];

    if (self->lane_count == LANES) {
        note(self, "too many lanes", event);
        return LANES;
    }
    note(self, "a new lane", event);
    tg_lane_init(&lane->text, NULL, 64);
    lane->key = *key;
    memset(key, 0, sizeof *key);
    return self->lane_count++;
}

/* A run stands behind the one before it, in what was fed. */
static bool
is_placed(reader *self, size_t index)
{
    const uint64_t before = self->taken_off;
    uint64_t start_off;

    tg_predict_range(&self->predict, index, &start_off, &self->taken_off);
    return before <= start_off && start_off < self->taken_off &&
           self->taken_off <= tg_stream_bytes_fed(&self->stream);
}

/* What the core took since it was last asked. */
static void
drain(reader *self)
{
    const size_t count = tg_predict_run_count(&self->predict);
    size_t i;

    for (i = 0; i < count; i++) {
        tg_span text;
        const size_t number = tg_predict_run(&self->predict, i, &text);

        if (!is_placed(self, i))
            record_printf(self->out, "\nBREACH: a run that stands nowhere\n");
        if (number >= self->predict.lane_count || text.len == 0) {
            record_printf(self->out, "\nBREACH: a run of nothing, or for no lane\n");
            continue;
        }
        add_text(self, self->open[number], text.ptr, text.len);
        /* Asked at any time: the answer at the end must be that of the whole. */
        (void)tg_lane_json(&self->lanes[self->open[number]].text);
    }
    tg_predict_drain(&self->predict);
    if (self->predict.has_sequence)
        self->sequence = self->predict.sequence;
}

static void
learn(reader *self, size_t lane, const tg_event *event, const delta *piece)
{
    const size_t room = self->setup->lane_room - self->lanes[lane].text.text.len;
    const tg_span text = {piece->text.ptr, piece->text.len};
    size_t number;

    for (number = 0; number < self->predict.lane_count; number++)
        if (self->open[number] == lane)
            break;
    if (number == self->predict.lane_count) {
        if (tg_predict_open(&self->predict, room) != number)
            return; /* there are too many */
        self->open[number] = lane;
    }
    self->predict.rooms[number] = room;
    (void)tg_predict_learn(&self->predict, &self->shapes, event, number, text);
}

/* ---- one event --------------------------------------------------------------------------------
 */

static bool
is_same(const wire *text, tg_span span)
{
    return text->len == span.len && (span.len == 0 || memcmp(text->ptr, span.ptr, span.len) == 0);
}

static void
judge_sequence(reader *self, const delta *piece, const tg_event *event)
{
    if (piece->has_sequence && self->has_sequence && piece->sequence != self->sequence + 1)
        note(self, "a gap", event);
    if (piece->has_sequence)
        self->sequence = piece->sequence;
    self->has_sequence = self->has_sequence || piece->has_sequence;
}

/* The lane of the piece, once its text stands there; LANES if it does not. */
static size_t
place_piece(reader *self, const delta *piece, const tg_event *event)
{
    const size_t size = piece->text.len;
    wire key = {0};
    size_t lane;

    make_key(&key, piece, event);
    lane = find_lane(self, &key);
    if (lane == LANES && size > 0)
        lane = open_lane(self, &key, event);
    wire_free(&key);
    if (lane == LANES)
        return LANES;
    if (size > self->setup->lane_room - self->lanes[lane].text.text.len) {
        note(self, "a full lane", event);
        return LANES;
    }
    if (size > self->room) {
        note(self, "full lanes", event);
        return LANES;
    }
    add_text(self, lane, piece->text.ptr, size);
    return lane;
}

static void
read_event(reader *self, const tg_event *event)
{
    size_t lane = LANES;
    delta piece;

    self->counts.events++;
    self->is_noted = false;
    if (event->is_id_changed) {
        wire_clear(&self->id);
        wire_add(&self->id, event->last_event_id.ptr, event->last_event_id.len);
    }
    delta_read(&piece, event->data);
    if (piece.problem != NULL) {
        note(self, piece.problem, event);
    } else {
        judge_sequence(self, &piece, event);
        if (!is_same(&self->meta, piece.meta)) {
            note(self, "another meta", event);
            wire_clear(&self->meta);
            wire_add(&self->meta, piece.meta.ptr, piece.meta.len);
        }
        lane = place_piece(self, &piece, event);
    }
    self->predict.has_sequence = self->has_sequence;
    self->predict.sequence = self->sequence;
    if (self->setup->predicts && (lane == LANES || self->is_noted))
        tg_predict_close(&self->predict);
    /* A note closes what was open; the piece beside it may open its lane again at once. */
    if (self->setup->predicts && lane != LANES)
        learn(self, lane, event, &piece);
    delta_free(&piece);
}

/* ---- a whole input ----------------------------------------------------------------------------
 */

static tg_status
read_chunk(reader *self, const uint8_t *chunk, size_t len)
{
    tg_status status = tg_stream_feed(&self->stream, chunk, len);
    tg_event event;

    self->predict.room = self->room;
    while (status == TG_OK) {
        status = tg_stream_next(&self->stream, &event);
        drain(self);
        if (status != TG_OK)
            break;
        read_event(self, &event);
        self->predict.room = self->room;
    }
    if (status == TG_MORE && tg_stream_next(&self->stream, &event) != TG_MORE)
        record_printf(self->out, "\nBREACH: TG_MORE does not last\n");
    return status;
}

static void
read_end(reader *self, tg_status status)
{
    tg_rest rest;

    end_run(self);
    if (status == TG_MORE)
        status = tg_stream_finish(&self->stream, &rest);
    if (status != TG_OK) {
        record_printf(self->out, "error %s %" PRIu64 "\n", tg_status_code(status),
                      tg_stream_error_off(&self->stream));
        return;
    }
    /* After an error this depends on how much came with the byte that broke it. */
    record_printf(self->out, "fed %" PRIu64 " rest %d at=%" PRIu64,
                  tg_stream_bytes_fed(&self->stream), (int)rest.where, rest.start_off);
    record_span(self->out, "line", rest.line, false);
    record_span(self->out, "type", rest.type, true);
    record_span(self->out, "data", rest.data, true);
    record_printf(self->out, "\n");
}

static void
tell_lanes(reader *self)
{
    uint64_t ms = 0;
    size_t i;

    record_printf(self->out, "end");
    record_span(self->out, "id", tg_stream_last_event_id(&self->stream), true);
    if (tg_stream_reconnection_time(&self->stream, &ms))
        record_printf(self->out, " retry=%" PRIu64, ms);
    record_printf(self->out, " sequence=%d/%" PRIu64 "\n", self->has_sequence, self->sequence);
    for (i = 0; i < self->lane_count; i++) {
        const tg_json *json = tg_lane_json(&self->lanes[i].text);

        record_printf(self->out, "lane %zu json=%d/%d/%zu last=%d", i, (int)tg_json_read(json),
                      (int)json->error, json->max_depth_seen, tg_lane_last(&self->lanes[i].text));
        record_span(self->out, "is", tg_lane_text(&self->lanes[i].text), true);
        record_printf(self->out, "\n");
    }
}

static void
reader_free(reader *self)
{
    size_t i;

    tg_stream_free(&self->stream);
    tg_predict_free(&self->predict);
    wire_free(&self->meta);
    wire_free(&self->id);
    for (i = 0; i < self->lane_count; i++) {
        wire_free(&self->lanes[i].key);
        tg_lane_free(&self->lanes[i].text);
    }
}

void
reader_read(record *out, const reader_setup *setup, const uint8_t *ptr, size_t len,
            const size_t *cuts, size_t cut_count, reader_counts *counts)
{
    const record_setup *stream = &setup->stream;
    reader self = {.out = out, .setup = setup, .room = setup->room};
    tg_status status = TG_MORE;
    size_t from = 0;
    size_t i;

    record_clear(out);
    if (!delta_declare(&self.shapes))
        record_printf(out, "\nBREACH: the shapes were refused\n");
    tg_stream_init_framing(&self.stream, stream->framing, stream->alloc, &stream->limits,
                           stream->flags);
    tg_predict_init(&self.predict, setup->alloc);
    if (setup->predicts)
        tg_stream_set_predict(&self.stream, &self.predict);
    for (i = 0; i <= cut_count && status == TG_MORE; i++) {
        const size_t to = i < cut_count ? cuts[i] : len;
        uint8_t *chunk = record_lend(stream, ptr + from, to - from);

        status = read_chunk(&self, chunk, to - from);
        record_take(stream, chunk, to - from);
        from = to;
    }
    read_end(&self, status);
    tell_lanes(&self);
    self.counts.hits = self.predict.hits;
    self.counts.work = tg_stream_work(&self.stream) + self.predict.work;
    if (counts != NULL)
        *counts = self.counts;
    reader_free(&self);
}

void
reader_read_step(record *out, const reader_setup *setup, const uint8_t *ptr, size_t len,
                 size_t step, reader_counts *counts)
{
    const size_t count = len == 0 ? 0 : (len - 1) / step;
    size_t *cuts = malloc((count + 1) * sizeof *cuts);
    size_t i;

    if (cuts == NULL)
        exit(3);
    for (i = 0; i < count; i++)
        cuts[i] = (i + 1) * step;
    reader_read(out, setup, ptr, len, cuts, count, counts);
    free(cuts);
}

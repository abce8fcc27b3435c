/* tg_predict.c - trying the templates, appending what they find, learning the next one.
 *
 * Refuses: any guess.
 */
#include "tg_predict.h"

#include <string.h>

#include "tg_scan.h"
#include "tg_unescape.h"
#include "tg_utf8.h"

#define PREDICT_NO_LIMIT (SIZE_MAX / 2)
/* Copied without a call, where there is room on both sides: more than most pieces have. */
#define PREDICT_NEAR 32

void
tg_predict_init(tg_predict *self, const tg_alloc *alloc)
{
    static const tg_predict fresh = {.room = SIZE_MAX, .max_frame = SIZE_MAX};

    *self = fresh;
    self->alloc = alloc != NULL ? *alloc : tg_alloc_default();
}

static void
predict_forget(tg_predict *self)
{
    while (self->template_count > 0)
        tg_template_free(self->templates[--self->template_count], &self->alloc);
}

void
tg_predict_free(tg_predict *self)
{
    predict_forget(self);
    tg_buf_free(&self->text, &self->alloc);
    tg_buf_free(&self->runs, &self->alloc);
    tg_buf_free(&self->latest, &self->alloc);
}

/* ---- lanes ------------------------------------------------------------------------------------
 */

size_t
tg_predict_open(tg_predict *self, size_t room)
{
    if (self->lane_count == TG_PREDICT_LANES)
        return TG_PREDICT_NO_LANE;
    self->rooms[self->lane_count] = room;
    return self->lane_count++;
}

void
tg_predict_close(tg_predict *self)
{
    predict_forget(self);
    self->lane_count = 0;
}

/* ---- taking -----------------------------------------------------------------------------------
 */

/* Appends a text without escapes. Up to end bytes can be read, whatever they are. */
static inline bool
predict_append(tg_predict *self, tg_span text, const uint8_t *end)
{
    tg_buf *out = &self->text;

    if (text.len > PREDICT_NEAR || end - text.ptr < PREDICT_NEAR ||
        out->size - out->len < PREDICT_NEAR)
        return tg_buf_append(out, &self->alloc, PREDICT_NO_LIMIT, text.ptr, text.len);
    memcpy(out->ptr + out->len, text.ptr, PREDICT_NEAR);
    out->len += text.len;
    out->work += text.len;
    return true;
}

/* Where something stands in the stream. */
typedef struct predict_range {
    uint64_t start_off;
    uint64_t end_off;
} predict_range;

static bool
predict_note_run(tg_predict *self, size_t lane, predict_range at)
{
    const size_t count = tg_predict_run_count(self);
    tg_run run;

    if (count > 0) {
        uint8_t *last = self->runs.ptr + (count - 1) * sizeof run;

        memcpy(&run, last, sizeof run);
        if (run.lane == lane && !self->keeps_each) {
            run.end = self->text.len;
            run.end_off = at.end_off;
            memcpy(last, &run, sizeof run);
            return true;
        }
    }
    run.lane = lane;
    run.end = self->text.len;
    run.start_off = at.start_off;
    run.end_off = at.end_off;
    return tg_buf_append(&self->runs, &self->alloc, PREDICT_NO_LIMIT, (const uint8_t *)&run,
                         sizeof run);
}

static bool
predict_is_utf8(const tg_match *match)
{
    size_t i;

    for (i = 0; i < match->padding_count; i++) {
        if (tg_utf8_check(match->padding[i]) != match->padding[i].len)
            return false;
    }
    return tg_utf8_check(match->text) == match->text.len;
}

/* The last used template stands first. */
static void
predict_use(tg_predict *self, size_t index)
{
    tg_template *used = self->templates[index];

    if (index == 0)
        return;
    memmove(self->templates + 1, self->templates, index * sizeof used);
    self->templates[0] = used;
}

/* Whether a piece of this size, which stands at the end of the text, is taken. */
static bool
predict_accept(tg_predict *self, size_t lane, size_t size, predict_range at)
{
    if (size > self->rooms[lane] || size > self->room)
        return false;
    if (size == 0)
        return !self->keeps_each;
    return predict_note_run(self, lane, at);
}

/* So many bytes went to the lane, from so many events. */
static void
predict_count(tg_predict *self, size_t lane, size_t size, size_t events)
{
    self->rooms[lane] -= size;
    self->room -= size;
    self->hits += events;
}

static void
predict_took(tg_predict *self, size_t index, const tg_match *match, size_t size)
{
    predict_count(self, self->templates[index]->lane, size, 1);
    if (match->has_sequence)
        self->sequence = match->sequence;
    predict_use(self, index);
}

/* A piece whose size its escapes hide, or one that is kept as an event too. */
static bool
predict_take_odd(tg_predict *self, size_t index, const tg_match *match, tg_span data,
                 predict_range at)
{
    const size_t before = self->text.len;
    size_t size;

    if (self->keeps_each &&
        !tg_buf_reserve(&self->latest, &self->alloc, PREDICT_NO_LIMIT, data.len))
        return false;
    if (!tg_unescape(&self->text, &self->alloc, match->text))
        return false;
    size = self->text.len - before;
    if (!predict_accept(self, self->templates[index]->lane, size, at)) {
        self->text.len = before;
        return false;
    }
    if (self->keeps_each) {
        memcpy(self->latest.ptr, data.ptr, data.len);
        self->latest.len = data.len;
    }
    predict_took(self, index, match, size);
    return true;
}

static inline bool
predict_take(tg_predict *self, size_t index, const tg_match *match, tg_span data,
             const uint8_t *end, predict_range at)
{
    const size_t lane = self->templates[index]->lane;
    const size_t before = self->text.len;
    const size_t size = match->text.len;

    if (match->has_sequence && (!self->has_sequence || match->sequence != self->sequence + 1))
        return false;
    if (match->is_escaped || self->keeps_each)
        return predict_take_odd(self, index, match, data, at);
    if (size > self->rooms[lane] || size > self->room || !predict_append(self, match->text, end))
        return false;
    if (size > 0 && !predict_note_run(self, lane, at)) {
        self->text.len = before;
        return false;
    }
    predict_took(self, index, match, size);
    return true;
}

/* Takes a frame at the head of these bytes; its length, or 0. */
static size_t
predict_frame(tg_predict *self, const uint8_t *ptr, size_t len, uint64_t off, bool *is_ascii)
{
    predict_range at = {off, off};
    tg_match match;
    size_t i;

    self->missed = ptr;
    for (i = 0; i < self->template_count; i++) {
        if (!tg_template_begins(self->templates[i], ptr, len, &match))
            continue;
        self->missed = NULL;
        self->work += match.len;
        *is_ascii = match.is_ascii;
        if (match.len > self->max_frame ||
            (self->is_frame_raw && !match.is_ascii && !predict_is_utf8(&match)))
            return 0;
        at.end_off = off + match.len;
        return predict_take(self, i, &match, tg_template_data(self->templates[i], ptr, match.len),
                            ptr + len, at)
                   ? match.len
                   : 0;
    }
    return 0;
}

/* Takes frames like the one before, up to the first that is odd or near the end; their length. */
static size_t
predict_row(tg_predict *self, const uint8_t *ptr, size_t len, uint64_t off)
{
    const tg_template *used = self->templates[0];
    const size_t lane = used->lane;
    const bool ends_with_cr = used->suffix[used->suffix_len - 1] == '\r';
    /* The LF behind a CR belongs to the frame before. */
    const size_t skip = ends_with_cr && ptr[0] == '\n';
    tg_repeat row = {.has_sequence = used->has_sequence};
    size_t taken;

    if (len - skip < used->frame.reach || self->keeps_each ||
        !tg_buf_reserve(&self->text, &self->alloc, PREDICT_NO_LIMIT,
                        self->text.len + TG_REPEAT_TEXT))
        return 0;
    row.out = self->text.ptr + self->text.len;
    row.space = self->text.size - self->text.len;
    row.room = self->rooms[lane] < self->room ? self->rooms[lane] : self->room;
    row.max_frame = self->max_frame;
    row.ends_with_cr = ends_with_cr;
    row.is_raw = self->is_frame_raw;
    row.sequence = row.has_sequence ? self->sequence : 0;
    taken = skip + tg_scan_repeat(&row, &used->frame, ptr + skip, len - skip);
    if (row.count == 0)
        return 0;
    self->text.len += row.written;
    if (!predict_note_run(self, lane, (predict_range){off + skip, off + taken})) {
        self->text.len -= row.written;
        return 0;
    }
    self->text.work += row.written;
    self->work += taken;
    predict_count(self, lane, row.written, row.count);
    self->sequence += used->has_sequence ? row.count : 0;
    return taken;
}

size_t
tg_predict_frames(tg_predict *self, const uint8_t *ptr, size_t len, uint64_t off)
{
    bool is_ascii = true;
    size_t taken = 0;
    size_t size;

    do {
        size = predict_frame(self, ptr + taken, len - taken, off + taken, &is_ascii);
        taken += size;
        /* A row would end at once, and to check the rest as a whole takes less time. */
        if (self->is_frame_raw && !is_ascii)
            break;
        if (size > 0 && taken < len)
            taken += predict_row(self, ptr + taken, len - taken, off + taken);
    } while (size > 0 && taken < len);
    return taken;
}

bool
tg_predict_event(tg_predict *self, const tg_event *event)
{
    const predict_range at = {event->start_off, event->end_off};
    const bool is_missed = event->frame.len > 0 && event->frame.ptr == self->missed;
    tg_match match;
    size_t i;

    for (i = 0; i < self->template_count; i++) {
        if (is_missed && tg_template_is_around(self->templates[i], event))
            continue;
        if (tg_template_fits(self->templates[i], event, &match)) {
            self->work += match.len;
            /* Learned from an event that chunks cut: this one has a frame, to be learned once. */
            if (event->frame.len > 0 && self->templates[i]->prefix_len == 0)
                return false;
            return (!self->is_event_raw || predict_is_utf8(&match)) &&
                   predict_take(self, i, &match, event->data, event->data.ptr + event->data.len,
                                at);
        }
    }
    return false;
}

/* ---- learning ---------------------------------------------------------------------------------
 */

/* Whether the text's hole says what the caller read. A match has room for one text and one sequence
 * number: a shape with more of them is no piece, nor is one without a text. */
static bool
predict_is_piece(tg_predict *self, const tg_event *event, const tg_pick *pick, tg_span piece)
{
    const size_t before = self->text.len;
    tg_span text = tg_span_empty();
    size_t texts = 0;
    size_t sequences = 0;
    bool is_same = false;
    size_t i;

    for (i = 0; i < pick->hole_count; i++) {
        if (pick->holes[i].kind == TG_HOLE_TEXT) {
            text.ptr = event->data.ptr + pick->holes[i].pos;
            text.len = pick->holes[i].len;
            texts++;
        }
        sequences += pick->holes[i].kind == TG_HOLE_SEQUENCE;
    }
    if (texts != 1 || sequences > 1)
        return false;
    if (tg_unescape(&self->text, &self->alloc, text)) {
        const size_t size = self->text.len - before;

        is_same = size == piece.len &&
                  (size == 0 || memcmp(self->text.ptr + before, piece.ptr, size) == 0);
        self->text.len = before;
    }
    return is_same;
}

/* Where an equal template stands; else where a new one may. */
static size_t
predict_place(const tg_predict *self, const tg_template *made)
{
    size_t i;

    for (i = 0; i < self->template_count; i++) {
        if (tg_template_is_same(self->templates[i], made))
            return i;
    }
    return i < TG_PREDICT_TEMPLATES ? i : TG_PREDICT_TEMPLATES - 1;
}

bool
tg_predict_learn(tg_predict *self, const tg_shapes *shapes, const tg_event *event, size_t lane,
                 tg_span piece)
{
    tg_template *made;
    tg_pick pick;
    size_t place;

    if (!tg_pick_find(shapes, event->data, &pick) || !predict_is_piece(self, event, &pick, piece))
        return false;
    made = tg_template_make(&self->alloc, event, &pick);
    if (made == NULL)
        return false;
    made->lane = (uint32_t)lane;
    place = predict_place(self, made);
    if (place < self->template_count)
        tg_template_free(self->templates[place], &self->alloc);
    else
        self->template_count++;
    self->templates[place] = made;
    predict_use(self, place);
    return true;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

size_t
tg_predict_run_count(const tg_predict *self)
{
    return self->runs.len / sizeof(tg_run);
}

size_t
tg_predict_run(const tg_predict *self, size_t index, tg_span *text)
{
    tg_run before = {.end = 0};
    tg_run run;

    if (index > 0)
        memcpy(&before, self->runs.ptr + (index - 1) * sizeof before, sizeof before);
    memcpy(&run, self->runs.ptr + index * sizeof run, sizeof run);
    text->ptr = self->text.ptr + before.end;
    text->len = run.end - before.end;
    return run.lane;
}

void
tg_predict_range(const tg_predict *self, size_t index, uint64_t *start_off, uint64_t *end_off)
{
    tg_run run;

    memcpy(&run, self->runs.ptr + index * sizeof run, sizeof run);
    *start_off = run.start_off;
    *end_off = run.end_off;
}

void
tg_predict_drain(tg_predict *self)
{
    tg_buf_clear(&self->text, &self->alloc);
    tg_buf_clear(&self->runs, &self->alloc);
}

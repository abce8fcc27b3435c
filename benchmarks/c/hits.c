/* hits.c - the lanes of template hits: bytes to the text of deltas, which are learned once and then
 * taken unread.
 *
 * Rules
 *  - A lane fails if more events came out than there is room for templates: it would not show what
 *    its name says.
 */
#include "lane.h"

#include "taker.h"

static bool
feed_chunks(taker *self, const lane_input *in, const uint8_t *copy)
{
    for (size_t pos = 0; pos < in->tape->len; pos += in->chunk) {
        size_t left = in->tape->len - pos;
        if (!taker_feed(self, copy + pos, left < in->chunk ? left : in->chunk)) {
            return false;
        }
    }
    return true;
}

static bool
feed_frames(taker *self, const lane_input *in, const uint8_t *copy)
{
    for (size_t i = 0; i < in->tape->count; i++) {
        if (!taker_feed(self, copy, in->tape->frames[i].len)) {
            return false;
        }
        copy += in->tape->frames[i].len;
    }
    return true;
}

static lane_found
take(const lane_input *in, bool (*feed)(taker *self, const lane_input *, const uint8_t *))
{
    lane_found found = {.count = LANE_FAILED, .bytes = in->len * in->passes};
    bool ok = true;
    taker self;

    taker_init(&self, in->tape, in->shapes);
    self.is_checked = in->is_checked;
    for (size_t pass = 0; ok && pass < in->passes; pass++) {
        for (size_t pos = 0; ok && pos < in->len; pos += in->tape->len) {
            taker_rewind(&self);
            ok = feed(&self, in, in->data + pos);
        }
    }
    if (ok && self.n_read <= TG_PREDICT_TEMPLATES) {
        found.count = taker_count(&self);
    }
    found.text = self.text;
    found.sum = self.sum;
    taker_free(&self);
    return found;
}

lane_found
lane_hits(const lane_input *in)
{
    return take(in, feed_chunks);
}

lane_found
lane_hits_each(const lane_input *in)
{
    return take(in, feed_frames);
}

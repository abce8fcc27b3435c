/* tg_lane.c - appending to a lane, and catching up with its JSON.
 *
 * Refuses: judging the text; tg_json does.
 */
#include "tg_lane.h"

#define LANE_NO_LIMIT (SIZE_MAX / 2)

void
tg_lane_init(tg_lane *self, const tg_alloc *alloc, size_t max_depth)
{
    static const tg_lane fresh = {.tracked = 0};

    *self = fresh;
    self->alloc = alloc != NULL ? *alloc : tg_alloc_default();
    self->max_depth = max_depth;
}

void
tg_lane_free(tg_lane *self)
{
    tg_buf_free(&self->text, &self->alloc);
    if (self->json != NULL) {
        tg_json_free(self->json);
        self->alloc.resize(self->alloc.ctx, self->json, sizeof *self->json, 0);
        self->json = NULL;
    }
}

bool
tg_lane_append(tg_lane *self, const uint8_t *ptr, size_t len)
{
    return tg_buf_append(&self->text, &self->alloc, LANE_NO_LIMIT, ptr, len);
}

tg_span
tg_lane_text(const tg_lane *self)
{
    return tg_buf_span(&self->text, 0);
}

const tg_json *
tg_lane_json(tg_lane *self)
{
    tg_span more;

    if (self->json == NULL) {
        self->json = self->alloc.resize(self->alloc.ctx, NULL, 0, sizeof *self->json);
        if (self->json == NULL)
            return NULL;
        tg_json_init(self->json, &self->alloc, TG_JSON_STRICT, self->max_depth);
    }
    /* What memory was refused for is not broken: read from the start, which is all still here. */
    if (self->json->error == TG_ERR_NO_MEMORY) {
        tg_json_reset(self->json);
        self->tracked = 0;
    }
    more = tg_buf_span(&self->text, self->tracked);
    self->tracked = self->text.len;
    (void)tg_json_feed(self->json, more.ptr, more.len);
    return self->json;
}

uint8_t
tg_lane_last(tg_lane *self)
{
    size_t pos = self->text.len;

    while (pos > self->looked) {
        const uint8_t byte = self->text.ptr[--pos];

        if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') {
            self->last = byte;
            break;
        }
    }
    self->looked = self->text.len;
    return self->last;
}

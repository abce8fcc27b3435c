/* tg_block.c - borrowing, joining and saving of tg_block.
 *
 * Refuses: copying what may still be lent in place.
 */
#include "tg_block.h"

#include "tg_utf8.h"

/* The machine checks max_event_bytes before it adds; buffers of the block need no second bound. */
#define BLOCK_NO_LIMIT (SIZE_MAX / 2)

void
tg_block_init(tg_block *self)
{
    static const tg_block fresh = {.type_home = TG_HOME_OWN, .data_home = TG_HOME_OWN};

    *self = fresh;
    tg_block_close(self);
}

void
tg_block_free(tg_block *self, const tg_alloc *alloc)
{
    tg_buf_free(&self->type_buf, alloc);
    tg_buf_free(&self->data_buf, alloc);
    tg_buf_free(&self->scratch, alloc);
}

void
tg_block_close(tg_block *self)
{
    self->has_data = false;
    self->data = tg_span_empty();
    self->data_home = TG_HOME_OWN;
    self->data_start = 0;
    tg_block_set_type(self, tg_span_empty(), TG_HOME_OWN);
}

void
tg_block_release(tg_block *self, const tg_alloc *alloc)
{
    tg_buf_clear(&self->type_buf, alloc);
    tg_buf_clear(&self->data_buf, alloc);
    tg_buf_clear(&self->scratch, alloc);
}

void
tg_block_set_type(tg_block *self, tg_span type, tg_home home)
{
    self->type = type;
    self->type_home = home;
}

static bool
block_append(tg_block *self, const tg_alloc *alloc, tg_span text)
{
    return tg_buf_append(&self->data_buf, alloc, BLOCK_NO_LIMIT, text.ptr, text.len);
}

static void
block_lend_data(tg_block *self)
{
    self->data = tg_buf_span(&self->data_buf, self->data_start);
    self->data_home = TG_HOME_OWN;
}

static bool
block_keep_data(tg_block *self, const tg_alloc *alloc, tg_buf *carry)
{
    if (self->data_home == TG_HOME_OWN)
        return true;
    if (self->data_home == TG_HOME_CARRY && self->data.len > 0) {
        self->data_start = (size_t)(self->data.ptr - carry->ptr);
        tg_buf_swap(&self->data_buf, carry);
    } else if (!block_append(self, alloc, self->data)) {
        return false;
    }
    block_lend_data(self);
    return true;
}

static bool
block_keep_type(tg_block *self, const tg_alloc *alloc)
{
    const tg_span type = self->type;

    if (self->type_home == TG_HOME_OWN)
        return true;
    tg_buf_clear(&self->type_buf, alloc);
    if (!tg_buf_append(&self->type_buf, alloc, BLOCK_NO_LIMIT, type.ptr, type.len))
        return false;
    tg_block_set_type(self, tg_buf_span(&self->type_buf, 0), TG_HOME_OWN);
    return true;
}

bool
tg_block_add_data(tg_block *self, const tg_alloc *alloc, tg_buf *carry, tg_span value, tg_home home)
{
    static const uint8_t line_feed[1] = {'\n'};
    const tg_span joint = {line_feed, 1};

    if (!self->has_data) {
        self->has_data = true;
        self->data = value;
        self->data_home = home;
        return true;
    }
    /* "Append the field value to the data buffer, then append a single U+000A LINE FEED character":
     * the last one is removed at dispatch, so here it stands between values alone. */
    if (!block_keep_data(self, alloc, carry) || !block_append(self, alloc, joint) ||
        !block_append(self, alloc, value))
        return false;
    block_lend_data(self);
    return true;
}

bool
tg_block_keep(tg_block *self, const tg_alloc *alloc, tg_buf *carry)
{
    /* The carry holds the first line of a chunk alone, so at most one of the two lies there. */
    return block_keep_type(self, alloc) && block_keep_data(self, alloc, carry);
}

bool
tg_block_replace(tg_block *self, const tg_alloc *alloc, tg_span *type, tg_span *data)
{
    size_t type_len;

    self->work += type->len + data->len;
    if (tg_utf8_check(*type) == type->len && tg_utf8_check(*data) == data->len)
        return true;
    self->work += type->len + data->len;
    tg_buf_clear(&self->scratch, alloc);
    if (!tg_utf8_replace(&self->scratch, alloc, *type))
        return false;
    type_len = self->scratch.len;
    if (!tg_utf8_replace(&self->scratch, alloc, *data))
        return false;
    *data = tg_buf_span(&self->scratch, type_len);
    *type = tg_buf_span(&self->scratch, 0);
    type->len = type_len;
    return true;
}

uint64_t
tg_block_work(const tg_block *self)
{
    return self->work + self->type_buf.work + self->data_buf.work + self->scratch.work;
}

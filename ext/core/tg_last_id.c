/* tg_last_id.c - the three texts of tg_last_id, each copied only when an id field came.
 *
 * Refuses: comparing ids of events that no id field came between.
 */
#include "tg_last_id.h"

#include <string.h>

#include "tg_utf8.h"

/* max_id_bytes is checked before; replacement can make three times as much of it. */
#define LAST_ID_NO_LIMIT (SIZE_MAX / 2)

void
tg_last_id_free(tg_last_id *self, const tg_alloc *alloc)
{
    tg_buf_free(&self->buffer, alloc);
    tg_buf_free(&self->string, alloc);
    tg_buf_free(&self->event, alloc);
}

bool
tg_last_id_set(tg_last_id *self, const tg_alloc *alloc, tg_span value)
{
    self->is_pending = true;
    tg_buf_clear(&self->buffer, alloc);
    return tg_buf_append(&self->buffer, alloc, LAST_ID_NO_LIMIT, value.ptr, value.len);
}

bool
tg_last_id_commit(tg_last_id *self, const tg_alloc *alloc)
{
    /* "Set the last event ID string of the event source to the value of the last event ID buffer.
     * The buffer does not get reset": without a new id field that changes nothing. */
    if (!self->is_pending)
        return true;
    self->is_pending = false;
    self->is_touched = true;
    self->work += self->buffer.len;
    tg_buf_clear(&self->string, alloc);
    if (!tg_utf8_replace(&self->string, alloc, tg_buf_span(&self->buffer, 0)))
        return false;
    tg_buf_clear(&self->buffer, alloc);
    return true;
}

bool
tg_last_id_dispatch(tg_last_id *self, const tg_alloc *alloc, bool *is_changed)
{
    const tg_span now = tg_buf_span(&self->string, 0);
    const tg_span then = tg_buf_span(&self->event, 0);

    *is_changed = false;
    if (!self->is_touched)
        return true;
    self->is_touched = false;
    self->work += now.len;
    if (now.len == then.len && memcmp(now.ptr, then.ptr, now.len) == 0)
        return true;
    *is_changed = true;
    tg_buf_clear(&self->event, alloc);
    return tg_buf_append(&self->event, alloc, LAST_ID_NO_LIMIT, now.ptr, now.len);
}

uint64_t
tg_last_id_work(const tg_last_id *self)
{
    return self->work + self->buffer.work + self->string.work + self->event.work;
}

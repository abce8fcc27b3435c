/* tg_json.c - feeding the two machines of tg_json.h, and reading their verdict.
 *
 * Theory of operation
 *   Each view is one step function (tg_json_strict.c, tg_json_step.c) over one list of states. A
 *   run skips what leaves the state alone: text of a string, digits, white space. Open arrays and
 *   objects are one bit each on a stack that doubles up to max_depth bits, so depth costs no
 *   recursion. TG_NO_RUN turns the run off; the steps alone are complete.
 *
 * Refuses: values. It tells where the text ends and whether it can still be one, nothing else.
 *
 * Invariants
 *  I1  off is the number of bytes taken; the byte that breaks the text is not taken.
 *  I2  state is TG_JSON_BROKEN if and only if error is not TG_OK.
 *  I3  depth is 0 in TG_JSON_AFTER_TEXT and in all states of a top-level scalar.
 */
#include "tg_json_step.h"

#ifndef TG_NO_RUN
#include "tg_scan.h"
#endif

const char *
tg_json_state_name(tg_json_state state)
{
    switch (state) {
#define TG_JSON_NAME(name, sentence) \
    case name:                       \
        return #name;
        TG_JSON_STATES(TG_JSON_NAME)
#undef TG_JSON_NAME
    }
    return "";
}

void
tg_json_init(tg_json *self, const tg_alloc *alloc, tg_json_view view, size_t max_depth)
{
    static const tg_json fresh = {
        .state = TG_JSON_BEFORE_VALUE, .closed_off = TG_JSON_NOWHERE, .error_off = TG_JSON_NOWHERE};

    *self = fresh;
    self->alloc = alloc != NULL ? *alloc : tg_alloc_default();
    self->view = view;
    self->max_depth = max_depth;
}

void
tg_json_free(tg_json *self)
{
    if (self->stack != NULL)
        self->alloc.resize(self->alloc.ctx, self->stack, self->stack_size, 0);
    self->stack = NULL;
    self->stack_size = 0;
}

void
tg_json_reset(tg_json *self)
{
    const tg_alloc alloc = self->alloc;

    tg_json_free(self);
    tg_json_init(self, &alloc, self->view, self->max_depth);
}

/* ---- bytes ------------------------------------------------------------------------------------
 */

#ifndef TG_NO_RUN

/* Text of a string in the strict view: what stands for itself, as far as its characters are whole.
 * What is ill-formed, or cut by the end of the chunk, is for step. */
static size_t
json_run_text(tg_json *self, const uint8_t *ptr, size_t len)
{
    const size_t size = tg_scan_utf8(ptr, tg_scan_json_special(ptr, len));

    if (size > 0)
        tg_json_drop_high(self);
    return size;
}

/* How many bytes leave the state as it is. */
static size_t
json_run(tg_json *self, const uint8_t *ptr, size_t len)
{
    switch (self->state) {
    case TG_JSON_IN_STRING:
        if (self->view == TG_JSON_STRICT)
            return json_run_text(self, ptr, len);
        return tg_scan_quote(ptr, len);
    case TG_JSON_IN_CONTAINER:
        return tg_scan_json_mark(ptr, len);
    case TG_JSON_IN_INTEGER:
    case TG_JSON_IN_FRACTION:
    case TG_JSON_IN_EXPONENT:
        return tg_scan_non_digit(ptr, len);
    case TG_JSON_BEFORE_VALUE:
    case TG_JSON_BEFORE_FIRST_ELEMENT:
    case TG_JSON_BEFORE_FIRST_KEY:
    case TG_JSON_BEFORE_KEY:
    case TG_JSON_BEFORE_COLON:
    case TG_JSON_AFTER_VALUE:
    case TG_JSON_AFTER_TEXT:
        return tg_scan_non_blank(ptr, len);
    case TG_JSON_IN_CHARACTER:
    case TG_JSON_AFTER_BACKSLASH:
    case TG_JSON_IN_HEX:
    case TG_JSON_AFTER_MINUS:
    case TG_JSON_AFTER_ZERO:
    case TG_JSON_AFTER_POINT:
    case TG_JSON_AFTER_E:
    case TG_JSON_AFTER_E_SIGN:
    case TG_JSON_IN_LITERAL:
    case TG_JSON_IN_WORD:
    case TG_JSON_BROKEN:
        return 0;
    }
    return 0;
}

#else

static size_t
json_run(const tg_json *self, const uint8_t *ptr, size_t len)
{
    (void)self;
    (void)ptr;
    (void)len;
    return 0;
}

#endif

static tg_status
json_status(const tg_json *self)
{
    if (self->error != TG_OK)
        return self->error;
    return self->state == TG_JSON_AFTER_TEXT ? TG_OK : TG_MORE;
}

tg_status
tg_json_feed(tg_json *self, const uint8_t *ptr, size_t len)
{
    const bool is_strict = self->view == TG_JSON_STRICT;
    size_t pos = 0;

    if (self->error != TG_OK)
        return self->error;
    if (self->is_finished)
        return TG_ERR_FINISHED;
    while (pos < len) {
        const size_t size = json_run(self, ptr + pos, len - pos);
        bool is_taken;

        pos += size;
        self->off += size;
        if (pos == len)
            break;
        is_taken = is_strict ? tg_json_step_strict(self, ptr[pos])
                             : tg_json_step_structural(self, ptr[pos]);
        if (!is_taken)
            break;
        pos++;
        self->off++;
    }
    return json_status(self);
}

/* A number or a word that the end of the text would close. */
static bool
json_may_end(const tg_json *self)
{
    const bool is_bare = self->state == TG_JSON_AFTER_ZERO || self->state == TG_JSON_IN_INTEGER ||
                         self->state == TG_JSON_IN_FRACTION || self->state == TG_JSON_IN_EXPONENT ||
                         self->state == TG_JSON_IN_WORD;

    return is_bare && self->depth == 0;
}

tg_status
tg_json_finish(tg_json *self)
{
    if (self->error == TG_OK && !self->is_finished) {
        self->is_finished = true;
        if (json_may_end(self))
            (void)tg_json_close(self, 0);
    }
    return json_status(self);
}

tg_json_verdict
tg_json_read(const tg_json *self)
{
    if (self->error == TG_ERR_JSON_TRAILING)
        return TG_JSON_TRAILING;
    if (self->error != TG_OK)
        return TG_JSON_INVALID;
    if (self->state == TG_JSON_AFTER_TEXT)
        return TG_JSON_CLOSED;
    return self->state == TG_JSON_BEFORE_VALUE && self->depth == 0 ? TG_JSON_EMPTY : TG_JSON_OPEN;
}

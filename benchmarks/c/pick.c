/* pick.c - the lane of picks: the bare data of each event to the places of what it says, with no
 * template.
 *
 * Rules
 *  - The text's bytes are those between its quotes; its checksum is that of the decoded text.
 */
#include "lane.h"

#include "tg_crc32.h"
#include "tg_pick.h"
#include "tg_unescape.h"

static bool
add_to_sum(lane_found *found, tg_span text)
{
    tg_alloc alloc = tg_alloc_default();
    tg_buf decoded = {0};
    bool ok = tg_unescape(&decoded, &alloc, text);

    found->sum = tg_crc32(found->sum, decoded.ptr, decoded.len);
    tg_buf_free(&decoded, &alloc);
    return ok;
}

static bool
pick_one(const lane_input *in, tg_span data, lane_found *found)
{
    tg_pick pick;

    if (!tg_pick_find(in->shapes, data, &pick)) {
        return false;
    }
    for (size_t i = 0; i < pick.hole_count; i++) {
        if (pick.holes[i].kind == TG_HOLE_TEXT) {
            tg_span text = {data.ptr + pick.holes[i].pos, pick.holes[i].len};
            found->text += text.len;
            if (in->is_checked && !add_to_sum(found, text)) {
                return false;
            }
        }
    }
    found->bytes += data.len;
    found->count++;
    return true;
}

static bool
pick_copy(const lane_input *in, const uint8_t *copy, lane_found *found)
{
    for (size_t i = 0; i < in->tape->count; i++) {
        const tape_frame *frame = &in->tape->frames[i];
        tg_span data = {copy + frame->data_pos, frame->data_len};
        if (!pick_one(in, data, found)) {
            return false;
        }
        copy += frame->len;
    }
    return true;
}

lane_found
lane_pick(const lane_input *in)
{
    lane_found found = {0};

    for (size_t pass = 0; pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->tape->len) {
            if (!pick_copy(in, in->data + pos, &found)) {
                found.count = LANE_FAILED;
                return found;
            }
        }
    }
    return found;
}

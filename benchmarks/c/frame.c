/* frame.c - the lane of framing: bytes to events, nothing of their data looked into. */
#include "lane.h"

static uint64_t
drain(tg_stream *stream)
{
    uint64_t n_events = 0;
    tg_event event;
    tg_status status;

    while ((status = tg_stream_next(stream, &event)) == TG_OK) {
        n_events++;
    }
    return status == TG_MORE ? n_events : LANE_FAILED;
}

lane_found
lane_frame(const lane_input *in)
{
    lane_found found = {.bytes = in->len * in->passes};
    tg_stream stream;

    tg_stream_init(&stream, NULL, NULL, TG_SSE_STRICT_UTF8);
    for (size_t pass = 0; found.count != LANE_FAILED && pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->chunk) {
            size_t left = in->len - pos;
            size_t len = left < in->chunk ? left : in->chunk;
            uint64_t n_events = LANE_FAILED;
            if (tg_stream_feed(&stream, in->data + pos, len) == TG_OK) {
                n_events = drain(&stream);
            }
            if (n_events == LANE_FAILED) {
                found.count = LANE_FAILED;
                break;
            }
            found.count += n_events;
        }
    }
    tg_stream_free(&stream);
    return found;
}

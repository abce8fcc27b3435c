/* frame.c - the lane of framing: bytes to events, nothing of their data looked into. */
#include "lane.h"

#include "tg.h"

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

uint64_t
lane_frame(const lane_input *in)
{
    uint64_t n_events = 0;
    tg_stream stream;

    tg_stream_init(&stream, NULL, NULL, TG_SSE_STRICT_UTF8);
    for (size_t pass = 0; pass < in->passes; pass++) {
        for (size_t pos = 0; pos < in->len; pos += in->chunk) {
            size_t left = in->len - pos;
            size_t len = left < in->chunk ? left : in->chunk;
            uint64_t found = LANE_FAILED;
            if (tg_stream_feed(&stream, in->data + pos, len) == TG_OK) {
                found = drain(&stream);
            }
            if (found == LANE_FAILED) {
                tg_stream_free(&stream);
                return LANE_FAILED;
            }
            n_events += found;
        }
    }
    tg_stream_free(&stream);
    return n_events;
}

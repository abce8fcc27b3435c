/* tg_points.c - from bytes to code points, one sequence at a time.
 *
 * Refuses: judging the bytes; tg_utf8 does.
 */
#include "tg_points.h"

size_t
tg_points(tg_span text, uint32_t *out)
{
    size_t count = 0;
    size_t pos = 0;

    while (pos < text.len) {
        const uint8_t lead = text.ptr[pos++];
        size_t more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        uint32_t point = more == 0 ? lead : lead & (0x3fu >> more);

        for (; more > 0 && pos < text.len; more--)
            point = point << 6 | (text.ptr[pos++] & 0x3fu);
        out[count++] = point;
    }
    return count;
}

/* tg.c - the spine: the layers, lowest first, as one unit, so that the compiler sees through them.
 *
 * Rules
 *  - A layer uses only what stands above it in this list.
 *  - Each layer also compiles alone.
 *
 * Refuses: code.
 */
#include "tg_status.c"
#include "tg_limits.c"
#include "tg_alloc.c"
#include "tg_buf.c"
#include "tg_scan_scalar.c"
#include "tg_scan_x86.c"
#include "tg_scan_neon.c"
#include "tg_scan.c"
#include "tg_utf8.c"
#include "tg_wide.c"
#include "tg_line.c"
#include "tg_field.c"
#include "tg_block.c"
#include "tg_last_id.c"
#include "tg_shapes.c"
#include "tg_pick.c"
#include "tg_unescape.c"
#include "tg_escape.c"
#include "tg_template.c"
#include "tg_predict.c"
#include "tg_plain.c"
#include "tg_sse_frames.c"
#include "tg_sse.c"
#include "tg_sse_life.c"
#include "tg_json_step.c"
#include "tg_json_strict.c"
#include "tg_json.c"
#include "tg_members.c"
#include "tg_lane.c"
#include "tg_record.c"
#include "tg_ndjson.c"
#include "tg_array.c"
#include "tg_crc32.c"
#include "tg_header.c"
#include "tg_eventstream.c"
#include "tg_stream.c"

/* tg.h - the core of trigate: everything that a caller may include.
 *
 * Rules
 *  - C11, no Python, no globals, no stdio, no abort, no recursion on input; memory comes from the
 *    allocator that the caller hands in. (One global there is: the kernel of tg_scan in use.)
 *  - TG_OK, TG_MORE, or an error that stays (tg_status.h).
 */
#ifndef TG_H
#define TG_H

#include "tg_status.h"
#include "tg_limits.h"
#include "tg_alloc.h"
#include "tg_scan.h"
#include "tg_event.h"
#include "tg_header.h"
#include "tg_stream.h"
#include "tg_utf8.h"
#include "tg_wide.h"
#include "tg_json.h"
#include "tg_unescape.h"
#include "tg_escape.h"
#include "tg_members.h"
#include "tg_lane.h"
#include "tg_predict.h"

#endif

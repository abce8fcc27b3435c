/* tg_limits.h - every bound of the core: its name, its default, its reason.
 *
 * Rules
 *  - A value of n is accepted, n + 1 is an error that names the limit.
 *  - Limits count bytes as they came over the wire, before any replacement of ill-formed UTF-8.
 *  - The table in the docs and the defaults of trigate.Limits are checked against this list.
 */
#ifndef TG_LIMITS_H
#define TG_LIMITS_H

#include <stddef.h>

#define TG_MIB ((size_t)1024 * 1024)

/* X(name, default, reason) */
#define TG_LIMITS_LIST(X)                                                                       \
    X(max_event_bytes, 32 * TG_MIB,                                                             \
      "data and type of one event; a final event with images passes 1 MiB, a few reach 20")     \
    X(max_line_bytes, 32 * TG_MIB + 1024,                                                       \
      "one line without its end: an event of full size on one line, and its field name")        \
    X(max_id_bytes, 64 * (size_t)1024, "an id goes back in a header; servers take 8 to 64 KiB") \
    X(max_retry_digits, 64, "2^63 ms has 19 digits; more than 64 is no time")                   \
    X(max_depth, 1024, "arrays and objects open at one time; people write 10, generators 100")  \
    X(max_header_bytes, 128 * (size_t)1024,                                                     \
      "all headers of one event-stream message; botocore refuses more, real ones have 100 bytes")

typedef struct tg_limits {
#define TG_LIMITS_MEMBER(name, value, reason) size_t name;
    TG_LIMITS_LIST(TG_LIMITS_MEMBER)
#undef TG_LIMITS_MEMBER
} tg_limits;

/* The defaults of the list above. */
tg_limits tg_limits_default(void);

#endif

/* tg_status.h - every result a core function can give.
 *
 * Rules
 *  - Three kinds, never two: TG_OK (here is an output), TG_MORE (nothing until more input comes),
 *    TG_ERR_* (broken).
 *  - An error is sticky: same code, same absolute byte offset, until the machine is reset.
 *  - The public code string, the layer and the limit passed are written once, in this list.
 */
#ifndef TG_STATUS_H
#define TG_STATUS_H

/* X(name, code, layer, limit, text); limit is "" where no limit is involved. */
#define TG_STATUS_LIST(X)                                                                      \
    X(TG_OK, "ok", "", "", "an output is ready")                                               \
    X(TG_MORE, "more", "", "", "more input is needed")                                         \
    X(TG_ERR_NO_MEMORY, "no_memory", "limit", "", "the allocator returned nothing")            \
    X(TG_ERR_FINISHED, "finished", "", "",                                                     \
      "input out of turn: after its end was declared, or before the last chunk was read")      \
    X(TG_ERR_UTF8, "invalid_utf8", "decode", "", "the bytes are not well-formed UTF-8")        \
    X(TG_ERR_LINE_TOO_LARGE, "line_too_large", "limit", "max_line_bytes",                      \
      "a line is longer than the limit")                                                       \
    X(TG_ERR_EVENT_TOO_LARGE, "event_too_large", "limit", "max_event_bytes",                   \
      "an event's data and type are longer than the limit")                                    \
    X(TG_ERR_ID_TOO_LARGE, "id_too_large", "limit", "max_id_bytes",                            \
      "an id field is longer than the limit")                                                  \
    X(TG_ERR_RETRY_TOO_LARGE, "retry_too_large", "limit", "max_retry_digits",                  \
      "a retry field has more digits than the limit")                                          \
    X(TG_ERR_DEPTH_TOO_LARGE, "depth_too_large", "limit", "max_depth",                         \
      "arrays and objects are nested deeper than the limit")                                   \
    X(TG_ERR_JSON_INVALID, "invalid_json", "decode", "", "the text cannot become a JSON text") \
    X(TG_ERR_JSON_TRAILING, "trailing_text", "decode", "",                                     \
      "something other than white space follows the JSON value")                               \
    X(TG_ERR_PRELUDE_CRC, "prelude_crc_mismatch", "decode", "",                                \
      "the lengths of a message do not match their checksum")                                  \
    X(TG_ERR_MESSAGE_CRC, "message_crc_mismatch", "decode", "",                                \
      "a message does not match its checksum")                                                 \
    X(TG_ERR_BAD_FRAME, "bad_frame", "decode", "",                                             \
      "a message's lengths contradict each other, or its headers are malformed or repeated")   \
    X(TG_ERR_HEADERS_TOO_LARGE, "headers_too_large", "limit", "max_header_bytes",              \
      "the headers of a message are longer than the limit")

typedef enum tg_status {
#define TG_STATUS_ENUM(name, code, layer, limit, text) name,
    TG_STATUS_LIST(TG_STATUS_ENUM)
#undef TG_STATUS_ENUM
} tg_status;

/* All four take any status and return static ASCII text, never NULL. */
const char *tg_status_code(tg_status status);
const char *tg_status_layer(tg_status status);
const char *tg_status_limit(tg_status status);
const char *tg_status_text(tg_status status);

#endif

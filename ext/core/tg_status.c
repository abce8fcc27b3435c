/* tg_status.c - the words for each status, all read from TG_STATUS_LIST.
 *
 * Rules
 *  - A value outside the list gets empty words: these functions are total.
 *
 * Refuses: any text that is not in the list.
 */
#include "tg_status.h"

const char *
tg_status_code(tg_status status)
{
    switch (status) {
#define TG_STATUS_CODE(name, code, layer, limit, text) \
    case name:                                         \
        return code;
        TG_STATUS_LIST(TG_STATUS_CODE)
#undef TG_STATUS_CODE
    }
    return "";
}

const char *
tg_status_layer(tg_status status)
{
    switch (status) {
#define TG_STATUS_LAYER(name, code, layer, limit, text) \
    case name:                                          \
        return layer;
        TG_STATUS_LIST(TG_STATUS_LAYER)
#undef TG_STATUS_LAYER
    }
    return "";
}

const char *
tg_status_limit(tg_status status)
{
    switch (status) {
#define TG_STATUS_LIMIT(name, code, layer, limit, text) \
    case name:                                          \
        return limit;
        TG_STATUS_LIST(TG_STATUS_LIMIT)
#undef TG_STATUS_LIMIT
    }
    return "";
}

const char *
tg_status_text(tg_status status)
{
    switch (status) {
#define TG_STATUS_TEXT(name, code, layer, limit, text) \
    case name:                                         \
        return text;
        TG_STATUS_LIST(TG_STATUS_TEXT)
#undef TG_STATUS_TEXT
    }
    return "";
}

/* tg_limits.c - the default of every bound, read from TG_LIMITS_LIST.
 *
 * Rules
 *  - A number stands in the list and nowhere else.
 *
 * Refuses: checking a limit; each machine checks its own.
 */
#include "tg_limits.h"

tg_limits
tg_limits_default(void)
{
    const tg_limits limits = {
#define TG_LIMITS_VALUE(name, value, reason) .name = (value),
        TG_LIMITS_LIST(TG_LIMITS_VALUE)
#undef TG_LIMITS_VALUE
    };
    return limits;
}

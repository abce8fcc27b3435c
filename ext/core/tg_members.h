/* tg_members.h - whether the objects of a JSON text have each member name once.
 *
 * Rules
 *  - The text is whole and valid (tg_json says so). Of any other the answer means nothing, but
 *    nothing outside of it is read.
 *  - It answers "known to be unique" or "not known": whoever needs to know which name is repeated
 *    looks for himself. Not known are also names with an escape, more than TG_MEMBERS_MOST names
 *    open at a time, and more than TG_MEMBERS_LEVELS levels: so it allocates nothing.
 */
#ifndef TG_MEMBERS_H
#define TG_MEMBERS_H

#include <stdbool.h>

#include "tg_event.h"

/* Arguments of tools have few names; each is compared with those of its object before it. */
#define TG_MEMBERS_MOST 64
#define TG_MEMBERS_LEVELS 32

bool tg_members_are_unique(tg_span text);

#endif

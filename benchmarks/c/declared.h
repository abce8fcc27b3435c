/* declared.h - the shapes of a protocol, from a file that benchmarks/declared.py writes.
 *
 * A line is one place: a role's name, the literal, and the member names from the event's object on,
 * between tabs; the element of an array has the empty name. The line `shape` begins the next shape.
 */
#ifndef DECLARED_H
#define DECLARED_H

#include <stdbool.h>

#include "tg_shapes.h"

/* false: there is no such file, or it says what the core does not take. */
bool declared_load(tg_shapes *out, const char *path);

#endif

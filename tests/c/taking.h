/* taking.h - streams of deltas, and the check that prediction makes no difference to one.
 *
 * Rules
 *  - taking_check reads a stream one event at a time, and then with prediction: whole, in steps,
 * cut at every place, at random ones, before pages that cannot be read, and with each allocation
 *    refused in turn (of the prediction: no difference; of the stream: no_memory).
 */
#ifndef TAKING_H
#define TAKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reader.h"
#include "wire.h"

/* Events of each shape of delta.h. */
#define TAKING_D(seq, text) "{\"type\":\"d\",\"seq\":" seq ",\"i\":0,\"text\":\"" text "\"}"
#define TAKING_P(text, pad) "{\"type\":\"d\",\"text\":\"" text "\",\"pad\":\"" pad "\"}"
#define TAKING_A(index, args) \
    "{\"type\":\"a\",\"i\":" index ",\"delta\":{\"args\":\"" args "\",\"note\":[]}}"
#define TAKING_C(text) "{\"list\":[{\"i\":0,\"delta\":{\"c\":\"" text "\",\"r\":\"\"}}],\"n\":12}"
#define TAKING_R(text) "{\"list\":[{\"i\":0,\"delta\":{\"c\":\"\",\"r\":\"" text "\"}}],\"n\":9}"

typedef struct taking_row {
    const char *type;
    const char *data;
} taking_row;

/* Pieces of several lanes; and what is more than a piece, or less, among them. */
#define TAKING_PLAIN ((size_t)28)
#define TAKING_TROUBLED ((size_t)27)
extern const taking_row taking_plain[TAKING_PLAIN];
extern const taking_row taking_troubled[TAKING_TROUBLED];

/* The rows as a stream; noisy: with lines between them that are no events, or not quite. */
void taking_build(wire *out, const wire_style *style, const taking_row *rows, size_t count,
                  bool is_noisy);
/* The same record, and no breach. */
void taking_compare(const record *expected, const record *found);
/* hits: how many events at least go unread. */
void taking_check(reader_setup setup, const wire *stream, uint64_t hits);
/* The same, whole and in a few steps alone. */
void taking_check_lightly(reader_setup setup, const wire *stream);

#endif

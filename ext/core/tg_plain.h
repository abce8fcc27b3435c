/* tg_plain.h - the lines around the data of the last event, for the next event mostly has the same.
 *
 * Consumes an event whose frame is known (tg_event.frame); then takes bytes and says whether they
 * begin with a frame of the same lines around other data.
 *
 *     event: d\ndata: {"type":"d"}\n\n
 *     |---head-------|            |tail|      one line of data between them, whatever it holds
 *
 * Why it is exact: the data ends at the first end of line, as in any reading; the lines before and
 * behind it are those of the last event, byte for byte, and so mean the same.
 *
 * Refuses: heads longer than a few names; they are read as usual.
 */
#ifndef TG_PLAIN_H
#define TG_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tg_event.h"

/* The longest name of an event is 45 bytes; `event: ` and `data: ` with their ends take 15. */
#define TG_PLAIN_HEAD 80
/* The end of the data line and the blank one: LF LF, CR LF CR, CR CR. */
#define TG_PLAIN_TAIL 4

/* All zero: nothing is known. */
typedef struct tg_plain {
    uint8_t head_len;
    uint8_t tail_len;
    uint8_t type_pos; /* in the head */
    uint8_t type_len;
    uint8_t head[TG_PLAIN_HEAD];
    uint8_t tail[TG_PLAIN_TAIL];
} tg_plain;

/* From an event with a frame. */
void tg_plain_learn(tg_plain *self, const tg_event *event);
/* The data of a frame at the head of these bytes, and whether they are ASCII alone; false if it is
 * none, or does not end here. */
bool tg_plain_find(const tg_plain *self, const uint8_t *ptr, size_t len, tg_span *data,
                   bool *is_ascii);
/* The type of all of them; in self. */
tg_span tg_plain_type(const tg_plain *self);

#endif

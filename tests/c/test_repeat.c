/* test_repeat.c - rows of frames: what each kernel takes of them is what walks find one after the
 * other, and what their caller accepts; it ends before memory does.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "island.h"
#include "tg_scan.h"

#define ROUNDS 4000u
#define FRAMES 8u
#define TEXTS 1024u

/* A pattern, and frames of it. */
typedef struct row_case {
    uint8_t holes[TG_HOLES + 1];
    uint32_t sizes[TG_HOLES + 1];
    uint8_t literals[(TG_HOLES + 1) * 100 + TG_PATTERN_PAD];
    uint8_t bytes[FRAMES * 3000 + 2000];
    size_t ends[FRAMES];
    size_t hole_count;
    size_t len;
    size_t longest; /* characters of a string, half of its bytes */
    bool has_sequence;
    uint64_t first; /* the sequence number before all */
    char line_end;
} row_case;

static size_t
below(uint64_t *seed, size_t bound)
{
    return (size_t)(check_random(seed) >> 20) % bound;
}

static void
say(row_case *self, const void *ptr, size_t len)
{
    memcpy(self->bytes + self->len, ptr, len);
    self->len += len;
}

static void
say_string(row_case *self, size_t size, uint64_t *seed)
{
    for (; size > 0; size--)
        say(self, below(seed, 40) == 0 ? "\xc3\xa9" : "ab", 2);
}

static void
say_hole(row_case *self, uint8_t kind, uint64_t number, uint64_t *seed)
{
    char digits[32];

    switch (kind) {
    case TG_HOLE_TEXT:
        if (below(seed, 60) == 0)
            say(self, "\\n", 2);
        say_string(self, below(seed, self->longest), seed);
        break;
    case TG_HOLE_STRING:
        say_string(self, below(seed, 4) == 0 ? below(seed, self->longest) : below(seed, 12), seed);
        break;
    case TG_HOLE_SEQUENCE:
        say(self, digits,
            (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number));
        break;
    case TG_HOLE_INTEGER:
        number = check_random(seed) >> below(seed, 64);
        say(self, digits,
            (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number));
        break;
    default:
        for (size_t count = below(seed, 16); count > 0; count--)
            say(self, " ", 1);
        break;
    }
}

/* What a literal begins with ends the hole before it; the last ends with the end of a line. */
static tg_pattern
make_pattern(row_case *self, uint64_t *seed)
{
    static const char *const ends[] = {"\"x\": ", "} ,\n"};
    const size_t text = below(seed, 3);
    uint8_t *to = self->literals;

    self->hole_count = text + 1 + below(seed, 3);
    self->has_sequence = below(seed, 3) > 0;
    self->line_end = below(seed, 4) == 0 ? '\r' : '\n';
    for (size_t i = 0; i <= self->hole_count; i++) {
        const bool is_string =
            i > 0 && (self->holes[i - 1] == TG_HOLE_TEXT || self->holes[i - 1] == TG_HOLE_STRING);
        const size_t size = 5 + below(seed, 3) * below(seed, 47);

        memset(to, 'l' + (int)i, size);
        memcpy(to, ends[!is_string], 4);
        self->sizes[i] = (uint32_t)size;
        to += size;
        self->holes[i] =
            (uint8_t)(i == text                      ? TG_HOLE_TEXT
                      : i == 0 && self->has_sequence ? TG_HOLE_SEQUENCE
                                                     : TG_HOLE_STRING + below(seed, 3));
    }
    if (self->holes[0] != TG_HOLE_SEQUENCE)
        self->has_sequence = false;
    self->holes[self->hole_count] = TG_HOLE_NONE;
    to[-1] = (uint8_t)self->line_end;
    memset(to, '!', TG_PATTERN_PAD);
    return (tg_pattern){.hole_count = self->hole_count,
                        .holes = self->holes,
                        .sizes = self->sizes,
                        .literals = self->literals,
                        .reach = TG_PATTERN_REACH((size_t)(to - self->literals), self->hole_count)};
}

static void
make_frames(row_case *self, uint64_t *seed)
{
    self->len = 0;
    self->longest = below(seed, 4) == 0 ? 127 + below(seed, 8) : 12 + below(seed, 30);
    self->first = check_random(seed) >> (36 + below(seed, 28));
    for (size_t frame = 0; frame < FRAMES; frame++) {
        const uint8_t *literal = self->literals;
        uint64_t number = self->first + 1 + frame;

        if (frame > 0 && self->line_end == '\r' && below(seed, 2) == 0)
            say(self, "\n", 1);
        if (below(seed, 30) == 0)
            number++;
        for (size_t i = 0; i <= self->hole_count; i++) {
            say(self, literal, self->sizes[i]);
            literal += self->sizes[i];
            if (i < self->hole_count)
                say_hole(self, self->holes[i], number, seed);
        }
        self->ends[frame] = self->len;
    }
    if (below(seed, 3) == 0)
        self->bytes[below(seed, self->len)] ^= (uint8_t)(1u << below(seed, 8));
}

/* ---- the definition ---------------------------------------------------------------------------
 */

/* How many frames a caller takes one by one, `most` at most; their texts go to out. */
static size_t
walk_row(const row_case *made, const tg_pattern *pattern, const uint8_t *ptr, size_t len,
         const tg_repeat *asked, size_t most, tg_repeat *said, size_t *taken)
{
    size_t start = 0;
    tg_match match;

    *said = *asked;
    *taken = 0;
    said->written = 0;
    for (said->count = 0; said->count < most; said->count++) {
        if (!tg_scan_walk(pattern, ptr + start, len - start, &match) || match.is_escaped ||
            match.text.len == 0 || match.text.len > asked->room - said->written ||
            match.len > asked->max_frame || (asked->is_raw && !match.is_ascii) ||
            (match.has_sequence && match.sequence != asked->sequence + said->count + 1))
            break;
        memcpy(said->out + said->written, match.text.ptr, match.text.len);
        said->written += match.text.len;
        start += match.len;
        *taken = start;
        if (made->line_end == '\r' && start < len && ptr[start] == '\n')
            start++;
    }
    return said->count;
}

static size_t
check_row(const row_case *made, const tg_pattern *pattern, const uint8_t *ptr, size_t len,
          uint64_t *seed)
{
    static uint8_t texts[TEXTS], wanted[TEXTS];
    tg_repeat row = {.out = texts,
                     .space = TG_REPEAT_TEXT + below(seed, TEXTS - TG_REPEAT_TEXT),
                     .room = below(seed, 4) == 0 ? below(seed, 200) : SIZE_MAX,
                     .max_frame = below(seed, 4) == 0 ? below(seed, 400) : SIZE_MAX,
                     .is_raw = below(seed, 3) == 0,
                     .ends_with_cr = made->line_end == '\r',
                     .has_sequence = made->has_sequence,
                     .sequence = made->first};
    tg_repeat asked = row, said;
    size_t taken, end;

    asked.out = wanted;
    taken = tg_scan_repeat(&row, pattern, ptr, len);
    CHECK(walk_row(made, pattern, ptr, len, &asked, row.count, &said, &end) == row.count);
    CHECK(end == taken && said.written == row.written && row.written <= row.space);
    CHECK(memcmp(texts, wanted, row.written) == 0);
    return row.count;
}

static void
test_kernel(const char *kernel, island *land)
{
    static row_case made;
    const bool is_reference = strcmp(kernel, "scalar") == 0; /* it takes each frame by a walk */
    uint64_t seed = 1181783497276652981u;
    size_t count = 0;
    char sentence[100];
    unsigned round;

    snprintf(sentence, sizeof sentence, "%s: a row takes what walks find", kernel);
    TEST(sentence);
    for (round = 0; round < ROUNDS; round++) {
        const tg_pattern pattern = make_pattern(&made, &seed);
        size_t len;
        uint8_t *ptr;

        make_frames(&made, &seed);
        /* All of it, or cut anywhere; behind it there is nothing that could be read. */
        len = below(&seed, 3) == 0 ? below(&seed, made.len) : made.len;
        if (len < pattern.reach || len > (size_t)(land->end - land->start))
            continue;
        ptr = land->end - len;
        memcpy(ptr, made.bytes, len);
        count += check_row(&made, &pattern, ptr, len, &seed);
    }
    CHECK(is_reference ? count == 0 : count > ROUNDS);
}

/* One frame whose strings are as long as a row takes them, or longer, cut at each byte from its
 * pattern's reach on. */
static void
test_reach(const char *kernel, island *land)
{
    static const uint8_t holes[] = {TG_HOLE_TEXT, TG_HOLE_STRING, TG_HOLE_STRING, TG_HOLE_STRING,
                                    TG_HOLE_NONE};
    static const uint32_t sizes[] = {2, 2, 2, 2, 2};
    static const uint8_t literals[10 + TG_PATTERN_PAD] = "{\"\",\",\",\"\n";
    const tg_pattern pattern = {.hole_count = 4,
                                .holes = holes,
                                .sizes = sizes,
                                .literals = literals,
                                .reach = TG_PATTERN_REACH((size_t)10, (size_t)4)};
    static uint8_t frame[1100], texts[TEXTS];
    char sentence[100];
    size_t text, other, len, i;

    snprintf(sentence, sizeof sentence, "%s: a row reads no further than the bytes go", kernel);
    TEST(sentence);
    for (text = 250; text < 260; text++) {
        for (other = 60; other < 260; other += other < 68 ? 1 : 61) {
            const size_t size = text + 3 * other + 10;

            memset(frame, 'x', sizeof frame);
            memcpy(frame, literals, 2);
            for (i = 0; i < 4; i++)
                memcpy(frame + 2 + text + i * (2 + other), literals + 2 + 2 * i, 2);
            for (len = pattern.reach; len <= size && len <= sizeof frame; len++) {
                tg_repeat row = {
                    .out = texts, .space = TEXTS, .room = SIZE_MAX, .max_frame = SIZE_MAX};
                uint8_t *ptr = land->end - len;

                memcpy(ptr, frame, len);
                CHECK(tg_scan_repeat(&row, &pattern, ptr, len) == 0 || len == size);
            }
        }
    }
}

static void
test_on(const char *kernel)
{
    island land;

    island_open(&land);
    test_kernel(kernel, &land);
    test_reach(kernel, &land);
    island_close(&land);
}

void
test_repeat(void)
{
    suite_each_kernel(test_on);
}

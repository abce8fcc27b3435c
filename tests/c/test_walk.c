/* test_walk.c - the walk of every kernel against one that looks at each byte: bytes that have a
 * pattern, bytes that nearly have it, and bytes that the end of memory cuts.
 */
#include "suites.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "island.h"
#include "tg_scan.h"

#define ROUNDS 30000u

/* A pattern, and bytes that begin with it. */
typedef struct walk_case {
    uint8_t holes[TG_HOLES];
    uint32_t sizes[TG_HOLES + 1];
    uint8_t literals[(TG_HOLES + 1) * 300 + TG_PATTERN_PAD];
    uint8_t bytes[4000];
    size_t hole_count;
    size_t len;
} walk_case;

static bool
is_plain_ascii(const uint8_t *ptr, size_t len)
{
    while (len > 0 && ptr[len - 1] < 0x80)
        len--;
    return len == 0;
}

/* ---- the definition ---------------------------------------------------------------------------
 */

static size_t
plain_string(const uint8_t *ptr, size_t len, bool *is_escaped)
{
    size_t pos = 0;

    *is_escaped = false;
    while (pos < len && ptr[pos] >= 0x20 && ptr[pos] != '"') {
        *is_escaped = *is_escaped || ptr[pos] == '\\';
        pos += ptr[pos] == '\\' ? 2 : 1;
    }
    return pos < len && ptr[pos] == '"' ? pos : SIZE_MAX;
}

static size_t
plain_integer(const uint8_t *ptr, size_t len, uint64_t *value)
{
    size_t pos = 0;

    *value = 0;
    while (pos < len && pos < 19 && ptr[pos] >= '0' && ptr[pos] <= '9')
        *value = *value * 10 + (uint64_t)(ptr[pos++] - '0');
    return pos == 0 || pos > 18 || (pos > 1 && ptr[0] == '0') ? SIZE_MAX : pos;
}

static size_t
plain_hole(tg_hole_kind kind, const uint8_t *ptr, size_t len, tg_match *out)
{
    bool is_escaped = false;
    uint64_t value = 0;
    size_t size = 0;

    if (kind == TG_HOLE_BLANK) {
        while (size < len && ptr[size] == ' ')
            size++;
        return size;
    }
    if (kind == TG_HOLE_INTEGER)
        return plain_integer(ptr, len, &value);
    if (kind == TG_HOLE_SEQUENCE) {
        out->has_sequence = true;
        return plain_integer(ptr, len, &out->sequence);
    }
    size = plain_string(ptr, len, &is_escaped);
    if (size != SIZE_MAX && !is_plain_ascii(ptr, size))
        out->is_ascii = false;
    if (kind == TG_HOLE_TEXT) {
        out->text.ptr = ptr;
        out->text.len = size;
        out->is_escaped = is_escaped;
        return size;
    }
    out->padding[out->padding_count].ptr = ptr;
    out->padding[out->padding_count++].len = size;
    return is_escaped ? SIZE_MAX : size;
}

static bool
plain_walk(const tg_pattern *pattern, const uint8_t *ptr, size_t len, tg_match *out)
{
    const uint8_t *literal = pattern->literals;
    size_t pos = 0;
    size_t i;

    out->padding_count = 0;
    out->has_sequence = false;
    out->is_ascii = true;
    for (i = 0; i <= pattern->hole_count; i++) {
        const size_t size = pattern->sizes[i];
        size_t hole;

        if (len - pos < size || memcmp(ptr + pos, literal, size) != 0)
            return false;
        pos += size;
        literal += size;
        if (i == pattern->hole_count)
            break;
        hole = plain_hole((tg_hole_kind)pattern->holes[i], ptr + pos, len - pos, out);
        if (hole == SIZE_MAX)
            return false;
        pos += hole;
    }
    out->len = pos;
    return true;
}

/* ---- cases ------------------------------------------------------------------------------------
 */

static size_t
below(uint64_t *seed, size_t bound)
{
    return (size_t)(check_random(seed) >> 20) % bound;
}

/* Mostly short, now and then of several vectors. */
static size_t
some_size(uint64_t *seed)
{
    return below(seed, 4) == 0 ? below(seed, 290) : below(seed, 40);
}

static void
say(walk_case *self, uint8_t byte)
{
    self->bytes[self->len++] = byte;
}

static void
say_hole(walk_case *self, uint8_t kind, uint64_t *seed)
{
    static const char *const odd[] = {"\\\"", "\\\\", "\\u00e9", "\xc3\xa9", "\xff", "\x7f"};
    size_t size = some_size(seed);
    size_t i;

    if (kind == TG_HOLE_SEQUENCE || kind == TG_HOLE_INTEGER) {
        size = below(seed, 8) == 0 ? below(seed, 22) : 1 + below(seed, 10);
        for (i = 0; i < size; i++)
            say(self, (uint8_t)('0' + below(seed, 10)));
    } else if (kind == TG_HOLE_BLANK) {
        for (i = 0; i < size; i++)
            say(self, ' ');
    } else {
        for (i = 0; i < size; i++) {
            const char *const more = odd[below(seed, kind == TG_HOLE_TEXT ? 6 : 600) % 6];

            if (below(seed, 30) != 0)
                say(self, (uint8_t)('a' + below(seed, 26)));
            else if (kind == TG_HOLE_TEXT || below(seed, 20) == 0)
                for (size_t at = 0; more[at] != '\0'; at++)
                    say(self, (uint8_t)more[at]);
        }
    }
}

/* What a literal begins with ends the hole before it. */
static void
say_literal(walk_case *self, size_t index, uint8_t *to, uint64_t *seed)
{
    const uint8_t before = index > 0 ? self->holes[index - 1] : TG_HOLE_BLANK;
    const bool is_string = index > 0 && (before == TG_HOLE_TEXT || before == TG_HOLE_STRING);
    const size_t size = 1 + some_size(seed);
    size_t i;

    self->sizes[index] = (uint32_t)size;
    for (i = 0; i < size; i++)
        to[i] = (uint8_t)check_random(seed);
    to[0] = is_string ? '"' : '}';
    memcpy(self->bytes + self->len, to, size);
    self->len += size;
}

static tg_pattern
make_case(walk_case *self, uint64_t *seed)
{
    const tg_pattern pattern = {.hole_count = below(seed, 5),
                                .holes = self->holes,
                                .sizes = self->sizes,
                                .literals = self->literals};
    uint8_t *to = self->literals;
    size_t i;

    self->len = 0;
    self->hole_count = pattern.hole_count;
    for (i = 0; i <= self->hole_count; i++) {
        say_literal(self, i, to, seed);
        to += self->sizes[i];
        if (i < self->hole_count) {
            self->holes[i] = (uint8_t)below(seed, TG_HOLE_BLANK + 1);
            say_hole(self, self->holes[i], seed);
        }
    }
    memset(to, '!', TG_PATTERN_PAD);
    return pattern;
}

/* ---- the walks --------------------------------------------------------------------------------
 */

static bool
is_span(tg_span a, tg_span b)
{
    return a.ptr == b.ptr && a.len == b.len;
}

static bool
is_match(const tg_match *a, const tg_match *b, bool has_text)
{
    size_t i;

    if (a->len != b->len || a->is_ascii != b->is_ascii || a->has_sequence != b->has_sequence ||
        (a->has_sequence && a->sequence != b->sequence) || a->padding_count != b->padding_count)
        return false;
    for (i = 0; i < a->padding_count; i++) {
        if (!is_span(a->padding[i], b->padding[i]))
            return false;
    }
    return !has_text || (is_span(a->text, b->text) && a->is_escaped == b->is_escaped);
}

/* Walks the bytes as they are; counts those that have the pattern. */
static size_t
check_walk(const tg_pattern *pattern, const uint8_t *ptr, size_t len)
{
    const bool has_text = memchr(pattern->holes, TG_HOLE_TEXT, pattern->hole_count) != NULL;
    tg_match found, wanted;
    const bool is_found = tg_scan_walk(pattern, ptr, len, &found);

    CHECK(is_found == plain_walk(pattern, ptr, len, &wanted));
    CHECK(!is_found || is_match(&found, &wanted, has_text));
    return is_found;
}

static void
test_kernel(const char *kernel, island *land)
{
    static walk_case made;
    uint64_t seed = 88172645463325252u;
    size_t whole = 0, near = 0;
    char sentence[100];
    unsigned round;

    snprintf(sentence, sizeof sentence, "%s: a walk finds what one byte after the other finds",
             kernel);
    TEST(sentence);
    for (round = 0; round < ROUNDS; round++) {
        const tg_pattern pattern = make_case(&made, &seed);
        const size_t more = below(&seed, 2) * below(&seed, 100);
        uint8_t *ptr;

        if (made.len + more > 4000)
            continue;
        memset(land->end - more, 'x', more);
        ptr = land->end - more - made.len;
        memcpy(ptr, made.bytes, made.len);
        whole += check_walk(&pattern, ptr, made.len + more);
        ptr[below(&seed, made.len)] ^= (uint8_t)(1u << below(&seed, 8));
        near += check_walk(&pattern, ptr, made.len + more);
        ptr = land->end - below(&seed, made.len);
        memcpy(ptr, made.bytes, (size_t)(land->end - ptr)); /* cut */
        (void)check_walk(&pattern, ptr, (size_t)(land->end - ptr));
    }
    CHECK(whole > ROUNDS / 2 && near > ROUNDS / 100 && near < whole);
}

static void
test_on(const char *kernel)
{
    island land;

    island_open(&land);
    test_kernel(kernel, &land);
    island_close(&land);
}

void
test_walk(void)
{
    suite_each_kernel(test_on);
}

/* test_eventstream.c - AWS event-stream messages: checksums, lengths, headers, limits, work.
 *
 * Messages are built here, with a CRC-32 of their own, bit by bit from its definition.
 */
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "framers.h"
#include "tg_crc32.h"

#define BIG ((size_t)4 << 20)

/* One whole message as it is on the wire: contentBlockStop of block 1. */
static const char example[] =
    "\x00\x00\x00\x7d\x00\x00\x00\x56\xe6\x68\x0f\xd6\x0b:event-type\x07\x00\x10"
    "contentBlockStop\x0d:content-type\x07\x00\x10"
    "application/json\x0d:message-type\x07\x00\x05"
    "event{\"contentBlockIndex\":1}\xaa\x35\x7c\x75";

/* ---- building ---------------------------------------------------------------------------------
 */

static uint32_t
plain_crc(const uint8_t *ptr, size_t len)
{
    uint32_t crc = 0xffffffffu;
    size_t i;
    int bit;

    for (i = 0; i < len; i++) {
        crc ^= ptr[i];
        for (bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static void
put_number(uint8_t *ptr, size_t number)
{
    ptr[0] = (uint8_t)(number >> 24);
    ptr[1] = (uint8_t)(number >> 16);
    ptr[2] = (uint8_t)(number >> 8);
    ptr[3] = (uint8_t)number;
}

typedef struct frame {
    uint8_t *ptr;
    size_t len;
} frame;

/* Lengths as given, true or not; checksums that match. */
static frame
frame_lying(const char *headers, size_t header_len, const char *payload, size_t payload_len,
            size_t told_total, size_t told_header)
{
    frame out = {NULL, 16 + header_len + payload_len};

    out.ptr = malloc(out.len);
    if (out.ptr == NULL)
        exit(3);
    put_number(out.ptr, told_total);
    put_number(out.ptr + 4, told_header);
    put_number(out.ptr + 8, plain_crc(out.ptr, 8));
    memcpy(out.ptr + 12, headers, header_len);
    memcpy(out.ptr + 12 + header_len, payload, payload_len);
    put_number(out.ptr + out.len - 4, plain_crc(out.ptr, out.len - 4));
    return out;
}

static frame
frame_make(const char *headers, size_t header_len, const char *payload, size_t payload_len)
{
    return frame_lying(headers, header_len, payload, payload_len, 16 + header_len + payload_len,
                       header_len);
}

/* *a becomes both; *b is freed. */
static void
frame_join(frame *a, frame b)
{
    a->ptr = realloc(a->ptr, a->len + b.len);
    if (a->ptr == NULL)
        exit(3);
    memcpy(a->ptr + a->len, b.ptr, b.len);
    a->len += b.len;
    free(b.ptr);
}

static record_setup
frame_setup(void)
{
    record_setup setup = record_setup_default();

    setup.framing = TG_FRAMING_EVENTSTREAM;
    setup.flags = TG_RECORD_STRICT_UTF8; /* concerns text alone */
    return setup;
}

static void
check_and_free(const record_setup *setup, frame message, const char *expected)
{
    framer_check(setup, message.ptr, message.len, expected);
    free(message.ptr);
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static void
test_crc(void)
{
    uint8_t text[600];
    uint64_t seed = 7;
    size_t i, len;

    TEST("CRC-32 gives the check value of its definition");
    CHECK(tg_crc32(0, (const uint8_t *)"123456789", 9) == 0xcbf43926u);
    CHECK(tg_crc32(0, text, 0) == 0);
    TEST("CRC-32 is that of the definition at all lengths and places, whole and in two parts");
    for (i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)check_random(&seed);
    for (len = 0; len < 40; len++) {
        for (i = 0; i < 16; i++) {
            const uint32_t part = tg_crc32(0, text + i, len / 3);

            CHECK(tg_crc32(0, text + i, len) == plain_crc(text + i, len));
            CHECK(tg_crc32(part, text + i + len / 3, len - len / 3) == plain_crc(text + i, len));
        }
    }
    TEST("CRC-32 is right for every byte in each of its tables");
    for (i = 0; i < 256; i++) {
        for (len = 0; len < 8; len++) {
            memset(text, 0, 8);
            text[len] = (uint8_t)i;
            CHECK(tg_crc32(0, text, 8) == plain_crc(text, 8));
        }
    }
    CHECK(tg_crc32(0, text, sizeof text) == plain_crc(text, sizeof text));
}

static void
test_messages(void)
{
    const record_setup setup = frame_setup();
    frame two = frame_make("", 0, "", 0);
    frame message;

    TEST("event-stream: the example of one whole message");
    framer_check(&setup, (const uint8_t *)example, sizeof example - 1,
                 "data=\"{\\x22contentBlockIndex\\x22:1}\"\n"
                 "name=\":event-type\" value=\"contentBlockStop\"\n"
                 "name=\":content-type\" value=\"application/json\"\n"
                 "name=\":message-type\" value=\"event\"\nat=0,98,125\nrest none\nat=125");
    TEST("event-stream: the smallest message has neither headers nor payload");
    framer_check(&setup, two.ptr, two.len, "data=\"\"\nat=0,12,16\nrest none");
    frame_join(&two, frame_make("\x01p\x00", 3, "\xff\x00\n", 3));
    TEST("event-stream: a payload is any bytes, and messages follow each other without a gap");
    check_and_free(&setup, two, "data=\"\"\ndata=\"\\xff\\x00\\x0a\"\nat=16,31,38\nrest none");
    check_and_free(&setup, frame_make("", 0, TEXT_300, 300), "data=\"" TEXT_300 "\"\nat=0,12,316");
    TEST("event-stream: nothing at all is no rest");
    framer_check(&setup, (const uint8_t *)"", 0, "rest none line=\"\" has_data=0\nat=0");
    TEST("event-stream: the end inside a message leaves its raw bytes, and no data");
    framer_check(&setup, (const uint8_t *)"\x00", 1, "rest event line=\"\\x00\" has_data=0\nat=0");
    framer_check(&setup, (const uint8_t *)example, 12, "rest event\nhas_data=0\nat=0");
    framer_check(&setup, (const uint8_t *)example, sizeof example - 2, "rest event\nhas_data=0");
    message = frame_make("", 0, "x", 1);
    frame_join(&message, frame_make("", 0, "y", 1));
    message.len -= 1;
    check_and_free(&setup, message, "data=\"x\"\nrest event line=\"\\x00\\x00\nat=17");
}

/* Every type of value, one after another. */
static const char all_types[] = "\x01"
                                "a\x00\x01"
                                "b\x01\x01"
                                "c\x02\x80\x01"
                                "d\x03\xff\xfe\x01"
                                "e\x04\x7f\xff\xff\xff\x01"
                                "f\x05\x80\x00\x00\x00\x00\x00\x00\x00\x01"
                                "g\x06\x00\x02\x00\xff\x01"
                                "h\x07\x00\x03\xe2\x82\xac\x01"
                                "i\x08\x00\x00\x01\x00\x00\x00\x00\x00\x01"
                                "j\x09"
                                "0123456789abcdef\x01"
                                "k\x07\x00\x00\x01"
                                "l\x06\x00\x00";

static void
test_headers(void)
{
    const record_setup setup = frame_setup();

    TEST("event-stream: headers of every type");
    check_and_free(
        &setup, frame_make(all_types, sizeof all_types - 1, "", 0),
        "data=\"\"\nheader=0/0 name=\"a\" value=\"\"\nheader=1/0 name=\"b\" value=\"\"\n"
        "header=2/-128 name=\"c\"\nheader=3/-2 name=\"d\"\nheader=4/2147483647 name=\"e\"\n"
        "header=5/-9223372036854775808 name=\"f\"\n"
        "header=6/0 name=\"g\" value=\"\\x00\\xff\"\nheader=7/0 name=\"h\" "
        "value=\"\\xe2\\x82\\xac\"\nheader=8/1099511627776 name=\"i\"\nheader=9/0 name=\"j\" "
        "value=\"0123456789abcdef\"\nheader=7/0 name=\"k\" value=\"\"\nheader=6/0 name=\"l\" "
        "value=\"\"\nrest none");
}

typedef struct header_row {
    const char *headers;
    size_t len;
    const char *expected;
} header_row;

#define HEADERS(text) (text), sizeof(text) - 1

static void
test_bad_headers(void)
{
    static const header_row rows[] = {
        {HEADERS("\x00\x00"), "error bad_frame 12"},
        {HEADERS("\x01"), "error bad_frame 12"},
        {HEADERS("\x01p"), "error bad_frame 12"},
        {HEADERS("\x02p\x00"), "error bad_frame 12"},
        {HEADERS("\x01p\x0a"), "error bad_frame 12"},
        {HEADERS("\x01p\xff"), "error bad_frame 12"},
        {HEADERS("\x01p\x02"), "error bad_frame 12"},
        {HEADERS("\x01p\x05\x00\x00\x00\x00\x00\x00\x00"), "error bad_frame 12"},
        {HEADERS("\x01p\x07\x00"), "error bad_frame 12"},
        {HEADERS("\x01p\x07\x00\x02x"), "error bad_frame 12"},
        {HEADERS("\x01p\x07\x00\x01\xff"), "error bad_frame 12"},
        {HEADERS("\x01p\x07\x00\x02\xe2\x82"), "error bad_frame 12"},
        {HEADERS("\x01\xff\x00"), "error bad_frame 12"},
        {HEADERS("\x01p\x09\x00"), "error bad_frame 12"},
        {HEADERS("\x01p\x00\x01q\x00\x00"), "error bad_frame 18"},
        {HEADERS("\x01p\x00\x01p\x00"), "error bad_frame 15"},
        {HEADERS("\x01p\x00\x01q\x00\x01p\x01"), "error bad_frame 18"},
        {HEADERS("\x01q\x00\x01p\x00\x01p\x00\x01q\x00"), "error bad_frame 18"},
        {HEADERS("\x01p\x00\x01p\x00\x01r\x0a"), "error bad_frame 18"},
        {HEADERS("\x01p\x00\x02pp\x00\x01P\x00"), "data=\"x\"\nrest none"},
    };
    const record_setup setup = frame_setup();
    size_t i;

    TEST("event-stream: a malformed or repeated header is an error at its first byte");
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_and_free(&setup, frame_make(rows[i].headers, rows[i].len, "x", 1), rows[i].expected);
}

static void
test_many_headers(void)
{
    const size_t count = 1000;
    record_setup setup = frame_setup();
    char *headers = malloc(6 * count);
    uint64_t seed = 1;
    char expected[64];
    size_t i;

    if (headers == NULL)
        exit(3);
    TEST("event-stream: a thousand headers are sorted, and a repeated name among them is found");
    for (i = 0; i < count; i++) {
        headers[6 * i] = 4;
        memcpy(headers + 6 * i + 1,
               &(const char[]){(char)('a' + i % 10), (char)('a' + i / 10 % 10),
                               (char)('a' + i / 100), 'x'},
               4);
        headers[6 * i + 5] = 0;
    }
    setup.limits.max_header_bytes = 6 * count;
    check_and_free(&setup, frame_make(headers, 6 * count, "x", 1), "data=\"x\"\nrest none");
    for (i = 0; i < 8; i++) {
        const size_t a = check_random(&seed) % count;
        const size_t b = check_random(&seed) % count;
        const size_t later = a > b ? a : b;
        char held[6];

        if (a == b)
            continue;
        memcpy(held, headers + 6 * b, 6);
        memcpy(headers + 6 * b, headers + 6 * a, 6);
        snprintf(expected, sizeof expected, "error bad_frame %zu", 12 + 6 * later);
        check_and_free(&setup, frame_make(headers, 6 * count, "x", 1), expected);
        memcpy(headers + 6 * b, held, 6);
    }
    free(headers);
}

/* ---- errors -----------------------------------------------------------------------------------
 */

static void
test_lengths(void)
{
    const record_setup setup = frame_setup();
    frame after = frame_make("", 0, "x", 1);

    TEST("event-stream: lengths that cannot be are bad_frame, with the twelfth byte");
    check_and_free(&setup, frame_lying("", 0, "", 0, 15, 0), "error bad_frame 0");
    check_and_free(&setup, frame_lying("", 0, "", 0, 0, 0), "error bad_frame 0");
    check_and_free(&setup, frame_lying("", 0, "", 0, 16, 1), "error bad_frame 0");
    check_and_free(&setup, frame_lying("", 0, "x", 1, 17, 2), "error bad_frame 0");
    check_and_free(&setup, frame_lying("", 0, "", 0, 100, 0xffffffff), "error bad_frame 0");
    frame_join(&after, frame_lying("", 0, "", 0, 4, 0));
    check_and_free(&setup, after, "data=\"x\"\nerror bad_frame 17");
    TEST("event-stream: a length that is longer than the message is not known to be wrong");
    check_and_free(&setup, frame_lying("", 0, "", 0, 20, 0), "rest event");
}

static void
test_flips(void)
{
    const record_setup setup = frame_setup();
    const size_t len = sizeof example - 1;
    uint8_t *text = malloc(2 * len);
    record whole = {0}, cut = {0};
    size_t bit;

    if (text == NULL)
        exit(3);
    TEST("event-stream: every single flipped bit is found, and the message before it still comes");
    for (bit = 0; bit < 8 * len; bit++) {
        const char *code = bit < 96 ? "error prelude_crc_mismatch 125" : "message_crc_mismatch 125";

        memcpy(text, example, len);
        memcpy(text + len, example, len);
        text[len + bit / 8] ^= (uint8_t)(1u << (bit % 8));
        record_stream(&whole, &setup, text, 2 * len, NULL, 0);
        CHECK(strstr(whole.ptr, code) != NULL);
        CHECK(strstr(whole.ptr, "at=0,98,125\nerror ") != NULL);
        record_stream_step(&cut, &setup, text, 2 * len, 1);
        CHECK(record_equal(&whole, &cut) && strstr(cut.ptr, "BREACH") == NULL);
    }
    framer_check(&setup, text, 2 * len, "data=\nerror message_crc_mismatch 125");
    record_free(&whole);
    record_free(&cut);
    free(text);
}

static void
test_limits_of_messages(void)
{
    static const char headers[] = "\x01p\x07\x00\x02xx";
    const size_t header_len = sizeof headers - 1;
    record_setup setup = frame_setup();
    frame message = frame_make(headers, header_len, "abc", 3);
    size_t i;

    TEST("event-stream: max_event_bytes counts the payload, and is checked with the prelude");
    for (i = 2; i <= 4; i++) {
        setup.limits.max_event_bytes = i;
        framer_check(&setup, message.ptr, message.len,
                     i < 3 ? "error event_too_large 0" : "data=\"abc\"\nrest none");
        framer_check(&setup, message.ptr, 12, i < 3 ? "error event_too_large 0" : "rest event");
    }
    TEST("event-stream: max_header_bytes counts the header block");
    for (i = header_len - 1; i <= header_len + 1; i++) {
        setup.limits.max_header_bytes = i;
        framer_check(&setup, message.ptr, message.len,
                     i < header_len ? "error headers_too_large 0" : "data=\"abc\"\nrest none");
        framer_check(&setup, message.ptr, 12,
                     i < header_len ? "error headers_too_large 0" : "rest event");
    }
    free(message.ptr);
    TEST("event-stream: an offset of an error is that of the message");
    setup.limits.max_event_bytes = 1;
    message = frame_make("", 0, "x", 1);
    frame_join(&message, frame_make("", 0, "xy", 2));
    check_and_free(&setup, message, "data=\"x\"\nerror event_too_large 17");
    TEST("event-stream: the largest limits are no sum that wraps");
    setup.limits.max_event_bytes = SIZE_MAX;
    setup.limits.max_header_bytes = SIZE_MAX;
    check_and_free(&setup, frame_lying("", 0, "", 0, 0xffffffff, 0), "rest event");
    check_and_free(&setup, frame_lying("", 0, "", 0, 0xffffffff, 0xffffffef), "rest event");
    check_and_free(&setup, frame_lying("", 0, "", 0, 0xffffffff, 0xfffffff0), "error bad_frame 0");
}

/* ---- costs ------------------------------------------------------------------------------------
 */

static void
test_cost(void)
{
    const record_setup setup = frame_setup();
    char *payload = calloc(1, BIG);
    frame message;

    if (payload == NULL)
        exit(3);
    message = frame_make("", 0, payload, BIG);
    free(payload);
    TEST("event-stream: a message of 4 MiB costs the same work per byte in every cut");
    framer_check_work(&setup, message.ptr, message.len, 1, 5);
    free(message.ptr);
    TEST("event-stream: once warm, a stream allocates nothing per message");
    framer_check_steady(&setup, NULL, 0, (const uint8_t *)example, sizeof example - 1);
}

static void
test_borrowing(void)
{
    tg_stream stream;
    tg_event event;
    tg_header header;
    tg_span headers;
    const uint8_t *text = (const uint8_t *)example;

    TEST("event-stream: headers and payload within one chunk are spans of the chunk");
    tg_stream_init_framing(&stream, TG_FRAMING_EVENTSTREAM, NULL, NULL, 0);
    CHECK(tg_stream_headers(&stream).len == 0);
    CHECK(tg_stream_feed(&stream, text, sizeof example - 1) == TG_OK);
    CHECK(tg_stream_next(&stream, &event) == TG_OK && event.data.ptr == text + 98);
    headers = tg_stream_headers(&stream);
    CHECK(headers.ptr == text + 12 && headers.len == 86);
    CHECK(tg_header_next(&headers, &header) && header.name.ptr == text + 13);
    CHECK(tg_header_next(&headers, &header) && tg_header_next(&headers, &header));
    CHECK(!tg_header_next(&headers, &header) && headers.len == 0);
    CHECK(tg_stream_next(&stream, &event) == TG_MORE && tg_stream_headers(&stream).len == 0);
    CHECK(!tg_stream_reconnection_time(&stream, &(uint64_t){0}));
    CHECK(tg_stream_last_event_id(&stream).len == 0);
    tg_stream_reset(&stream);
    CHECK(tg_stream_bytes_fed(&stream) == 0 && tg_stream_work(&stream) == 0);
    tg_stream_free(&stream);
}

#define CHECK_EVENTSTREAM_STATE(name, sentence) \
    CHECK(strcmp(tg_eventstream_state_name(name), #name) == 0 && strstr(sentence, " / ") != NULL);

void
test_eventstream(void)
{
    test_crc();
    test_messages();
    test_headers();
    test_bad_headers();
    test_many_headers();
    test_lengths();
    test_flips();
    test_limits_of_messages();
    test_cost();
    test_borrowing();
    TEST("each state of the event-stream machine has its name and a sentence of two halves");
    TG_EVENTSTREAM_STATES(CHECK_EVENTSTREAM_STATE)
}

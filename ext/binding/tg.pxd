# Mirrors the public headers of ext/core and nothing else.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "tg.h":
    ctypedef enum tg_status:
        TG_OK
        TG_MORE
        TG_ERR_NO_MEMORY
        TG_ERR_FINISHED
        TG_ERR_JSON_INVALID
        TG_ERR_JSON_TRAILING

    const char *tg_status_code(tg_status status) nogil
    const char *tg_status_layer(tg_status status) nogil
    const char *tg_status_limit(tg_status status) nogil
    const char *tg_status_text(tg_status status) nogil

    ctypedef struct tg_limits:
        size_t max_event_bytes
        size_t max_line_bytes
        size_t max_id_bytes
        size_t max_retry_digits
        size_t max_depth
        size_t max_header_bytes

    tg_limits tg_limits_default() nogil

    const char *tg_scan_kernel_name() nogil
    const char *tg_scan_kernel_at(size_t index) nogil
    bint tg_scan_use(const char *name) nogil

    ctypedef struct tg_alloc:
        pass

    tg_alloc tg_alloc_default() nogil

    ctypedef struct tg_span:
        const uint8_t *ptr
        size_t len

    ctypedef struct tg_event:
        tg_span type
        tg_span data
        bint is_ascii
        tg_span last_event_id
        bint is_id_changed
        bint has_retry
        uint64_t retry_ms
        uint64_t start_off
        uint64_t data_off
        uint64_t end_off
        tg_span frame

    ctypedef struct tg_frame:
        tg_span data
        bint is_ascii
        uint64_t start_off
        uint64_t data_off
        uint64_t end_off

    ctypedef struct tg_wide:
        size_t count
        uint32_t bound

    tg_wide tg_wide_measure(tg_span text) nogil
    void tg_wide_write(tg_span text, const tg_wide *wide, void *out) nogil

    bint tg_utf8_is_ascii(tg_span text) nogil
    size_t tg_utf8_check(tg_span text) nogil

    const uint64_t TG_NO_STRAY

    ctypedef enum tg_rest_where:
        TG_REST_NONE
        TG_REST_CHARACTER
        TG_REST_LINE
        TG_REST_EVENT

    ctypedef struct tg_rest:
        tg_rest_where where
        tg_span line
        bint has_data
        tg_span type
        tg_span data
        uint64_t start_off

    ctypedef enum tg_header_type:
        TG_HEADER_TRUE
        TG_HEADER_FALSE
        TG_HEADER_INT8
        TG_HEADER_INT16
        TG_HEADER_INT32
        TG_HEADER_INT64
        TG_HEADER_BYTES
        TG_HEADER_STRING
        TG_HEADER_TIMESTAMP
        TG_HEADER_UUID

    ctypedef struct tg_header:
        tg_span name
        tg_header_type type
        tg_span value
        int64_t number

    bint tg_header_next(tg_span *block, tg_header *out) nogil

    unsigned TG_SSE_STRICT_UTF8
    unsigned TG_SSE_ERROR_FIELD

    ctypedef enum tg_framing:
        TG_FRAMING_SSE
        TG_FRAMING_NDJSON
        TG_FRAMING_ARRAY
        TG_FRAMING_EVENTSTREAM

    ctypedef struct tg_buf:
        uint8_t *ptr
        size_t len

    ctypedef enum tg_role:
        TG_ROLE_OBJECT
        TG_ROLE_ARRAY
        TG_ROLE_LITERAL
        TG_ROLE_FIXED
        TG_ROLE_EMPTY
        TG_ROLE_TEXT
        TG_ROLE_SEQUENCE
        TG_ROLE_IGNORED

    ctypedef struct tg_shapes:
        pass

    bint tg_shapes_begin(tg_shapes *self) nogil
    bint tg_shapes_add(tg_shapes *self, const tg_span *path, size_t depth, tg_role role, tg_span literal) nogil

    ctypedef struct tg_hole:
        size_t pos
        size_t len

    ctypedef struct tg_pick:
        size_t shape
        size_t hole_count
        tg_hole *holes

    bint tg_pick_find(const tg_shapes *shapes, tg_span data, tg_pick *out) nogil

    size_t TG_PREDICT_NO_LANE

    ctypedef struct tg_predict:
        size_t lane_count
        size_t *rooms
        size_t room
        bint keeps_each
        tg_buf latest
        bint has_sequence
        uint64_t sequence
        uint64_t hits

    void tg_predict_init(tg_predict *self, const tg_alloc *alloc) nogil
    void tg_predict_free(tg_predict *self) nogil
    size_t tg_predict_open(tg_predict *self, size_t room) nogil
    void tg_predict_close(tg_predict *self) nogil
    bint tg_predict_learn(tg_predict *self, const tg_shapes *shapes, const tg_event *event, size_t lane,
                          tg_span piece) nogil
    size_t tg_predict_run_count(const tg_predict *self) nogil
    size_t tg_predict_run(const tg_predict *self, size_t index, tg_span *text) nogil
    void tg_predict_range(const tg_predict *self, size_t index, uint64_t *start_off,
                          uint64_t *end_off) nogil
    void tg_predict_drain(tg_predict *self) nogil

    ctypedef struct tg_stream:
        pass

    void tg_stream_set_predict(tg_stream *self, tg_predict *predict) nogil
    void tg_stream_watch(tg_stream *self, bint is_watching) nogil
    uint64_t tg_stream_stray_off(const tg_stream *self) nogil

    void tg_stream_init_framing(tg_stream *self, tg_framing framing, const tg_alloc *alloc,
                                const tg_limits *limits, unsigned flags) nogil
    void tg_stream_init(tg_stream *self, const tg_alloc *alloc, const tg_limits *limits, unsigned flags) nogil
    void tg_stream_reset(tg_stream *self) nogil
    void tg_stream_free(tg_stream *self) nogil
    tg_status tg_stream_feed(tg_stream *self, const uint8_t *ptr, size_t len) nogil
    tg_status tg_stream_next(tg_stream *self, tg_event *out) nogil
    size_t tg_stream_frames(tg_stream *self, tg_frame *out, size_t max, tg_span *type) nogil
    tg_status tg_stream_finish(tg_stream *self, tg_rest *out) nogil
    uint64_t tg_stream_bytes_fed(const tg_stream *self) nogil
    uint64_t tg_stream_whole_off(const tg_stream *self) nogil
    uint64_t tg_stream_error_off(const tg_stream *self) nogil
    uint64_t tg_stream_work(const tg_stream *self) nogil
    tg_span tg_stream_headers(const tg_stream *self) nogil
    tg_span tg_stream_last_event_id(const tg_stream *self) nogil
    bint tg_stream_reconnection_time(const tg_stream *self, uint64_t *out_ms) nogil

    ctypedef enum tg_json_view:
        TG_JSON_STRICT
        TG_JSON_STRUCTURAL

    ctypedef enum tg_json_verdict:
        TG_JSON_EMPTY
        TG_JSON_OPEN
        TG_JSON_CLOSED
        TG_JSON_INVALID
        TG_JSON_TRAILING

    uint64_t TG_JSON_NOWHERE


    ctypedef struct tg_json:
        bint has_large_number
        bint is_lone_surrogate
        size_t depth
        size_t max_depth
        size_t max_depth_seen
        uint64_t closed_off
        uint64_t error_off

    void tg_json_init(tg_json *self, const tg_alloc *alloc, tg_json_view view, size_t max_depth) nogil
    void tg_json_reset(tg_json *self) nogil
    void tg_json_free(tg_json *self) nogil
    tg_status tg_json_feed(tg_json *self, const uint8_t *ptr, size_t len) nogil
    tg_status tg_json_finish(tg_json *self) nogil
    tg_json_verdict tg_json_read(const tg_json *self) nogil

    size_t tg_unescape_compare(tg_span from_, tg_span text) nogil
    size_t TG_UNESCAPE_OTHER

    size_t tg_escape_size(tg_span text) nogil
    void tg_escape(tg_span text, uint8_t *out) nogil

    bint tg_members_are_unique(tg_span text) nogil

    ctypedef struct tg_lane:
        tg_buf text
        size_t max_depth

    void tg_lane_init(tg_lane *self, const tg_alloc *alloc, size_t max_depth) nogil
    void tg_lane_free(tg_lane *self) nogil
    bint tg_lane_append(tg_lane *self, const uint8_t *ptr, size_t len) nogil
    tg_span tg_lane_text(const tg_lane *self) nogil
    const tg_json *tg_lane_json(tg_lane *self) nogil
    uint8_t tg_lane_last(tg_lane *self) nogil

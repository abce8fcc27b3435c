# SSEDecoder: bytes of an event stream in, events out. Part of _core.pyx, which includes this file.
#
# Rules
#  - Events that differ from an earlier one in their data alone come from the core many at a time, as frames: what
#    they have in common is made once. All others come one by one.
#  - Python reads ServerSentEvents; an interpreter reads _ReadEvents, for it wants bytes.

cdef enum:
    _FRAMES = 32  # so many at a time


@cython.final
cdef class SSEDecoder(_Decoder):
    """Bytes of an event stream in, whole events out (WHATWG HTML 9.2.5, 9.2.6).

    errors: "replace" puts U+FFFD for each maximal subpart of ill-formed UTF-8, as browsers do; "strict" makes
    it an error, anywhere in the stream. The result depends on the bytes alone, not on how they are cut.

    Errors (DecodeError, LimitError) are sticky: events before the broken byte are returned first, then every
    feed and finish raises the same code and offset until reset().
    """

    cdef str _type
    cdef bytes _type_bytes
    cdef str _id
    cdef readonly str errors

    def __cinit__(self):
        self._begin(TG_FRAMING_SSE, None, 0)

    def __init__(self, *, str errors not None="replace", limits=None, bint _error_field=False):
        cdef unsigned flags = _utf8_flag(errors)
        if _error_field:
            flags |= TG_SSE_ERROR_FIELD
        self._begin(TG_FRAMING_SSE, limits, flags)
        self.errors = errors

    cdef void _clear(self) noexcept:
        _Decoder._clear(self)
        self._type = None
        self._type_bytes = None
        self._id = ""

    cdef object _event(self, tg_event *event, bytes chunk):
        cdef _ReadEvent made = _ReadEvent.__new__(_ReadEvent)
        made._borrow(event, chunk)
        made.event = self._event_type(event.type)
        made.id = self._event_id(event)
        made._place(event)
        return made

    cdef list _read(self, const uint8_t *ptr, size_t size, bytes chunk, tg_status *status):
        cdef list events = None
        cdef tg_frame[_FRAMES] frames
        cdef tg_event event
        cdef tg_span type
        cdef size_t count
        while True:
            count = tg_stream_frames(&self._stream, frames, _FRAMES, &type)
            if count:
                events = self._add_frames(events, frames, count, self._event_type(type))
                if count == _FRAMES:
                    continue
            status[0] = tg_stream_next(&self._stream, &event)
            if status[0] != TG_OK:
                return events if events is not None else []
            if events is None:
                events = []
            events.append(self._whole_event(&event))

    cdef list _add_frames(self, list events, const tg_frame *frames, size_t count, str type):
        cdef size_t index
        cdef ServerSentEvent made
        cdef bint is_first = events is None
        if is_first:
            events = PyList_New(<Py_ssize_t> count)
        for index in range(count):
            made = ServerSentEvent.__new__(ServerSentEvent)
            made.event = type
            made.data = _event_text(frames[index].data, frames[index].is_ascii)
            made.id = self._id
            made._start = frames[index].start_off
            made._data_start = frames[index].data_off
            made._end = frames[index].end_off
            if is_first:
                Py_INCREF(made)
                PyList_SET_ITEM(events, <Py_ssize_t> index, made)
            else:
                events.append(made)
        return events

    cdef ServerSentEvent _whole_event(self, tg_event *event):
        cdef ServerSentEvent made = ServerSentEvent.__new__(ServerSentEvent)
        made.event = self._event_type(event.type)
        made.data = _event_text(event.data, event.is_ascii or tg_utf8_is_ascii(event.data))
        made.id = self._event_id(event)
        if event.has_retry:
            made.retry = event.retry_ms
        made._start, made._data_start, made._end = event.start_off, event.data_off, event.end_off
        return made

    cdef str _event_id(self, tg_event *event):
        if event.is_id_changed:
            self._id = _text(event.last_event_id)
        return self._id

    cdef str _event_type(self, tg_span type):
        # Streams name a few types over and over: keep the last one instead of decoding it again.
        if type.len == 0:
            return _EVENT_DEFAULT
        cdef bytes last = self._type_bytes
        if last is None or <size_t> len(last) != type.len or memcmp(
                <const char *> last, type.ptr, type.len) != 0:
            self._type_bytes = _copy(type)
            self._type = _text(type)
        return self._type

    @property
    def last_event_id(self):
        """The last event ID string: it changes at blank lines only; "" if none."""
        _enter(&self._guard)
        try:
            return _text(tg_stream_last_event_id(&self._stream))
        finally:
            tg_guard_give(&self._guard)

    @property
    def reconnection_time(self):
        """Milliseconds set by the last valid retry field, or None."""
        cdef uint64_t value
        if tg_stream_reconnection_time(&self._stream, &value):
            return value
        return None

    def __repr__(self):
        return f"<SSEDecoder errors={self.errors!r} bytes_fed={self.bytes_fed}>"

# Intake: the loop from a chunk to the events that must be read, and around them. Part of _core.pyx, which includes it.
#
# Rules
#  - One thread at a time: a second one is refused, for its chunk would land at a place nobody chose.
#  - An event is read (by `_read`) before the core goes on, for it may open or close lanes.
#  - An exception in between spoils the intake: what the chunk still held is lost, and without it a later piece could
#    make a shorter, valid text.


cdef class Intake:
    """What feeds a ResponseParser: Python is asked about the events alone that are no mere pieces of text.

    A subclass has `_lanes`, gives the decoder with `_flow_from`, and has the methods `_read(frame)`, which reads one
    event and says whether to go on, `_fail(error)`, `_feed_slowly(chunk)` for all that comes before the first
    event, and `_take_stray(chunk, start)`: see `Lanes.watch_strays`.
    """

    cdef tg_guard _guard
    cdef _Decoder _decoder
    cdef bint _is_flowing
    cdef public uint64_t _fed
    cdef public object _spoilt
    cdef readonly bint _has_frames
    cdef Lanes _lanes

    @cython.binding(False)  # a plain method of C takes half the work to call
    @cython.embedsignature(True)
    @cython.embedsignature.format("clinic")  # its signature is read from there
    def feed(self, chunk, /):
        """Takes any bytes-like chunk; returns the items that it completed.

        RuntimeError after finish(), when another thread is inside, and when an exception (a signal's, a lack of
        memory) has interrupted an earlier feed(): what that one had not read is lost. After a fault it takes
        nothing more.
        """
        cdef Py_buffer view
        cdef const uint8_t *ptr
        cdef size_t size
        cdef list items = None
        cdef bint is_lent = False
        cdef bint is_begun = False
        _enter(&self._guard)
        try:
            if not self._is_flowing:
                return self._feed_slowly(chunk)
            if type(chunk) is bytes:  # which cannot change, and the caller holds it
                ptr, size = <const uint8_t *> PyBytes_AS_STRING(chunk), <size_t> PyBytes_GET_SIZE(chunk)
            else:
                PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE)
                is_lent = True
                ptr, size = <const uint8_t *> view.buf, <size_t> view.len
            is_begun = True
            items = self._run(ptr, size, chunk)
            return items
        finally:
            if is_lent:
                PyBuffer_Release(&view)
            if is_begun and items is None:
                self._spoilt = _exc_info()[1]
                self._is_flowing = False
            tg_guard_give(&self._guard)

    def _begin(self, Lanes lanes not None):
        self._lanes = lanes

    def _enter(self):
        _enter(&self._guard)

    def _leave(self):
        tg_guard_give(&self._guard)

    def _flow_from(self, _Decoder decoder not None):
        """From now on chunks go to this decoder."""
        self._decoder = decoder
        tg_stream_set_predict(&decoder._stream, &self._lanes._predict)
        self._watch()

    @property
    def _whole(self):
        """Up to this byte of the stream no byte belongs to an event that is still to be completed."""
        return tg_stream_whole_off(&self._decoder._stream) if self._decoder is not None else 0

    @cython.final
    cdef void _watch(self) noexcept:
        if self._lanes._watches_strays:
            tg_stream_watch(&self._decoder._stream, True)

    @cython.final
    cdef inline bint _has_stray(self) noexcept:
        return self._lanes._watches_strays and tg_stream_stray_off(&self._decoder._stream) != TG_NO_STRAY

    def _stop_flowing(self):
        self._is_flowing = False

    def _flow(self, chunk):
        """One chunk for the decoder, from Python, which takes care of exceptions."""
        cdef Py_buffer view
        cdef tg_event event
        cdef tg_status status
        PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE)
        try:
            status = self._next(<const uint8_t *> view.buf, <size_t> view.len, &event)
            self._take(status, &event, <const uint8_t *> view.buf, <size_t> view.len, chunk)
        finally:
            PyBuffer_Release(&view)

    @cython.final
    cdef inline tg_status _next(self, const uint8_t *ptr, size_t size, tg_event *event) noexcept:
        """Feeds the decoder; says what comes of that first."""
        cdef tg_stream *stream = &self._decoder._stream
        cdef tg_status status = tg_stream_feed(stream, ptr, size)
        return tg_stream_next(stream, event) if status == TG_OK else status

    @cython.final
    cdef inline list _run(self, const uint8_t *ptr, size_t size, object chunk):
        """The items of one chunk. An exception spoils what was begun."""
        cdef tg_event event
        cdef tg_status status
        self._fed += <uint64_t> size
        status = self._next(ptr, size, &event)
        # Most chunks bring no event that must be read, and end well.
        if status == TG_MORE and not self._has_stray():
            return self._lanes._take_unread()
        self._take(status, &event, ptr, size, chunk)
        return self._lanes._take()

    @cython.final
    cdef int _take(self, tg_status status, tg_event *event, const uint8_t *ptr, size_t size, object chunk) except -1:
        """Reads the events of a chunk. status, event: what came first of it."""
        cdef _Decoder decoder = self._decoder
        cdef Lanes lanes = self._lanes
        cdef bytes owner = chunk if type(chunk) is bytes else None
        cdef bint watched
        while True:
            lanes._drain()
            if status != TG_OK:
                break
            lanes._begin(event)
            watched = lanes._watches_strays
            self._has_frames = self._is_flowing = True
            if not self._read(decoder._event(event, _owner_of(event, ptr, size, owner))):
                self._is_flowing = False
                return 0
            lanes._end()
            if lanes._watches_strays != watched:
                self._watch()
            status = tg_stream_next(&decoder._stream, event)
        if self._has_stray() and not self._take_stray(chunk, tg_stream_stray_off(&decoder._stream) + lanes.base):
            tg_stream_watch(&decoder._stream, False)
        if status != TG_MORE:
            decoder._status = status
            self._is_flowing = False
            lanes._from = lanes._upto = tg_stream_error_off(&decoder._stream)
            self._fail(decoder.error)
        return 0

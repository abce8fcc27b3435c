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
    event, and `_chunk_ended(chunk)`, which says whether it wants the next chunk too; a chunk with an event to be
    read it gets in any case.
    """

    cdef tg_guard _guard
    cdef _Decoder _decoder
    cdef bint _is_flowing
    cdef bint _watches_chunks
    cdef public uint64_t _fed
    cdef public object _spoilt
    cdef readonly bint _has_frames
    cdef Lanes _lanes

    def feed(self, chunk, /):
        """Takes any bytes-like chunk; returns the items that it completed.

        RuntimeError after finish(), when another thread is inside, and when an exception (a signal's, a lack of
        memory) has interrupted an earlier feed(): what that one had not read is lost. After a fault it takes
        nothing more.
        """
        cdef Py_buffer view
        _enter(&self._guard)
        try:
            if not self._is_flowing:
                return self._feed_slowly(chunk)
            PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE)
            try:
                self._fed += <uint64_t> view.len
                self._run(<const uint8_t *> view.buf, <size_t> view.len, chunk)
            finally:
                PyBuffer_Release(&view)
            return self._lanes._take()
        finally:
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

    @property
    def _whole(self):
        """Up to this byte of the stream no byte belongs to an event that is still to be completed."""
        return tg_stream_whole_off(&self._decoder._stream) if self._decoder is not None else 0

    def _stop_flowing(self):
        self._is_flowing = False

    cdef int _run(self, const uint8_t *ptr, size_t size, object chunk) except -1:
        try:
            self._take(ptr, size, chunk)
        except BaseException as error:
            self._spoilt = error
            self._is_flowing = False
            raise
        return 0

    def _flow(self, chunk):
        """One chunk for the decoder, from Python, which takes care of exceptions."""
        cdef Py_buffer view
        PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE)
        try:
            self._take(<const uint8_t *> view.buf, <size_t> view.len, chunk)
        finally:
            PyBuffer_Release(&view)

    cdef int _take(self, const uint8_t *ptr, size_t size, object chunk) except -1:
        cdef _Decoder decoder = self._decoder
        cdef Lanes lanes = self._lanes
        cdef bytes owner = chunk if type(chunk) is bytes else None
        cdef tg_event event
        cdef tg_status status = tg_stream_feed(&decoder._stream, ptr, size)
        lanes._sync()
        while status == TG_OK:
            status = tg_stream_next(&decoder._stream, &event)
            lanes._drain()
            if status != TG_OK:
                break
            lanes._begin(&event)
            self._has_frames = self._is_flowing = self._watches_chunks = True
            if not self._read(decoder._event(&event, _owner_of(&event, ptr, size, owner))):
                self._is_flowing = False
                return 0
            lanes._end()
            lanes._sync()
        if self._watches_chunks:
            self._watches_chunks = self._chunk_ended(chunk)
        if status != TG_MORE:
            decoder._status = status
            self._is_flowing = False
            lanes._from = lanes._upto = tg_stream_error_off(&decoder._stream)
            self._fail(decoder.error)
        return 0

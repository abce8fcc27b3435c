# cython: language_level=3, boundscheck=False, wraparound=False, auto_pickle=False
# cython: freethreading_compatible=True
"""The C core as Python objects: conversion, exceptions, and one thread at a time. Nothing else.

Rules
 - No line here looks at a byte of the stream.
 - A chunk is borrowed for the length of one feed; what is kept is copied by the core.
 - An object in use by one thread refuses another with RuntimeError instead of waiting: two feeders of one
   stream are a mistake that waiting would only hide.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.list cimport PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

from tg cimport *

import os as _os

from datetime import datetime as _datetime, timedelta as _timedelta, timezone as _timezone
from sys import exc_info as _exc_info
from types import MappingProxyType as _MappingProxy
from uuid import UUID as _UUID

from trigate.data_json import load_json as _load_json
from trigate.errors import DecodeError, LimitError
from trigate.leftover import Leftover
from trigate.limits import DEFAULTS as _DEFAULTS, Limits


cdef str _EVENT_DEFAULT = "message"
cdef object _UNIX_EPOCH = _datetime(1970, 1, 1, tzinfo=_timezone.utc)


cdef str _ascii(const char *text):
    return (<bytes> text).decode("ascii")


cdef inline str _ascii_text(tg_span span):
    # As CPython's decoder would do, but without its own search for what is not ASCII: that takes most of its time.
    cdef object text = PyUnicode_New(<Py_ssize_t> span.len, 127)
    memcpy(PyUnicode_DATA(text), span.ptr, span.len)
    return <str> text


cdef str _wide_text(tg_span span):
    """Of well-formed UTF-8. CPython's decoder, which knows neither length nor width, copies it once or twice more."""
    cdef tg_wide wide = tg_wide_measure(span)
    cdef object text = PyUnicode_New(<Py_ssize_t> wide.count, wide.bound)
    tg_wide_write(span, &wide, PyUnicode_DATA(text))
    return <str> text


cdef inline str _event_text(tg_span span, bint is_ascii):
    return _ascii_text(span) if is_ascii else _wide_text(span)


cdef str _text(tg_span span):
    if tg_utf8_is_ascii(span):
        return _ascii_text(span)
    if tg_utf8_check(span) == span.len:
        return _wide_text(span)
    return PyUnicode_DecodeUTF8(<const char *> span.ptr, <Py_ssize_t> span.len, NULL)


cdef bytes _copy(tg_span span):
    return PyBytes_FromStringAndSize(<const char *> span.ptr, <Py_ssize_t> span.len)


cdef object _error(tg_status status, uint64_t offset):
    """The exception for a core error; MemoryError has no place to speak of."""
    if status == TG_ERR_NO_MEMORY:
        return MemoryError("trigate: out of memory")
    cdef str code = _ascii(tg_status_code(status))
    cdef str limit = _ascii(tg_status_limit(status))
    cdef str text = _ascii(tg_status_text(status))
    if limit:
        return LimitError(f"{text}, {limit}, at byte {offset}", code=code, limit=limit, offset=offset)
    return DecodeError(f"{text}, at byte {offset}", code=code, offset=offset)


cdef extern from "Python.h":
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 largest)
    void *PyUnicode_DATA(object text)


cdef extern from "guard.h":
    ctypedef struct tg_guard:
        pass

    bint tg_guard_take(tg_guard *self) nogil
    void tg_guard_give(tg_guard *self) nogil


cdef int _enter(tg_guard *guard) except -1:
    """One user at a time: fails at once, also when the same thread comes back through a callback."""
    if not tg_guard_take(guard):
        raise RuntimeError("this object is in use by another thread or by a callback of this one")
    return 0


include "kernel.pxi"
include "frames.pxi"
include "events.pxi"


cdef object _leftover(tg_rest *rest):
    cdef object where = None
    if rest.where == TG_REST_CHARACTER:
        where = "character"
    elif rest.where == TG_REST_LINE:
        where = "line"
    elif rest.where == TG_REST_EVENT:
        where = "event"
    return Leftover(where, _copy(rest.line), _text(rest.data) if rest.has_data else None,
                    _text(rest.type) or _EVENT_DEFAULT, rest.start_off)


cdef tg_limits _bounds(object limits) except *:
    cdef tg_limits bounds
    if limits is _DEFAULTS:
        return tg_limits_default()
    bounds.max_event_bytes = limits.max_event_bytes
    bounds.max_line_bytes = limits.max_line_bytes
    bounds.max_id_bytes = limits.max_id_bytes
    bounds.max_retry_digits = limits.max_retry_digits
    bounds.max_depth = limits.max_depth
    bounds.max_header_bytes = limits.max_header_bytes
    return bounds


cdef unsigned _utf8_flag(str errors) except? 0xffff:
    if errors != "replace" and errors != "strict":
        raise ValueError(f"errors must be 'replace' or 'strict', not {errors!r}")
    return TG_SSE_STRICT_UTF8 if errors == "strict" else 0


cdef inline bytes _owner_of(tg_event *event, const uint8_t *ptr, size_t size, bytes chunk):
    """The chunk, if the event's data lie in it."""
    return chunk if ptr <= event.data.ptr <= ptr + size else None


@cython.internal
cdef class _Decoder:
    """The verbs of every decoder. A subclass says which framing, and makes objects of the core's events.

    The result depends on the bytes alone, not on how they are cut. Errors (DecodeError, LimitError) are sticky:
    what came before the broken byte is returned first, then every feed and finish raises the same code and
    offset until reset().
    """

    cdef tg_stream _stream
    cdef tg_status _status
    cdef object _spoilt
    cdef object _left
    cdef tg_guard _guard
    cdef bint _is_reading
    cdef readonly object limits

    def __cinit__(self):
        tg_stream_init(&self._stream, NULL, NULL, 0)

    def __init__(self):
        raise TypeError("this is a base class: make a decoder of one framing")

    cdef int _begin(self, tg_framing framing, object limits, unsigned flags) except -1:
        if limits is None:
            limits = _DEFAULTS
        elif not isinstance(limits, Limits):
            raise TypeError(f"limits must be a trigate.Limits, not {type(limits).__name__}")
        cdef tg_limits bounds = _bounds(limits)
        _enter(&self._guard)
        try:
            tg_stream_free(&self._stream)
            tg_stream_init_framing(&self._stream, framing, NULL, &bounds, flags)
            self._clear()
        finally:
            tg_guard_give(&self._guard)
        self.limits = limits
        return 0

    def __dealloc__(self):
        tg_stream_free(&self._stream)

    cdef void _clear(self) noexcept:
        self._status = TG_OK
        self._spoilt = None
        self._left = None

    cdef object _event(self, tg_event *event, bytes chunk):
        """The object for an event, as interpreters read it. chunk: in which its data lie, or None."""
        raise NotImplementedError

    def feed(self, chunk, /):
        """Takes any bytes-like chunk; returns the events that it completed, maybe none."""
        cdef Py_buffer view
        _enter(&self._guard)
        try:
            self._check()
            if type(chunk) is bytes:
                return self._take(<const uint8_t *> PyBytes_AS_STRING(chunk), <size_t> len(<bytes> chunk), chunk)
            PyObject_GetBuffer(chunk, &view, PyBUF_SIMPLE)
            try:
                return self._take(<const uint8_t *> view.buf, <size_t> view.len, None)
            finally:
                PyBuffer_Release(&view)
        finally:
            # Not in an `except`, which costs those without an exception as well.
            if self._is_reading:
                self._spoil(_exc_info()[1])
            tg_guard_give(&self._guard)

    cdef void _spoil(self, object error) noexcept:
        """The chunk is gone after this call, and the core has not read all of it."""
        self._is_reading = False
        self._spoilt = error

    cdef int _check(self) except -1:
        if self._spoilt is not None:
            raise RuntimeError("an earlier feed was interrupted by an exception; call reset()") from self._spoilt
        if self._left is not None:
            raise RuntimeError("feed() after finish(): call reset() to read another stream")
        if self._status != TG_OK:
            raise _error(self._status, tg_stream_error_off(&self._stream))
        return 0

    cdef list _take(self, const uint8_t *ptr, size_t size, bytes chunk):
        """chunk: that of these bytes, or None if they may go."""
        cdef list events
        cdef tg_status status = tg_stream_feed(&self._stream, ptr, size)
        if status != TG_OK:
            self._status = status
            raise _error(status, tg_stream_error_off(&self._stream))
        self._is_reading = True
        events = self._read(ptr, size, chunk, &status)
        self._is_reading = False
        if status != TG_MORE:
            self._status = status
            if not events:
                raise _error(status, tg_stream_error_off(&self._stream))
        return events

    cdef list _read(self, const uint8_t *ptr, size_t size, bytes chunk, tg_status *status):
        """The objects for all events up to that status, which is none of an event."""
        cdef list events = []
        cdef tg_event event
        status[0] = tg_stream_next(&self._stream, &event)
        while status[0] == TG_OK:
            events.append(self._event(&event, _owner_of(&event, ptr, size, chunk)))
            status[0] = tg_stream_next(&self._stream, &event)
        return events

    def finish(self):
        """Declares the end of input; returns what was left over. Idempotent."""
        cdef tg_rest rest
        cdef tg_status status
        _enter(&self._guard)
        try:
            if self._left is None:
                self._check()
                status = tg_stream_finish(&self._stream, &rest)
                if status != TG_OK:
                    self._status = status
                    raise _error(status, tg_stream_error_off(&self._stream))
                self._left = _leftover(&rest)
            return self._left
        finally:
            tg_guard_give(&self._guard)

    def reset(self):
        """Forgets everything, errors included: ready for another stream with the same options."""
        _enter(&self._guard)
        try:
            tg_stream_reset(&self._stream)
            self._clear()
        finally:
            tg_guard_give(&self._guard)

    @property
    def error(self):
        """The sticky DecodeError or LimitError that the next feed will raise, or None."""
        if self._status == TG_OK:
            return None
        return _error(self._status, tg_stream_error_off(&self._stream))

    @property
    def bytes_fed(self):
        return tg_stream_bytes_fed(&self._stream)

    @property
    def _work(self):
        """Bytes that the core has looked at or copied, in all: what the tests of linearity count."""
        return tg_stream_work(&self._stream)


include "sse.pxi"


@cython.internal
cdef class _RecordDecoder(_Decoder):
    """A decoder whose framing yields records of text."""

    cdef readonly str errors

    cdef object _event(self, tg_event *event, bytes chunk):
        cdef Record made = Record.__new__(Record)
        made._borrow(event, chunk)
        made._place(event)
        return made

    def __repr__(self):
        return f"<{type(self).__name__} errors={self.errors!r} bytes_fed={self.bytes_fed}>"


@cython.final
cdef class NDJSONDecoder(_RecordDecoder):
    """Bytes of newline-delimited JSON in, one Record per line out.

    Only LF ends a record; a CR before it is not part of the record, and blank lines are passed over. The JSON is
    not judged here: Record.json() does. A last record without its LF is Leftover. errors, and sticky errors: as
    SSEDecoder has them; a record of more than max_event_bytes is event_too_large.
    """

    def __cinit__(self):
        self._begin(TG_FRAMING_NDJSON, None, 0)

    def __init__(self, *, str errors not None="replace", limits=None):
        self._begin(TG_FRAMING_NDJSON, limits, _utf8_flag(errors))
        self.errors = errors


@cython.final
cdef class JSONArrayDecoder(_RecordDecoder):
    """Bytes of one JSON array in, each element as a Record out, at the byte that ends it.

    White space may stand anywhere between. What else stands there is invalid_json at its byte; anything but white
    space after the closing bracket is trailing_text. What stands inside an element is judged only as far as brackets
    and strings go: Record.json() does the rest. errors, and sticky errors: as SSEDecoder has them. An element of more
    than max_event_bytes is event_too_large; nesting beyond max_depth, the array itself counted, depth_too_large.
    """

    def __cinit__(self):
        self._begin(TG_FRAMING_ARRAY, None, 0)

    def __init__(self, *, str errors not None="replace", limits=None):
        self._begin(TG_FRAMING_ARRAY, limits, _utf8_flag(errors))
        self.errors = errors


@cython.final
cdef class EventStreamDecoder(_Decoder):
    """Bytes of application/vnd.amazon.eventstream in, each whole and checked EventStreamMessage out.

    A message is given out only if both of its CRC-32 and its headers are right. Errors are sticky, as those of
    SSEDecoder: prelude_crc_mismatch, message_crc_mismatch, bad_frame, event_too_large (a payload of more than
    max_event_bytes), headers_too_large (max_header_bytes). Nothing after a bad message can be read.
    """

    def __cinit__(self):
        self._begin(TG_FRAMING_EVENTSTREAM, None, 0)

    def __init__(self, *, limits=None):
        self._begin(TG_FRAMING_EVENTSTREAM, limits, 0)

    cdef object _event(self, tg_event *event, bytes chunk):
        cdef EventStreamMessage made = EventStreamMessage.__new__(EventStreamMessage)
        made._fill(_headers(tg_stream_headers(&self._stream)), _copy(event.data))
        made._place(event)
        return made

    def __repr__(self):
        return f"<EventStreamDecoder bytes_fed={self.bytes_fed}>"


include "tracker.pxi"
include "lane.pxi"
include "shapes.pxi"
include "items.pxi"
include "sizes.pxi"
include "lanes.pxi"
include "intake.pxi"


def _core_limits():
    """The defaults compiled into the core, for the test that compares them with trigate.Limits."""
    return tg_limits_default()

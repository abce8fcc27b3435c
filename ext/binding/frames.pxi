# What the decoders give out: events, records and messages. Part of _core.pyx, which includes this file.
#
# Rules
#  - Immutable, and made of text and numbers alone. Data stays in the chunk that it came in, if that is `bytes`, until
#    it is asked for; it lives on as what was asked for, and the chunk may go.
#  - An offset is a byte from the start of the stream, or None for an object that was made by hand.

# The offset of an event that was made by hand.
cdef uint64_t _NOWHERE = <uint64_t> -1


cdef object _offset(uint64_t value):
    return None if value == _NOWHERE else value


@cython.internal
@cython.no_gc  # a frame holds text and numbers alone, and streams make very many of them
cdef class _Frame:
    """What the outputs of all framings share: data, and where it stood in the stream."""

    cdef uint64_t _start
    cdef uint64_t _data_start
    cdef uint64_t _end
    cdef bint _is_placed
    cdef bytes _chunk  # in which the data lies, while neither _bytes nor _str is there
    cdef tg_span _span
    cdef bytes _bytes
    cdef str _str

    def __init__(self):
        raise TypeError("this is a base class: make a ServerSentEvent, a Record or an EventStreamMessage")

    cdef void _place(self, tg_event *event) noexcept:
        self._start = event.start_off
        self._data_start = event.data_off
        self._end = event.end_off
        self._is_placed = True

    cdef int _borrow(self, tg_event *event, bytes chunk) except -1:
        """Takes the data of an event, which lie in the chunk, or in the core's own memory if it is None."""
        if chunk is None:
            self._bytes = _copy(event.data)
        else:
            self._chunk = chunk
            self._span = event.data
        return 0

    @property
    def start(self):
        return self._start if self._is_placed else None

    @property
    def data_start(self):
        return self._data_start if self._is_placed else None

    @property
    def end(self):
        return self._end if self._is_placed else None

    @property
    def data(self):
        with cython.critical_section(self):
            if self._str is None:
                if self._chunk is not None:
                    self._str = _text(self._span)
                    self._chunk = None
                else:
                    self._str = self._bytes.decode("utf-8", "replace")
            return self._str

    @property
    def data_bytes(self):
        """The data as UTF-8: what came in, ill-formed sequences replaced."""
        return self._octets()

    cdef bytes _octets(self):
        with cython.critical_section(self):
            if self._bytes is None:
                if self._chunk is not None:
                    self._bytes = _copy(self._span)
                    self._chunk = None
                else:
                    self._bytes = self._str.encode("utf-8")
            return self._bytes

    def json(self):
        """The data as JSON; DecodeError or LimitError, as trigate.data_json says, if it cannot be read."""
        return _load_json(self._octets(), self.event, self.data_start)


@cython.internal
@cython.final
@cython.no_gc
cdef class _ReadEvent(_Frame):
    """An event of SSE for whoever interprets it: mostly its bytes are wanted, and nobody else sees it."""

    cdef readonly str event
    cdef readonly str id  # the last event ID at dispatch


@cython.final
@cython.no_gc
cdef class Record(_Frame):
    """One record of newline-delimited JSON, or one element of a JSON array. Immutable.

    data: its text. event: "message", for the framing names no types. start, end: byte range in the stream, up to
    just past the LF or the element; data_start: its first byte, as start is. None for a record made by hand.
    """

    __match_args__ = ("data",)

    def __init__(self, str data not None=""):
        self._str = data
        self._bytes = data.encode("utf-8")

    @property
    def event(self):
        return _EVENT_DEFAULT

    def __eq__(self, other):
        if not isinstance(other, Record):
            return NotImplemented
        return self._octets() == (<Record> other)._octets()

    def __hash__(self):
        return hash((Record, self._octets()))

    def __repr__(self):
        return f"Record({self.data!r})"

    def __reduce__(self):
        return (Record, (self.data,))


@cython.final
cdef class EventStreamMessage(_Frame):
    """One message of application/vnd.amazon.eventstream whose checksums and headers are right. Immutable.

    headers: read-only mapping of names to bool, int, bytes, str, datetime (UTC) or UUID; a time outside
    datetime's years stays an int of milliseconds since 1970. payload, data_bytes: the bytes; data: the same as
    text, ill-formed UTF-8 replaced. event: the :event-type of a normal message ("message" without one);
    "exception:" and the :exception-type, or "error:" and the :error-code, of the two other kinds.
    start, end: byte range of the message in the stream; data_start: first byte of the payload. None for a
    message made by hand.
    """

    __match_args__ = ("headers", "payload")

    cdef readonly object headers
    cdef readonly str event

    def __init__(self, headers=(), bytes payload not None=b""):
        self._fill(dict(headers), payload)

    cdef int _fill(self, dict headers, bytes payload) except -1:
        cdef str kind = _word(headers, ":message-type")
        self.headers = _MappingProxy(headers)
        self._bytes = payload
        if kind == "exception":
            self.event = f"exception:{_word(headers, ':exception-type')}"
        elif kind == "error":
            self.event = f"error:{_word(headers, ':error-code')}"
        else:
            self.event = _word(headers, ":event-type") or _EVENT_DEFAULT
        return 0

    @property
    def payload(self):
        return self._bytes

    def __eq__(self, other):
        if not isinstance(other, EventStreamMessage):
            return NotImplemented
        cdef EventStreamMessage that = other
        return self._bytes == that._bytes and self.headers == that.headers

    def __hash__(self):
        return hash((frozenset(self.headers.items()), self._bytes))

    def __repr__(self):
        return f"EventStreamMessage({dict(self.headers)!r}, {self._bytes!r})"

    def __reduce__(self):
        return (EventStreamMessage, (dict(self.headers), self._bytes))


cdef str _word(dict headers, str name):
    """A header that is to be a string; "" if it is missing or something else."""
    cdef object value = headers.get(name)
    return value if isinstance(value, str) else ""


cdef object _header_value(tg_header *header):
    if header.type == TG_HEADER_STRING:
        return _text(header.value)
    if header.type == TG_HEADER_TRUE or header.type == TG_HEADER_FALSE:
        return header.type == TG_HEADER_TRUE
    if header.type == TG_HEADER_BYTES:
        return _copy(header.value)
    if header.type == TG_HEADER_UUID:
        return _UUID(bytes=_copy(header.value))
    if header.type == TG_HEADER_TIMESTAMP:
        try:
            return _UNIX_EPOCH + _timedelta(milliseconds=header.number)
        except OverflowError:
            pass
    return header.number


cdef dict _headers(tg_span block):
    cdef dict headers = {}
    cdef tg_header header
    while tg_header_next(&block, &header):
        headers[_text(header.name)] = _header_value(&header)
    return headers

# ServerSentEvent: what SSEDecoder gives out. Part of _core.pyx, which includes this file.
#
# Rules
#  - Immutable, and made whole: its text is a str from the start, and no byte of a chunk is kept. To keep the chunk, and
#    make the text when it is asked for, costs as much as the text, and then the asking, which is what most do.
#  - event, data, id and retry are members (see attributes.h); no other code of Python runs when they are read.



@cython.final
@cython.no_gc  # it holds text and numbers alone, and streams make very many of them
@cython.freelist(256)  # as many as a chunk of 64 KiB has
cdef class ServerSentEvent:
    """One dispatched event (WHATWG HTML 9.2.6). Immutable.

    event: the type, "message" where the stream named none. data: the text, lines joined with LF.
    id: the last event ID at dispatch, "" if none. retry: the reconnection time set in this block (ms) or None.
    start, end: byte range of its block in the stream, from the first byte of its first line to just past the
    byte that dispatched it; data_start: first byte of its first data value. None for an event made by hand.
    """

    __match_args__ = ("event", "data", "id", "retry")

    cdef str event
    cdef str data
    cdef str id
    cdef object retry
    cdef uint64_t _start
    cdef uint64_t _data_start
    cdef uint64_t _end

    def __init__(self, str event not None="message", str data not None="", str id not None="", retry=None):
        if retry is not None and (not isinstance(retry, int) or isinstance(retry, bool)):
            raise TypeError(f"retry must be an int or None, not {type(retry).__name__}")
        if retry is not None and retry < 0:
            raise ValueError(f"retry must not be negative, but is {retry}")
        data.encode("utf-8")  # half a character is no text
        self.event = event or _EVENT_DEFAULT
        self.data = data
        self.id = id
        self.retry = retry
        self._start = self._data_start = self._end = _NOWHERE

    @property
    def start(self):
        return _offset(self._start)

    @property
    def data_start(self):
        return _offset(self._data_start)

    @property
    def end(self):
        return _offset(self._end)

    @property
    def data_bytes(self):
        """The data as UTF-8: what came in, ill-formed sequences replaced."""
        return self.data.encode("utf-8")

    def json(self):
        """The data as JSON; DecodeError or LimitError, as trigate.data_json says, if it cannot be read."""
        return _load_json(self.data.encode("utf-8"), self.event, self.data_start)

    def __eq__(self, other):
        if not isinstance(other, ServerSentEvent):
            return NotImplemented
        cdef ServerSentEvent that = other
        return (self.data == that.data and self.event == that.event and self.id == that.id
                and self.retry == that.retry)

    def __hash__(self):
        return hash((self.event, self.data, self.id, self.retry))

    def __repr__(self):
        cdef str text = f"ServerSentEvent(event={self.event!r}, data={self.data!r}"
        if self.id:
            text += f", id={self.id!r}"
        if self.retry is not None:
            text += f", retry={self.retry}"
        return text + ")"

    def __reduce__(self):
        return (ServerSentEvent, (self.event, self.data, self.id, self.retry))


cdef extern from "attributes.h":
    ctypedef struct PyMemberDef:
        pass

    # The second argument is the name of a field, which only the macro can take.
    Py_ssize_t TG_ATTRIBUTE_OFFSET(ServerSentEvent event, int field)
    int tg_attributes_add(object type, PyMemberDef *member, const char *name, Py_ssize_t offset) except -1

    int _EVENT "event"
    int _DATA "data"
    int _ID "id"
    int _RETRY "retry"


cdef PyMemberDef[4] _members


cdef int _add_members() except -1:
    cdef ServerSentEvent any_event = ServerSentEvent()
    tg_attributes_add(ServerSentEvent, &_members[0], "event", TG_ATTRIBUTE_OFFSET(any_event, _EVENT))
    tg_attributes_add(ServerSentEvent, &_members[1], "data", TG_ATTRIBUTE_OFFSET(any_event, _DATA))
    tg_attributes_add(ServerSentEvent, &_members[2], "id", TG_ATTRIBUTE_OFFSET(any_event, _ID))
    tg_attributes_add(ServerSentEvent, &_members[3], "retry", TG_ATTRIBUTE_OFFSET(any_event, _RETRY))
    return 0


_add_members()

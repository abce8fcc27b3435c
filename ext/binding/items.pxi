# Items: what a parser yields while a response arrives. Part of _core.pyx, which includes this file.
#
# Rules
#  - Immutable. Two items are equal, and hash and show alike, by what they hold: where they stood takes no part.
#  - A place in the stream is two C numbers; Python ints are made when they are asked for.


@cython.internal
cdef class _Item:
    """What all items share: where the events stood that it came from."""

    cdef uint64_t _start
    cdef uint64_t _end

    def __cinit__(self):
        self._start = self._end = _NOWHERE

    def __init__(self):
        raise TypeError("this is a base class: make one of the items")

    @property
    def start(self):
        """First byte of the first event that it came from, in bytes from the start of the stream; None if made by hand."""
        return _offset(self._start)

    @property
    def end(self):
        """Just past the last byte of the last event that it came from."""
        return _offset(self._end)

    def _members(self):
        return tuple([getattr(self, name) for name in self.__match_args__])

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return self._members() == (<_Item> other)._members()

    def __hash__(self):
        return hash(self._members())

    def __repr__(self):
        cdef object members = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
        return f"{type(self).__name__}({members})"

    def __reduce__(self):
        """Copies and pickles stand where the original stood."""
        if self._start == _NOWHERE:
            return (type(self), self._members())
        return (_placed, (type(self), self._members(), self._start, self._end))


def _placed(type kind not None, tuple members not None, uint64_t start, uint64_t end):
    """A copy of an item that stood there."""
    cdef _Item made = kind(*members)
    made._start, made._end = start, end
    return made


@cython.internal
@cython.no_gc  # text and a number alone
cdef class _TextPiece(_Item):
    """A piece of a text for people."""

    __match_args__ = ("text", "index")

    cdef readonly str text
    cdef readonly object index

    def __init__(self, str text not None, index):
        self.text, self.index = text, index


@cython.final
@cython.no_gc
cdef class TextDelta(_TextPiece):
    """A piece of the assistant's visible text."""


@cython.final
@cython.no_gc
cdef class ReasoningDelta(_TextPiece):
    """A piece of reasoning or of its summary."""


@cython.final
@cython.no_gc
cdef class RefusalDelta(_TextPiece):
    """A piece of the text in which the model refuses."""


@cython.final
cdef class ToolCallStarted(_Item):
    """A tool call has begun. `call` is live: it fills while the stream goes on, and is never a ReleasedCall."""

    __match_args__ = ("call",)

    cdef readonly object call

    def __init__(self, call):
        self.call = call


@cython.final
cdef class ArgumentsDelta(_Item):
    """A piece of a call's argument text: for display alone."""

    __match_args__ = ("call", "text")

    cdef readonly object call
    cdef readonly str text

    def __init__(self, call, str text not None):
        self.call, self.text = call, text


@cython.final
cdef class ToolCallDone(_Item):
    """The protocol closed the call: `call.state` is done, void, or with release_on="call" released."""

    __match_args__ = ("call",)

    cdef readonly object call

    def __init__(self, call):
        self.call = call


@cython.final
cdef class UsageUpdate(_Item):
    """The provider's count of tokens so far."""

    __match_args__ = ("usage",)

    cdef readonly object usage

    def __init__(self, usage):
        self.usage = usage


@cython.final
cdef class OtherEvent(_Item):
    """An event that carries no text and no call: progress of server tools, annotations, unknown types.

    type: the wire's name. data: the event's data, unchanged.
    """

    __match_args__ = ("type", "data")

    cdef readonly str type
    cdef readonly str data

    def __init__(self, str type not None, str data not None):
        self.type, self.data = type, data


@cython.final
cdef class ResponseEnded(_Item):
    """The response is over, well or not: see `response.status`. Its range is that of the event that ended it."""

    __match_args__ = ("response",)

    cdef readonly object response

    def __init__(self, response):
        self.response = response


cdef object _delta_item(object kind, object owner, str text, uint64_t start, uint64_t end):
    """A delta of this kind, of pieces that stood there."""
    cdef _TextPiece said
    cdef ArgumentsDelta written
    cdef _Item made
    if kind is ArgumentsDelta:
        written = ArgumentsDelta.__new__(ArgumentsDelta)
        written.call, written.text = owner, text
        made = written
    else:
        if kind is TextDelta:
            said = TextDelta.__new__(TextDelta)
        elif kind is ReasoningDelta:
            said = ReasoningDelta.__new__(ReasoningDelta)
        else:
            said = RefusalDelta.__new__(RefusalDelta)
        said.text, said.index = text, owner
        made = said
    made._start, made._end = start, end
    return made

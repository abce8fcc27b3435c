"""Which framing does this body have? Decided once, from its first bytes, and from nothing else.

Rules
 - The decision depends on the bytes alone, not on how they are cut: until it can be made, bytes are held.
 - A JSON or HTML body where a stream was due is told apart here, so that its error can be read.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from trigate._core import EventStreamDecoder, JSONArrayDecoder, NDJSONDecoder, SSEDecoder
from trigate.errors import DecodeError, LimitError
from trigate.leftover import Leftover
from trigate.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

__all__ = ["Frame", "Framer", "Framing", "Head", "MovedFrame", "make_framer", "moved"]

Framing: TypeAlias = Literal["sse", "ndjson", "json-array", "eventstream", "body"]

#: What may stand before a body without telling anything of it.
BLANK = b" \t\r\n\xef\xbb\xbf"
#: The names that a first line of an event stream can have; b"" is a comment's.
_FIELDS = (b"data", b"event", b"id", b"retry", b"error", b"")
#: What such a line begins with, and nothing else that is told apart here.
_LETTERS = frozenset((b"d", b"e", b"i", b"r", b":"))


class Frame(Protocol):
    """One event, record or message: a type ("message" where the framing has none) and its data.

    start: offset of its first byte in the stream; data_start: that of its data.
    """

    @property
    def event(self) -> str: ...
    @property
    def data(self) -> str: ...
    @property
    def data_bytes(self) -> bytes: ...
    @property
    def start(self) -> int | None: ...
    @property
    def data_start(self) -> int | None: ...


class Framer(Protocol):
    """A decoder's verbs, as the parser uses them."""

    def feed(self, chunk: Buffer, /) -> Sequence[Frame]: ...
    def finish(self) -> Leftover: ...
    @property
    def error(self) -> Exception | None: ...


class MovedFrame:
    """An event of a later connection: its offsets go on from where the one before had ended."""

    __slots__ = ("_base", "_frame")

    def __init__(self, frame: Frame, base: int) -> None:
        self._frame = frame
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)

    @property
    def event(self) -> str:
        return self._frame.event

    @property
    def data(self) -> str:
        return self._frame.data

    @property
    def data_bytes(self) -> bytes:
        return self._frame.data_bytes

    @property
    def start(self) -> int | None:
        return moved(self._frame.start, self._base)

    @property
    def data_start(self) -> int | None:
        return moved(self._frame.data_start, self._base)

    @property
    def end(self) -> int | None:
        return moved(getattr(self._frame, "end", None), self._base)


def moved(offset: int | None, base: int) -> int | None:
    """An offset of a later connection as one of the whole stream."""
    return None if offset is None else offset + base


def choose_framing(head: bytes, allowed: tuple[Framing, ...]) -> Framing | None:
    """The framing of a body that begins with `head`; None while more bytes are needed to tell."""
    first = head[:1]
    if first in _LETTERS:
        return allowed[0]
    if first in (b"\x00", b"\x01"):
        # A length below 32 MiB, big-endian: no text begins like this.
        return "eventstream" if "eventstream" in allowed else allowed[0]
    start = head.lstrip(BLANK)
    if not start:
        return None
    match start[:1]:
        case b"{":
            return _object_framing(start, allowed)
        case b"[":
            return "json-array" if "json-array" in allowed else "body"
        case b"<" | b"\x1f":  # HTML, gzip
            return "body"
    return allowed[0]


def _object_framing(start: bytes, allowed: tuple[Framing, ...]) -> Framing | None:
    """Records have one whole object a line; anything else that begins with a brace is a body."""
    if "ndjson" not in allowed:
        return "body"
    line, end, _ = start.partition(b"\n")
    if not end:
        return None
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return "body"
    return "ndjson"


class Head:
    """The first bytes of a body, held until they tell its framing.

    A first line, and the blank space before it, are held up to `limit` bytes each.
    """

    __slots__ = ("_allowed", "_blank", "_limit", "_longest", "held")

    def __init__(self, allowed: tuple[Framing, ...], limit: int) -> None:
        self.held = bytearray()
        self._allowed = allowed
        self._limit = limit
        self._blank = 0
        self._longest: int | None = None  # once something but blank space has come: with the line's end

    def take(self, chunk: Buffer) -> Framing | None:
        """The next bytes; None while more are needed to tell."""
        data = bytes(chunk)
        self.held += data
        if self._longest is None:
            rest = len(data.lstrip(BLANK))
            self._blank = len(self.held) - rest
            if self._blank > self._limit:
                return "body"
            if not rest:
                return None
            self._longest = self._blank + self._limit + len(b"\r\n")
        elif b"\n" not in data and len(self.held) < self._longest:
            return None
        line_end = self.held.find(b"\n", self._blank, self._longest)
        first = self.held[: self._longest if line_end < 0 else line_end + 1]
        framing = choose_framing(bytes(first), self._allowed)
        return "body" if framing is None and len(self.held) >= self._longest else framing

    def at_end(self) -> Framing:
        """The framing of an input that ended before it could be told: nothing, blank space, or an unended line."""
        return choose_framing(bytes(self.held).rstrip(b"\n") + b"\n", self._allowed) or self._allowed[0]


def begins_like_events(head: bytes) -> bool:
    """Whether an input of which no event came may have been one: its first line has, or begins, a known field."""
    line, *rest = re.split(rb"[\r\n]", head.lstrip(BLANK), maxsplit=1)
    name, colon, _ = line.partition(b":")
    if colon or rest:
        return name in _FIELDS
    return any(field.startswith(name) for field in _FIELDS)


def make_framer(framing: Framing, limits: Limits, *, errors: Literal["replace", "strict"]) -> Framer:
    match framing:
        case "sse":
            return SSEDecoder(errors=errors, limits=limits, _error_field=True)
        case "body":
            return BodyGatherer(limits)
        case "ndjson":
            return NDJSONDecoder(errors=errors, limits=limits)
        case "json-array":
            return JSONArrayDecoder(errors=errors, limits=limits)
        case "eventstream":
            return EventStreamDecoder(limits=limits)


def framing_of(framer: Framer) -> Framing | None:
    """How its events are framed; None for a body that has none."""
    return _FRAMINGS.get(type(framer))


_FRAMINGS: dict[type, Framing] = {
    SSEDecoder: "sse",
    NDJSONDecoder: "ndjson",
    JSONArrayDecoder: "json-array",
    EventStreamDecoder: "eventstream",
}


class BodyGatherer:
    """A body that is no stream, gathered whole up to max_event_bytes: it has no frames."""

    def __init__(self, limits: Limits) -> None:
        self.body = bytearray()
        self.error: LimitError | DecodeError | None = None
        self._limit = limits.max_event_bytes

    def feed(self, chunk: Buffer, /) -> list[Frame]:
        view = memoryview(chunk).cast("B")
        room = self._limit - len(self.body)
        self.body += view[:room]
        if view.nbytes > room:
            self.error = LimitError(
                f"a body that is no stream is longer than max_event_bytes = {self._limit}",
                code="event_too_large",
                limit="max_event_bytes",
                offset=self._limit,
            )
        return []

    def finish(self) -> Leftover:
        return Leftover()

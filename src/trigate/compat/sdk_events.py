"""Server-sent events as the official SDKs read them: their decoder's verbs, and an event with their face.

Rules
 - What is an event is for trigate.SSEDecoder to say, and so for the WHATWG standard; this file only renames.
 - An SDK tells "no type" (None) from a type that is spelt out, and skips or takes an event by it. The standard does not
   tell `event: message` from no type, so a block is looked at for it.
 - No SDK is imported: a decoder works, and is tested, without one.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Literal

import trigate
from trigate.errors import DecodeError
from trigate.leftover import Leftover
from trigate.limits import Limits

if TYPE_CHECKING:
    from trigate.errors import LimitError

__all__ = ["LIMITS", "Decoder", "ServerSentEvent"]

#: The SDKs know no bound, and an event with images of some tens of megabytes is a legitimate one.
LIMITS = Limits(max_event_bytes=256 * 1024 * 1024)


class ServerSentEvent:
    """One event, with the attributes that an SDK's own has, and its byte range.

    event: the type as the stream spells it, None where it names none. data: the text, lines joined with LF.
    id: the last event ID, None while there is none. retry: the reconnection time of this block in milliseconds.
    start, end: the byte range of its block in the body.
    """

    __slots__ = ("_block", "data", "end", "event", "id", "retry", "start")

    def __init__(
        self,
        *,
        event: str | None = None,
        data: str | None = None,
        id: str | None = None,  # noqa: A002 - the standard's word
        retry: int | None = None,
        start: int | None = None,
        end: int | None = None,
        block: bytes = b"",
    ) -> None:
        self.event = event or None
        self.data = data or ""
        self.id = id
        self.retry = retry
        self.start = start
        self.end = end
        self._block = block

    @property
    def raw(self) -> list[str]:
        """The lines of its block, comments and unknown fields too, without their ends.

        Empty for an event made by hand, from a decoder that does not keep them, and where they take more than the
        decoder may hold.
        """
        return [line.decode("utf-8", "replace") for line in self._block.splitlines() if line]

    def json(self) -> Any:
        """The data as JSON, by the standard library's decoder, as the SDKs do; json.JSONDecodeError if it is none."""
        return json.loads(self.data)

    def __repr__(self) -> str:
        return f"ServerSentEvent(event={self.event}, data={self.data}, id={self.id}, retry={self.retry})"


class Decoder:
    """Takes the place of an SDK's SSEDecoder: iter_bytes, aiter_bytes, decode. One body at a time.

    errors     "strict": ill-formed UTF-8 raises trigate.errors.DecodeError, where the SDKs raise UnicodeDecodeError;
               both are ValueErrors. "replace": U+FFFD, as browsers do
    limits     bounds of memory; passing one raises trigate.errors.LimitError. Default: LIMITS
    keeps_raw  events keep their lines for `raw`
    leftover   attribute: what the end of the body left unfinished; None before the end
    """

    def __init__(
        self,
        *,
        errors: Literal["replace", "strict"] = "strict",
        limits: Limits | None = None,
        keeps_raw: bool = False,
    ) -> None:
        self.leftover: Leftover | None = None
        self._decoder = trigate.SSEDecoder(errors=errors, limits=limits or LIMITS)
        self._keeps_raw = keeps_raw
        # The bytes of the unfinished block, and the offset of the first of them.
        self._held = bytearray()
        self._held_at = 0
        self._fed = 0
        bounds = self._decoder.limits
        self._most_held = bounds.max_event_bytes + (bounds.max_line_bytes or 0)

    def iter_bytes(self, iterator: Iterator[bytes]) -> Iterator[ServerSentEvent]:
        """The events of a body that comes in chunks, each as soon as its blank line is there."""
        try:
            for chunk in iterator:
                yield from self.feed(chunk)
                if self._decoder.error is not None:
                    raise self._decoder.error
            self.finish()
        finally:
            self._reset()

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[ServerSentEvent]:
        """iter_bytes for an asynchronous iterator."""
        try:
            async for chunk in iterator:
                for event in self.feed(chunk):
                    yield event
                if self._decoder.error is not None:
                    raise self._decoder.error
            self.finish()
        finally:
            self._reset()

    def decode(self, line: str) -> ServerSentEvent | None:
        """One line without its end; an event if it was the blank line behind one."""
        for event in self.feed(line.encode() + b"\n"):
            return event
        if self._decoder.error is not None:
            raise self._decoder.error
        return None

    @property
    def error(self) -> DecodeError | LimitError | MemoryError | None:
        """Why no more can be read."""
        return self._decoder.error

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The next bytes: the events that end in them.

        An error in them is raised if no event stands before it; or else by the next call, and `error` tells it now.
        """
        events = self._decoder.feed(chunk)
        source: bytes | bytearray = chunk
        if self._held:
            self._held += chunk
            source = self._held
        else:
            self._held_at = self._fed
        self._fed += len(chunk)
        made = [self._make(event, source) for event in events]
        self._hold(source, (events[-1].end or 0) if events else self._held_at)
        return made

    def finish(self) -> Leftover:
        """Declares the end of the body; what is unfinished is no event, as the standard says.

        DecodeError: with errors="strict", the body ended inside a character.
        """
        left = self.leftover = self._decoder.finish()
        if left.where == "character" and self._decoder.errors == "strict":
            raise _cut_character(left, self._decoder.bytes_fed)
        return left

    def _reset(self) -> None:
        """Lets go of what a body left: a stream is often kept after its end."""
        self._decoder.reset()
        self._held.clear()
        self._held_at = self._fed = 0

    def _make(self, event: trigate.ServerSentEvent, source: bytes | bytearray) -> ServerSentEvent:
        # Where its block is in the source: before it, if the block is longer than may be held.
        start, end = (event.start or 0) - self._held_at, (event.end or 0) - self._held_at
        made = ServerSentEvent.__new__(ServerSentEvent)  # an event is made for each delta: not by keywords
        name = event.event
        if name == "message" and (start < 0 or not _spells_message(source, start, end)):
            made.event = None
        else:
            made.event = name
        made.data = event.data
        made.id = event.id or None
        made.retry = event.retry
        made.start = event.start
        made.end = event.end
        made._block = bytes(source[start:end]) if self._keeps_raw and start >= 0 else b""
        return made

    def _hold(self, source: bytes | bytearray, done: int) -> None:
        """Keeps what comes behind the last event; nothing of a block that is longer than may be held."""
        rest = done - self._held_at
        if isinstance(source, bytearray):
            del source[:rest]
        else:
            self._held += source[rest:] if rest else source
        self._held_at = done
        if len(self._held) > self._most_held:
            self._held_at += len(self._held)
            self._held.clear()


def _cut_character(left: Leftover, end: int) -> DecodeError:
    whole = len(left.bytes.decode("utf-8", "ignore").encode())
    at = end - len(left.bytes) + whole
    return DecodeError(f"the bytes end inside a character, at byte {at}", code="invalid_utf8", offset=at)


def _spells_message(source: bytes | bytearray, start: int, end: int) -> bool:
    """Whether a block whose type is "message" says so, or names no type. The last type field counts."""
    if source.find(b"event", start, end) < 0:
        return False
    named = b""
    for line in bytes(source[start:end]).splitlines():
        name, _, value = line.partition(b":")
        if name == b"event":
            named = value
    return named.removeprefix(b" ") == b"message"

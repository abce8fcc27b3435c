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
    """Takes the place of an SDK's SSEDecoder: iter_bytes, aiter_bytes, decode. One decoder reads one body.

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
        for chunk in iterator:
            yield from self.feed(chunk)
            if self._decoder.error is not None:
                raise self._decoder.error
        self.finish()

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[ServerSentEvent]:
        """iter_bytes for an asynchronous iterator."""
        async for chunk in iterator:
            for event in self.feed(chunk):
                yield event
            if self._decoder.error is not None:
                raise self._decoder.error
        self.finish()

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
        made = []
        done = self._held_at
        for event in events:
            assert event.start is not None
            assert event.end is not None
            # A block that was let go is longer than what is held: its rest would be read as another one.
            whole = event.start >= self._held_at
            block = bytes(source[event.start - self._held_at : event.end - self._held_at]) if whole else b""
            made.append(self._make(event, block))
            done = event.end
        self._hold(source, done)
        return made

    def finish(self) -> Leftover:
        """Declares the end of the body; what is unfinished is no event, as the standard says.

        DecodeError: with errors="strict", the body ended inside a character.
        """
        left = self.leftover = self._decoder.finish()
        self._held.clear()
        if left.where == "character" and self._decoder.errors == "strict":
            raise _cut_character(left, self._decoder.bytes_fed)
        return left

    def _make(self, event: trigate.ServerSentEvent, block: bytes) -> ServerSentEvent:
        name = event.event
        return ServerSentEvent(
            event=name if name != "message" or _spells_message(block) else None,
            data=event.data,
            id=event.id or None,
            retry=event.retry,
            start=event.start,
            end=event.end,
            block=block if self._keeps_raw else b"",
        )

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


def _spells_message(block: bytes) -> bool:
    """Whether a block whose type is "message" says so, or names no type. The last type field counts."""
    if b"event" not in block:
        return False
    named = b""
    for line in block.splitlines():
        name, _, value = line.partition(b":")
        if name == b"event":
            named = value
    return named.removeprefix(b" ") == b"message"

"""Two decoders on the same bytes: the caller gets what the original gives, and every difference is reported.

Rules
 - Nothing of the second decoder, of the comparison or of the report reaches the caller's stream: an exception there is
   logged, and the original goes on.
 - Exceptions of the original and of the source go on as they are.
 - Memory is bounded: beside the events of the chunk at hand, at most _MOST of them, or _MOST_TEXT characters, wait for
   their like.
 - Events need not come at the same byte: one decoder may need more bytes than the other to be sure.
"""

from __future__ import annotations

import functools
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Protocol, TypeAlias

__all__ = ["Difference", "Report", "Shadow", "log_difference", "shadow"]

_LOG = logging.getLogger("trigate.compat.shadow")
_MOST = 256
_MOST_TEXT = 8 * 1024 * 1024
#: So many events of each side are looked at to find where the two agree again.
_AHEAD = 16
_SHOWN = 200

Kind: TypeAlias = Literal["event", "only_original", "only_ours", "error"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between the two decoders.

    kind      "event": both gave one, and they are not the same. "only_original", "only_ours": one of them gave an event
              that the other did not. "error": one of them refused the bytes and the other did not
    offset    bytes from the start of the body. Of our event: its first byte; of an event that only the original gave:
              the end of the event before it, by our reading; of an error of ours its own offset, of the original's the
              bytes that it had been given
    original  its event or its exception; None if it has none
    ours      the same of ours
    """

    kind: Kind
    offset: int
    original: Any
    ours: Any

    def __str__(self) -> str:
        return (
            f"{self.kind} at byte {self.offset}: original {_shown(self.original)}, ours {_shown(self.ours)}"
        )


Report: TypeAlias = Callable[[Difference], object]


class Feedable(Protocol):
    """What `ours` has to have. feed gives the events that the chunk completes; `error` says why no more can be read."""

    def feed(self, chunk: bytes, /) -> Any: ...
    def finish(self) -> Any: ...
    @property
    def error(self) -> Exception | None: ...


def log_difference(difference: Difference) -> None:
    """A warning in the log "trigate.compat.shadow"; values are cut to a line."""
    _LOG.warning("%s", difference)


def shadow(original: Any, ours: Feedable, *, report: Report = log_difference) -> Shadow:
    """The original decoder, with another one beside it.

    original  a decoder with iter_bytes or aiter_bytes, as the SDKs have; or a function from an iterator of chunks to
              an iterator of events, both synchronous or both not
    ours      a decoder with feed, finish and error: a compat Decoder, or trigate.SSEDecoder where the original spells
              "no type" as the standard does, "message"
    report    called with each Difference, as soon as it is sure; by default it is logged

    Both are for one stream. Events are the same if event, data, id and retry are; no id is the same as an empty one.
    """
    return Shadow(original, ours, report)


class Shadow:
    """Iterates the original over a body; see `shadow`."""

    def __init__(self, original: Any, ours: Feedable, report: Report) -> None:
        self._original = original
        self._ours = ours
        self._report = report

    def iter_bytes(self, iterator: Iterator[bytes]) -> Generator[Any]:
        """The original's events."""
        beside = _Comparison(self._ours, self._report)
        read = getattr(self._original, "iter_bytes", self._original)
        with closing(_tap(iterator, beside)) as tapped, _closing(read(tapped)) as events:
            try:
                for event in events:
                    beside.saw(event)
                    yield event
            except Exception as error:
                beside.failed(error)
                raise
            except BaseException:
                beside.left()
                raise
            beside.ended()

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncGenerator[Any]:
        """The original's events, asynchronously."""
        beside = _Comparison(self._ours, self._report)
        read = getattr(self._original, "aiter_bytes", self._original)
        async with aclosing(_atap(iterator, beside)) as tapped, _aclosing(read(tapped)) as events:
            try:
                async for event in events:
                    beside.saw(event)
                    yield event
            except Exception as error:
                beside.failed(error)
                raise
            except BaseException:
                beside.left()
                raise
            beside.ended()


@contextmanager
def _closing(events: Any) -> Iterator[Any]:
    """What iterates the original, closed where it can be: not every iterator has close()."""
    try:
        yield events
    finally:
        if hasattr(events, "close"):
            events.close()


@asynccontextmanager
async def _aclosing(events: Any) -> AsyncIterator[Any]:
    try:
        yield events
    finally:
        if hasattr(events, "aclose"):
            await events.aclose()


def _tap(iterator: Iterator[bytes], beside: _Comparison) -> Generator[bytes]:
    try:
        for chunk in iterator:
            beside.take(chunk)
            yield chunk
    except BaseException:
        beside.lose_source()
        raise


async def _atap(iterator: AsyncIterator[bytes], beside: _Comparison) -> AsyncGenerator[bytes]:
    try:
        async for chunk in iterator:
            beside.take(chunk)
            yield chunk
    except BaseException:
        beside.lose_source()
        raise


def _guarded(method: Callable[..., None]) -> Callable[..., None]:
    """Nothing that goes wrong beside the caller's stream reaches it: it is logged once, and the comparison is over."""

    @functools.wraps(method)
    def guarded(self: _Comparison, *args: Any) -> None:
        if self.is_over:
            return
        try:
            method(self, *args)
        except Exception:
            self.is_over = True
            _LOG.exception("the comparison beside the original failed and is over; the original goes on")

    return guarded


class _Comparison:
    """The events of both that wait for their like, and what was found."""

    def __init__(self, ours: Feedable, report: Report) -> None:
        self.is_over = False
        self._ours = ours
        self._report = report
        self._fed = 0
        self._at = 0  # the end of the last event of ours that was settled
        self._theirs: deque[Any] = deque()
        self._own: deque[Any] = deque()
        self._text = 0  # characters of data in both
        self._error: Exception | None = None
        self._lost_source = False

    @_guarded
    def take(self, chunk: bytes) -> None:
        """A chunk that the original is about to be given. What it had before, both have read."""
        self._settle()
        self._fed += len(chunk)
        if self._error is None:
            self._read(chunk)

    def _read(self, chunk: bytes) -> None:
        try:
            for event in self._ours.feed(chunk):
                self._wait(self._own, event)
            self._error = self._ours.error
        except Exception as error:  # of a decoder that fails otherwise than by its `error`
            self._error = error

    @_guarded
    def saw(self, event: Any) -> None:
        """An event that the original gave."""
        self._wait(self._theirs, event)
        self._agree()

    @_guarded
    def ended(self) -> None:
        """The original is done with the whole body."""
        if self._error is None:
            self._finish()
        self._settle(is_end=True)
        if self._error is not None:
            self._tell("error", _offset(self._error, self._fed), None, self._error)
        self.is_over = True

    def _finish(self) -> None:
        try:
            self._ours.finish()
        except Exception as error:
            self._error = error

    @_guarded
    def failed(self, error: Exception) -> None:
        """The original raised, or handed on what the source raised."""
        if self._lost_source:
            self.left()
            return
        self._settle(is_end=True)
        if self._error is None:
            self._tell("error", self._fed, error, None)
        self.is_over = True

    @_guarded
    def left(self) -> None:
        """Nobody asks for more: what ours has read ahead of the original is no difference."""
        self._settle()
        while self._theirs:
            self._differ(1, min(1, len(self._own)))
        self.is_over = True

    def lose_source(self) -> None:
        self._lost_source = True

    def _agree(self) -> None:
        """Takes off what both have."""
        while self._theirs and self._own and _face(self._theirs[0]) == _face(self._own[0]):
            self._take_off(self._theirs)
            self._at = _place(self._take_off(self._own).end, self._at)

    def _settle(self, *, is_end: bool = False) -> None:
        """Between two chunks: takes off what both have, and tells what cannot agree any more."""
        self._agree()
        while self._theirs or self._own:
            ahead = self._agreement()
            if ahead is None and not is_end and not self._is_full():
                return
            self._differ(*(ahead or (min(1, len(self._theirs)), min(1, len(self._own)))))
            self._agree()

    def _agreement(self) -> tuple[int, int] | None:
        """How many of each side stand before the next two that agree: as few as can be."""
        theirs, own = ([_face(event) for event in islice(side, _AHEAD)] for side in (self._theirs, self._own))
        found = [(i + j, i, j) for i, one in enumerate(theirs) for j, other in enumerate(own) if one == other]
        return min(found)[1:] if found else None

    def _is_full(self) -> bool:
        return len(self._theirs) + len(self._own) > _MOST or self._text > _MOST_TEXT

    def _differ(self, theirs: int, own: int) -> None:
        """So many events of each side have no like on the other: in pairs, and then alone."""
        for number in range(max(theirs, own)):
            original = self._take_off(self._theirs) if number < theirs else None
            ours = self._take_off(self._own) if number < own else None
            kind: Kind = "only_original" if ours is None else "only_ours" if original is None else "event"
            self._tell(kind, self._at if ours is None else _place(ours.start, self._at), original, ours)
            if ours is not None:
                self._at = _place(ours.end, self._at)

    def _wait(self, side: deque[Any], event: Any) -> None:
        side.append(event)
        self._text += len(event.data)

    def _take_off(self, side: deque[Any]) -> Any:
        event = side.popleft()
        self._text -= len(event.data)
        return event

    def _tell(self, kind: Kind, offset: int, original: Any, ours: Any) -> None:
        try:
            self._report(Difference(kind, offset, original, ours))
        except Exception:
            _LOG.exception("the report of a difference failed; the stream goes on")


def _face(event: Any) -> tuple[str | None, str, str, int | None]:
    return event.event, event.data, event.id or "", event.retry


def _place(offset: int | None, otherwise: int) -> int:
    return otherwise if offset is None else offset


def _offset(error: Exception, otherwise: int) -> int:
    return _place(getattr(error, "offset", None), otherwise)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"

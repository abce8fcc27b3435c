"""Tap: beside the bytes that a gateway forwards, what they say and when they came.

Rules
 - It changes nothing: `feed` gives back the chunk itself. What came over the wire never makes it raise.
 - No Python object for a piece of text: that content came is seen in a count of the core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeVar

from trigate.limits import Limits
from trigate.parser import ResponseParser
from trigate.response import Response, Status, Usage
from trigate.tap.report import TapCall, TapReport, encodable, tap_call

if TYPE_CHECKING:
    from typing_extensions import Buffer

    _Chunk = TypeVar("_Chunk", bound=Buffer)

__all__ = ["Tap"]


class Tap:
    """Listens to one response's bytes.

    protocol       a name (see trigate.PROTOCOLS), or "auto"
    clock          gives seconds that never go back
    pause          a time between two contents that is longer counts as a long gap (TapReport.long_gaps)
    limits, lenient, strict, ids   as ResponseParser has them. A bound that is passed ends the tap's own reading
                   (status "failed", layer "limit"), never the stream
    """

    def __init__(
        self,
        protocol: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: float = 1.0,
        limits: Limits | None = None,
        lenient: Iterable[str] = (),
        strict: bool = False,
        ids: Literal["wire", "generate"] = "wire",
    ) -> None:
        self._listen(
            ResponseParser(protocol, deltas=False, limits=limits, lenient=lenient, strict=strict, ids=ids),
            clock,
            pause,
        )

    @classmethod
    def _of(cls, parser: ResponseParser, clock: Callable[[], float], pause: float) -> Tap:
        """A tap over somebody else's parser."""
        made = cls.__new__(cls)
        made._listen(parser, clock, pause)
        return made

    def _listen(self, parser: ResponseParser, clock: Callable[[], float], pause: float) -> None:
        self._parser = parser
        self._lanes = parser._turn.lanes
        self._clock = clock
        self._pause = pause
        self._began = clock()
        self._chunks = 0
        self._progress = 0
        self._first_byte: float | None = None
        self._first_content: float | None = None
        self._last_content: float | None = None
        self._largest_gap: float | None = None
        self._long_gaps = 0
        self._report: TapReport | None = None

    def feed(self, chunk: _Chunk) -> _Chunk:
        """Listens to a chunk, and gives it back. RuntimeError after finish()."""
        self._parser.feed(chunk)
        progress = self._lanes.progress
        if progress != self._progress:
            self._progress = progress
            self._note_content(self._clock())
        if chunk:
            self._chunks += 1
            if self._first_byte is None:
                self._first_byte = self._clock()
        return chunk

    def _note_content(self, now: float) -> None:
        if self._last_content is None:
            self._first_content = now
        else:
            gap = now - self._last_content
            if self._largest_gap is None or gap > self._largest_gap:
                self._largest_gap = gap
            if gap > self._pause:
                self._long_gaps += 1
        self._last_content = now

    def finish(self, error: BaseException | str | None = None) -> TapReport:
        """Declares the end of input; returns the report. Idempotent: the first end counts.

        error: why the input ended, if it did not end by itself: what the connection raised, or a word.
        """
        if self._report is None:
            self._report = self._told(self._parser.finish(), cause_of(error))
        return self._report

    def report(self) -> TapReport:
        """The report so far; after finish() the last one."""
        return self._report if self._report is not None else self._told(self._parser.response, None)

    def _told(self, response: Response, cause: str | None) -> TapReport:
        report = TapReport(
            protocol=response.protocol,
            status=response.status,
            reason=response.reason,
            id=response.id,
            model=response.model,
            usage=response.usage,
            error=response.error,
            anomalies=response.anomalies,
            clean_end=response.clean_end,
            calls=tuple([tap_call(call) for call in response.calls]),
            bytes=self._parser._fed,
            chunks=self._chunks,
            events=self._lanes.events,
            first_byte=self._since_began(self._first_byte),
            first_content=self._since_began(self._first_content),
            last_content=self._since_began(self._last_content),
            largest_gap=self._largest_gap,
            long_gaps=self._long_gaps,
            duration=self._clock() - self._began,
            cause=cause,
        )
        return encodable(report)

    def _since_began(self, moment: float | None) -> float | None:
        return None if moment is None else moment - self._began

    @property
    def protocol(self) -> str:
        return self._parser._turn.protocol

    @property
    def status(self) -> Status:
        return self._parser._turn.status

    @property
    def id(self) -> str | None:
        return self._parser._turn.id

    @property
    def model(self) -> str | None:
        return self._parser._turn.model

    @property
    def usage(self) -> Usage | None:
        """The provider's last count; None until it gave one."""
        return self._parser._turn.usage

    @property
    def calls(self) -> tuple[TapCall, ...]:
        """The calls so far, in the order in which they began."""
        return tuple([tap_call(call) for call in self._parser._turn.calls])

    @property
    def response(self) -> Response:
        """All that the stream said so far, texts and arguments included."""
        return self._parser.response

    def __repr__(self) -> str:
        return f"<Tap {self.protocol} {self.status}, {self._parser._fed} bytes>"


def cause_of(error: BaseException | str | None) -> str | None:
    """What a report says of why the input ended."""
    if error is None or isinstance(error, str):
        return error
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

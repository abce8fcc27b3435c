"""What a stream of items is, whether its bytes are waited for by a thread or by a task.

Rules
 - A stream owns its parser: the bytes go in here and nowhere else. How it ended is said once.
 - A reason to stop (the caller, a bound of time) counts from when it was given, whatever the connection says after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trigate.items import Item, ResponseEnded
from trigate.parser import ResponseParser
from trigate.response import ErrorInfo, Response
from trigate.sources.clock import Clock
from trigate.sources.faults import fault_of
from trigate.sources.http import Refusal

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Pump", "parser_for"]

CANCELLED = ErrorInfo("transport", "cancelled", "cancelled", "the caller wanted no more of it")


def parser_for(parser: ResponseParser | None, protocol: str, options: dict[str, Any]) -> ResponseParser:
    """The caller's parser, ready for a new connection if it was at an end; or a new one."""
    if parser is None:
        return ResponseParser(protocol, **options)
    if options or protocol != "auto":
        raise TypeError("a parser has its own protocol and options: give the parser alone")
    if parser._is_over:
        parser.resume()
    return parser


class Pump:
    """Chunks to items. is_response: whether what breaks is a connection, and not the caller's own iterable."""

    def __init__(
        self, parser: ResponseParser, clock: Clock, refusal: Refusal | None, is_response: bool
    ) -> None:
        self._parser = parser
        self._clock = clock
        self._refusal = refusal
        self._is_response = is_response
        self._items: Iterator[Item] = iter(())
        self._is_over = False
        self._stop: ErrorInfo | None = None

    @property
    def parser(self) -> ResponseParser:
        """Give it to the next iter_items or aiter_items to go on over a new connection."""
        return self._parser

    @property
    def response(self) -> Response:
        """The response so far; after the last item, the final one."""
        return self._parser.response

    def _take(self, chunk: Buffer) -> bool:
        """One chunk; False if no more is wanted."""
        if self._refusal is not None:
            self._clock.came(True)
            return self._refusal.feed(chunk)
        if self._clock.minds_idling:
            before = self._parser._progress
            items = self._parser.feed(chunk)
            self._clock.came(bool(items) or self._parser._progress != before)
        else:
            items = self._parser.feed(chunk)
            self._clock.came(True)
        self._items = _before_end(items)
        # Nothing that follows a fault is taken: a server that goes on is told so by closing.
        return not (self._is_response and self._parser._is_broken)

    def _stops(self) -> bool:
        """Whether to go no further, for a reason of the caller's or of the clock's."""
        if self._stop is None:
            self._stop = self._clock.passed
        return self._stop is not None

    def _end(self) -> None:
        """The input is over, or nothing more of it is wanted: the last items, and the end."""
        if self._is_over:
            return
        self._is_over = True
        parser = self._parser
        if self._stop is CANCELLED:
            final = parser.stop("cancelled", CANCELLED)
        elif self._refusal is not None:
            final = parser.stop("failed", self._refusal.error())
        elif self._stop is not None:
            final = parser.stop("truncated", self._stop)
        else:
            final = parser.finish()
        self._items = iter([*self._items, *_before_end(parser._rest()), parser._ending(final)])

    def _break(self, error: Exception) -> bool:
        """Whether an exception of the source is the end of the response; else it is the caller's to see."""
        if self._stop is not None:
            return True  # it was closed under the reader, who may say so in any words
        self._stop = fault_of(error) if self._is_response else None
        return self._stop is not None

    def _abandon(self) -> None:
        """Nobody reads on: the response says so, and no item comes any more."""
        if not self._is_over:
            self._stop = CANCELLED
            self._end()
        self._items = iter(())


def _before_end(items: list[Item]) -> Iterator[Item]:
    """All but ResponseEnded: it is told once, when the input is over and everything is known."""
    return iter([item for item in items if not isinstance(item, ResponseEnded)])

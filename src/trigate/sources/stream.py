"""ItemStream: the items of one response, read by the thread that asks for them.

Rules
 - Who asks, reads: nothing is read ahead. One thread asks; any thread may cancel.
 - However it ends, the source is closed: at the end, by an exception, by close(), or when nobody holds it any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from trigate.items import Item
from trigate.parser import ResponseParser
from trigate.sources.bodies import Body
from trigate.sources.clock import Clock
from trigate.sources.http import Refusal
from trigate.sources.pump import CANCELLED, Pump
from trigate.sources.watchdog import WATCHDOG

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["ItemStream"]


class ItemStream(Pump, Iterator[Item]):
    """An iterator of items, and a context manager that closes the source.

    response: so far, or final. parser: for the next connection. cancel(): from any thread.
    """

    def __init__(
        self,
        parser: ResponseParser,
        clock: Clock,
        chunks: Iterator[Buffer],
        *,
        body: Body | None = None,
        refusal: Refusal | None = None,
    ) -> None:
        super().__init__(parser, clock, refusal, body is not None)
        self._chunks = chunks
        self._body = body
        self._reading = threading.Lock()  # held by who reads
        self._state = threading.Lock()  # around _is_waiting
        self._is_waiting = False
        self._is_watched = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Item:
        for item in self._items:
            return item
        with self._reading:
            for item in self._items:  # cancel() may have put its own in place
                return item
            while not self._is_over:
                self._advance()
                for item in self._items:
                    return item
        raise StopIteration

    def _advance(self) -> None:
        """One chunk, or the end."""
        try:
            chunk = None if self._stops() else self._wait()
        except Exception as error:
            if not self._break(error):
                self._leave()
                raise
            chunk = None
        except BaseException:
            self._leave()
            raise
        try:
            # What came with a reason to stop is not taken: that reason holds from when it was given.
            if self._stop is not None or chunk is None or not self._take(chunk):
                self._end()
        except BaseException:
            self._leave()
            raise
        if self._is_over:
            self._close_source()

    def _wait(self) -> Buffer | None:
        """The next chunk; None at the end."""
        if self._body is None:
            self._clock.wait()
            return next(self._chunks, None)
        if self._clock.is_needed and not self._is_watched:
            self._is_watched = True
            WATCHDOG.add(self)
        with self._state:
            if self._stop is not None:
                return None
            self._clock.wait()
            self._is_waiting = True
        try:
            return next(self._chunks, None)
        finally:
            with self._state:
                self._is_waiting = False

    # -- what the watchdog asks ------------------------------------------------------------------------

    def due(self) -> float | None:
        return None if self._stop is not None else self._clock.due

    def look(self) -> None:
        with self._state:
            if self._stops() and self._is_waiting:
                self._interrupt()

    # -- how it is left --------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Ends the response as `cancelled` and closes the connection; the last item is still given. From any thread.

        A source that is no client's response is asked for its next chunk first, if a thread waits for that.
        """
        with self._state:
            if self._is_over or self._stop is not None:
                return
            self._stop = CANCELLED
            if self._is_waiting:
                self._interrupt()
        if self._reading.acquire(blocking=False):
            try:
                self._end_after_items()
            finally:
                self._reading.release()

    def _interrupt(self) -> None:
        if self._body is not None:
            self._body.interrupt()

    def _end_after_items(self) -> None:
        """Nobody reads: the end is made here, behind the items that are still to be given."""
        self._end()
        self._close_source()

    def close(self) -> None:
        """Closes the source. A response that was not over is `cancelled`; no item comes any more.

        While another thread waits for an item, that one is told to stop, and closes the source itself.
        """
        self.cancel()
        if self._reading.acquire(blocking=False):
            try:
                self._leave()
            finally:
                self._reading.release()

    def _leave(self) -> None:
        try:
            self._abandon()
        finally:
            self._close_source()

    def _close_source(self) -> None:
        if self._is_watched:
            self._is_watched = False
            WATCHDOG.remove(self)
        close: Callable[[], None] | None = getattr(self._chunks, "close", None)
        if close is not None:
            close()
        if self._body is not None:
            self._body.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_is_over", True):
            self._leave()

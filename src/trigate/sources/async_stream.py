"""AsyncItemStream: the items of one response, read by the task that asks for them.

Rules
 - Who asks, reads: nothing is read ahead.
 - A cancelled task closes the connection and leaves a response that says so; CancelledError goes on.
 - Bounds of time and cancel() need asyncio. Without them any event loop will do.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from trigate.items import Item
from trigate.parser import ResponseParser
from trigate.sources.async_bodies import AsyncBody
from trigate.sources.clock import Clock, now
from trigate.sources.http import Refusal
from trigate.sources.pump import CANCELLED, Pump

if TYPE_CHECKING:
    import asyncio

    from typing_extensions import Buffer

__all__ = ["AsyncItemStream"]


class AsyncItemStream(Pump, AsyncIterator[Item]):
    """An asynchronous iterator of items, and a context manager that closes the source.

    response: so far, or final. parser: for the next connection. cancel(): from the same event loop.
    """

    def __init__(
        self,
        parser: ResponseParser,
        clock: Clock,
        chunks: AsyncIterator[Buffer],
        *,
        body: AsyncBody | None = None,
        refusal: Refusal | None = None,
    ) -> None:
        super().__init__(parser, clock, refusal, body is not None)
        self._chunks = chunks
        self._body = body
        self._is_reading = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._scope: asyncio.Timeout | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        for item in self._items:
            return item
        if self._is_reading:
            raise RuntimeError("another task reads this stream")
        self._is_reading = True
        try:
            while not self._is_over:
                await self._advance()
                for item in self._items:
                    return item
        finally:
            self._is_reading = False
        raise StopAsyncIteration

    async def _advance(self) -> None:
        """One chunk, or the end."""
        try:
            chunk = None if self._stops() else await self._wait()
        except Exception as error:
            if not self._break(error):
                await self._leave()
                raise
            chunk = None
        except BaseException:
            await self._leave()
            raise
        try:
            if self._stop is not None or chunk is None or not self._take(chunk):
                self._end()
        except BaseException:
            await self._leave()
            raise
        if self._is_over:
            await self._close_source()

    async def _wait(self) -> Buffer | None:
        """The next chunk; None at the end, and when a reason to stop came first."""
        self._clock.wait()
        loop = self._loop or self._running_loop()
        if loop is None:
            return await anext(self._chunks, None)
        import asyncio

        due = self._clock.due
        scope = asyncio.timeout_at(None if due is None else loop.time() + due - now())
        try:
            async with scope:
                self._scope = scope
                return await anext(self._chunks, None)
        except TimeoutError:
            if not scope.expired():
                raise
            # cancel() may have come first. A loop's clock is coarser than ours: what is due is over.
            if self._stop is None:
                self._stop = self._clock.first_due
            return None
        finally:
            self._scope = None

    def _running_loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop of asyncio, if it is the one that runs."""
        import asyncio

        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            if self._clock.is_needed:
                raise RuntimeError("idle_timeout and deadline need asyncio") from None
        return self._loop

    # -- how it is left --------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Ends the response as `cancelled`: who waits for an item gets the last one, and the connection is closed then.

        From the loop's own thread; from another one, by loop.call_soon_threadsafe.
        """
        if self._is_over or self._stop is not None:
            return
        self._stop = CANCELLED
        if self._scope is not None and self._loop is not None:
            self._scope.reschedule(self._loop.time())

    async def aclose(self) -> None:
        """Closes the source. A response that was not over is `cancelled`; no item comes any more."""
        self.cancel()
        if not self._is_reading:
            await self._leave()

    async def _leave(self) -> None:
        try:
            self._abandon()
        finally:
            await self._close_source()

    async def _close_source(self) -> None:
        close: Any = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()
        if self._body is not None:
            await self._body.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __del__(self) -> None:
        """A stream that nobody holds any more is closed by its loop, as the loop does for generators."""
        loop: asyncio.AbstractEventLoop | None = getattr(self, "_loop", None)
        if loop is None or self._is_over or loop.is_closed():
            return
        loop.call_soon_threadsafe(loop.create_task, self._close_source())

"""The face of httpx2's own events: EventSource, ServerSentEvent, SSEError; clients whose sse() gives it.

Rules
 - Events and errors are httpx2's own classes, so what is written for them holds: equality, `except httpx2.SSEError`.
   The events are those of the WHATWG standard; docs/compat/httpx2.md lists where httpx2 2.16.2 gives others.
 - What the end of the body left unfinished is no event: `EventSource.leftover` tells of it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import trigate
from trigate.compat.media_type import is_event_stream, mismatch
from trigate.compat.reading import Reading

try:
    import httpx2
except ImportError as error:
    raise ImportError("trigate.compat.httpx2 is a face of httpx2: pip install httpx2") from error

from httpx2 import ServerSentEvent, SSEError

__all__ = ["AsyncClient", "Client", "EventSource", "SSEError", "ServerSentEvent"]

#: httpx2's own bound of one event.
_MAX_EVENT_SIZE = 1024 * 1024
#: The largest that Limits takes: no memory holds it.
_NO_BOUND = 2**63 - 1


class EventSource(Reading, httpx2.EventSource):
    """The events of one response, by `for` or `async for`. The response stays the caller's. See Reading for the rest.

    max_event_size: bytes of one event's data and type, and of its id; None for no bound.

    Iterating raises SSEError if the content type is another, or an event passes the bound.
    """

    def __init__(self, response: httpx2.Response, max_event_size: int | None = _MAX_EVENT_SIZE) -> None:
        super().__init__(response, max_event_size)
        bound = _NO_BOUND if max_event_size is None else min(max_event_size, _NO_BOUND)
        self._limits = trigate.Limits(max_event_bytes=bound, max_id_bytes=bound)
        self._decoder = trigate.SSEDecoder(limits=self._limits)

    def _begin(self) -> trigate.SSEDecoder:
        content_type = self.response.headers.get("content-type", "")
        if not is_event_stream(content_type):
            raise self._error(mismatch(content_type))
        self._decoder = trigate.SSEDecoder(limits=self._limits)
        self.leftover = None
        return self._decoder

    def _error(self, message: str) -> SSEError:
        """With the request, as httpx2's errors have it, if the response knows of one."""
        error = SSEError(message)
        with suppress(RuntimeError):
            error.request = self.response.request
        return error

    def _too_large(self, error: trigate.LimitError) -> SSEError:
        return self._error(
            f"{error.message}: the server-sent event exceeded the {self._max_event_size} byte limit"
        )

    def __iter__(self) -> Iterator[ServerSentEvent]:
        decoder = self._begin()
        try:
            for chunk in self.response.iter_bytes():
                for event in decoder.feed(chunk):
                    yield ServerSentEvent(event.event, event.data, event.id, event.retry)
            self.leftover = decoder.finish()
        except trigate.LimitError as error:
            raise self._too_large(error) from error

    async def __aiter__(self) -> AsyncGenerator[ServerSentEvent, None]:
        decoder = self._begin()
        chunks: Any = self.response.aiter_bytes()
        try:
            async for chunk in chunks:
                for event in decoder.feed(chunk):
                    yield ServerSentEvent(event.event, event.data, event.id, event.retry)
            self.leftover = decoder.finish()
        except trigate.LimitError as error:
            raise self._too_large(error) from error
        finally:
            await chunks.aclose()


class Client(httpx2.Client):
    """httpx2.Client, with an sse() that reads by trigate."""

    @contextmanager
    def sse(
        self, url: httpx2.URL | str, *, max_event_size: int | None = _MAX_EVENT_SIZE, **options: Any
    ) -> Generator[EventSource]:
        """httpx2.Client.sse with all its options; leaving the `with` closes the response."""
        with super().sse(url, **options) as source:
            yield EventSource(source.response, max_event_size)


class AsyncClient(httpx2.AsyncClient):
    """httpx2.AsyncClient, with an sse() that reads by trigate."""

    @asynccontextmanager
    async def sse(
        self, url: httpx2.URL | str, *, max_event_size: int | None = _MAX_EVENT_SIZE, **options: Any
    ) -> AsyncIterator[EventSource]:
        """httpx2.AsyncClient.sse with all its options; leaving the `with` closes the response."""
        async with super().sse(url, **options) as source:
            yield EventSource(source.response, max_event_size)

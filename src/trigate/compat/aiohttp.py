"""aiohttp has no reader of events; this is one: `async for event in events(response)`.

Rules
 - The events are trigate's own, those of the WHATWG standard.
 - Errors are aiohttp's own: ContentTypeError for a body that is no event stream, what the connection raises unchanged.
 - What the end of the body left unfinished is no event: `EventStream.leftover` tells of it.
"""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING

import trigate
from trigate.compat.media_type import is_event_stream, mismatch
from trigate.compat.reading import Reading

if TYPE_CHECKING:
    from typing import Self

    from aiohttp import ClientResponse

__all__ = ["EventStream", "events"]


def events(response: ClientResponse, *, limits: trigate.Limits | None = None) -> EventStream:
    """The events of a response: `async for event in events(response)`.

    ContentTypeError of aiohttp (a ClientError) if the response is no event stream; LimitError, while iterating, for an
    event that passes a limit.
    """
    content_type = response.headers.get("Content-Type", "")
    if not is_event_stream(content_type):
        from aiohttp import ContentTypeError  # only here: reading needs the response alone

        raise ContentTypeError(
            response.request_info,
            response.history,
            status=response.status,
            message=mismatch(content_type),
            headers=response.headers,
        )
    return EventStream(response, limits)


class EventStream(Reading):
    """An asynchronous iterator over the events of one response.

    `async with events(response) as stream` closes the response when it is left, however that comes about; without
    it, the response is closed by who opened it. A response that was read to its end is released by aiohttp itself.

    response: what was given. See Reading for the rest.
    """

    def __init__(self, response: ClientResponse, limits: trigate.Limits | None = None) -> None:
        self.response = response
        self._decoder = trigate.SSEDecoder(limits=limits)
        self._ready: deque[trigate.ServerSentEvent] = deque()
        self._is_over = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> trigate.ServerSentEvent:
        while not self._ready:
            if self._is_over:
                raise StopAsyncIteration
            if chunk := await self.response.content.readany():
                self._ready.extend(self._decoder.feed(chunk))
            else:
                self.leftover = self._decoder.finish()
                self._is_over = True
        return self._ready.popleft()

    def close(self) -> None:
        """Closes the response, and with it the connection if the body is not at its end; no event comes any more."""
        self._is_over = True
        self._ready.clear()
        self.response.close()

    async def aclose(self) -> None:
        """close(), for contextlib.aclosing."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

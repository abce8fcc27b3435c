"""The face of httpx-sse: EventSource, connect_sse, aconnect_sse, ServerSentEvent, SSEError.

Rules
 - Names, signatures and types of errors are those of httpx-sse 0.4.3; the events are those of the WHATWG standard.
   docs/compat/httpx_sse.md lists where the two differ.
 - Responses and clients of httpx and httpx2 are served alike, and neither is imported to read one.
 - What the end of the body left unfinished is no event: `EventSource.leftover` tells of it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import trigate
from trigate.compat.media_type import EVENT_STREAM, is_event_stream, mismatch
from trigate.compat.reading import Reading

if TYPE_CHECKING:
    import httpx
    import httpx2

    class SSEError(httpx.TransportError):
        """The body is no event stream, or one event of it passes a limit (then __cause__ is a LimitError).

        A TransportError of httpx, of httpx2, or of both: of whichever is installed.
        """


__all__ = ["EventSource", "SSEError", "ServerSentEvent", "aconnect_sse", "connect_sse"]

#: What a request for events says, whatever the caller's headers say of it.
_HEADERS = {"accept": EVENT_STREAM, "cache-control": "no-store"}


def __getattr__(name: str) -> Any:
    if name == "SSEError":
        return _sse_error()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _sse_error() -> type[SSEError]:
    """SSEError, made when it is first needed: its bases are httpx's, and reading a response needs no httpx."""
    bases: list[type[Exception]] = []
    for library in ("httpx", "httpx2"):
        try:
            bases.append(import_module(library).TransportError)
        except ImportError:
            continue
    members = {
        "__module__": __name__,
        "__doc__": "The body is no event stream, or one event of it passes a limit.",
    }
    return cast("type[SSEError]", type("SSEError", tuple(bases) or (Exception,), members))


class ServerSentEvent:
    """One event. event: "message" where the stream named none. id: the last event ID, "" if none came yet.

    retry: the reconnection time that its block set, in milliseconds, or None. `start` and `end`: the byte range of
    its block, None for an event made by hand.
    """

    __slots__ = ("_event",)

    def __init__(
        self,
        event: str | None = None,
        data: str | None = None,
        id: str | None = None,  # noqa: A002 - the standard's word
        retry: int | None = None,
    ) -> None:
        self._event = trigate.ServerSentEvent(event or "message", data or "", id or "", retry)

    @property
    def event(self) -> str:
        return self._event.event

    @property
    def data(self) -> str:
        return self._event.data

    @property
    def id(self) -> str:
        return self._event.id

    @property
    def retry(self) -> int | None:
        return self._event.retry

    @property
    def start(self) -> int | None:
        return self._event.start

    @property
    def end(self) -> int | None:
        return self._event.end

    def json(self) -> Any:
        """The data as JSON, by the standard library; json.JSONDecodeError if it is none."""
        return json.loads(self.data)

    def __repr__(self) -> str:
        pieces = [f"event={self.event!r}"]
        pieces += [f"{name}={value!r}" for name in ("data", "id") if (value := getattr(self, name))]
        if self.retry is not None:
            pieces.append(f"retry={self.retry!r}")
        return f"ServerSentEvent({', '.join(pieces)})"


_new_event = ServerSentEvent.__new__


def _wrapped(event: trigate.ServerSentEvent) -> ServerSentEvent:
    wrapped = _new_event(ServerSentEvent)
    wrapped._event = event
    return wrapped


class EventSource(Reading):
    """The events of one response, which stays the caller's: leaving its `with` closes it. See Reading for the rest."""

    def __init__(self, response: httpx.Response | httpx2.Response) -> None:
        self._response: Any = response
        self._decoder = trigate.SSEDecoder()

    @property
    def response(self) -> httpx.Response:
        """What was given, be it httpx's or httpx2's."""
        return cast("httpx.Response", self._response)

    def _begin(self) -> trigate.SSEDecoder:
        content_type = self._response.headers.get("content-type", "")
        if not is_event_stream(content_type):
            raise _sse_error()(mismatch(content_type))
        self._decoder = trigate.SSEDecoder()
        self.leftover = None
        return self._decoder

    def iter_sse(self) -> Iterator[ServerSentEvent]:
        """The events as they come. SSEError if the content type is another, or an event passes a limit."""
        decoder = self._begin()
        try:
            for chunk in self._response.iter_bytes():
                for event in decoder.feed(chunk):
                    yield _wrapped(event)
            self.leftover = decoder.finish()
        except trigate.LimitError as error:
            raise _sse_error()(error.message) from error

    async def aiter_sse(self) -> AsyncGenerator[ServerSentEvent, None]:
        """iter_sse for a response of an asynchronous client."""
        decoder = self._begin()
        chunks = self._response.aiter_bytes()
        try:
            async for chunk in chunks:
                for event in decoder.feed(chunk):
                    yield _wrapped(event)
            self.leftover = decoder.finish()
        except trigate.LimitError as error:
            raise _sse_error()(error.message) from error
        finally:
            if hasattr(
                chunks, "aclose"
            ):  # a generator, as httpx has them: closed now, not when it is collected
                await chunks.aclose()


@contextmanager
def connect_sse(
    client: httpx.Client | httpx2.Client, method: str, url: str, **kwargs: Any
) -> Iterator[EventSource]:
    """Asks for events by client.stream(); leaving the `with` closes the response. kwargs: those of stream()."""
    kwargs["headers"] = _asking(kwargs.get("headers"))
    with client.stream(method, url, **kwargs) as response:
        yield EventSource(response)


@asynccontextmanager
async def aconnect_sse(
    client: httpx.AsyncClient | httpx2.AsyncClient, method: str, url: str, **kwargs: Any
) -> AsyncIterator[EventSource]:
    """connect_sse for an asynchronous client."""
    kwargs["headers"] = _asking(kwargs.get("headers"))
    async with client.stream(method, url, **kwargs) as response:
        yield EventSource(response)


def _asking(headers: Any) -> list[tuple[Any, Any]]:
    """The caller's headers and ours, as pairs: the caller's own object is not written to."""
    if headers is None:
        pairs = []
    elif hasattr(headers, "multi_items"):
        pairs = headers.multi_items()
    else:
        pairs = list(headers.items() if hasattr(headers, "items") else headers)
    return [pair for pair in pairs if _name(pair[0]) not in _HEADERS] + list(_HEADERS.items())


def _name(name: str | bytes) -> str:
    return (name if isinstance(name, str) else name.decode("ascii", "replace")).lower()

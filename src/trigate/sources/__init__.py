"""From wherever bytes come to a Response: HTTP responses, bytes, files, iterables of chunks, asynchronous ones too.

Rules
 - The last item is always ResponseEnded, and its Response is the final one.
 - No client library is imported: a response is known by its class.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from trigate.parser import ResponseParser
from trigate.response import Response
from trigate.sources.bodies import body_of, library_of
from trigate.sources.clock import Clock
from trigate.sources.http import refusal_of
from trigate.sources.plain import PlainSource, check_is_source, chunks_of
from trigate.sources.pump import parser_for

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from trigate.sources.async_stream import AsyncItemStream
    from trigate.sources.stream import ItemStream

__all__ = ["HttpResponse", "Source", "aiter_items", "iter_items", "parse"]


class HttpResponse(Protocol):
    """What the responses of all client libraries have; which ones are read, `trigate.sources.bodies` says."""

    @property
    def headers(self) -> Any: ...
    def close(self) -> Any: ...


Source: TypeAlias = "PlainSource | HttpResponse"


def parse(
    source: Source,
    protocol: str = "auto",
    *,
    idle_timeout: float | None = None,
    deadline: float | None = None,
    **options: Any,
) -> Response:
    """Reads a whole stream: an HTTP response, bytes, a binary file, a path object, or an iterable of chunks.

    idle_timeout, deadline and the other options: see iter_items.
    """
    if idle_timeout is None and deadline is None and "parser" not in options and library_of(source) is None:
        parser = ResponseParser(protocol, **options)
        for chunk in chunks_of(cast("PlainSource", source)):
            parser.feed(chunk)
        return parser.finish()
    with iter_items(source, protocol, idle_timeout=idle_timeout, deadline=deadline, **options) as items:
        for _ in items:
            pass
        return items.response


def iter_items(
    source: Source,
    protocol: str = "auto",
    *,
    idle_timeout: float | None = None,
    deadline: float | None = None,
    parser: ResponseParser | None = None,
    **options: Any,
) -> ItemStream:
    """The items of a stream as they come; the last one is ResponseEnded with the final Response.

    source        a response of httpx2, httpx, requests, urllib3 or niquests, opened for streaming; bytes, a binary
                  file, a path object, or an iterable of chunks
    idle_timeout  seconds without an event that says something (a ping says nothing) until the response is truncated
    deadline      seconds until it is truncated in any case
    parser        one that was fed before: what comes is its next connection (ResponseParser.resume)
    options       those of ResponseParser

    What goes wrong with an HTTP response ends the Response, and is not raised. The exception of any other source is.
    Of such a source the bounds are looked at when a chunk comes: its own waiting cannot be ended.
    """
    from trigate.sources.stream import ItemStream  # with threads, which nobody needs who feeds a parser

    known = library_of(source)
    clock = Clock(idle_timeout, deadline)
    if known is None:
        chunks = chunks_of(cast("PlainSource", source))
        return ItemStream(parser_for(parser, protocol, options), clock, chunks)
    library, is_asynchronous = known
    if is_asynchronous:
        raise TypeError(f"this response of {library} is an asynchronous one: use aiter_items")
    body = body_of(source, library)
    refusal = refusal_of(body.status, body.headers)
    chunks = iter(body.read, b"")
    return ItemStream(parser_for(parser, protocol, options), clock, chunks, body=body, refusal=refusal)


def aiter_items(
    source: AsyncIterable[Buffer] | Source,
    protocol: str = "auto",
    *,
    idle_timeout: float | None = None,
    deadline: float | None = None,
    parser: ResponseParser | None = None,
    **options: Any,
) -> AsyncItemStream:
    """iter_items for a response of httpx2, httpx, aiohttp or niquests, and for an asynchronous iterable of chunks.

    Plain synchronous sources are taken too. The bounds of time hold for any asynchronous source; they need asyncio.
    """
    from trigate.sources.async_bodies import async_body_of
    from trigate.sources.async_stream import AsyncItemStream

    known = library_of(source)
    clock = Clock(idle_timeout, deadline)
    if known is None:
        return AsyncItemStream(parser_for(parser, protocol, options), clock, _async_chunks(source))
    library, is_asynchronous = known
    if not is_asynchronous:
        raise TypeError(f"this response of {library} would block the event loop: use iter_items")
    body = async_body_of(source, library)
    refusal = refusal_of(body.status, body.headers)
    chunks = _reads(body.read)
    return AsyncItemStream(parser_for(parser, protocol, options), clock, chunks, body=body, refusal=refusal)


def _async_chunks(source: AsyncIterable[Buffer] | Source) -> AsyncIterator[Buffer]:
    check_is_source(source)
    if isinstance(source, AsyncIterable):
        return aiter(source)
    return _later(chunks_of(cast("PlainSource", source)))


async def _later(chunks: Iterator[Buffer]) -> AsyncIterator[Buffer]:
    for chunk in chunks:
        yield chunk


async def _reads(read: Callable[[], Any]) -> AsyncIterator[Buffer]:
    while chunk := await read():
        yield chunk

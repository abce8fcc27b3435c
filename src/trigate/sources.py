"""From wherever bytes come to a Response: whole bytes, files, iterables of chunks, also asynchronous ones.

Rules
 - A source that raises is not a finished one: the exception goes on to the caller, and nothing was released.
 - The last item is always ResponseEnded, and its Response is the final one.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

from trigate.items import Item, ResponseEnded
from trigate.parser import ResponseParser
from trigate.response import Response

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Source", "aiter_items", "iter_items", "parse"]

_CHUNK = 64 * 1024

Source: TypeAlias = "Buffer | BinaryIO | os.PathLike[str] | Iterable[Buffer]"


def parse(source: Source, protocol: str = "auto", **options: Any) -> Response:
    """Reads a whole recorded stream: bytes, a binary file, a path object, or an iterable of chunks.

    options are those of ResponseParser.
    """
    parser = ResponseParser(protocol, **options)
    for chunk in _chunks(source):
        parser.feed(chunk)
    return parser.finish()


def iter_items(source: Source, protocol: str = "auto", **options: Any) -> Iterator[Item]:
    """The items of a stream as they come; the last one is ResponseEnded with the final Response."""
    parser = ResponseParser(protocol, **options)
    for chunk in _chunks(source):
        yield from _before_end(parser.feed(chunk))
    yield from _end(parser)


async def aiter_items(
    source: AsyncIterable[Buffer] | Source, protocol: str = "auto", **options: Any
) -> AsyncIterator[Item]:
    """iter_items for an asynchronous iterable of chunks; synchronous sources are taken too."""
    parser = ResponseParser(protocol, **options)
    if isinstance(source, AsyncIterable):
        async for chunk in source:
            for item in _before_end(parser.feed(chunk)):
                yield item
    else:
        for chunk in _chunks(source):
            for item in _before_end(parser.feed(chunk)):
                yield item
    for item in _end(parser):
        yield item


def _end(parser: ResponseParser) -> list[Item]:
    """What only the end of the input made known (cut calls, a last event taken leniently), and the end."""
    final = parser.finish()
    return [*_before_end(parser._rest()), parser._ending(final)]


def _before_end(items: list[Item]) -> list[Item]:
    """All but ResponseEnded: it is told once, when the input is over and everything is known."""
    return [item for item in items if not isinstance(item, ResponseEnded)]


def _chunks(source: Source) -> Iterator[Buffer]:
    if isinstance(source, str):
        raise TypeError("a stream is bytes, not str; for a file, pass pathlib.Path or an open binary file")
    if isinstance(source, os.PathLike):
        with Path(source).open("rb") as file:
            yield from _read(file)
    elif hasattr(source, "read"):
        yield from _read(cast("BinaryIO", source))
    elif _is_bytes_like(source):
        yield cast("Buffer", source)
    else:
        yield from cast("Iterable[Buffer]", source)


def _is_bytes_like(source: object) -> bool:
    try:
        memoryview(source)  # type: ignore[arg-type] # the question itself
    except TypeError:
        return False
    return True


def _read(file: BinaryIO) -> Iterator[bytes]:
    while (chunk := file.read(_CHUNK)) != b"":
        if chunk is None:
            raise BlockingIOError(
                "the file is non-blocking and has nothing to read yet: its end is not known"
            )
        yield chunk

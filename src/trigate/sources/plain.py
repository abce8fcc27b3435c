"""Sources that are no client's response: whole bytes, files, iterables of chunks.

Rules
 - A source that raises is not a finished one: the exception goes on to the caller, and nothing was released.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

from trigate.sources.bodies import library_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["PlainSource", "check_is_source", "chunks_of"]

_CHUNK = 64 * 1024

PlainSource: TypeAlias = "Buffer | BinaryIO | os.PathLike[str] | Iterable[Buffer]"


def chunks_of(source: PlainSource) -> Iterator[Buffer]:
    """The bytes of a source, in the chunks in which they come."""
    check_is_source(source)
    if isinstance(source, os.PathLike):
        with Path(source).open("rb") as file:
            yield from _read(file)
    elif hasattr(source, "read"):
        yield from _read(cast("BinaryIO", source))
    elif _is_bytes_like(source):
        yield cast("Buffer", source)
    elif isinstance(source, Iterable):
        yield from source
    elif isinstance(source, AsyncIterable):
        raise TypeError(f"this {type(source).__name__} is an asynchronous source: use aiter_items")
    else:
        raise TypeError(
            "a source is an HTTP response, bytes, a binary file, a path object or an iterable of chunks, "
            f"not {type(source).__name__}"
        )


def check_is_source(source: object) -> None:
    """TypeError for what has no bytes to give: a text, or an object of an SDK that only holds the HTTP response."""
    if isinstance(source, str):
        raise TypeError("a stream is bytes, not str; for a file, pass pathlib.Path or an open binary file")
    for name in ("http_response", "response"):
        if library_of(getattr(source, name, None)) is not None:
            raise TypeError(f"this {type(source).__name__} holds an HTTP response: pass its .{name}")


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

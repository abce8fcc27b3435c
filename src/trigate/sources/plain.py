"""Sources that are no client's response: whole bytes, files, iterables of chunks.

Rules
 - A source that raises is not a finished one: the exception goes on to the caller, and nothing was released.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias, cast

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["PlainSource", "chunks_of"]

_CHUNK = 64 * 1024

PlainSource: TypeAlias = "Buffer | BinaryIO | os.PathLike[str] | Iterable[Buffer]"


def chunks_of(source: PlainSource) -> Iterator[Buffer]:
    """The bytes of a source, in the chunks in which they come."""
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

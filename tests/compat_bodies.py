"""Bodies of responses in chosen chunks, that say how far they were read and if they were closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import cache
from types import ModuleType
from typing import Any

URL = "http://events.test/"
TYPE = {"content-type": "text/event-stream"}


class Body:
    """A body in these chunks, for a synchronous and an asynchronous response; `error` comes after the last."""

    def __init__(self, chunks: list[bytes], error: Exception | None = None) -> None:
        self.chunks = chunks
        self.error = error
        self.given = 0
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            self.given += 1
            yield chunk
        if self.error is not None:
            raise self.error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            await asyncio.sleep(0)
            yield chunk

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


@cache
def _class_for(library: ModuleType) -> type[Body]:
    """Each library knows its streams by class."""
    return type("StreamBody", (Body, library.SyncByteStream, library.AsyncByteStream), {})


def body_of(library: ModuleType, chunks: list[bytes], error: Exception | None = None) -> Body:
    return _class_for(library)(chunks, error)


def response_of(library: ModuleType, body: Body, headers: Any = TYPE) -> Any:
    return library.Response(200, headers=headers, stream=body, request=library.Request("GET", URL))


def transport_of(library: ModuleType, body: Body, asked: list[Any] | None = None) -> Any:
    """Answers each request with this body; the requests are put into `asked`."""

    def answer(request: Any) -> Any:
        if asked is not None:
            asked.append(request)
        return library.Response(200, headers=TYPE, stream=body)

    return library.MockTransport(answer)

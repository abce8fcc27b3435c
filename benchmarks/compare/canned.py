"""A response whose body is there already: what the SDKs get instead of a connection.

Rules
 - It is a real httpx2.Response, so that an SDK finds all that it looks for, but its chunks come straight from a
   list: nothing of HTTP is timed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

__all__ = ["Canned"]


class Canned(httpx2.Response):
    def __init__(self, chunks: list[bytes]) -> None:
        request = httpx2.Request("POST", "http://127.0.0.1/")
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        super().__init__(200, headers=headers, stream=httpx2.ByteStream(b""), request=request)
        self.body = chunks

    def iter_bytes(self, chunk_size: Any = None) -> Iterator[bytes]:  # noqa: ARG002 - the signature is httpx2's
        return iter(self.body)

    async def aiter_bytes(self, chunk_size: Any = None) -> AsyncIterator[bytes]:  # noqa: ARG002
        for chunk in self.body:
            yield chunk

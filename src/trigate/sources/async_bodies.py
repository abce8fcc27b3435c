"""The bodies of responses of asynchronous client libraries: trigate.sources.bodies tells the rules.

A read that waits ends with its task's wait: nothing has to be shut down for that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from trigate.sources.bodies import is_over, read_before

__all__ = ["AsyncBody", "async_body_of"]


class AsyncBody(Protocol):
    """As Body, for an event loop."""

    status: int
    headers: Mapping[str, str]

    async def read(self) -> bytes:
        """The next chunk, b"" at the end."""

    async def close(self) -> None: ...


def async_body_of(response: Any, library: str) -> AsyncBody:
    """The body of an asynchronous library's response."""
    if library == "aiohttp":
        return AiohttpBody(response)
    return AsyncHttpxBody(response) if library in ("httpx", "httpx2") else AsyncRawBody(response)


class AsyncHttpxBody:
    """httpx and httpx2."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._chunks: AsyncIterator[bytes] = response.aiter_bytes()

    async def read(self) -> bytes:
        async for chunk in self._chunks:
            if chunk:
                return chunk
        return b""

    async def close(self) -> None:
        close_chunks = getattr(self._chunks, "aclose", None)
        if close_chunks is not None:
            await close_chunks()
        await self._response.aclose()


class AiohttpBody:
    """aiohttp. Its close() drops the connection unless the body was read to its end."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._read_before = read_before(response, response)

    async def read(self) -> bytes:
        if self._read_before is not None:
            chunk, self._read_before = self._read_before, b""
            return chunk
        return bytes(await self._response.content.readany())

    async def close(self) -> None:
        self._response.close()


class AsyncRawBody:
    """niquests, and the asynchronous side of what it builds on."""

    def __init__(self, response: Any) -> None:
        raw = getattr(response, "raw", None)
        self._response = response
        self._raw = response if raw is None else raw
        self.status: int = response.status if raw is None else response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._read_before = read_before(response, self._raw)

    async def read(self) -> bytes:
        if self._read_before is not None:
            chunk, self._read_before = self._read_before, b""
            return chunk
        while True:
            chunk = await self._raw.read1(decode_content=True)
            if chunk or is_over(self._raw):
                return bytes(chunk)

    async def close(self) -> None:
        await self._response.close()

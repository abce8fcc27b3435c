"""Every client library as one thing: an address in, a response to stream out, and all closed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, TypeAlias

__all__ = ["ASYNC", "SYNC", "AsyncOpen", "Open"]

Open: TypeAlias = Callable[..., AbstractContextManager[Any]]
AsyncOpen: TypeAlias = Callable[..., AbstractAsyncContextManager[Any]]


@contextlib.contextmanager
def httpx(url: str, headers: dict[str, str] | None = None) -> Iterator[Any]:
    import httpx as library

    with library.Client() as client:
        request = client.build_request("GET", url, headers=headers)
        yield client.send(request, stream=True)


@contextlib.contextmanager
def httpx2(url: str, headers: dict[str, str] | None = None) -> Iterator[Any]:
    import httpx2 as library

    with library.Client() as client:
        request = client.build_request("GET", url, headers=headers)
        yield client.send(request, stream=True)


@contextlib.contextmanager
def requests(url: str, headers: dict[str, str] | None = None) -> Iterator[Any]:
    import requests as library

    with library.Session() as session:
        yield session.get(url, stream=True, timeout=10, headers=headers)


@contextlib.contextmanager
def urllib3(url: str, headers: dict[str, str] | None = None) -> Iterator[Any]:
    import urllib3 as library

    with library.PoolManager() as pool:
        yield pool.request("GET", url, preload_content=False, headers=headers, retries=False)


@contextlib.contextmanager
def niquests(url: str, headers: dict[str, str] | None = None) -> Iterator[Any]:
    import niquests as library

    with library.Session() as session:
        yield session.get(url, stream=True, timeout=10, headers=headers)


@contextlib.asynccontextmanager
async def httpx_async(url: str, headers: dict[str, str] | None = None) -> AsyncIterator[Any]:
    import httpx as library

    async with library.AsyncClient() as client:
        request = client.build_request("GET", url, headers=headers)
        yield await client.send(request, stream=True)


@contextlib.asynccontextmanager
async def httpx2_async(url: str, headers: dict[str, str] | None = None) -> AsyncIterator[Any]:
    import httpx2 as library

    async with library.AsyncClient() as client:
        request = client.build_request("GET", url, headers=headers)
        yield await client.send(request, stream=True)


@contextlib.asynccontextmanager
async def aiohttp(url: str, headers: dict[str, str] | None = None) -> AsyncIterator[Any]:
    import aiohttp as library

    async with library.ClientSession() as session:
        yield await session.get(url, headers=headers)


@contextlib.asynccontextmanager
async def niquests_async(url: str, headers: dict[str, str] | None = None) -> AsyncIterator[Any]:
    import niquests as library

    async with library.AsyncSession() as session:
        yield await session.get(url, stream=True, timeout=10, headers=headers)


SYNC: dict[str, Open] = {
    "httpx": httpx,
    "httpx2": httpx2,
    "requests": requests,
    "urllib3": urllib3,
    "niquests": niquests,
}
ASYNC: dict[str, AsyncOpen] = {
    "httpx": httpx_async,
    "httpx2": httpx2_async,
    "aiohttp": aiohttp,
    "niquests": niquests_async,
}

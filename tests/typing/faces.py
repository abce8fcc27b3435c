"""The faces for a type checker: what comes out of each has the original's type. Checked by `make check`, never run."""

from __future__ import annotations

import io
from typing import assert_type

import aiohttp
import httpx
import httpx2

import trigate
from trigate.compat import httpx2 as face2
from trigate.compat.aiohttp import events
from trigate.compat.httpx_sse import EventSource, ServerSentEvent, SSEError, aconnect_sse, connect_sse
from trigate.compat.sseclient import Event, SSEClient


def by_httpx_sse(client: httpx.Client, other: httpx2.Client) -> httpx.Response:
    with connect_sse(client, "GET", "https://example.com", headers={"a": "b"}) as source:
        assert_type(source, EventSource)
        for event in source.iter_sse():
            assert_type(event, ServerSentEvent)
            assert_type(event.data, str)
            assert_type(event.retry, int | None)
    try:
        with connect_sse(other, "GET", "https://example.com") as source:
            assert_type(source.leftover, trigate.Leftover | None)
    except SSEError as error:
        assert_type(error.request, httpx.Request)
        raise
    return source.response


async def by_httpx_sse_asynchronously(client: httpx.AsyncClient | httpx2.AsyncClient) -> None:
    async with aconnect_sse(client, "GET", "https://example.com") as source:
        async for event in source.aiter_sse():
            assert_type(event, ServerSentEvent)


def by_httpx2(client: face2.Client) -> None:
    with client.sse("https://example.com", max_event_size=None, json={}) as source:
        assert_type(source, face2.EventSource)
        original: httpx2.EventSource = source
        assert_type(original.response, httpx2.Response)
        for event in source:
            assert_type(event, httpx2.ServerSentEvent)


async def by_httpx2_asynchronously(client: face2.AsyncClient) -> None:
    async with client.sse("https://example.com") as source:
        async for event in source:
            assert_type(event, httpx2.ServerSentEvent)


async def by_aiohttp(session: aiohttp.ClientSession) -> None:
    async with session.get("https://example.com") as response, events(response) as found:
        async for event in found:
            assert_type(event, trigate.ServerSentEvent)


def by_sseclient() -> None:
    for event in SSEClient(io.BytesIO(b"")).events():
        assert_type(event, Event)
        assert_type(event.id, str | None)

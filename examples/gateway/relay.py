"""One stream on its way from the upstream to the client.

Rules
 - A failure of the upstream is passed on as one: the client's connection is broken off, never ended as if all were
   well.
 - The upstream's connection is closed whatever happens, at once when the client goes.
 - What may go out goes out at once: nothing is read ahead, and the client's pace is the upstream's.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

import aiohttp
from metrics import Metrics
from policy import allow_all_but
from settings import Settings
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from trigate.tap import CallGate, Tap

__all__ = ["Relay", "read_through", "relay", "watcher_for"]

_log = logging.getLogger("gateway")
_FAILURES = (aiohttp.ClientError, TimeoutError, ConnectionError)


class Relay(StreamingResponse):
    """The answer to the client. body: its bytes as they come; raises what the upstream failed with."""

    def __init__(
        self,
        upstream: aiohttp.ClientResponse,
        body: AsyncGenerator[bytes, None],
        headers: list[tuple[bytes, bytes]],
    ) -> None:
        super().__init__(body, upstream.status)
        self.raw_headers = headers
        self._upstream = upstream
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Here, for a client can go before the body is begun: a generator that never ran cleans nothing up.
            self._upstream.close()

    async def stream_response(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async with aclosing(self._body) as body:
                async for chunk in body:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except _FAILURES as error:
            # Without the last message the server closes the connection in mid-body: no client takes that for an end.
            # Its text is not logged: it may quote the stream.
            _log.warning("the upstream failed in mid-stream: %s", type(error).__name__)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def watcher_for(settings: Settings, protocol: str) -> Tap | CallGate | None:
    """What looks at a stream in this mode. Its clock starts here: make it before the request is sent."""
    if settings.mode == "gate":
        return CallGate(protocol, allow_all_but(settings.denied))
    return Tap(protocol) if settings.mode == "tap" else None


async def relay(
    upstream: aiohttp.ClientResponse, watcher: Tap | CallGate | None, settings: Settings, metrics: Metrics
) -> AsyncGenerator[bytes, None]:
    """The bytes for the client."""
    if watcher is not None:
        passing = _watch(upstream, watcher, metrics)
    else:
        passing = _read_each(upstream) if settings.mode == "json" else read_through(upstream)
    metrics.open.inc()
    try:
        async with aclosing(passing):
            async for chunk in passing:
                yield chunk
    finally:
        metrics.open.dec()


async def read_through(upstream: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """The bytes for the client, unwatched."""
    async for chunk in upstream.content.iter_any():
        yield chunk


async def _read_each(upstream: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """As gateways do that know no incremental parser: it is here to be measured."""
    held = b""
    async for chunk in upstream.content.iter_any():
        *lines, held = (held + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                json.loads(line[6:])
        yield chunk


async def _watch(
    upstream: aiohttp.ClientResponse, watcher: Tap | CallGate, metrics: Metrics
) -> AsyncGenerator[bytes, None]:
    failure: Exception | None = None
    try:
        async for chunk in upstream.content.iter_any():
            if passed := watcher.feed(chunk):
                yield passed
            if isinstance(watcher, CallGate) and watcher.is_shut:
                break  # a call was refused, and the client has been told: nothing more will go out
    except (GeneratorExit, asyncio.CancelledError):
        watcher.finish("the client left")
        metrics.count(watcher.report(), client_left=True)
        raise
    except _FAILURES as error:
        failure = error
    rest = watcher.finish(failure)
    metrics.count(watcher.report())
    if isinstance(watcher, CallGate):
        metrics.count_refused(watcher)
        if isinstance(rest, bytes) and rest:
            yield rest
    if failure is not None:
        raise failure

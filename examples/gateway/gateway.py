"""A reverse proxy for model APIs that watches the streams: clients point their base URL at it.

Rules
 - What is no event stream (errors, plain JSON) goes through as it is, with its status.
 - Nothing is retried or redirected, and nothing of one request is kept for another: a request costs money, and only the
   client knows whether to ask again.
 - A client that goes ends its request, be it before the answer's first byte.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
from headers import of_request, of_response
from metrics import Metrics
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from relay import Relay, read_through, relay, watcher_for
from settings import Settings
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from yarl import URL

__all__ = ["make_app"]

# The path says which API it is.
PROTOCOLS = {
    "/v1/responses": ("openai", "openai-responses"),
    "/v1/chat/completions": ("openai", "openai-chat"),
    "/v1/messages": ("anthropic", "anthropic-messages"),
}
# Nobody reads it; it stands in the server's log.
_CLIENT_LEFT = 499


def make_app(settings: Settings | None = None) -> Starlette:
    chosen = settings or Settings.from_environment()
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=chosen.idle_timeout)
        # A stream holds its connection for minutes: a limit on connections would be one on clients.
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(
            timeout=timeout,
            connector=connector,
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),  # one client's cookies are not another's
            skip_auto_headers=("content-type", "user-agent"),
        ) as session:
            app.state.session = session
            yield

    async def show(_: Request) -> Response:
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    routes = [Route(path, _asking(path, chosen, metrics), methods=["POST"]) for path in PROTOCOLS]
    return Starlette(routes=[*routes, Route("/metrics", show)], lifespan=lifespan)


def _asking(path: str, settings: Settings, metrics: Metrics) -> Callable[[Request], Awaitable[Response]]:
    """What answers requests to this path, and takes it from the route: the request's own URL has the client's Host."""
    provider, protocol = PROTOCOLS[path]
    base = settings.openai if provider == "openai" else settings.anthropic

    async def ask(request: Request) -> Response:
        watcher = watcher_for(settings, protocol)
        try:
            body = await _body(request, settings.max_request_bytes)
            if body is None:
                return _error(413, "request_too_large", f"more than {settings.max_request_bytes} bytes")
            upstream = await _answer(request, URL(_with_query(base + path, request), encoded=True), body)
        except ClientDisconnect:
            metrics.left.labels(protocol).inc()
            return Response(status_code=_CLIENT_LEFT)
        except (aiohttp.ClientError, TimeoutError) as error:
            return _error(
                502, "upstream_unreachable", f"the upstream cannot be reached: {type(error).__name__}"
            )
        is_stream = upstream.status == 200 and upstream.content_type == "text/event-stream"
        passing = relay(upstream, watcher, settings, metrics) if is_stream else read_through(upstream)
        return Relay(upstream, passing, of_response(upstream.raw_headers))

    return ask


def _error(status: int, kind: str, message: str) -> Response:
    return JSONResponse({"error": {"type": kind, "message": message}}, status_code=status)


def _with_query(url: str, request: Request) -> str:
    """The client's query behind it, byte for byte."""
    query = request.scope["query_string"].decode("latin-1")
    return f"{url}?{query}" if query else url


async def _body(request: Request, bound: int) -> bytes | None:
    """The request's body; None if it is longer. ClientDisconnect if the client goes."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > bound:
            return None
    return bytes(body)


async def _answer(request: Request, url: URL, body: bytes) -> aiohttp.ClientResponse:
    """The upstream's answer, its body still to be read. ClientDisconnect if the client goes before it comes."""
    session: aiohttp.ClientSession = request.app.state.session
    headers = of_request(request.headers.items())
    try:
        async with asyncio.timeout(None) as waiting:
            leaving = asyncio.ensure_future(_wait_for_leaving(request, waiting))
            try:
                return await session.post(url, data=body, headers=headers, allow_redirects=False)
            finally:
                leaving.cancel()
    except TimeoutError as error:
        if waiting.expired():
            raise ClientDisconnect from error
        raise


async def _wait_for_leaving(request: Request, waiting: asyncio.Timeout) -> None:
    """Until the client goes: then there is nothing to wait for any more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    waiting.reschedule(asyncio.get_running_loop().time())

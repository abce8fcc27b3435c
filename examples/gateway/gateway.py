"""A reverse proxy for model APIs that watches the streams: clients point their base URL at it.

Rules
 - What is no event stream (errors, plain JSON) goes through as it is, with its status.
 - Nothing is retried: a request costs money, and only the client knows whether to ask again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from metrics import Metrics
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from relay import Relay, relay, watcher_for
from settings import Settings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

__all__ = ["make_app"]

# The path says which API it is.
PROTOCOLS = {
    "/v1/responses": ("openai", "openai-responses"),
    "/v1/chat/completions": ("openai", "openai-chat"),
    "/v1/messages": ("anthropic", "anthropic-messages"),
}
# Headers of one connection, and what the gateway's own client sets (RFC 9110, section 7.6.1).
_NOT_PASSED_ON = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def make_app(settings: Settings | None = None) -> Starlette:
    chosen = settings or Settings.from_environment()
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=chosen.idle_timeout)
        # A stream holds its connection for minutes: a limit on connections would be one on clients.
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(
            timeout=timeout, connector=connector, auto_decompress=True
        ) as session:
            app.state.session = session
            yield

    async def ask(request: Request) -> Response:
        return await _ask(request, chosen, metrics)

    async def show(_: Request) -> Response:
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    routes = [Route(path, ask, methods=["POST"]) for path in PROTOCOLS]
    return Starlette(routes=[*routes, Route("/metrics", show)], lifespan=lifespan)


async def _ask(request: Request, settings: Settings, metrics: Metrics) -> Response:
    provider, protocol = PROTOCOLS[request.url.path]
    session: aiohttp.ClientSession = request.app.state.session
    headers = {name: value for name, value in request.headers.items() if name not in _NOT_PASSED_ON}
    url = getattr(settings, provider) + request.url.path
    watcher = watcher_for(settings, protocol)
    try:
        upstream = await session.post(
            url, params=request.query_params, data=await request.body(), headers=headers
        )
    except (aiohttp.ClientError, TimeoutError) as error:
        message = f"the upstream cannot be reached: {type(error).__name__}"
        return JSONResponse({"error": {"type": "upstream_unreachable", "message": message}}, status_code=502)
    passed_on = {
        name: value for name, value in upstream.headers.items() if name.lower() not in _NOT_PASSED_ON
    }
    if upstream.status != 200 or upstream.content_type != "text/event-stream":
        async with upstream:
            return Response(await upstream.read(), upstream.status, passed_on)
    return Relay(relay(upstream, watcher, settings, metrics), upstream.status, passed_on)

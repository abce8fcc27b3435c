"""Upstreams and gateways on loopback: shared by the tests of the example gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

import aiohttp
import uvicorn

__all__ = ["Answer", "Upstream", "metric", "pieces", "raw", "served", "through"]


class App(Protocol):
    """An ASGI application."""

    def __call__(self, scope: Any, receive: Any, send: Any) -> Awaitable[None]: ...


_App = TypeVar("_App", bound=App)


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The URL of a server for this application, in this loop."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server._serve())  # serve() would take the process's signals
    while not server.started:
        assert not task.done(), "the server did not start"
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


class Upstream:
    """A model server: every request gets the same chunks, then it ends, cuts, or waits for the client to go."""

    def __init__(
        self, chunks: list[bytes], end: str = "end", status: int = 200, kind: str = "text/event-stream"
    ) -> None:
        self.chunks, self.end, self.status, self.kind = chunks, end, status, kind
        self.requests: list[tuple[str, dict[bytes, bytes], bytes]] = []
        self.gone = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.requests.append((scope["path"], dict(scope["headers"]), body))
        await send(
            {
                "type": "http.response.start",
                "status": self.status,
                "headers": [(b"content-type", self.kind.encode())],
            }
        )
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await asyncio.sleep(0)
        if self.end == "wait":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.gone.set()
        elif self.end == "end":
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _live(self, receive: Any, send: Any) -> None:
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return


def through(
    example: Any,
    upstream: Callable[[], _App],
    use: Callable[[str, _App], Coroutine[Any, Any, None]],
    **settings: Any,
) -> None:
    """Runs `use` with the URL of a gateway before that upstream."""

    async def run() -> None:
        behind = upstream()
        async with served(behind) as url:
            app = example["make_app"](example["Settings"](openai=url, anthropic=url, **settings))
            async with served(app) as front:
                await use(front, behind)

    asyncio.run(run())


async def metric(url: str, line: str) -> float:
    """The value of that line of /metrics; 0 if it is not there."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as page:
        found = [text for text in (await page.text()).splitlines() if text.startswith(line + " ")]
    return float(found[0].rpartition(" ")[2]) if found else 0.0


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


class Answer:
    """An upstream that answers every request with these headers and this body, and keeps the requests' headers."""

    def __init__(self, headers: list[tuple[bytes, bytes]], body: bytes = b"{}", status: int = 200) -> None:
        self.headers, self.body, self.status = headers, body, status
        self.requests: list[tuple[bytes, list[tuple[bytes, bytes]]]] = []
        self.gone = asyncio.Event()
        self.is_silent = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await Upstream([])._live(receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        self.requests.append((scope["query_string"], scope["headers"]))
        if self.is_silent:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.gone.set()
            return
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


async def raw(url: str, head: bytes, body: bytes = b"{}") -> bytes:
    """The whole answer to one request, as bytes: clients of HTTP would tidy both up."""
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        length = f"content-length: {len(body)}\r\nconnection: close, x-mine\r\n\r\n".encode()
        writer.write(head + length + body)
        return await asyncio.wait_for(reader.read(), 5)
    finally:
        writer.close()
        await writer.wait_closed()

"""A real server on loopback for the tests of sources: uvicorn in a thread, and a socket that breaks its word.

Rules
 - One server for a test module; each test gives it a plan under a path of its own.
 - It counts the streams that are open, so that a test can wait until a connection is really gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import pytest
import uvicorn

__all__ = ["CUT", "FOREVER", "RESET", "Loopback", "Plan", "loopback", "serving"]

#: Steps of a plan beside bytes to send and seconds to wait.
CUT = "cut"  # the connection ends inside the body
FOREVER = "forever"  # silence until the client goes away
RESET = "reset"  # the connection is reset
Step: TypeAlias = "bytes | float | str"

_EVENT_STREAM = "text/event-stream; charset=utf-8"


@dataclass
class Plan:
    """What a path answers. ping: bytes that are sent again and again once the steps are over, until the client goes."""

    steps: list[Step]
    status: int = 200
    content_type: str | None = _EVENT_STREAM
    headers: dict[str, str] = field(default_factory=dict)
    ping: bytes | None = None
    is_zipped: bool = False


class Loopback:
    """The server's address, its plans, and what it saw."""

    def __init__(self) -> None:
        self.url = ""
        self.open = 0
        self.gone = 0  # streams whose client went away before their end
        self.asked: list[dict[str, str]] = []  # the headers of each request
        self._plans: dict[str, Plan] = {}
        self._sockets: dict[str, str] = {}
        self._changed = threading.Condition()

    def plan(self, steps: Iterable[Step], **members: Any) -> str:
        """The address that answers like this."""
        path = f"/{len(self._plans)}"
        self._plans[path] = Plan(list(steps), **members)
        return self.url + path

    def wait_until_gone(self, count: int = 1) -> None:
        """Until so many clients have gone away early since the last call."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.gone >= count, 5), "the server saw no disconnect"
            self.gone = 0

    def wait_until_quiet(self) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.open == 0, 5), "a stream is still open"

    def _count(self, *, opened: int = 0, gone: int = 0) -> None:
        with self._changed:
            self.open += opened
            self.gone += gone
            self._changed.notify_all()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """The ASGI application."""
        assert scope["type"] == "http"
        plan = self._plans[scope["path"]]
        self.asked.append({name.decode(): value.decode() for name, value in scope["headers"]})
        self._count(opened=1)
        try:
            await self._answer(plan, scope, receive, send)
        finally:
            self._count(opened=-1)

    async def _answer(self, plan: Plan, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        headers = dict(plan.headers)
        if plan.content_type is not None:
            headers["content-type"] = plan.content_type
        if plan.is_zipped:
            headers["content-encoding"] = "gzip"
        listed = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": plan.status, "headers": listed})
        left = asyncio.ensure_future(_until_left(receive))
        work = asyncio.ensure_future(self._send_steps(plan, scope, send))
        await asyncio.wait({left, work}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            self._count(gone=1)
            work.cancel()
        left.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work

    async def _send_steps(self, plan: Plan, scope: MutableMapping[str, Any], send: Any) -> None:
        steps = _zipped(plan.steps) if plan.is_zipped else plan.steps
        for step in steps:
            if isinstance(step, bytes):
                await send({"type": "http.response.body", "body": step, "more_body": True})
            elif isinstance(step, float):
                await asyncio.sleep(step)
            elif step == FOREVER:
                await asyncio.Event().wait()
            else:
                await _break(scope, step)
                return
        while plan.ping is not None:
            await asyncio.sleep(0.03)
            await send({"type": "http.response.body", "body": plan.ping, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _until_left(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _break(scope: MutableMapping[str, Any], how: str) -> None:
    """What was sent before goes out first."""
    await asyncio.sleep(0.03)
    transport = scope["extensions"]["loopback.transport"]
    if how == RESET:
        # SO_LINGER of 0 seconds makes close() a reset.
        transport.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
    transport.abort()


def _zipped(steps: list[Step]) -> Iterator[Step]:
    """One gzip stream, flushed after each step."""

    packer = zlib.compressobj(wbits=31)
    for step in steps:
        if not isinstance(step, bytes):
            yield step
            continue
        # In two pieces: the first one is mostly no whole block.
        packed = packer.compress(step) + packer.flush(zlib.Z_SYNC_FLUSH)
        yield packed[: len(packed) // 2]
        yield packed[len(packed) // 2 :]
    yield packer.flush()


@contextlib.contextmanager
def serving() -> Iterator[Loopback]:
    """A server that is there for the time of the block."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        """Hands its transport to the application, which may break it."""

        def handle_events(self) -> None:
            super().handle_events()
            if self.scope is not None:
                scope = cast("dict[str, Any]", self.scope)
                scope.setdefault("extensions", {})["loopback.transport"] = self.transport

    app = Loopback()
    listener = socket.create_server(("127.0.0.1", 0))
    app.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(app, http=Protocol, ws="none", lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield app
    finally:
        server.should_exit = True
        thread.join(5)
        listener.close()
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    with serving() as app:
        yield app

"""The faces over real sockets: streams that come in odd pieces, compressed and cut, by each client that they serve."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import threading
import urllib.request
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from compat_streams import EXAMPLE, EXAMPLE_SEEN, Seen, left_of, seen
from trigate import Leftover
from trigate.compat.httpx_sse import EventSource, aconnect_sse, connect_sse
from trigate.compat.sseclient import SSEClient

httpx = pytest.importorskip("httpx")
httpx2 = pytest.importorskip("httpx2")
face2: Any = pytest.importorskip("trigate.compat.httpx2")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
#: What a reader saw: events, what was left, and the kind of error that came.
Result = tuple[list[Seen], Leftover | None, str]


def chunked(data: bytes, size: int) -> list[bytes]:
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]


@contextlib.contextmanager
def server(answer: list[bytes]) -> Iterator[str]:
    """Answers one request with these pieces, one send each, and closes; gives the URL."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(10)  # a test that fails before it asks leaves no thread behind

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(ConnectionError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                asked = b""
                while not asked.endswith(b"\r\n\r\n"):
                    asked += connection.recv(4096)
                for piece in answer:
                    connection.sendall(piece)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join()


def collect(source: Any, events: Iterator[Any]) -> Result:
    found = []
    try:
        for event in events:
            found.append(seen(event))
    except Exception as error:
        return found, source.leftover, type(error).__name__
    return found, source.leftover, ""


async def acollect(source: Any, events: Any) -> Result:
    found = []
    try:
        async for event in events:
            found.append(seen(event))
    except Exception as error:
        return found, source.leftover, type(error).__name__
    return found, source.leftover, ""


def by_httpx_sse(library: ModuleType) -> Callable[[str], Result]:
    def read(url: str) -> Result:
        with library.Client(trust_env=False) as client, connect_sse(client, "GET", url) as source:
            return collect(source, source.iter_sse())

    return read


def by_httpx_sse_asynchronously(library: ModuleType) -> Callable[[str], Result]:
    async def read(url: str) -> Result:
        client = library.AsyncClient(trust_env=False)
        async with client, aconnect_sse(client, "GET", url) as source:
            return await acollect(source, source.aiter_sse())

    return lambda url: asyncio.run(read(url))


def by_httpx2(url: str) -> Result:
    with face2.Client(trust_env=False) as client, client.sse(url) as source:
        return collect(source, iter(source))


def by_httpx2_asynchronously(url: str) -> Result:
    async def read() -> Result:
        async with face2.AsyncClient(trust_env=False) as client, client.sse(url) as source:
            return await acollect(source, source)

    return asyncio.run(read())


def by_sseclient(url: str) -> Result:
    request = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    client = SSEClient(request.open(url))
    try:
        return collect(client, client.events())
    finally:
        client.close()


READERS: dict[str, Callable[[str], Result]] = {
    "httpx_sse over httpx": by_httpx_sse(httpx),
    "httpx_sse over httpx2": by_httpx_sse(httpx2),
    "httpx_sse over httpx, async": by_httpx_sse_asynchronously(httpx),
    "httpx_sse over httpx2, async": by_httpx_sse_asynchronously(httpx2),
    "httpx2": by_httpx2,
    "httpx2, async": by_httpx2_asynchronously,
    "sseclient over urllib": by_sseclient,
}
each_reader = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


@each_reader
def test_a_whole_stream_in_odd_pieces(read: Callable[[str], Result]) -> None:
    with server([CHUNKED, *chunked(EXAMPLE, 3), b"0\r\n\r\n"]) as url:
        assert read(url) == (EXAMPLE_SEEN, left_of(EXAMPLE), "")


@each_reader
def test_a_stream_that_ends_with_its_connection(read: Callable[[str], Result]) -> None:
    stream = EXAMPLE + b" no more\n\n"
    with server([HEAD + b"\r\n", stream[:50], stream[50:]]) as url:
        found, left, error = read(url)
    assert found == [*EXAMPLE_SEEN, ("message", "half no more", "", "")]
    assert (left, error) == (Leftover(start=len(stream)), "")


@pytest.mark.parametrize("read", list(READERS.values())[:-1], ids=list(READERS)[:-1])
def test_a_compressed_stream(read: Callable[[str], Result]) -> None:
    with server([HEAD + b"Content-Encoding: gzip\r\n\r\n", gzip.compress(EXAMPLE)]) as url:
        assert read(url) == (EXAMPLE_SEEN, left_of(EXAMPLE), "")


@pytest.mark.parametrize("name", READERS)
def test_a_stream_whose_connection_breaks(name: str) -> None:
    """The client's own error goes through. The lines of http.client end without one: there the leftover tells."""
    with server([CHUNKED, *chunked(EXAMPLE, 7)]) as url:
        found, left, error = READERS[name](url)
    assert found == EXAMPLE_SEEN
    if name == "sseclient over urllib":
        assert (left, error) in [(left_of(EXAMPLE), ""), (None, "IncompleteRead")]
    else:
        assert (left, error) == (None, "RemoteProtocolError")


def test_leaving_early_ends_the_connection() -> None:
    """The server is let go: its send fails, and `server` comes to its end."""
    endless = [CHUNKED, *chunked(b"data: a\n\n" * 10, 90), *chunked(b": x\n" * 4_000_000, 65536)]
    with (
        server(endless) as url,
        httpx.Client(trust_env=False) as client,
        connect_sse(client, "GET", url) as source,
    ):
        assert isinstance(source, EventSource)
        assert next(iter(source.iter_sse())).data == "a"

"""Events of an aiohttp response: those of SSEDecoder at every cut; from a real server also late, cut, left early."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

import trigate
from compat_streams import EXAMPLE, EXAMPLE_SEEN, STREAMS, Seen, chunkings, expected, left_of, seen
from trigate.compat.aiohttp import EventStream, events

aiohttp = pytest.importorskip("aiohttp")
BaseProtocol: Any = pytest.importorskip("aiohttp.base_protocol").BaseProtocol

#: What a server does with the writer once the request is read.
Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]


def run(test: Callable[[], Awaitable[None]]) -> None:
    """The test in a loop of its own; what it leaves behind (tasks, sockets) is an error."""

    async def watched() -> None:
        await test()
        await asyncio.sleep(0)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert left == set()

    asyncio.run(watched())


# -- without a network ---------------------------------------------------------------------------------


def response_of(chunks: list[bytes]) -> Any:
    """A response with a real body reader of aiohttp, that gives one chunk a read."""
    loop = asyncio.get_running_loop()
    reader = aiohttp.StreamReader(BaseProtocol(loop), 2**24, loop=loop)
    pieces = iter(chunks)

    async def readany() -> bytes:
        if piece := next(pieces, b""):
            reader.feed_data(piece)
        else:
            reader.feed_eof()
        data: bytes = await aiohttp.StreamReader.readany(reader)
        return data

    content = SimpleNamespace(readany=readany)
    return SimpleNamespace(headers={"Content-Type": "text/event-stream"}, content=content, close=mock.Mock())


async def read(response: Any) -> list[Seen]:
    return [seen(event) async for event in events(response)]


def test_every_vector_at_every_cut() -> None:
    async def check() -> None:
        for name, stream in STREAMS.items():
            wanted = expected(stream)
            for chunks in itertools.islice(chunkings(name), 1, 6):
                assert await read(response_of(chunks)) == wanted, (name, [len(chunk) for chunk in chunks])

    run(check)


def test_leftover_and_what_blocks_without_data_set() -> None:
    async def check() -> None:
        stream = events(response_of([b"id: 7\nretry: 30\n\ndata: half"]))
        assert (stream.leftover, stream.last_event_id, stream.reconnection_time) == (None, "", None)
        assert [event async for event in stream] == []
        assert stream.leftover == trigate.Leftover("line", b"data: half", "half", "message", 17)
        assert (stream.last_event_id, stream.reconnection_time) == ("7", 30)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    run(check)


def test_an_event_without_end_is_a_limit_error() -> None:
    async def check() -> None:
        chunks = [b"data: a\n\ndata: bcd", b"efg\n\n"]
        stream = events(response_of(chunks), limits=trigate.Limits(max_event_bytes=len("bcdefg")))
        assert [event.data async for event in stream] == ["a", "bcdefg"]
        stream = events(response_of(chunks), limits=trigate.Limits(max_event_bytes=len("bcdef")))
        assert (await anext(stream)).data == "a"
        with pytest.raises(trigate.LimitError, match="max_event_bytes") as caught:
            await anext(stream)
        assert caught.value.offset == 20

    run(check)


def test_closing_closes_the_response_and_ends_the_iterator() -> None:
    async def check() -> None:
        for close in ("close", "aclose", "with"):
            response = response_of([b"data: a\n\ndata: b\n\n"])
            stream = events(response)
            assert (await anext(stream)).data == "a"
            if close == "close":
                stream.close()
            elif close == "aclose":
                async with contextlib.aclosing(stream):
                    pass
            else:
                async with stream as same:
                    assert same is stream
            response.close.assert_called_once_with()
            assert stream.response is response
            assert [event async for event in stream] == []

    run(check)


def test_reading_imports_no_aiohttp() -> None:
    code = "import sys, trigate.compat.aiohttp\nassert not {'aiohttp', 'asyncio'} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


# -- from a real server --------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def answered(serve: Serve) -> AsyncIterator[Any]:
    """A session and the response that a server on loopback gives; the server is gone at the end."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            await serve(writer)
            await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/") as response:
            yield response
    finally:
        server.close()
        await server.wait_closed()
        await asyncio.sleep(0.01)  # the handlers of connections that were closed by us


def head(*headers: str, content_type: str = "text/event-stream") -> bytes:
    lines = ("HTTP/1.1 200 OK", f"Content-Type: {content_type}", *headers, "", "")
    return "\r\n".join(lines).encode()


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def test_a_whole_stream_in_odd_chunks() -> None:
    async def serve(writer: asyncio.StreamWriter) -> None:
        writer.write(head("Transfer-Encoding: chunked"))
        for start in range(0, len(EXAMPLE), 3):
            writer.write(chunked(EXAMPLE[start : start + 3]))
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")

    async def check() -> None:
        async with answered(serve) as response, events(response) as stream:
            assert [seen(event) async for event in stream] == EXAMPLE_SEEN
            assert stream.leftover == left_of(EXAMPLE)

    run(check)


def test_a_compressed_stream() -> None:
    async def serve(writer: asyncio.StreamWriter) -> None:
        body = gzip.compress(EXAMPLE)
        writer.write(head("Content-Encoding: gzip", f"Content-Length: {len(body)}") + body)

    async def check() -> None:
        async with answered(serve) as response:
            assert await read(response) == EXAMPLE_SEEN

    run(check)


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/event-stream-x", "text/html; charset=utf-8"]
)
def test_another_content_type_is_aiohttps_own_error(content_type: str) -> None:
    async def serve(writer: asyncio.StreamWriter) -> None:
        writer.write(head("Content-Length: 2", content_type=content_type) + b"{}")

    async def check() -> None:
        async with answered(serve) as response:
            with pytest.raises(aiohttp.ContentTypeError, match=content_type) as caught:
                events(response)
            assert isinstance(caught.value, aiohttp.ClientError)
            assert (caught.value.status, caught.value.request_info) == (200, response.request_info)
            assert await response.text() == "{}"

    run(check)


def test_events_come_before_the_stream_goes_on() -> None:
    async def check() -> None:
        may_go_on = asyncio.Event()

        async def serve(writer: asyncio.StreamWriter) -> None:
            writer.write(head() + b"data: a\r\r")
            await may_go_on.wait()
            writer.write(b"data: b\n\n")

        async with answered(serve) as response:
            stream = events(response)
            assert (await anext(stream)).data == "a"
            may_go_on.set()
            assert [event.data async for event in stream] == ["b"]
            assert stream.leftover == trigate.Leftover(start=18)

    run(check)


def test_errors_of_the_connection_pass_through() -> None:
    async def check() -> None:
        is_read = asyncio.Event()

        async def serve(writer: asyncio.StreamWriter) -> None:
            writer.write(head("Transfer-Encoding: chunked") + chunked(b"data: a\n\ndata: b"))
            await is_read.wait()

        async with answered(serve) as response:
            stream = events(response)
            assert (await anext(stream)).data == "a"
            is_read.set()
            with pytest.raises(aiohttp.ClientPayloadError):
                await anext(stream)
            assert stream.leftover is None

    run(check)


@pytest.mark.parametrize("way", ["break", "error", "cancel"])
def test_leaving_early_closes_the_connection(way: str) -> None:
    async def check() -> None:
        is_gone = asyncio.Event()

        async def serve(writer: asyncio.StreamWriter) -> None:
            writer.write(head("Transfer-Encoding: chunked") + chunked(b"data: a\n\n"))
            with contextlib.suppress(ConnectionError):
                while not writer.is_closing():
                    writer.write(chunked(b": still here\n"))
                    await writer.drain()
                    await asyncio.sleep(0.005)
            is_gone.set()

        async with answered(serve) as response:
            with contextlib.suppress(ZeroDivisionError, asyncio.CancelledError):
                await leave(way, events(response))
            assert response.closed
            await asyncio.wait_for(is_gone.wait(), 10)

    run(check)


async def leave(way: str, stream: EventStream) -> None:
    async with stream:
        async for event in stream:
            assert event.data == "a"
            if way == "break":
                break
            if way == "error":
                raise ZeroDivisionError
            waiting = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0.01)
            waiting.cancel()
            await waiting

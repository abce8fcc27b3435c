"""The face of httpx2's events: those of SSEDecoder at every cut, as httpx2's own classes; bounds and ends as there."""

from __future__ import annotations

import asyncio
import inspect
import random
import subprocess
import sys
from typing import Any

import pytest

import cuts
import trigate
from compat_bodies import TYPE, URL, Body, body_of, response_of, transport_of
from compat_streams import EXAMPLE, EXAMPLE_SEEN, STREAMS, Seen, chunkings, expected, left_of, seen

httpx2 = pytest.importorskip("httpx2")
face: Any = pytest.importorskip("trigate.compat.httpx2")


def source_of(*chunks: bytes, headers: Any = TYPE, **options: Any) -> Any:
    return face.EventSource(response_of(httpx2, body_of(httpx2, list(chunks)), headers), **options)


def read(chunks: list[bytes], **options: Any) -> list[Seen]:
    return [seen(event) for event in source_of(*chunks, **options)]


async def aread(chunks: list[bytes], **options: Any) -> list[Seen]:
    return [seen(event) async for event in source_of(*chunks, **options)]


@pytest.mark.parametrize("name", STREAMS)
def test_every_vector_at_every_cut(name: str) -> None:
    wanted = expected(STREAMS[name])
    for chunks in chunkings(name):
        assert read(chunks) == wanted, [len(chunk) for chunk in chunks]


def test_every_vector_asynchronously() -> None:
    async def check() -> None:
        for name in STREAMS:
            for chunks in list(chunkings(name))[1:3]:
                assert await aread(chunks) == expected(STREAMS[name]), name

    asyncio.run(check())


def test_events_and_errors_are_httpx2s_own() -> None:
    (event,) = source_of(b"event: e\nid: 1\nretry: 2\ndata: [3]\n\n")
    assert type(event) is httpx2.ServerSentEvent
    assert event == httpx2.ServerSentEvent("e", "[3]", "1", 2)
    assert event.json() == [3]
    assert face.SSEError is httpx2.SSEError
    assert isinstance(source_of(), httpx2.EventSource)


def test_the_clients_sse_is_read_by_us() -> None:
    asked: list[Any] = []
    body = body_of(httpx2, [EXAMPLE])
    client = face.Client(transport=transport_of(httpx2, body, asked))
    with client, client.sse(URL, method="POST", json=[1], headers={"x-mine": "1"}) as source:
        assert [seen(event) for event in source] == EXAMPLE_SEEN
        assert source.leftover == left_of(EXAMPLE)
    (request,) = asked
    assert (request.method, request.read()) == ("POST", b"[1]")
    names = ("accept", "cache-control", "x-mine")
    assert [request.headers[name] for name in names] == ["text/event-stream", "no-store", "1"]
    assert (body.is_closed, source.response.is_closed) == (True, True)


def test_the_asynchronous_clients_sse_is_read_by_us() -> None:
    body = body_of(httpx2, [b"data: a\n\n", b"data: b\n\n"])

    async def leave() -> None:
        client = face.AsyncClient(transport=transport_of(httpx2, body))
        async with client, client.sse(URL) as source:
            async for event in source:
                assert event.data == "a"
                break
        assert source.response.is_closed

    asyncio.run(leave())
    assert (body.is_closed, body.given) == (True, 1)


def test_leaving_early_closes_the_response() -> None:
    body = body_of(httpx2, [b"data: a\n\n", b"data: b\n\n"])
    client = face.Client(transport=transport_of(httpx2, body))
    with client, client.sse(URL, max_event_size=None) as source:
        for event in source:
            assert event.data == "a"
            break
    assert (body.is_closed, body.given, source.leftover) == (True, 1, None)


def test_another_content_type_is_an_sse_error_that_knows_the_request() -> None:
    source = source_of(EXAMPLE, headers={"content-type": "application/json"})
    with pytest.raises(httpx2.SSEError, match=r"'text/event-stream'.*'application/json'") as caught:
        next(iter(source))
    assert str(caught.value.request.url) == URL
    with pytest.raises(httpx2.SSEError, match="text/event-stream"):
        asyncio.run(aread([EXAMPLE], headers={"content-type": "text/plain"}))
    bare = face.EventSource(httpx2.Response(200, content=EXAMPLE))
    with pytest.raises(httpx2.SSEError, match="text/event-stream"):
        next(iter(bare))


def test_errors_of_the_transport_pass_through() -> None:
    error = httpx2.ReadError("reset")
    source = face.EventSource(response_of(httpx2, body_of(httpx2, [b"data: a\n\ndata: b\n"], error)))
    events = iter(source)
    assert next(events).data == "a"
    with pytest.raises(httpx2.ReadError) as caught:
        next(events)
    assert caught.value is error
    assert source.leftover is None


@pytest.mark.parametrize("name", ["EventSource", "ServerSentEvent", "SSEError"])
def test_signatures_are_the_originals(name: str) -> None:
    def parameters(module: Any) -> list[tuple[str, Any, Any]]:
        found = inspect.signature(getattr(module, name)).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in found]

    assert parameters(face) == parameters(httpx2)


@pytest.mark.parametrize("client", ["Client", "AsyncClient"])
def test_the_clients_default_bound_is_httpx2s(client: str) -> None:
    for module in (face, httpx2):
        parameters = inspect.signature(getattr(module, client).sse).parameters
        assert parameters["max_event_size"].default == 1024 * 1024


# -- the bound of one event ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "block",
    [
        b"data: " + b"x" * 2000,
        b"data: x\n" * 500,
        b"data\n" * 500,
        b"event: " + b"x" * 500,
        b"id: " + b"x" * 500,
    ],
    ids=["one unended line", "many lines", "empty lines", "type", "id"],
)
def test_a_large_event_is_an_sse_error(block: bytes) -> None:
    for end in (b"", b"\n\n"):
        with pytest.raises(httpx2.SSEError, match="100 byte limit") as caught:
            read([b"data: a\n\n", block + end, b"data: b\n\n"], max_event_size=100)
        assert isinstance(caught.value.__cause__, trigate.LimitError)
        assert caught.value.request.method == "GET"
        with pytest.raises(httpx2.SSEError, match="100 byte limit"):
            asyncio.run(aread([block + end, b"data: b\n\n"], max_event_size=100))


def test_the_bound_is_a_megabyte_unless_said_otherwise() -> None:
    large = b"data: " + b"x" * 2 * 1024 * 1024 + b"\n\n"
    with pytest.raises(httpx2.SSEError, match="1048576 byte limit"):
        read([large])
    (event,) = read([large], max_event_size=None)
    assert read([large], max_event_size=2**70) == [event]
    assert len(event[1]) == 2 * 1024 * 1024
    with pytest.raises(ValueError, match="max_event_bytes must be between"):
        source_of(max_event_size=0)


def test_what_httpx2_accepts_within_its_bound_is_accepted() -> None:
    chance = random.Random(7)
    fields = (b"data", b"data:", b"data: ab", b"event: e", b"id: 7", b"retry: 5", b"x: yz", b": comment", b"")
    accepted = 0
    for _ in range(400):
        lines = [chance.choice(fields) for _ in range(chance.randint(1, 12))]
        stream = b"\n".join([*lines, b"data: \xc3\xa9", b"", b""])
        bound = chance.randint(1, 60)
        chunks = next(cuts.at_random(stream, str(bound), 1))
        try:
            list(httpx2.EventSource(response_of(httpx2, body_of(httpx2, chunks)), bound))
        except httpx2.SSEError:
            continue
        accepted += 1
        assert read(chunks, max_event_size=bound) == expected(stream)
    assert accepted > 50


def test_memory_is_bounded_where_an_event_never_ends() -> None:
    body: Body = body_of(httpx2, [b"data: "] + [b"x" * 65536] * 64)
    with pytest.raises(httpx2.SSEError):
        list(face.EventSource(response_of(httpx2, body)))
    assert body.given < 20


def test_the_error_without_httpx2_says_what_to_install() -> None:
    code = "import sys; sys.modules['httpx2'] = None; import trigate.compat.httpx2"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install httpx2" in done.stderr.splitlines()[-1]

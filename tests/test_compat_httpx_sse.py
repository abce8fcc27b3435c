"""The events of httpx-sse's face: those of SSEDecoder at every cut, over httpx and httpx2; errors, ends and names."""

from __future__ import annotations

import asyncio
import copy
import gzip
import inspect
import json
import pickle
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import trigate
from compat_bodies import TYPE, URL, body_of, response_of, transport_of
from compat_streams import EXAMPLE, EXAMPLE_SEEN, STREAMS, Seen, chunkings, expected, left_of, seen
from trigate.compat.httpx_sse import EventSource, ServerSentEvent, SSEError, aconnect_sse, connect_sse

httpx = pytest.importorskip("httpx")
httpx2 = pytest.importorskip("httpx2")
httpx_sse = pytest.importorskip("httpx_sse")

each_library = pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])


def read(library: ModuleType, chunks: list[bytes], headers: Any = TYPE) -> list[Seen]:
    source = EventSource(response_of(library, body_of(library, chunks), headers))
    return [seen(event) for event in source.iter_sse()]


async def aread(library: ModuleType, chunks: list[bytes]) -> list[Seen]:
    source = EventSource(response_of(library, body_of(library, chunks)))
    return [seen(event) async for event in source.aiter_sse()]


# -- events --------------------------------------------------------------------------------------------


@each_library
def test_the_example(library: ModuleType) -> None:
    assert read(library, [EXAMPLE]) == EXAMPLE_SEEN
    assert asyncio.run(aread(library, [EXAMPLE])) == EXAMPLE_SEEN


@pytest.mark.parametrize("name", STREAMS)
def test_every_vector_at_every_cut(name: str) -> None:
    wanted = expected(STREAMS[name])
    for number, chunks in enumerate(chunkings(name)):
        assert read((httpx, httpx2)[number % 2], chunks) == wanted, [len(chunk) for chunk in chunks]


def test_every_vector_asynchronously() -> None:
    async def check() -> None:
        for number, name in enumerate(STREAMS):
            for chunks in list(chunkings(name))[1:3]:
                assert await aread((httpx, httpx2)[number % 2], chunks) == expected(STREAMS[name]), name

    asyncio.run(check())


@each_library
def test_compressed_bodies_are_decompressed(library: ModuleType) -> None:
    packed = gzip.compress(EXAMPLE)
    pieces = [packed[start : start + 7] for start in range(0, len(packed), 7)]
    assert read(library, pieces, {**TYPE, "content-encoding": "gzip"}) == EXAMPLE_SEEN


@each_library
def test_events_come_as_soon_as_their_bytes(library: ModuleType) -> None:
    """An event that a CR ends is there with that CR; httpx-sse waits for the byte after it."""
    body = body_of(library, [b"data: a\r\r", b"data: b\n", b"\n"])
    events = EventSource(response_of(library, body)).iter_sse()
    assert (next(events).data, body.given) == ("a", 1)
    assert (next(events).data, body.given) == ("b", 3)


@each_library
def test_leftover_tells_an_ended_body_from_a_cut_one(library: ModuleType) -> None:
    for stream in (EXAMPLE, b"data: whole\n\n", b"data: whole\n\nid: 3\n", b""):
        source = EventSource(response_of(library, body_of(library, [stream])))
        assert source.leftover is None
        list(source.iter_sse())
        assert source.leftover == left_of(stream)
    source = EventSource(response_of(library, body_of(library, [EXAMPLE])))
    next(source.iter_sse())
    assert source.leftover is None


@each_library
def test_what_blocks_without_data_set_is_kept(library: ModuleType) -> None:
    source = EventSource(response_of(library, body_of(library, [b"id: 7\nretry: 3000\n\n"])))
    assert (source.last_event_id, source.reconnection_time) == ("", None)
    assert list(source.iter_sse()) == []
    assert (source.last_event_id, source.reconnection_time) == ("7", 3000)


@each_library
def test_a_body_that_is_there_already_may_be_read_again(library: ModuleType) -> None:
    response = library.Response(200, headers=TYPE, content=EXAMPLE)
    source = EventSource(response)
    assert [seen(event) for event in source.iter_sse()] == EXAMPLE_SEEN
    assert [seen(event) for event in source.iter_sse()] == EXAMPLE_SEEN
    assert source.response is response


def test_anything_that_reads_like_a_response_will_do() -> None:
    class Later:
        def __init__(self) -> None:
            self.chunks = iter([EXAMPLE[:20], EXAMPLE[20:]])

        def __aiter__(self) -> Later:
            return self

        async def __anext__(self) -> bytes:
            for chunk in self.chunks:
                return chunk
            raise StopAsyncIteration

    response: Any = SimpleNamespace(
        headers=TYPE, iter_bytes=lambda: [EXAMPLE[:20], EXAMPLE[20:]], aiter_bytes=Later
    )
    assert [seen(event) for event in EventSource(response).iter_sse()] == EXAMPLE_SEEN

    async def read_all() -> list[Seen]:
        return [seen(event) async for event in EventSource(response).aiter_sse()]

    assert asyncio.run(read_all()) == EXAMPLE_SEEN


# -- errors and ends -----------------------------------------------------------------------------------


@each_library
@pytest.mark.parametrize("headers", [{}, {"content-type": "application/json"}, {"content-type": "text/html"}])
def test_another_content_type_is_an_sse_error(library: ModuleType, headers: dict[str, str]) -> None:
    body = body_of(library, [EXAMPLE])
    source = EventSource(response_of(library, body, headers))
    with pytest.raises(SSEError, match="text/event-stream") as caught:
        next(source.iter_sse())
    assert headers.get("content-type", "''") in str(caught.value)
    assert isinstance(caught.value, library.TransportError)
    assert body.given == 0
    with pytest.raises(SSEError, match="text/event-stream"):
        asyncio.run(_first(source))


async def _first(source: EventSource) -> ServerSentEvent:
    return await anext(source.aiter_sse())


@each_library
def test_errors_of_the_transport_pass_through(library: ModuleType) -> None:
    error = library.RemoteProtocolError("peer closed connection")
    source = EventSource(response_of(library, body_of(library, [b"data: a\n\ndata: b\n"], error)))
    events = source.iter_sse()
    assert next(events).data == "a"
    with pytest.raises(library.RemoteProtocolError) as caught:
        next(events)
    assert caught.value is error
    assert source.leftover is None

    async def cut() -> None:
        source = EventSource(response_of(library, body_of(library, [b"data: a\n\n"], error)))
        events = source.aiter_sse()
        assert (await anext(events)).data == "a"
        with pytest.raises(library.RemoteProtocolError):
            await anext(events)

    asyncio.run(cut())


@each_library
def test_an_event_without_end_is_an_sse_error_and_not_endless_memory(library: ModuleType) -> None:
    megabyte = b"x" * 1024 * 1024
    body = body_of(library, [b"data: a\n\ndata: ", *[megabyte] * 40])
    events = EventSource(response_of(library, body)).iter_sse()
    assert next(events).data == "a"
    with pytest.raises(SSEError, match="max_event_bytes") as caught:
        next(events)
    assert body.given < 36
    cause = caught.value.__cause__
    assert isinstance(cause, trigate.LimitError)
    assert (cause.code, cause.limit) == ("event_too_large", "max_event_bytes")
    assert cause.offset is not None

    async def read_all() -> None:
        async for _ in EventSource(response_of(library, body_of(library, body.chunks))).aiter_sse():
            pass

    with pytest.raises(SSEError, match="max_event_bytes"):
        asyncio.run(read_all())


# -- connecting ----------------------------------------------------------------------------------------


@each_library
def test_leaving_early_closes_the_response(library: ModuleType) -> None:
    body = body_of(library, [b"data: a\n\n", b"data: b\n\n"])
    with library.Client(transport=transport_of(library, body)) as client:
        with connect_sse(client, "GET", URL) as source:
            for event in source.iter_sse():
                assert event.data == "a"
                break
        assert source.response.is_closed
    assert (body.is_closed, body.given) == (True, 1)


@each_library
def test_leaving_early_closes_the_response_asynchronously(library: ModuleType) -> None:
    body = body_of(library, [b"data: a\n\n", b"data: b\n\n"])

    async def leave() -> None:
        async with library.AsyncClient(transport=transport_of(library, body)) as client:
            async with aconnect_sse(client, "GET", URL) as source:
                async for event in source.aiter_sse():
                    assert event.data == "a"
                    break
            assert source.response.is_closed

    asyncio.run(leave())
    assert (body.is_closed, body.given) == (True, 1)


@each_library
def test_an_error_of_the_caller_closes_the_response(library: ModuleType) -> None:
    body = body_of(library, [b"data: a\n\n"])
    client = library.Client(transport=transport_of(library, body))
    with client, pytest.raises(ZeroDivisionError), connect_sse(client, "GET", URL) as source:
        raise ZeroDivisionError(next(source.iter_sse()).data)
    assert body.is_closed


@each_library
@pytest.mark.parametrize(
    "kind", ["dict", "Headers", "pairs", "bytes", "none"], ids=lambda kind: f"headers as {kind}"
)
def test_headers_are_added_and_the_callers_are_left_alone(library: ModuleType, kind: str) -> None:
    mine = {"Accept": "text/html", "x-mine": "1"}
    headers: Any = {
        "dict": dict(mine),
        "Headers": library.Headers(mine),
        "pairs": list(mine.items()),
        "bytes": [(name.encode(), value.encode()) for name, value in mine.items()],
        "none": None,
    }[kind]
    before = copy.deepcopy(headers)
    asked: list[Any] = []
    options: Any = {"headers": headers, "json": {"a": 1}, "params": {"q": "x"}}
    client = library.Client(transport=transport_of(library, body_of(library, []), asked))
    with client, connect_sse(client, "POST", URL, **options) as source:
        assert list(source.iter_sse()) == []
    (request,) = asked
    assert headers == before
    assert request.headers.get_list("accept") == ["text/event-stream"]
    assert request.headers.get_list("cache-control") == ["no-store"]
    assert request.headers.get("x-mine") == (None if kind == "none" else "1")
    assert (request.method, str(request.url), request.read()) == ("POST", URL + "?q=x", b'{"a":1}')


# -- the original's faces ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["EventSource", "ServerSentEvent", "connect_sse", "aconnect_sse"])
def test_signatures_are_the_originals(name: str) -> None:
    def parameters(module: Any) -> list[tuple[str, Any, Any]]:
        found = inspect.signature(getattr(module, name)).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in found]

    assert parameters(sys.modules[EventSource.__module__]) == parameters(httpx_sse)


def test_every_public_name_is_here() -> None:
    face = sys.modules[EventSource.__module__]
    assert set(face.__all__) == set(httpx_sse.__all__) - {"__version__"}
    for name in face.__all__:
        original = getattr(httpx_sse, name)
        members = {member for member in vars(original) if not member.startswith("_")}
        assert members <= set(dir(getattr(face, name)))
    with pytest.raises(AttributeError, match="no attribute 'SSEDecoder'"):
        _ = face.SSEDecoder


@pytest.mark.parametrize("module", [httpx_sse, sys.modules[EventSource.__module__]], ids=["theirs", "ours"])
def test_an_event_made_by_hand(module: Any) -> None:
    event = module.ServerSentEvent()
    assert (event.event, event.data, event.id, event.retry) == ("message", "", "", None)
    assert repr(event) == "ServerSentEvent(event='message')"
    with pytest.raises(json.JSONDecodeError):
        event.json()
    event = module.ServerSentEvent("", '{"a": [1.5]}', None, 3)
    assert (event.event, event.id, event.json()) == ("message", "", {"a": [1.5]})
    event = module.ServerSentEvent(event="e", data="d", id="i", retry=0)
    assert repr(event) == "ServerSentEvent(event='e', data='d', id='i', retry=0)"
    assert repr(pickle.loads(pickle.dumps(event))) == repr(event)
    with pytest.raises(AttributeError):
        event.data = "other"
    assert event != module.ServerSentEvent(event="e", data="d", id="i", retry=0)


def test_an_event_made_by_hand_takes_no_nonsense() -> None:
    with pytest.raises(ValueError, match="negative"):
        ServerSentEvent(retry=-3)
    with pytest.raises(TypeError):
        ServerSentEvent(data=b"bytes")  # type: ignore[arg-type] # the mistake


def test_events_know_their_place_in_the_stream() -> None:
    (event,) = EventSource(httpx.Response(200, headers=TYPE, content=b": c\n\ndata: x\n\n")).iter_sse()
    assert (event.start, event.end) == (5, 14)
    assert (ServerSentEvent().start, ServerSentEvent().end) == (None, None)


def test_sse_error_is_a_transport_error_of_both_libraries() -> None:
    assert issubclass(SSEError, httpx.TransportError)
    assert issubclass(SSEError, httpx2.TransportError)
    assert SSEError is sys.modules[EventSource.__module__].SSEError
    error = pickle.loads(pickle.dumps(SSEError("words")))
    assert type(error) is SSEError
    assert str(error) == "words"


@pytest.mark.parametrize("gone", [("httpx",), ("httpx2",), ("httpx", "httpx2")], ids="+".join)
def test_neither_library_is_needed(gone: tuple[str, ...]) -> None:
    """Whichever is not installed is missed by nobody, and none is imported to read a response."""
    code = (
        "import sys\n"
        f"gone = {gone!r}\n"
        "for name in gone: sys.modules[name] = None\n"
        "import trigate.compat.httpx_sse as face\n"
        "assert not {'httpx', 'httpx2'} - set(gone) & set(sys.modules)\n"
        "print(*[base.__module__ + '.' + base.__name__ for base in face.SSEError.__bases__])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    bases = {"httpx": "httpx.TransportError", "httpx2": "httpx2.TransportError"}
    kept = [bases[name] for name in bases if name not in gone]
    assert done.stdout.split() == (kept or ["builtins.Exception"])

"""The MCP SDK's client with trigate's reader: sessions work as before, and ids and times of empty blocks still count.

Where httpx2's reader departs from the standard stands in a table of docs/compat/mcp.md, whose rows are tried here.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trigate
from sdk_deviations import check_rows, rows
from trigate.compat import mcp as face
from trigate.compat.shadow import Difference

mcp = pytest.importorskip("mcp", reason="mcp is not installed: make sdk")
httpx2 = pytest.importorskip("httpx2")
transport = importlib.import_module("mcp.client.streamable_http")
legacy = importlib.import_module("mcp.client.sse")

URL = "http://mcp.test/mcp"
EVENTS = {"content-type": "text/event-stream"}
VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "sse.json").read_text(encoding="ascii")
)
NAMES = [(transport, "EventSource"), (transport, "sse_within_origin"), (legacy, "sse_within_origin")]


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Whatever a test does: with its patches out, mcp's modules are what they were."""
    before = [getattr(module, name) for module, name in NAMES]
    yield
    assert [getattr(module, name) for module, name in NAMES] == before


async def each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def events(chunks: Iterable[bytes], **options: Any) -> list[Any]:
    headers = options.pop("headers", EVENTS)

    async def run() -> list[Any]:
        response = httpx2.Response(
            200, headers=headers, content=each(chunks), request=httpx2.Request("GET", URL)
        )
        return [event async for event in face.EventSource(response, **options)]

    return asyncio.run(run())


# -- the reader --------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS[::5], ids=lambda vector: vector["name"])
def test_the_vectors_events_and_beside_them_only_empty_messages(vector: dict[str, Any]) -> None:
    stream = base64.b64decode(vector["input_b64"])
    reader = face.Reader()
    found = [event for at in range(len(stream)) for event in reader.feed(stream[at : at + 1])]
    own = [event for event in found if event.start is not None]
    assert [{"event": e.event, "data": e.data, "last_event_id": e.id} for e in own] == vector["events"]
    beside = [event for event in found if event.start is None]
    assert {(event.event, event.data) for event in beside} <= {("message", "")}
    if found:
        assert found[-1].id == vector["final_last_event_id"]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_an_id_and_a_time_without_data_are_told_once(size: int) -> None:
    stream = b"id: 1\nretry: 9\n\n: ping\n\ndata: a\n\nid: 2\n\n: ping\n\nretry: 9\n\nid: 2\ndata: b\n\n"
    found = events(stream[at : at + size] for at in range(0, len(stream), size))
    assert [event.data for event in found if event.data] == ["a", "b"]
    assert found[-1].id == "2"
    if size < 1000:
        assert [(event.data, event.id, event.retry) for event in found] == [
            ("", "1", 9),
            ("a", "1", None),
            ("", "2", None),
            ("b", "2", None),
        ]


def test_a_time_in_a_block_of_its_own_is_told_before_the_client_connects_again() -> None:
    assert [(event.data, event.retry) for event in events([b"data: a\n\nretry: 5\n\n"])] == [
        ("a", None),
        ("", 5),
    ]
    found: list[Any] = []

    async def cut() -> AsyncIterator[bytes]:
        yield b"retry: 7\n\ndata: a\n\ndata"
        raise httpx2.ReadError("reset")

    async def run() -> None:
        response = httpx2.Response(200, headers=EVENTS, content=cut(), request=httpx2.Request("GET", URL))
        async for event in face.EventSource(response):
            found.append((event.data, event.retry))

    with pytest.raises(httpx2.ReadError):
        asyncio.run(run())
    assert found == [("a", None), ("", 7)]


def test_no_event_stream() -> None:
    with pytest.raises(
        httpx2.SSEError, match="text/event-stream, found 'text/html; charset=utf-8'"
    ) as caught:
        events([b"data: a\n\n"], headers={"content-type": "text/html; charset=utf-8"})
    assert caught.value.request.url == URL
    assert [
        event.data for event in events([b"data: a\n\n"], headers={"content-type": "Text/Event-Stream;x"})
    ] == ["a"]


def test_the_bound_of_an_event() -> None:
    assert events([b"data: 12345678\n\n"], max_event_size=8)[0].data == "12345678"
    with pytest.raises(httpx2.SSEError, match="longer than 8 bytes") as caught:
        events([b"data: 123456789\n\n"], max_event_size=8)
    assert isinstance(caught.value.__cause__, trigate.LimitError)
    big = "x" * (1024 * 1024 + 1)
    assert events([b"data: %s\n\n" % big.encode()], max_event_size=None)[0].data == big
    with pytest.raises(httpx2.SSEError):
        events([b"data: %s\n\n" % big.encode()])


class Theirs:
    """httpx2's reader with a decoder's verb."""

    def iter_bytes(self, chunks: Iterator[bytes]) -> Iterator[Any]:
        request = httpx2.Request("GET", URL)
        return iter(httpx2.EventSource(httpx2.Response(200, headers=EVENTS, content=chunks, request=request)))


class Ours:
    def iter_bytes(self, chunks: Iterator[bytes]) -> Iterator[Any]:
        reader = face.Reader()
        for chunk in chunks:
            yield from reader.feed(chunk)
        yield from reader.rest()


@pytest.mark.parametrize("row", rows("mcp.md"), ids=lambda row: repr(row.body))
def test_the_page_s_table(row: Any) -> None:
    check_rows(row, Theirs, Ours)


# -- sessions ----------------------------------------------------------------------------------------


def result(message: dict[str, Any]) -> dict[str, Any]:
    """What a small server answers."""
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "é", "version": "1"}}
    return {"tools": [{"name": "search", "inputSchema": {"type": "object"}}]}


def reply(message: dict[str, Any]) -> bytes:
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result(message)}
    return b"id: %d\ndata: %s\n\n" % (message["id"], json.dumps(answer, ensure_ascii=False).encode())


def serve(request: Any) -> Any:
    """Streamable HTTP: each request is answered by an event stream in small chunks, primed with an id."""
    if request.method != "POST":
        return httpx2.Response(405)
    message = json.loads(request.content)
    if "id" not in message:
        return httpx2.Response(202)
    body = b"id: p\ndata:\n\n: ping\n\n" + reply(message)
    return httpx2.Response(
        200, headers=EVENTS, content=each(body[at : at + 7] for at in range(0, len(body), 7))
    )


async def talk(streams: Any) -> tuple[str, list[str]]:
    """One session: the server's name, and its tools."""
    async with streams as (read, write), mcp.ClientSession(read, write) as session:
        started = await session.initialize()
        listed = await session.list_tools()
        return started.server_info.name, [tool.name for tool in listed.tools]


def over(client: Any) -> Any:
    return transport.streamable_http_client(URL, http_client=client)


Place = Callable[[Any], contextlib.AbstractContextManager[Any]]


@pytest.mark.parametrize("place", [face.patch, lambda _client: face.patch()], ids=["client", "process"])
def test_a_session_over_streamable_http(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int | None] = []

    class Counted(face.Reader):
        def __init__(self, most: int | None) -> None:
            super().__init__(most)
            made.append(most)

    monkeypatch.setattr(face, "Reader", Counted)

    async def run() -> tuple[str, list[str]]:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(serve)) as client:
            unpatched = await talk(over(client))
            assert made == []
            with place(client):
                assert await talk(over(client)) == unpatched
            return unpatched

    assert asyncio.run(run()) == ("é", ["search"])
    assert made == [1024 * 1024] * 2


def test_another_client_is_not_patched() -> None:
    async def run() -> None:
        async with (
            httpx2.AsyncClient(transport=httpx2.MockTransport(serve)) as one,
            httpx2.AsyncClient(transport=httpx2.MockTransport(serve)) as other,
        ):
            with face.patch(one):
                for client, kind in ((one, face.EventSource), (other, httpx2.EventSource)):
                    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
                    async with client.stream("POST", URL, json=message) as response:
                        assert type(transport.EventSource(response, max_event_size=5)) is kind
                        assert transport.EventSource(response).response is response
            assert one.event_hooks["response"] == []

    asyncio.run(run())


def test_a_session_over_the_older_transport() -> None:
    async def run(factory: Callable[..., Any]) -> tuple[str, list[str]]:
        with face.patch():
            return await talk(legacy.sse_client("http://mcp.test/sse", httpx_client_factory=factory))

    def factory(**_options: Any) -> Any:
        sent: asyncio.Queue[bytes] = asyncio.Queue()

        async def stream() -> AsyncIterator[bytes]:
            yield b"event: endpoint\ndata: /messages?session_id=1\n\n"
            while True:
                yield await sent.get()

        def answer(request: Any) -> Any:
            if request.method == "GET":
                return httpx2.Response(200, headers=EVENTS, content=stream())
            message = json.loads(request.content)
            if "id" in message:
                sent.put_nowait(reply(message))
            return httpx2.Response(202)

        return httpx2.AsyncClient(transport=httpx2.MockTransport(answer))

    assert asyncio.run(run(factory)) == ("é", ["search"])


def test_shadow() -> None:
    found: list[Difference] = []

    def extra(request: Any) -> Any:
        response = serve(request)
        if response.headers.get("content-type") == EVENTS["content-type"]:
            body = b"event: ping\n\n" + reply(json.loads(request.content))
            response = httpx2.Response(200, headers=EVENTS, content=each([body]))
        return response

    async def run() -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(serve)) as client:
            with face.patch(client, shadow=found.append):
                assert await talk(over(client)) == ("é", ["search"])
        assert found == []
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(extra)) as client:
            with face.patch(client, shadow=found.append):
                assert await talk(over(client)) == ("é", ["search"])

    asyncio.run(run())
    assert [(difference.kind, difference.offset) for difference in found] == [("only_original", 0)] * 2
    assert {difference.original.event for difference in found} == {"ping"}


def test_shadow_hands_on_that_it_is_no_event_stream() -> None:
    found: list[Difference] = []

    async def run() -> None:
        response = httpx2.Response(200, content=each([b"{}"]), request=httpx2.Request("GET", URL))
        async for _ in transport.EventSource(response):
            pass

    with face.patch(shadow=found.append), pytest.raises(httpx2.SSEError):
        asyncio.run(run())
    assert found == []


# -- patch -------------------------------------------------------------------------------------------


def test_what_cannot_be_patched(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"httpx2\.AsyncClient, not object"):
        face.patch(object())
    for client in (None, httpx2.AsyncClient()):
        with pytest.raises(RuntimeError, match="not patched"):
            face.unpatch(client)
    monkeypatch.delattr(transport, "sse_within_origin")
    with pytest.raises(RuntimeError, match=r"has no mcp\.client\.streamable_http\.sse_within_origin"):
        face.patch()
    monkeypatch.undo()


def test_patches_of_client_and_process_go_in_any_order() -> None:
    client = httpx2.AsyncClient()
    first, second = face.patch(), face.patch(client)
    first.undo()
    assert transport.EventSource is not httpx2.EventSource
    face.patch(client)
    face.unpatch(client)
    second.undo()
    assert transport.EventSource is httpx2.EventSource

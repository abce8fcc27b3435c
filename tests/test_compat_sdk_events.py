"""The SDKs' face of the decoder: the events of the standard at every cut, their raw lines, errors, ends and bounds."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cuts
import trigate
from trigate.compat.sdk_events import LIMITS, Decoder, ServerSentEvent

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "sse.json").read_text(encoding="ascii")
)
Face = tuple[str | None, str, str | None, int | None, int | None, int | None, list[str]]


def face(event: ServerSentEvent) -> Face:
    return event.event, event.data, event.id, event.retry, event.start, event.end, event.raw


def read(chunks: Iterable[bytes], **options: Any) -> list[Face]:
    options.setdefault("keeps_raw", True)
    return [face(event) for event in Decoder(**options).iter_bytes(iter(chunks))]


async def each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def aread(decoder: Decoder, chunks: Iterable[bytes]) -> list[ServerSentEvent]:
    async def run() -> list[ServerSentEvent]:
        return [event async for event in decoder.aiter_bytes(each(chunks))]

    return asyncio.run(run())


# -- what an event is --------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_vectors_events_and_nothing_else(vector: dict[str, Any]) -> None:
    stream = base64.b64decode(vector["input_b64"])
    found = list(Decoder(errors="replace").iter_bytes(iter([stream])))
    assert [
        {"event": e.event or "message", "data": e.data, "last_event_id": e.id or ""} for e in found
    ] == vector["events"]


@pytest.mark.parametrize("vector", VECTORS[::7], ids=lambda vector: vector["name"])
def test_the_cut_changes_nothing(vector: dict[str, Any]) -> None:
    stream = base64.b64decode(vector["input_b64"])
    whole = read([stream], errors="replace")
    for chunks in cuts.every(stream, vector["name"]):
        assert read(chunks, errors="replace") == whole


@pytest.mark.parametrize(
    ("block", "event"),
    [
        (b"data: a\n\n", None),
        (b"event: message\ndata: a\n\n", "message"),
        (b"data: a\r\nevent:message\r\n\r\n", "message"),
        (b"event: message\nevent:\ndata: a\n\n", None),
        (b"event: x\nevent: message\ndata: a\n\n", "message"),
        (b"event:  message\ndata: a\n\n", " message"),
        (b"event\ndata: event: message\n\n", None),
        (b": event: message\ndata: a\n\n", None),
        (b"event: delta\ndata: a\n\n", "delta"),
    ],
)
def test_no_type_is_told_from_message_spelt_out(block: bytes, event: str | None) -> None:
    assert [found[0] for found in read([block])] == [event]
    assert [found[0] for found in read([block[at : at + 1] for at in range(len(block))])] == [event]


def test_raw_is_the_block_s_lines_and_nothing_of_its_neighbours() -> None:
    stream = b"\n: away\n\n: kept\nfoo: 1\ndata: \xe2\x80\xa8\r\nid: 7\r\n\r\ndata: b\r\r"
    assert [found[6] for found in read([stream])] == [
        [": kept", "foo: 1", "data: \u2028", "id: 7"],
        ["data: b"],
    ]
    assert [found[6] for found in read([stream], keeps_raw=False)] == [[], []]
    assert ServerSentEvent(event="x", data="y").raw == []


def test_an_event_says_what_the_sdk_s_own_says() -> None:
    (event,) = Decoder().iter_bytes(iter([b'event: e\nid: 1\nretry: 5\ndata: {"a": 1}\n\n']))
    assert (event.event, event.id, event.retry, event.json()) == ("e", "1", 5, {"a": 1})
    assert repr(event) == 'ServerSentEvent(event=e, data={"a": 1}, id=1, retry=5)'
    assert (
        repr(ServerSentEvent(event="", data=None))
        == "ServerSentEvent(event=None, data=, id=None, retry=None)"
    )
    with pytest.raises(json.JSONDecodeError):
        ServerSentEvent(data="[").json()


# -- verbs -------------------------------------------------------------------------------------------


def test_each_event_comes_before_the_next_chunk_is_asked_for() -> None:
    asked = []

    def chunks() -> Iterator[bytes]:
        for chunk in (b"data: a\n\ndata: b\n", b"\n"):
            asked.append(chunk)
            yield chunk

    events = Decoder().iter_bytes(chunks())
    assert next(events).data == "a"
    assert len(asked) == 1
    assert next(events).data == "b"
    assert list(events) == []


def test_asynchronously_the_same() -> None:
    stream = b"event: a\ndata: 1\n\nid: 4\ndata: 2\n\n"
    chunks = [stream[at : at + 3] for at in range(0, len(stream), 3)]
    assert [face(event) for event in aread(Decoder(keeps_raw=True), chunks)] == read([stream])


def test_decode_takes_lines() -> None:
    decoder = Decoder()
    assert decoder.decode("event: ping") is None
    assert decoder.decode("data: één") is None
    event = decoder.decode("")
    assert event is not None
    assert (event.event, event.data) == ("ping", "één")
    assert decoder.decode("") is None


# -- ends and errors ---------------------------------------------------------------------------------


def test_what_the_end_left_is_told_and_is_no_event() -> None:
    decoder = Decoder()
    assert list(decoder.iter_bytes(iter([b"data: a\n\ndata: half"]))) != []
    assert decoder.leftover is not None
    assert (decoder.leftover.where, decoder.leftover.data) == ("line", "half")


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_events_before_ill_formed_bytes_come_first(size: int) -> None:
    stream = b"data: a\n\ndata: \xff\n\ndata: b\n\n"
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    found: list[str] = []
    with pytest.raises(trigate.DecodeError) as caught:
        found.extend(event.data for event in Decoder().iter_bytes(iter(chunks)))
    assert (found, caught.value.offset) == (["a"], 15)
    assert isinstance(caught.value, ValueError)


def test_what_a_broken_body_left_is_let_go() -> None:
    def broken() -> Iterator[bytes]:
        yield b"data: half"
        raise OSError("reset")

    decoder = Decoder()
    with pytest.raises(OSError, match="reset"):
        list(decoder.iter_bytes(broken()))
    assert decoder._held == b""
    (event,) = decoder.iter_bytes(iter([b"data: a\n\n"]))
    assert (event.data, event.start, event.end) == ("a", 0, 9)


def test_asynchronously_the_same_error() -> None:
    found: list[str] = []

    async def run() -> None:
        async for event in Decoder().aiter_bytes(each([b"data: a\n\ndata: \xff\n\n"])):
            found.append(event.data)

    with pytest.raises(trigate.DecodeError):
        asyncio.run(run())
    assert found == ["a"]


def test_a_body_that_ends_inside_a_character() -> None:
    stream = "data: a\n\ndata: é".encode()[:-1]
    with pytest.raises(trigate.DecodeError) as caught:
        read([stream])
    assert (caught.value.code, caught.value.offset) == ("invalid_utf8", 15)
    assert [found[1] for found in read([stream], errors="replace")] == ["a"]


def test_replacement_where_it_is_asked_for() -> None:
    assert read([b"data: \xff\n\n"], errors="replace")[0][1] == "\ufffd"


def test_an_event_above_the_bound_is_an_error_that_names_it() -> None:
    limits = trigate.Limits(max_event_bytes=8)
    with pytest.raises(trigate.LimitError) as caught:
        read([b"data: 123456789\n\n"], limits=limits)
    assert caught.value.limit == "max_event_bytes"
    assert LIMITS.max_event_bytes == 256 * 1024 * 1024


def test_a_block_of_comments_is_not_held_without_end() -> None:
    decoder = Decoder(limits=trigate.Limits(max_event_bytes=64, max_line_bytes=64), keeps_raw=True)
    for _ in range(1000):
        assert decoder.feed(b": keep-alive\n") == []
        assert len(decoder._held) <= 128 + 13
    (event,) = decoder.feed(b"event: message\ndata: a\n\n")
    assert (event.event, event.data, event.raw) == (None, "a", [])
    (event,) = decoder.feed(b"event: message\ndata: b\n\n")
    assert (event.event, event.raw) == ("message", ["event: message", "data: b"])

"""The events of sseclient-py's face: those of SSEDecoder at every cut, from any iterable of bytes."""

from __future__ import annotations

import inspect
import io
from typing import Any

import pytest

import trigate
from compat_bodies import Body
from compat_streams import EXAMPLE, EXAMPLE_SEEN, STREAMS, Seen, chunkings, expected, left_of, seen
from trigate.compat.sseclient import Event, SSEClient

sseclient = pytest.importorskip("sseclient")


def read(chunks: Any, *encoding: str) -> list[Seen]:
    return [seen(event) for event in SSEClient(chunks, *encoding).events()]


@pytest.mark.parametrize("name", STREAMS)
def test_every_vector_at_every_cut(name: str) -> None:
    wanted = expected(STREAMS[name])
    for chunks in chunkings(name):
        assert read(chunks) == wanted, [len(chunk) for chunk in chunks]


def test_a_binary_file_is_a_source() -> None:
    assert read(io.BytesIO(EXAMPLE)) == EXAMPLE_SEEN


def test_ids_and_times_have_the_originals_types() -> None:
    first, second = SSEClient([b"data: a\n\nid: 7\nretry: 500\ndata: b\n\n"]).events()
    assert (first.id, first.retry) == (None, None)
    assert (second.id, second.retry) == ("7", "500")


def test_events_come_as_soon_as_their_bytes() -> None:
    source = Body([b"data: a\r", b"\r", b"data: b\n", b"\n"])
    events = SSEClient(source).events()
    assert (next(events).data, source.given) == ("a", 2)
    assert (next(events).data, source.given) == ("b", 4)


def test_leftover_tells_an_ended_source_from_a_cut_one() -> None:
    for stream in (EXAMPLE, b"data: whole\n\n", b""):
        client = SSEClient([stream])
        assert client.leftover is None
        assert [seen(event) for event in client.events()] == expected(stream)
        assert client.leftover == left_of(stream)


def test_what_blocks_without_data_set_is_kept() -> None:
    client = SSEClient([b"id: 7\nretry: 3000\n\n"])
    assert list(client.events()) == []
    assert (client.last_event_id, client.reconnection_time) == ("7", 3000)


def test_close_is_handed_on() -> None:
    source = Body([b"data: a\n\n", b"data: b\n\n"])
    client = SSEClient(source)
    for event in client.events():
        assert event.data == "a"
        break
    assert not source.is_closed
    client.close()
    assert source.is_closed


def test_errors_of_the_source_pass_through() -> None:
    error = ConnectionResetError("reset")
    client = SSEClient(Body([b"data: a\n\ndata: b\n"], error))
    events = client.events()
    assert next(events).data == "a"
    with pytest.raises(ConnectionResetError) as caught:
        next(events)
    assert caught.value is error
    assert client.leftover is None


def test_an_event_without_end_is_a_limit_error() -> None:
    source = Body([b"data: a\n\ndata: ", *[b"x" * 1024 * 1024] * 40])
    events = SSEClient(source).events()
    assert next(events).data == "a"
    with pytest.raises(trigate.LimitError, match="max_event_bytes"):
        next(events)
    assert source.given < 36


@pytest.mark.parametrize(
    "encoding", ["utf-8", "UTF8", "U8", "latin-1", "cp1252", "utf-8-sig", "utf-16", "gb18030"]
)
def test_other_encodings_are_read_at_every_cut(encoding: str) -> None:
    stream = "id: é\ndata: naïve\ndata:\n\ndata: ½\r\n\r\n".encode(encoding)
    wanted = [("message", "naïve\n", "é", ""), ("message", "½", "é", "")]
    assert read([stream], encoding) == wanted
    assert read([stream[place : place + 1] for place in range(len(stream))], encoding) == wanted


def test_ill_formed_text_of_another_encoding_is_an_error_as_in_the_original() -> None:
    for module in (SSEClient, sseclient.SSEClient):
        with pytest.raises(UnicodeDecodeError):
            list(module([b"data: \xff\n\n"], "ascii").events())
    with pytest.raises(UnicodeDecodeError, match="truncated data"):
        read([b"data: a\n\n\x00".decode().encode("utf-16")[:-1]], "utf-16")
    with pytest.raises(LookupError):
        read([b""], "no-such-encoding")


def test_text_is_no_source() -> None:
    with pytest.raises(TypeError, match="bytes"):
        read(["data: a\n\n"])


@pytest.mark.parametrize("name", ["SSEClient", "Event"])
def test_signatures_are_the_originals(name: str) -> None:
    ours, theirs = {"SSEClient": SSEClient, "Event": Event}[name], getattr(sseclient, name)

    def parameters(kind: Any) -> list[tuple[str, Any, Any]]:
        found = inspect.signature(kind).parameters.values()
        return [(parameter.name, parameter.kind, parameter.default) for parameter in found]

    assert parameters(ours) == parameters(theirs)
    assert {member for member in vars(theirs) if not member.startswith("_")} <= set(dir(ours))


@pytest.mark.parametrize(
    "members",
    [{}, {"data": "x"}, {"data": "xy", "id": "1"}, {"event": "e", "data": "é", "retry": "500"}],
    ids=str,
)
def test_an_event_speaks_as_the_originals(members: dict[str, str]) -> None:
    ours, theirs = Event(**members), sseclient.Event(**members)
    assert vars(ours) == vars(theirs)
    assert str(ours) == str(theirs)
    ours.data = "events may be changed"
    assert ours.data == "events may be changed"

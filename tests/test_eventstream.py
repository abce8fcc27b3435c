"""EventStreamDecoder: messages built in the tests come back at every cut; nothing damaged ever does."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuts
import frames
from frame_readings import read, read_every_way
from trigate import DecodeError, EventStreamDecoder, EventStreamMessage, Leftover, LimitError, Limits

# -- event-stream messages -------------------------------------------------------------------------------


def test_the_example_message() -> None:
    whole = read_every_way(EventStreamDecoder, frames.EXAMPLE)
    assert whole.places == ((0, 98, 125),)
    [message] = whole.frames
    assert isinstance(message, EventStreamMessage)
    assert message.headers == {
        ":event-type": "contentBlockStop",
        ":content-type": "application/json",
        ":message-type": "event",
    }
    assert (message.event, message.payload) == ("contentBlockStop", b'{"contentBlockIndex":1}')
    assert message.data == '{"contentBlockIndex":1}'
    assert message.json() == {"contentBlockIndex": 1}
    assert (
        frames.message(
            message.payload,
            event_type="contentBlockStop",
            content_type="application/json",
            message_type="event",
        )
        == frames.EXAMPLE
    )


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = (datetime(year, 1, 1, tzinfo=UTC) for year in (1, 9999))
header_values = st.one_of(
    st.booleans().map(lambda value: (0 if value else 1, value)),
    *(
        st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1).map(lambda value, kind=kind: (kind, value))  # type: ignore[misc]
        for kind, bits in ((2, 8), (3, 16), (4, 32), (5, 64))
    ),
    st.binary(max_size=40).map(lambda value: (6, value)),
    st.text(max_size=20).map(lambda value: (7, value)),
    st.integers(
        (FIRST - EPOCH) // timedelta(milliseconds=1), (LAST - EPOCH) // timedelta(milliseconds=1)
    ).map(lambda ms: (8, EPOCH + timedelta(milliseconds=ms))),
    st.uuids().map(lambda value: (9, value)),
)
header_names = st.text(min_size=1, max_size=20).filter(lambda name: len(name.encode()) < 256)
messages = st.tuples(st.dictionaries(header_names, header_values, max_size=8), st.binary(max_size=60))


@given(st.lists(messages, max_size=3))
def test_messages_of_every_type_come_back(parts: list[tuple[dict[str, tuple[int, object]], bytes]]) -> None:
    built = [
        frames.seal(frames.headers((name, *value) for name, value in members.items()), payload)
        for members, payload in parts
    ]
    whole = read_every_way(EventStreamDecoder, b"".join(built))
    assert whole.error is None
    assert whole.leftover == Leftover(start=sum(map(len, built)))
    place = 0
    for (members, payload), text, frame, places in zip(parts, built, whole.frames, whole.places, strict=True):
        assert isinstance(frame, EventStreamMessage)
        assert dict(frame.headers) == {name: value for name, (_, value) in members.items()}
        assert [type(value) for value in frame.headers.values()] == [
            type(value) for _, value in members.values()
        ]
        assert frame.payload == payload
        assert places == (place, place + len(text) - 4 - len(payload), place + len(text))
        place += len(text)


def test_every_flipped_bit_is_found() -> None:
    """A CRC-32 finds every burst of up to 32 bits: no flip gives a message, and none hides the one before."""
    good = read(EventStreamDecoder(), [frames.EXAMPLE]).frames
    for bit in range(8 * len(frames.EXAMPLE)):
        flipped = bytearray(frames.EXAMPLE)
        flipped[bit // 8] ^= 1 << bit % 8
        stream = frames.EXAMPLE + bytes(flipped) + frames.EXAMPLE
        reading = read(EventStreamDecoder(), [stream])
        code = "prelude_crc_mismatch" if bit < 96 else "message_crc_mismatch"
        assert (reading.frames, reading.error) == (good, ("DecodeError", code, len(frames.EXAMPLE), None))
        assert read(EventStreamDecoder(), cuts.singly(stream)) == reading


@given(st.binary(max_size=120), st.integers(0, 200), st.integers(0, 200))
def test_lengths_that_lie_never_give_a_message(rest: bytes, total: int, header_len: int) -> None:
    stream = frames.seal(b"", rest, total=total, header_len=header_len)
    reading = read_every_way(EventStreamDecoder, stream)
    if total < 16 + header_len:
        assert reading.error == ("DecodeError", "bad_frame", 0, None)
    elif total > len(stream):
        assert reading.leftover is not None
        assert (reading.leftover.where, reading.leftover.bytes) == ("event", stream)
        assert reading.leftover.data is None
    elif total < len(stream):
        assert reading.error == ("DecodeError", "message_crc_mismatch", 0, None)
    elif header_len == 0:
        assert [frame.payload for frame in reading.frames if isinstance(frame, EventStreamMessage)] == [rest]


@given(st.binary(min_size=1, max_size=40), st.binary(max_size=10))
def test_any_header_block_is_read_or_refused(block: bytes, payload: bytes) -> None:
    """Whatever the bytes: headers, or bad_frame at a place inside them."""
    reading = read_every_way(EventStreamDecoder, frames.seal(block, payload))
    if reading.error is not None:
        kind, code, offset, limit = reading.error
        assert (kind, code, limit) == ("DecodeError", "bad_frame", None)
        assert isinstance(offset, int)
        assert 12 <= offset < 12 + len(block)


@pytest.mark.parametrize("count", [2, 40, 1000, 20_000])
def test_a_repeated_header_name_is_found(count: int) -> None:
    names = [f"n{number}" for number in range(count)]
    good = frames.headers((name, 0, True) for name in names)
    bad = good + frames.headers([("n1", 1, False), ("n0", 1, False)])
    limits = Limits(max_header_bytes=len(bad))
    assert len(read(EventStreamDecoder(limits=limits), [frames.seal(good, b"")]).frames) == 1
    reading = read(EventStreamDecoder(limits=limits), [frames.seal(bad, b"")])
    assert reading.error == ("DecodeError", "bad_frame", 12 + len(good), None)


def test_kinds_of_messages() -> None:
    stream = (
        frames.message(b'{"message":"slow"}', message_type="exception", exception_type="throttlingException")
        + frames.message(message_type="error", error_code="InternalError", error_message="no luck")
        + frames.message(b"{}", event_type="chunk")
        + frames.message(message_type="event")
        + frames.message(message_type="exception")
        + frames.seal(frames.headers([(":message-type", 5, 7), (":event-type", 6, b"x")]), b"")
    )
    found = EventStreamDecoder().feed(stream)
    kinds = [
        "exception:throttlingException",
        "error:InternalError",
        "chunk",
        "message",
        "exception:",
        "message",
    ]
    assert [message.event for message in found] == kinds
    assert found[1].headers[":error-message"] == "no luck"


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 253402300800000, -62135596800001])
def test_a_time_outside_the_calendar_stays_a_number(number: int) -> None:
    block = b"\x01t\x08" + number.to_bytes(8, "big", signed=True)
    [message] = EventStreamDecoder().feed(frames.seal(block, b""))
    assert message.headers == {"t": number}


def test_a_payload_is_bytes() -> None:
    [message] = EventStreamDecoder().feed(frames.seal(b"", b'"\xff"'))
    assert (message.payload, message.data_bytes, message.data) == (b'"\xff"', b'"\xff"', '"\ufffd"')
    with pytest.raises(DecodeError) as caught:
        message.json()
    assert (caught.value.code, caught.value.offset) == ("invalid_utf8", 13)


# -- limits and the object ----------------------------------------------------------------------------------


@pytest.mark.parametrize("over", [-1, 0, 1])
def test_max_header_bytes(over: int) -> None:
    block = frames.headers([("name", 7, "value")])
    limits = Limits(max_header_bytes=len(block) - over)
    reading = read_every_way(lambda: EventStreamDecoder(limits=limits), frames.seal(block, b""))
    if over > 0:
        assert reading.error == ("LimitError", "headers_too_large", 0, "max_header_bytes")
    else:
        assert reading.error is None


def test_a_limit_is_told_before_the_rest_arrives() -> None:
    decoder = EventStreamDecoder(limits=Limits(max_event_bytes=3))
    with pytest.raises(LimitError):
        decoder.feed(frames.seal(b"", b"four")[:12])


def test_event_stream_message() -> None:
    members: dict[str, str | int | UUID] = {":event-type": "e", "u": UUID(int=5), "n": 1}
    made = EventStreamMessage(members, b"{}")
    same = EventStreamMessage([(":event-type", "e"), ("n", 1), ("u", UUID(int=5))], b"{}")
    assert made == same
    assert hash(made) == hash(same)
    assert made != EventStreamMessage(made.headers, b"")
    assert made != EventStreamMessage({":event-type": "e"}, b"{}")
    assert (made.event, made.start, EventStreamMessage().event) == ("e", None, "message")
    assert pickle.loads(pickle.dumps(made)) == made
    assert "EventStreamMessage({':event-type': 'e'" in repr(made)
    match made:
        case EventStreamMessage(headers, payload):
            assert (headers["n"], payload) == (1, b"{}")
    hidden: Any = made
    with pytest.raises(TypeError):
        hidden.headers["x"] = 1
    with pytest.raises(AttributeError):
        hidden.payload = b""
    wrong: Any = EventStreamMessage
    strange: list[tuple[object, ...]] = [(5,), ({}, "text"), ({}, None)]
    for arguments in strange:
        with pytest.raises(TypeError):
            wrong(*arguments)

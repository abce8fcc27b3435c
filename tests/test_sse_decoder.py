"""SSEDecoder beyond the vectors: strict errors, replacement, ids, retry, and the objects that it gives.

An error names the first byte at fault, comes after all events before it, and stays until reset.
"""

from __future__ import annotations

import pickle
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cuts
import readings
from trigate import DecodeError, Leftover, ServerSentEvent, SSEDecoder, TrigateError

GOOD = "id: 7\nretry: 10\nevent: näme\ndata: 你好 😀\n\n".encode()
# Bytes that no UTF-8 text contains in this place, and how far after the sequence's first byte that is known.
ILL_FORMED = [b"\x80", b"\xbf", b"\xc0\xaf", b"\xc1\x81", b"\xf5", b"\xff", b"\xe4\xbd", b"\xe0\x9f\x80"]
ILL_FORMED += [b"\xed\xa0\x80", b"\xf0\x8f\x80\x80", b"\xf4\x90\x80\x80", b"\xf0\x9f\x98", b"\xc3"]


# -- strict errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ILL_FORMED, ids=lambda bad: bad.hex())
@pytest.mark.parametrize(
    "line", ["data: x{}y", "event: {}", ": {}", "id: {}", "{}: x", "unknown: {}", "retry: 1{}"]
)
@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", GOOD, GOOD * 2 + b"data: open\n"])
def test_strict_names_the_first_byte_at_fault(bad: bytes, line: str, before: bytes) -> None:
    head, tail = line.split("{}")
    start = before + head.encode()
    stream = start + bad + tail.encode() + b"\n\ndata: never\n\n"
    whole = readings.read([stream], errors="strict")
    assert whole.error == ("DecodeError", "invalid_utf8", len(start), None)
    assert whole.leftover is None
    assert len(whole.events) == before.count(GOOD)
    for pieces in cuts.in_two(stream):
        assert readings.read(pieces, errors="strict") == whole, [len(piece) for piece in pieces]
    assert readings.read(cuts.singly(stream), errors="strict") == whole


def test_strict_error_is_known_at_the_byte_that_cannot_go_on() -> None:
    decoder = SSEDecoder(errors="strict")
    assert decoder.feed(b"data: \xe4\xbd") == []
    assert decoder.error is None
    with pytest.raises(DecodeError) as caught:
        decoder.feed(b"x")
    assert readings.describe(caught.value) == ("DecodeError", "invalid_utf8", 6, None)


@pytest.mark.parametrize("events", [0, 1, 3])
def test_error_is_sticky_and_comes_after_the_events_before_it(events: int) -> None:
    stream = GOOD * events + b"data: \xff\n\n" + GOOD
    decoder = SSEDecoder(errors="strict")
    if events:
        assert len(decoder.feed(stream)) == events
    else:
        with pytest.raises(DecodeError):
            decoder.feed(stream)
    expected = ("DecodeError", "invalid_utf8", len(GOOD) * events + 6, None)
    assert isinstance(decoder.error, DecodeError)
    assert readings.describe(decoder.error) == expected
    for act in (lambda: decoder.feed(GOOD), lambda: decoder.feed(b""), decoder.finish, decoder.finish):
        with pytest.raises(DecodeError, match=f"at byte {expected[2]}") as caught:
            act()
        assert readings.describe(caught.value) == expected
        assert caught.value.layer == "decode"
    # What the good part set is still there to be read.
    assert decoder.last_event_id == ("7" if events else "")
    decoder.reset()
    assert decoder.error is None
    assert [event.id for event in decoder.feed(GOOD)] == ["7"]
    assert decoder.finish().where is None


def test_errors_pickle_with_all_their_members() -> None:
    decoder = SSEDecoder(errors="strict")
    with pytest.raises(DecodeError) as caught:
        decoder.feed(b"\xff")
    twin = pickle.loads(pickle.dumps(caught.value))
    assert readings.describe(twin) == readings.describe(caught.value)
    assert twin.message == caught.value.message
    assert isinstance(twin, TrigateError)
    assert isinstance(twin, ValueError)


# -- replacement -------------------------------------------------------------------------------------

# Bytes that meet in ill-formed sequences: leads, continuations, bounds and plain letters.
HOSTILE = st.lists(
    st.sampled_from(
        [0x41, 0x20, 0x3A, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1]
    )
    | st.sampled_from([0xEC, 0xED, 0xEE, 0xEF, 0xBB, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFE, 0xFF]),
    max_size=24,
).map(bytes)
VALUE = HOSTILE | st.binary(max_size=24).map(lambda raw: raw.replace(b"\r", b"").replace(b"\n", b""))


@given(value=VALUE, name=VALUE, places=st.lists(st.integers(0, 200), max_size=4))
@example(value=b"\xf0\x80\x80\x80\xf0\x9f\x98", name=b"\xe2\x82", places=[])
def test_replacement_is_that_of_the_standard(value: bytes, name: bytes, places: list[int]) -> None:
    stream = b"event:A" + name + b"\nid:A" + name.replace(b"\0", b"") + b"\ndata:A" + value + b"\ndata:\n\n"
    cut = cuts.at(stream, sorted(min(place, len(stream)) for place in places))
    (event,) = readings.events_of(cut)
    assert event.data == "A" + value.decode("utf-8", "replace") + "\n"
    assert event.event == "A" + name.decode("utf-8", "replace")
    assert event.id == "A" + name.replace(b"\0", b"").decode("utf-8", "replace")
    assert event.data_bytes == event.data.encode()


@given(value=VALUE)
def test_replacement_of_what_is_left(value: bytes) -> None:
    decoder = SSEDecoder()
    decoder.feed(b"data:A" + value)
    left = decoder.finish()
    assert left.data == "A" + value.decode("utf-8", "replace")
    assert left.bytes == b"data:A" + value


@given(stream=st.binary(max_size=80), places=st.lists(st.integers(0, 80), max_size=5))
@example(stream=b"data:\xe4\xbd\xa0", places=[6, 7])
def test_strict_or_replaced_the_cut_changes_nothing(stream: bytes, places: list[int]) -> None:
    cut = cuts.at(stream, sorted(min(place, len(stream)) for place in places))
    assert readings.read(cut) == readings.read([stream])
    assert readings.read(cut, errors="strict") == readings.read([stream], errors="strict")


# -- the rest ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stream", "where", "raw", "data", "event", "start"),
    [
        (b"", None, b"", None, "message", 0),
        (b"data: x\n\n", None, b"", None, "message", 9),
        (b"data: x\n\nid: 1\n: c\ndata: y\nda", "line", b"da", "y", "message", 9),
        (
            b"data: x\n\n: c\nevent: t\ndata: \xf0\x9f\x98",
            "character",
            b"data: \xf0\x9f\x98",
            "\ufffd",
            "t",
            9,
        ),
        (b"event: t\ndata: x\n", "event", b"", "x", "t", 0),
        (b"id: 1\n", "event", b"", None, "message", 0),
        (b": comment\n", None, b"", None, "message", 0),
        (b"retry: 5\n", None, b"", None, "message", 0),
        (b": comm", "line", b": comm", None, "message", 0),
        (b"\xef\xbb", "character", b"\xef\xbb", None, "message", 0),
        (b"data: a\r", "event", b"", "a", "message", 0),
        (b"data: a\ndata", "line", b"data", "a\n", "message", 0),
        (b"data: a\ndata: b", "line", b"data: b", "a\nb", "message", 0),
    ],
)
def test_leftover_says_what_is_missing(
    stream: bytes, where: str | None, raw: bytes, data: str | None, event: str, start: int
) -> None:
    for pieces in cuts.in_two(stream):
        left = readings.read(pieces).leftover
        assert left is not None
        assert (left.where, left.bytes, left.data, left.event) == (where, raw, data, event)
        if left:
            assert left.start == start


def test_leftover_is_a_value() -> None:
    left = Leftover("line", b"da", "x", "t", 9)
    assert left == Leftover("line", b"da", "x", "t", 9)
    for other in (Leftover("line", b"da", "x", "t", 8), Leftover("event", b"da", "x", "t", 9), Leftover()):
        assert left != other
    other_type: object = ("line", b"da", "x")
    assert left != other_type
    assert hash(left) == hash(pickle.loads(pickle.dumps(left)))
    assert pickle.loads(pickle.dumps(left)) == left
    assert repr(left) == "Leftover(where='line', bytes=b'da', data='x', event='t', start=9)"
    assert not Leftover()
    match left:
        case Leftover(where, raw, data):
            assert (where, raw, data) == ("line", b"da", "x")
        case _:
            pytest.fail("Leftover did not match")
    for name in ("where", "bytes", "data", "event", "start", "anything"):
        with pytest.raises(AttributeError):
            setattr(left, name, None)


# -- events ------------------------------------------------------------------------------------------


def test_event_is_a_value() -> None:
    (event,) = readings.events_of([b"event: t\nid: 1\nretry: 5\ndata: x\ndata: y\n\n"])
    twin = ServerSentEvent("t", "x\ny", "1", 5)
    assert event == twin
    assert hash(event) == hash(twin)
    assert (twin.start, twin.data_start, twin.end) == (None, None, None)
    others = [("u", "x\ny", "1", 5), ("t", "x", "1", 5), ("t", "x\ny", "2", 5), ("t", "x\ny", "1", None)]
    for members in others:
        assert event != ServerSentEvent(*members)
    assert event != ("t", "x\ny", "1", 5)
    assert pickle.loads(pickle.dumps(event)) == event
    match event:
        case ServerSentEvent(name, data, identity, retry):
            assert (name, data, identity, retry) == ("t", "x\ny", "1", 5)
        case _:
            pytest.fail("ServerSentEvent did not match")
    for name in ("event", "data", "data_bytes", "id", "retry", "start", "data_start", "end", "anything"):
        with pytest.raises(AttributeError):
            setattr(event, name, None)


def test_members_of_an_event_are_its_own() -> None:
    """They are read without a call, and yet nobody can set, delete or leave out one."""
    decoder = SSEDecoder()
    for _ in range(3):  # the memory of events that are gone is used again
        events = decoder.feed(b"".join(b"event: t\nid: %d\ndata: text %d\n\n" % (n, n) for n in range(600)))
        assert [(event.event, event.id, event.data) for event in events] == [
            ("t", str(number), f"text {number}") for number in range(600)
        ]
        assert all(event.retry is None for event in events)
    for name in ("event", "data", "id", "retry"):
        assert getattr(ServerSentEvent, name).__get__(events[7]) == getattr(events[7], name)
        with pytest.raises(AttributeError):
            setattr(events[7], name, "else")
        with pytest.raises(AttributeError):
            delattr(events[7], name)
    assert events[7] == ServerSentEvent("t", "text 7", "7")


def test_an_event_keeps_no_chunk() -> None:
    chunk = b"data: one\n\ndata: two\n\n"
    holders = sys.getrefcount(chunk)
    events = SSEDecoder().feed(chunk)
    assert sys.getrefcount(chunk) == holders
    assert [event.data for event in events] == ["one", "two"]


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        ServerSentEvent(data="\ud800")


def test_event_repr_shows_what_is_there() -> None:
    assert repr(ServerSentEvent()) == "ServerSentEvent(event='message', data='')"
    assert repr(ServerSentEvent("t", "d", "1", 5)) == "ServerSentEvent(event='t', data='d', id='1', retry=5)"
    assert repr(ServerSentEvent(data="d", retry=0)) == "ServerSentEvent(event='message', data='d', retry=0)"


def test_event_defaults_are_those_of_the_standard() -> None:
    for event in (ServerSentEvent(), ServerSentEvent(event=""), *readings.events_of([b"event:\ndata\n\n"])):
        assert (event.event, event.data, event.id, event.retry) == ("message", "", "", None)
        assert event.data_bytes == b""


def test_json() -> None:
    (event,) = readings.events_of(['data: {"a":\ndata: ["ä", 1.5, null]}\n\n'.encode()])
    assert event.json() == {"a": ["ä", 1.5, None]}
    assert event.json() is not event.json()


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", "{} x", "\ufeff{}", "\x001", '"\x00a"', "\x00", "1\x002\x00"]
)
def test_json_refuses_what_is_none(text: str) -> None:
    stream = b"data: x\n\nevent: t\ndata: " + text.encode() + b"\n\n"
    for event in (ServerSentEvent("t", text), readings.events_of([stream])[1]):
        assert event.data == text
        with pytest.raises(DecodeError, match="'t'") as caught:
            event.json()
        assert (caught.value.code, caught.value.layer) == ("invalid_json", "decode")


def test_json_error_names_the_byte() -> None:
    assert _json_offset(ServerSentEvent(data='{"ä": ?}')) == 7
    (event,) = readings.events_of([': c\nevent: t\ndata: {"ä": ?}\n\n'.encode()])
    assert _json_offset(event) == 4 + 9 + 6 + 7


def _json_offset(event: ServerSentEvent) -> int | None:
    with pytest.raises(DecodeError) as caught:
        event.json()
    return caught.value.offset


# -- id and retry ------------------------------------------------------------------------------------


def test_id_stays_until_it_is_set_again() -> None:
    stream = b"id: 1\ndata\n\ndata\n\nid: 2\n\ndata\n\nid\ndata\n\ndata\n\nid: a\0b\ndata\n\nid: 3\n"
    decoder = SSEDecoder()
    assert [event.id for event in decoder.feed(stream)] == ["1", "1", "2", "", "", ""]
    assert decoder.last_event_id == ""
    decoder.feed(b"\n")
    assert decoder.last_event_id == "3"
    decoder.reset()
    assert decoder.last_event_id == ""
    assert [event.id for event in decoder.feed(b"data\n\n")] == [""]


def test_retry_belongs_to_its_block_and_to_the_stream_at_once() -> None:
    assert SSEDecoder().reconnection_time is None
    decoder = SSEDecoder()
    decoder.feed(b"retry: 10\n")
    assert decoder.reconnection_time == 10
    first, second = decoder.feed(b"data: a\n\ndata: b\n\n")
    assert (first.retry, second.retry) == (10, None)
    for ignored in (b"-1", b"1.5", b"", b" 7", b"0x10", b"1e3", b"seven", "٣".encode()):
        (event,) = decoder.feed(b"retry: " + ignored + b"\ndata\n\n")
        assert event.retry is None
    assert decoder.reconnection_time == 10
    (event,) = decoder.feed(b"retry: 20\nretry: 0030\ndata\n\n")
    assert (event.retry, decoder.reconnection_time) == (30, 30)
    # A block without data dispatches nothing, and its retry does not leak into the next one.
    (event,) = decoder.feed(b"retry: 40\n\ndata\n\n")
    assert (event.retry, decoder.reconnection_time) == (None, 40)
    decoder.feed(b"retry: 0\n")
    assert decoder.reconnection_time == 0
    decoder.reset()
    assert decoder.reconnection_time is None


def test_retry_past_63_bits_is_the_largest() -> None:
    for digits, value in ((str(2**63 - 1), 2**63 - 1), (str(2**63), 2**63 - 1), ("9" * 64, 2**63 - 1)):
        (event,) = readings.events_of([f"retry: {digits}\ndata\n\n".encode()])
        assert event.retry == value


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("kind", ["", "event: t{end}"])
@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65, 300])
def test_events_that_differ_in_their_data_alone(count: int, kind: str, end: str) -> None:
    """Such come many at a time: all the same, also with others between them."""
    texts = [("text {}", "{} ä", "数 {}", "🌦 {}", "{}")[number % 5].format(number) for number in range(count)]
    blocks = [f"{kind}data: {text}{{end}}{{end}}".format(end=end) for text in texts]
    alone = "".join(blocks).encode()
    others = f"id: 9{end}data: other{end}{end}:{end}retry: 1{end}{end}id: 10{end}{end}".encode()
    for stream in (alone, alone + others + alone):
        whole = SSEDecoder().feed(stream)
        assert [event.data for event in whole[:count]] == texts
        assert {event.event for event in whole[:count]} == {"t" if kind else "message"}
        assert [event.data_bytes.decode() for event in whole[-count:]] == texts
        assert {event.id for event in whole[-count:]} == ({""} if stream == alone else {"10"})
        for event, text in zip(whole, texts, strict=False):
            assert stream[event.data_start :].startswith(text.encode())
            assert stream[event.start : event.end].decode().strip() == f"{kind}data: {text}".format(end=end)
        for chunks in ([memoryview(stream)], cuts.singly(stream), [stream[:-40], stream[-40:]]):
            found = readings.events_of(chunks)
            assert list(map(readings.members, found)) == list(map(readings.members, whole))


# -- the decoder itself ------------------------------------------------------------------------------


def test_bytes_fed_counts_the_stream() -> None:
    decoder = SSEDecoder()
    for chunk in (b"\xef\xbb\xbf", b"", b"data: x\n", b"\n"):
        decoder.feed(chunk)
    assert decoder.bytes_fed == 12
    assert "12" in repr(decoder)
    decoder.reset()
    assert decoder.bytes_fed == 0


def test_reset_forgets_an_open_block_and_the_end_of_input() -> None:
    decoder = SSEDecoder()
    decoder.feed(b"event: t\nid: 1\nretry: 9\ndata: half")
    assert decoder.finish().where == "line"
    decoder.reset()
    (event,) = decoder.feed(b"\xef\xbb\xbfdata: x\n\n")
    assert readings.members(event) == ("message", "x", b"x", "", None, 3, 9, 12)


def test_types_are_not_mixed_up_when_they_alternate() -> None:
    names = ["a", "b", "a", "", "a", "ab", "b", "message", "ä", "a"]
    stream = "".join(f"event: {name}\ndata\n\n" for name in names).encode()
    for chunks in ([stream], cuts.singly(stream)):
        assert [event.event for event in readings.events_of(chunks)] == [name or "message" for name in names]


@pytest.mark.parametrize("character", ["a", "\x80", "ÿ", "Ā", "߿", "ࠀ", "你", "\uffff", "🙂", "\U0010ffff"])
@pytest.mark.parametrize("other", ["", "b", "é", "界", "🌍"])
def test_text_of_every_size_and_width_is_what_it_was(character: str, other: str) -> None:
    """Short texts are made in another way than long ones."""
    texts = [other + character * count + other for count in (*range(1, 24), 63, 64, 65, 300)]
    stream = "".join(f"event: {text}\ndata: {text}\n\n" for text in texts).encode()
    events = SSEDecoder(errors="strict").feed(stream)
    assert [(event.event, event.data) for event in events] == [(text, text) for text in texts]
    for event, text in zip(events, texts, strict=True):
        assert (event.data.isascii(), event.data.encode()) == (text.isascii(), text.encode())

"""Where items and calls stood: byte ranges in the stream, the same whatever the cuts and with prediction on or off."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cuts
import trigate
from matrix_streams import matrix
from model import READERS
from model.frames import join
from model.generate import turns
from prediction_pairs import predicting
from recorded import corpus_entries, corpus_stream, needs_corpus
from trigate import (
    ArgumentsDelta,
    Item,
    OtherEvent,
    ReasoningDelta,
    RefusalDelta,
    ResponseEnded,
    TextDelta,
    ToolCallDone,
    ToolCallStarted,
    UsageUpdate,
)
from trigate._core import _placed
from trigate.calls import ToolCall
from trigate.response import Response, Usage

PROTOCOLS = sorted(READERS)
STREAMS = sorted((Path(__file__).parent.parent / "examples" / "streams").glob("*.sse"))
DELTAS = (TextDelta, ReasoningDelta, RefusalDelta, ArgumentsDelta)
some = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))

#: What an item was, and where: of deltas of one owner side by side the text joined, and the range of them all.
Told: TypeAlias = tuple[str, Any, Any, int | None, int | None]


def of_item(item: Item) -> Told:
    match item:
        case ArgumentsDelta(call, text):
            return ("ArgumentsDelta", call.wire_key, text, item.start, item.end)
        case TextDelta(text, index) | ReasoningDelta(text, index) | RefusalDelta(text, index):
            return (type(item).__name__, index, text, item.start, item.end)
        case OtherEvent(kind, data):
            return ("OtherEvent", kind, data, item.start, item.end)
        case ToolCallStarted(call) | ToolCallDone(call):
            return (type(item).__name__, call.wire_key, None, item.start, item.end)
    return (type(item).__name__, None, None, item.start, item.end)


def told(chunks: Iterable[bytes], protocol: str) -> tuple[list[Told], Response]:
    items = list(trigate.iter_items(iter(chunks), protocol))
    joined: list[Told] = []
    for kind, owner, text, start, end in map(of_item, items):
        if joined and kind.endswith("Delta") and joined[-1][:2] == (kind, owner):
            joined[-1] = (kind, owner, joined[-1][2] + text, joined[-1][3], end)
        else:
            joined.append((kind, owner, text, start, end))
    assert isinstance(items[-1], ResponseEnded)
    return joined, items[-1].response


def borders(data: bytes) -> tuple[set[int], set[int]]:
    """Where events start and end, as the decoders say."""
    decoder: Any = trigate.SSEDecoder()
    if data[:1] == b"\0":
        decoder = trigate.EventStreamDecoder()
    elif data[:1] == b"[":
        decoder = trigate.JSONArrayDecoder()
    elif data[:1] == b"{":
        decoder = trigate.NDJSONDecoder()
    try:
        events = decoder.feed(data)
    except trigate.TrigateError:
        return set(), set()
    return {event.start for event in events}, {event.end for event in events}


def check(data: bytes, protocol: str, seed: str) -> None:
    expected, response = told([data], protocol)
    starts, ends = borders(data)
    for _, _, _, start, end in expected:
        assert start is not None
        assert end is not None
        assert 0 <= start <= end <= len(data)
        # What the end of the input told stands at what was left there, and there may be nothing.
        assert (start in starts and end in ends) or end == len(data) or start == end
    last = -1
    for kind, _, _, start, _ in expected:
        if not kind.endswith("Delta"):
            assert start is not None
            assert start >= last
            last = start
    for call in response.calls:
        assert call.start is not None
        assert call.end is not None
        assert 0 <= call.start <= call.end <= len(data)
        assert any(one[0] == "ToolCallStarted" and one[1] == call.wire_key for one in expected)
    for chunks in ([data], cuts.singly(data), *cuts.at_random(data, seed, rounds=2)):
        for wanted in (True, False):
            with predicting(wanted):
                again, last_response = told(chunks, protocol)
            assert again == expected
            assert [(call.start, call.end) for call in last_response.calls] == [
                (call.start, call.end) for call in response.calls
            ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@some
@given(st.data())
def test_generated_turns(protocol: str, data: st.DataObject) -> None:
    check(join(data.draw(turns(protocol))), protocol, protocol)


@pytest.mark.parametrize(
    ("protocol", "data"),
    [pytest.param(protocol, data, id=f"{protocol}-{row}") for protocol, row, data in matrix()],
)
def test_the_cut_matrix(protocol: str, data: bytes) -> None:
    check(data, protocol, protocol)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_the_example_streams(path: Path) -> None:
    check(path.read_bytes(), "auto", path.stem)


@needs_corpus
@pytest.mark.parametrize("protocol", ["openai-responses", "openai-chat", "anthropic-messages", "gemini"])
def test_recorded_streams(protocol: str) -> None:
    small = [entry for entry in corpus_entries(protocol) if 0 < entry["bytes"] < 12_000]
    for entry in small[:: max(1, len(small) // 5)]:
        check(corpus_stream(entry["file"]), protocol, entry["file"])


def test_the_bytes_of_a_range_are_the_event() -> None:
    data = (STREAMS[0].parent / "parallel-calls.sse").read_bytes()
    events = {(event.start, event.end): event for event in trigate.SSEDecoder().feed(data)}
    items = trigate.ResponseParser("openai-responses").feed(data)
    others = [item for item in items if isinstance(item, OtherEvent)]
    assert others
    for other in others:
        assert events[other.start, other.end].data == other.data
        assert other.data.encode() in data[other.start : other.end]
    for item in items:
        if isinstance(item, TextDelta):
            # All of its events, and no other between them.
            alone = trigate.parse(data[item.start : item.end], "openai-responses")
            assert alone.text == item.text


def test_a_call_from_its_first_byte_to_its_last() -> None:
    data = (STREAMS[0].parent / "parallel-calls.sse").read_bytes()
    parser = trigate.ResponseParser("openai-responses")
    seen = []
    for byte in cuts.singly(data):
        for item in parser.feed(byte):
            if isinstance(item, ToolCallStarted):
                seen.append((item.call.start, item.call.end))
                assert item.start == item.call.start
            elif isinstance(item, ToolCallDone):
                assert item.end == item.call.end
    assert all(end is None for _, end in seen)
    for call, (start, _) in zip(parser.finish().calls, seen, strict=True):
        assert call.start == start
        assert call.end is not None
        assert b'"response.output_item.added"' in data[start : call.end]
        assert call.call_id is not None
        assert data[call.start : call.end].count(call.call_id.encode()) == 2


def test_a_fault_of_the_bytes_stands_at_its_byte() -> None:
    parser = trigate.ResponseParser("openai-chat")
    (ended,) = parser.feed(b'data: {"choices":[]}\n\ndata: \xff\n\n')
    assert isinstance(ended, ResponseEnded)
    assert (ended.start, ended.end) == (28, 28)
    assert ended.response.error is not None
    assert ended.response.error.offset == 28


# -- the items themselves --------------------------------------------------------------------------------

CALL = ToolCall((0,), index=0, kind="function")
MADE: list[tuple[Item, str]] = [
    (TextDelta("a", 0), "TextDelta(text='a', index=0)"),
    (ReasoningDelta("a", 0), "ReasoningDelta(text='a', index=0)"),
    (RefusalDelta("a", 0), "RefusalDelta(text='a', index=0)"),
    (ArgumentsDelta(CALL, "a"), f"ArgumentsDelta(call={CALL!r}, text='a')"),
    (ToolCallStarted(CALL), f"ToolCallStarted(call={CALL!r})"),
    (ToolCallDone(CALL), f"ToolCallDone(call={CALL!r})"),
    (UsageUpdate(Usage(1)), f"UsageUpdate(usage={Usage(1)!r})"),
    (OtherEvent("a", "b"), "OtherEvent(type='a', data='b')"),
    (
        ResponseEnded(Response(status="failed", protocol="x")),
        f"ResponseEnded(response={Response(status='failed', protocol='x')!r})",
    ),
]


@pytest.mark.parametrize(("item", "shown"), MADE, ids=[type(item).__name__ for item, _ in MADE])
def test_an_item_made_by_hand(item: Any, shown: str) -> None:
    assert (item.start, item.end) == (None, None)
    assert repr(item) == shown
    members = [getattr(item, name) for name in item.__match_args__]
    assert type(item)(*members) == item
    assert type(item)(**dict(zip(item.__match_args__, members, strict=True))) == item
    for other, _ in MADE:
        assert (item == other) is (item is other)
    assert item != members
    for name in (*item.__match_args__, "start", "end", "new"):
        with pytest.raises(AttributeError):
            setattr(item, name, 1)
    if type(item) in (TextDelta, OtherEvent, UsageUpdate, ResponseEnded):
        assert pickle.loads(pickle.dumps(item)) == item
    if not isinstance(item, (ResponseEnded, UsageUpdate)):
        assert hash(type(item)(*members)) == hash(item)
    with pytest.raises(TypeError):
        type(item)()


def test_where_it_stood_takes_no_part_in_equality() -> None:
    data = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    first, second = trigate.ResponseParser("openai-chat").feed(data), trigate.ResponseParser("openai-chat")
    second.feed(b": ping\n\n")
    (mine,), (other,) = first, second.feed(data)
    assert (mine.start, mine.end) == (0, len(data))
    assert (other.start, other.end) == (8, 8 + len(data))
    assert mine == other == TextDelta("a", 0)
    assert hash(mine) == hash(other)
    assert repr(mine) == repr(other)


@pytest.mark.parametrize(
    "twin",
    [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_stands_where_the_original_stands(twin: Any) -> None:
    """Items of every kind, those that hold a call or a response too."""
    items = trigate.ResponseParser("auto").feed((STREAMS[0].parent / "parallel-calls.sse").read_bytes())
    assert {type(item) for item in items} >= {TextDelta, ToolCallStarted, ArgumentsDelta, ToolCallDone}
    for item in items:
        assert twin(item) == item
        assert type(twin(item)) is type(item)
        assert (twin(item).start, twin(item).end) == (item.start, item.end)
        if isinstance(item, ToolCallDone):
            assert (twin(item).call.start, twin(item).call.end) == (item.call.start, item.call.end)
    with pytest.raises(TypeError):
        _placed(str, ("a",), 0, 1)


@pytest.mark.parametrize("wrong", [None, b"a", 1])
def test_text_is_text(wrong: Any) -> None:
    with pytest.raises(TypeError):
        TextDelta(wrong, 0)
    with pytest.raises(TypeError):
        OtherEvent("a", wrong)

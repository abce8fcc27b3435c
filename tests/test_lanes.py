"""Lane, a text that grows at its end; and Lanes, what the pieces of one response go through."""

from __future__ import annotations

import json
import pickle
import sys
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trigate
from prediction_pairs import predicting
from trigate import ArgumentsDelta, JSONTracker, LimitError, OtherEvent, ReasoningDelta, TextDelta
from trigate._core import Lane, Lanes
from trigate.calls import ToolCall

#: Text that JSON can bring: halves of surrogate pairs as well.
texts = st.text(alphabet=st.sampled_from('a{}[]":,1 \n\t\\é北\u2028😀\x00\ud83d\ude00'), max_size=12)


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# -- Lane: text ------------------------------------------------------------------------------------------


def test_an_empty_lane() -> None:
    lane = Lane()
    assert (lane.text, lane.size, lane.last, bool(lane)) == ("", 0, "", False)
    assert lane.slice(0, 0) == ""
    assert lane.json()[0] == "empty"
    lane.append("")
    assert (lane.text, lane.size, bool(lane)) == ("", 0, False)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=4), st.booleans())
def test_a_quoted_lane_is_its_text_as_json(pieces: list[str], is_given: bool) -> None:
    text = "".join(pieces)
    lane = Lane(text if is_given else "")
    for piece in pieces if not is_given else ():
        lane.append(piece)
    assert lane.quoted() == json.dumps(text, ensure_ascii=False).encode()


@settings(max_examples=300, deadline=None)
@given(texts, st.lists(st.tuples(texts, st.sampled_from(["text", "last", "slice", "json", "size", ""]))))
def test_a_lane_is_the_text_that_was_appended(given_text: str, steps: list[tuple[str, str]]) -> None:
    """Whatever is asked in between, and also where a text was given whole at first."""
    lane, meant = Lane(given_text), given_text
    for piece, asked in steps:
        lane.append(piece)
        meant += piece
        bare = meant.rstrip(" \t\r\n")[-1:]
        match asked:
            case "text":
                assert lane.text == meant
            case "last":
                assert lane.last == ("\ufffd" if bare >= "\x80" else bare.strip("\0"))  # NUL counts as none
            case "slice":
                middle = len(utf8(meant[: len(meant) // 2]))
                assert lane.slice(0, middle) == meant[: len(meant) // 2]
                assert lane.slice(middle, lane.size) == meant[len(meant) // 2 :]
            case "json":
                check_json(lane, meant)
        assert lane.size == len(utf8(meant))
        assert bool(lane) == bool(meant)
    assert lane.text == meant
    assert lane.text is lane.text


def check_json(lane: Lane, meant: str) -> None:
    tracker = JSONTracker()
    tracker.feed(utf8(meant))
    state = tracker.finish()
    told = lane.json()
    assert told[:5] == (
        state,
        tracker.depth,
        tracker.max_depth_seen,
        tracker.error_at,
        tracker.lone_surrogate,
    )


@pytest.mark.parametrize(
    "text", ["", "{}", '{"a": [1, {"b": "\\ud83d"}]} ', "[1", "12", "{}x", '"é', "nul", "{'a'}"]
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_json_is_that_of_the_text_so_far(text: str, size: int) -> None:
    """As if it ended here, and then it goes on."""
    lane = Lane()
    for at in range(0, len(text), size):
        lane.append(text[at : at + size])
        check_json(lane, text[: at + size])
        check_json(lane, text[: at + size])
    check_json(Lane(text), text)


def test_json_too_deep() -> None:
    lane = Lane(max_depth=2)
    lane.append("[[")
    assert lane.json()[0] == "open"
    lane.append("[")
    for _ in range(2):
        with pytest.raises(LimitError) as raised:
            lane.json()
        assert raised.value.code == "depth_too_large"
    assert lane.text == "[[["
    with pytest.raises(LimitError):
        Lane("[[[", max_depth=2).json()


def test_halves_of_a_character() -> None:
    """Three bytes each, also where both halves stand side by side: joining them is somebody else's."""
    lane = Lane()
    lane.append("a\ud83d")
    assert (lane.text, lane.size) == ("a\ud83d", 4)
    lane.append("\ude00b")
    assert (lane.text, lane.size) == ("a\ud83d\ude00b", 8)
    assert lane.slice(1, 4) == "\ud83d"
    assert Lane("\ude00").size == 3
    assert Lane("\ude00").text == "\ude00"


@pytest.mark.parametrize(("start", "end"), [(0, 4), (2, 1), (4, 4), (3, 9)])
def test_a_slice_beyond_the_text(start: int, end: int) -> None:
    for lane in (Lane("abc"), Lane()):
        lane.append("" if lane else "abc")
        with pytest.raises(ValueError, match="of 3 bytes"):
            lane.slice(start, end)


def test_wrong_types() -> None:
    lane: Any = Lane()
    made: Any = Lane
    for wrong in (b"a", None, 1):
        with pytest.raises(TypeError):
            lane.append(wrong)
        with pytest.raises(TypeError):
            made(wrong)
    assert lane.text == ""


def test_a_lane_can_be_copied() -> None:
    lane = Lane("{")
    lane.append("}\ud83d")
    copy: Lane = pickle.loads(pickle.dumps(lane))
    lane.append("x")
    assert copy.text == "{}\ud83d"
    assert repr(copy) == "<Lane of 5 bytes>"


def test_a_lane_is_read_from_another_thread() -> None:
    """Every text that a reader sees is a beginning of the whole, and the next is no shorter."""
    lane, is_over = Lane("é"), threading.Event()
    seen: list[str] = []
    faults: list[BaseException] = []

    def look() -> None:
        try:
            while not is_over.is_set():
                size = lane.size
                seen.append(lane.text)
                assert len(utf8(lane.slice(0, size))) == size
                assert lane.json()[0] in ("invalid", "open")
                assert lane.last == ("\ufffd" if len(seen[-1]) == 1 else lane.last)
        except BaseException as fault:
            faults.append(fault)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    readers = [threading.Thread(target=look) for _ in range(2)]
    try:
        for reader in readers:
            reader.start()
        for number in range(3000):
            lane.append(chr(0xE9 + number % 300))
    finally:
        is_over.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(before)
    assert not faults
    assert len(lane.text) == 3001
    assert all(lane.text.startswith(text) for text in seen[:: max(1, len(seen) // 100)])


# -- Lanes: items ----------------------------------------------------------------------------------------


def call() -> ToolCall:
    return ToolCall((0,), index=0, kind="function")


def lanes(**options: Any) -> Lanes:
    return Lanes(**options)


def test_items_come_in_the_order_in_which_they_were_told() -> None:
    told, mine = lanes(), call()
    told.delta(TextDelta, 0, "a")
    told.emit(OtherEvent("x", "1"))
    told.delta(ArgumentsDelta, mine, "b")
    told.emit(OtherEvent("y", "2"))
    assert told.take() == [
        TextDelta("a", 0),
        OtherEvent("x", "1"),
        ArgumentsDelta(mine, "b"),
        OtherEvent("y", "2"),
    ]
    assert told.take() == []


def test_pieces_of_one_owner_are_joined() -> None:
    told, mine, other = lanes(), call(), call()
    for kind, owner, piece in (
        (TextDelta, 0, "a"),
        (TextDelta, 0, "b"),
        (TextDelta, 1, "c"),
        (ReasoningDelta, 1, "d"),
        (ReasoningDelta, 1, ""),
        (ReasoningDelta, 1, "e"),
        (ArgumentsDelta, mine, "f"),
        (ArgumentsDelta, mine, "g"),
        (ArgumentsDelta, other, "h"),
    ):
        told.delta(kind, owner, piece)
    assert told.take() == [
        TextDelta("ab", 0),
        TextDelta("c", 1),
        ReasoningDelta("de", 1),
        ArgumentsDelta(mine, "fg"),
        ArgumentsDelta(other, "h"),
    ]


def test_pieces_are_not_joined_across_a_feed_or_an_item() -> None:
    told = lanes()
    told.delta(TextDelta, 0, "a")
    assert told.take() == [TextDelta("a", 0)]
    told.delta(TextDelta, 0, "b")
    told.emit(OtherEvent("x", ""))
    told.delta(TextDelta, 0, "c")
    assert told.take() == [TextDelta("b", 0), OtherEvent("x", ""), TextDelta("c", 0)]


@pytest.mark.parametrize("index", [0, 256, 257, 10**30, -6])
def test_an_equal_number_is_the_same_owner(index: int) -> None:
    told = lanes()
    for piece in "abc":
        told.delta(TextDelta, int(str(index)), piece)
    assert told.take() == [TextDelta("abc", index)]


def test_two_equal_calls_are_two_owners() -> None:
    told, mine, other = lanes(), call(), call()
    assert mine == other
    told.delta(ArgumentsDelta, mine, "a")
    told.delta(ArgumentsDelta, other, "b")
    assert [item.call for item in told.take() if isinstance(item, ArgumentsDelta)][1] is other


def test_nothing_follows_the_last_item() -> None:
    told = lanes()
    told.delta(TextDelta, 0, "a")
    told.emit(OtherEvent("x", ""))
    assert not told.is_closed
    told.close()
    assert told.is_closed
    told.emit(OtherEvent("y", ""))
    told.delta(TextDelta, 0, "b")
    assert told.take() == [TextDelta("a", 0), OtherEvent("x", "")]
    assert told.take() == []


def test_without_deltas_only_the_other_items_come() -> None:
    told = lanes(deltas=False)
    assert told.deltas is False
    told.delta(TextDelta, 0, "a")
    told.emit(OtherEvent("x", ""))
    assert told.take() == [OtherEvent("x", "")]


def test_what_is_not_shown_is_no_item() -> None:
    told = lanes()
    told.delta(TextDelta, 0, "a")
    told.delta(None, None, "b")
    told.delta(TextDelta, 0, "c")
    assert told.take() == [TextDelta("ac", 0)]


def test_halves_are_joined_like_other_text() -> None:
    told = lanes()
    told.delta(TextDelta, 0, "a\ud83d")
    told.delta(TextDelta, 0, "\ude00")
    assert told.take() == [TextDelta("a\ud83d\ude00", 0)]


# -- Lanes: counts ---------------------------------------------------------------------------------------


def test_what_is_kept_is_counted_up_to_the_bound() -> None:
    told = lanes(max_kept=10)
    assert told.kept == 0
    assert told.keep(9)
    assert told.keep(1)
    assert told.keep(0)
    assert not told.keep(1)
    assert not told.keep(0)
    assert told.kept == 11
    assert lanes().keep(2**62)
    with pytest.raises(OverflowError):
        told.keep(-1)


@pytest.mark.parametrize("number", [0, 1, 2**62 - 1, 2**62, 2**63, 2**64, 10**30, -1, None, True])
def test_the_last_sequence_number(number: Any) -> None:
    told = lanes()
    assert told.sequence is None
    told.sequence = 5
    told.sequence = number
    assert told.sequence == number
    told.sequence = 7
    assert told.sequence == 7


def test_following_without_an_event_is_nothing() -> None:
    told, lane = lanes(), Lane()
    told.follow(lane, TextDelta, 0, "a")
    told.touch()
    assert told.take() == []
    assert lane.text == ""
    assert told._hits == 0
    told.keep_each()
    assert told.take_latest() is None
    wrong: Any = told
    for members in ((None, TextDelta, 0, "a"), (lane, TextDelta, 0, None), (lane, TextDelta, 0, b"a")):
        with pytest.raises(TypeError):
            wrong.follow(*members)


# -- as the parser uses them -----------------------------------------------------------------------------


def test_each_feed_has_its_own_items() -> None:
    """Text that was taken unread is one item of its feed, with what was read before and behind it."""
    piece = '{"model":"m","message":{"role":"assistant","content":"%s"},"done":false}\n'
    with predicting(True):
        parser = trigate.ResponseParser("ollama-chat")
    fed = [parser.feed((piece % "a" + piece % "b" + piece % "c").encode()) for _ in range(3)]
    assert fed == [[TextDelta("abc", 0)]] * 3
    assert parser._turn.lanes._hits == 7
    assert parser.feed(b"") == []
    assert parser.feed((piece % "d")[:-1].encode()) == []
    assert parser.feed(b"\n" + (piece % "").encode()) == [TextDelta("d", 0)]
    assert parser.feed((piece % "").encode() * 3) == []


def test_a_live_call_grows_while_nothing_is_read() -> None:
    def fragment(function: str) -> bytes:
        delta = f'{{"tool_calls":[{{"index":0,{function}}}]}}'
        return f'data: {{"id":"c","choices":[{{"index":0,"delta":{delta}}}]}}\n\n'.encode()

    with predicting(True):
        parser = trigate.ResponseParser("openai-chat")
    items = parser.feed(fragment('"id":"a","function":{"name":"f","arguments":""}'))
    live = next(item.call for item in items if isinstance(item, trigate.ToolCallStarted))
    meant = ""
    for number in range(50):
        parser.feed(fragment(f'"function":{{"arguments":"{number},"}}'))
        meant += f"{number},"
        assert live.arguments == meant
        assert parser.response.calls[0].arguments == meant
    assert parser._turn.lanes._hits == 49

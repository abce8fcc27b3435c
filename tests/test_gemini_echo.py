"""What is kept of a Gemini turn's parts: small while nobody asks, and each part as it came for whoever does."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

import trigate
from gemini_streams import GEMINI, chunk, sse
from prediction_pairs import made
from streams import typical_cuts
from trigate._core import Sizes
from trigate.protocols.echo import Echo

SIGNED = {"text": "b", "thoughtSignature": "c2ln"}
PARTS: list[dict[str, Any]] = [
    {"text": "Hé", "thought": True},
    {"text": " 🌍", "thought": True},
    {"text": "x" * 200},
    {"text": '"\n'},
    {"text": ""},
    {"text": "y" * 20_000},
    SIGNED,
    {"text": "c"},
    {"text": "d"},
    {"text": "thought", "thought": True},
    {"text": "e"},
]


def stream() -> bytes:
    return sse([*[chunk(part) for part in PARTS], chunk(finish="STOP")])


@pytest.mark.parametrize("fast", [True, False])
def test_each_part_goes_back_as_it_came(fast: bool) -> None:
    for chunks in typical_cuts(stream()):
        parser = made(GEMINI, fast=fast)
        for piece in chunks:
            parser.feed(piece)
        response = parser.finish()
        assert response.to_message() == {"role": "model", "parts": PARTS}
        assert [json.loads(raw) for raw in response.echo] == PARTS
        assert len(response.echo) == len(PARTS)
        assert response.echo[-1] == b'{"text": "e"}'
        assert response.echo[:2] == tuple(response.echo)[:2]


def test_it_is_the_same_as_its_parts_and_as_another_like_it() -> None:
    one, other = trigate.parse(stream(), GEMINI), trigate.parse(stream(), GEMINI)
    assert one == other
    assert one.echo == tuple(one.echo)
    assert one.echo == other.echo
    assert hash(one.echo) == hash(tuple(other.echo))
    assert repr(one.echo) == repr(tuple(one.echo))
    assert one.echo != tuple(one.echo)[1:]
    assert one.echo != Echo()
    as_list: object = list(one.echo)
    assert one.echo != as_list
    assert Echo() == ()
    # However its texts are cut into runs.
    assert Echo(tuple(one.echo)) == one.echo


def test_it_can_be_copied_and_pickled() -> None:
    response = trigate.parse(stream(), GEMINI)
    for again in (copy.deepcopy(response), pickle.loads(pickle.dumps(response))):
        assert again == response
        assert again.echo == response.echo
        assert again.to_message() == response.to_message()


def test_a_part_of_text_takes_a_byte_beside_its_text() -> None:
    def weight(count: int) -> int:
        data = sse([*[chunk({"text": "word "})] * count, chunk(finish="STOP")])
        return len(pickle.dumps(trigate.parse(data, GEMINI).echo))

    assert weight(3000) - weight(1000) < 2000 * (len("word ") + 1) + 50


@pytest.mark.parametrize(
    "sizes",
    [[], [0], [1, 127, 128, 129], [2**14 - 1, 2**14, 2**32, 2**63], list(range(1000)), [300] * 500],
)
def test_sizes_come_out_as_they_went_in(sizes: list[int]) -> None:
    noted = Sizes()
    for count, size in enumerate(sizes):
        noted.append(size)
        if count % 7 == 0:  # asked for in between
            assert Sizes.unpacked(noted.packed) == sizes[: count + 1]
    assert Sizes.unpacked(noted.packed) == sizes


@pytest.mark.parametrize("fast", [True, False])
def test_the_counts_are_there_whoever_asks(fast: bool) -> None:
    """Between two chunks too, and whether or not the last one was read."""
    parser = made(GEMINI, fast=fast)
    turn = parser._turn
    assert turn.usage is None
    for count in range(1, 9):
        counts = {"candidatesTokenCount": count, "totalTokenCount": 3 + count}
        parser.feed(sse([chunk({"text": "a"}) | {"usageMetadata": counts}]))
        if count % 3:
            usage = turn.usage if count % 2 else parser.response.usage
            assert usage is not None
            assert usage.output_tokens == count
            assert usage.raw == counts
    parser.feed(sse([chunk({"text": "b"}, {"text": "c"}) | {"usageMetadata": {"candidatesTokenCount": "9"}}]))
    assert turn.usage is not None
    assert turn.usage.output_tokens is None


@pytest.mark.parametrize("fast", [True, False])
def test_another_id_is_noted_once_and_its_chunks_count(fast: bool) -> None:
    parser = made(GEMINI, fast=fast, limits=trigate.Limits(max_anomalies=1))
    for response_id in "aabbbbaabb":
        parser.feed(sse([chunk({"text": "x"}) | {"responseId": response_id}]))
    parser.feed(sse([chunk(finish="STOP")]))
    response = parser.finish()
    assert (response.text, response.id, response.status) == ("x" * 10, "a", "completed")
    codes = [anomaly.code for anomaly in response.anomalies]
    assert codes == ["response_id_changed", "anomalies_dropped"]


@pytest.mark.parametrize("fast", [True, False])
def test_a_line_with_a_brace_in_each_frame(fast: bool) -> None:
    """The frames are alike, so they would go unread; but their first line is no field."""
    frame = b'{"a":1}\n' + sse([chunk({"text": "x"})])
    for chunks in typical_cuts(sse([chunk({"text": "x"})]) + frame * 5 + sse([chunk(finish="STOP")])):
        parser = made(GEMINI, fast=fast)
        for piece in chunks:
            parser.feed(piece)
        response = parser.finish()
        assert response.status == "failed"
        assert response.error is not None
        assert response.error.code == "stray_text"
        assert response.error.offset == len(sse([chunk({"text": "x"})]))

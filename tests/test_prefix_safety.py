"""Prefix safety: what lacks its terminal event releases nothing, and says where it ended.

The place is computed a second time, by a plain reading of the lines (places.py).
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trigate
from places import Places
from recorded import corpus_entries, corpus_stream, needs_corpus
from stream_strategies import Made, turns
from streams import PROTOCOL, Framing, Script, bytewise, function_item

SMALL = 8 * 1024
SAMPLES = 150


def check_prefix(places: Places, length: int, data: bytes) -> None:
    prefix = data[:length]
    response = trigate.parse(prefix, PROTOCOL)
    assert response.released == ()
    assert not any(isinstance(call, trigate.ReleasedCall) for call in response.calls)
    assert all(call.state == "void" for call in response.calls)
    assert response.error is not None
    if places.pending_error(length):
        assert (response.status, response.error.layer) == ("failed", "provider")
        return
    assert response.status == "truncated"
    assert response.error.layer == "transport"
    assert response.error.offset == length
    assert response.error.code == places.place(length)
    assert not response.clean_end


def check_early(places: Places, length: int, data: bytes) -> None:
    """release_on="call": those calls whose own item was done, and no others."""
    response = trigate.parse(data[:length], PROTOCOL, release_on="call")
    assert response.status == ("failed" if places.pending_error(length) else "truncated")
    assert [call.call_id for call in response.released] == places.calls_done(length)
    assert [call.state for call in response.calls if call not in response.released] == ["void"] * (
        len(response.calls) - len(response.released)
    )


def check_lengths(data: bytes, lengths: Iterable[int]) -> None:
    places = Places(data)
    for length in lengths:
        check_prefix(places, length, data)
        if length % 7 == 0:
            check_early(places, length, data)


def sampled(data: bytes) -> list[int]:
    """Every length of a short stream; of a long one a seeded sample, with all places next to line ends."""
    end = Places(data).terminal_at
    if len(data) <= SMALL:
        return list(range(end))
    source = random.Random(len(data))
    return sorted({0, end - 1, end - 2, *source.sample(range(end), SAMPLES)})


@needs_corpus
@pytest.mark.parametrize(
    "entry", corpus_entries(PROTOCOL), ids=lambda entry: entry["file"].rpartition("/")[2]
)
def test_recorded_streams(entry: dict[str, str]) -> None:
    data = corpus_stream(entry["file"])
    check_lengths(data, sampled(data))


@pytest.mark.parametrize("framing", [Framing(), Framing(eol=b"\r\n"), Framing(eol=b"\r"), Framing(bom=True)])
@pytest.mark.parametrize("kind", ["response.completed", "response.incomplete", "response.failed"])
def test_every_byte_of_an_own_stream(framing: Framing, kind: str) -> None:
    """Two calls interleaved, with characters of two to four bytes, and a message before them."""
    script = Script().created().message("Größe 北京 ", "🌍", index=0)
    for index in (1, 2):
        script.added(index, function_item("", call_id=f"c{index}", id=f"f{index}", status="in_progress"))
    for index in (1, 2, 1):
        script.delta(index, '{"städte":["' if index == 1 else '{"b":"🌍"}', item_id=f"f{index}")
    script.events.pop()
    script.next_number -= 1
    script.delta(1, '北京"]}', item_id="f1")
    script.done(2, function_item('{"b":"🌍"}', call_id="c2", id="f2"))
    script.closed(1, '{"städte":["北京"]}', item_id="f1")
    script.done(1, function_item('{"städte":["北京"]}', call_id="c1", id="f1"))
    data = script.end(kind).data(framing)
    whole = trigate.parse(data, PROTOCOL)
    assert whole.status == kind.removeprefix("response.")
    assert len(whole.released) == (2 if kind == "response.completed" else 0)
    check_lengths(data, range(Places(data).terminal_at))


def test_an_argument_that_is_already_json_is_no_call() -> None:
    """`{"amount": 100` of `1000`: each piece parses when a brace is added, and none of them is a call."""
    item = function_item("", name="pay", status="in_progress")
    script = Script().created().added(0, item)
    for piece in ('{"amount": 1', "0", "0", "0", "}"):
        script.delta(0, piece)
        response = script.parse()
        assert response.status == "truncated"
        assert response.calls[0].problem == "incomplete"
        assert not hasattr(response.calls[0], "value")
    assert response.calls[0].arguments == '{"amount": 1000}'
    assert response.error is not None
    assert response.error.code == "truncated_in_arguments"


def test_while_it_streams_nothing_is_released() -> None:
    data = Script().created().call('{"a":1}').end().data()
    end = Places(data).terminal_at
    parser = trigate.ResponseParser(PROTOCOL)
    for count, chunk in enumerate(bytewise(data), 1):
        parser.feed(chunk)
        snapshot = parser.response
        assert bool(snapshot.released) is (count >= end)
        assert snapshot.status == ("completed" if count >= end else "in_progress")


def test_a_conflict_said_before_the_cut_stays() -> None:
    script = Script().created().added(0, function_item("", status="in_progress")).delta(0, "{}")
    data = script.closed(0, '{"a":1}').end().data()
    places = Places(data)
    from_here = next(known for known, event in places.dispatched if event["type"].endswith("arguments.done"))
    for length in range(from_here, places.terminal_at):
        response = trigate.parse(data[:length], PROTOCOL)
        assert response.status == "conflict"
        assert response.released == ()
        assert response.error is not None
        assert response.error.code == "arguments_differ"


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns(ends=("completed", "incomplete", "failed", "cancelled")), st.randoms(use_true_random=False))
def test_generated_streams(made: Made, source: random.Random) -> None:
    end = Places(made.data).terminal_at
    lengths = {0, end - 1, *(source.randrange(end) for _ in range(60))}
    check_lengths(made.data, sorted(lengths))

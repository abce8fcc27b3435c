"""The benchmark's turns are what they say: the same for one seed, and what trigate makes of them is expected."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

import trigate

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
turns: Any = importlib.import_module("turns")

DELTAS = 400
DELTA_ITEMS = (trigate.TextDelta, trigate.ReasoningDelta, trigate.ArgumentsDelta)


def made(**seed: int) -> list[Any]:
    every: list[Any] = []
    for protocol in turns.PROTOCOLS:
        every += [turns.long_turn(protocol, DELTAS, **seed), *turns.short_turns(protocol, **seed)]
        every += [turns.text_turn(protocol, 60, **seed), turns.drip_turn(protocol, 4096, **seed)]
    return every


TURNS = made()
of_turn = pytest.mark.parametrize("turn", TURNS, ids=lambda turn: f"{turn.protocol}, {turn.name}")


def said(response: trigate.Response) -> Any:
    calls = tuple((call.call_id, call.name, call.value()) for call in response.released)
    return turns.Result(response.text, calls, response.reasoning, response.status)


@pytest.mark.parametrize("deltas", [True, False])
@pytest.mark.parametrize("size", [None, 64 * 1024, 997, 7])
@of_turn
def test_a_turn_comes_to_what_is_expected(turn: Any, size: int | None, deltas: bool) -> None:
    response = trigate.parse(turn.chunks(size), turn.protocol, deltas=deltas)
    assert said(response) == turn.expected
    assert response.anomalies == ()
    assert response.clean_end
    if turn.protocol != "gemini":  # there arguments come as an object, and their text is trigate's own
        assert sum(len(call.arguments.encode()) for call in response.calls) == turn.arguments


@of_turn
def test_a_block_is_one_event_and_a_delta_one_item(turn: Any) -> None:
    decoder = trigate.SSEDecoder(errors="strict")
    assert [len(decoder.feed(block)) for block in turn.blocks] == [1] * len(turn.blocks)
    parser = trigate.ResponseParser(turn.protocol)
    items = [item for block in turn.blocks for item in parser.feed(block) if isinstance(item, DELTA_ITEMS)]
    assert len(items) == turn.deltas


def test_one_seed_gives_the_same_bytes() -> None:
    assert [turn.data for turn in made()] == [turn.data for turn in TURNS]
    for one, other in zip(made(seed=1), TURNS, strict=True):
        assert one.data != other.data


@pytest.mark.parametrize("protocol", turns.PROTOCOLS)
def test_sizes_are_about_those_asked_for(protocol: str) -> None:
    assert turns.long_turn(protocol, 2000).deltas == pytest.approx(2000, rel=0.1)
    assert turns.drip_turn(protocol, 64 * 1024).arguments == pytest.approx(64 * 1024, rel=0.03)
    for turn in turns.short_turns(protocol):
        assert turn.deltas < 80


def test_what_is_not_said_is_not_compared() -> None:
    whole = turns.Result("text", (), "thought", "completed")
    assert turns.Result("text", ()).agrees(whole)
    assert whole.agrees(turns.Result("text", (), None, "completed"))
    assert not turns.Result("text", (), "another thought").agrees(whole)
    assert not turns.Result("text", ((None, "f", {}),)).agrees(whole)

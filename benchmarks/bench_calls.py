"""Bytes to calls: what one delta costs, from bytes to the text, the reasoning and the calls with their values.

Rules
 - Long streams in chunks of 64 KiB (a recording, a fast network) and one event a chunk (a live model); short ones
   one event a chunk, so that what a parser costs to make shows.
 - Recorded streams in chunks of 64 KiB, a parser each. A peer is timed on those that it reads right, and trigate
   is timed again on just those: the ratio is over the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

import compare
from book import Row
from compare.ours import OURS
from compare.peer import Peer
from plan import KIB, Plan
from race import Contestant, Outcome, always, race
from recordings import CORPUS, Recording, recordings
from replay import REPLAY, Record
from turns import PROTOCOLS, Turn, long_turn, short_turns

PEERS = compare.load()[0]
GROUP = "calls"
RECORDED = "recorded"
CHUNK = 64 * KIB
SHAPES = {"long, 64 KiB": CHUNK, "long, one event": None, "short, one event": None}
UNIT = "ns a delta"


def readers(protocol: str) -> list[Peer]:
    return [peer for peer in PEERS if protocol in peer.turns]


def reading(peer: Peer, protocol: str, inputs: list[list[bytes]]) -> Callable[[], None]:
    read = peer.turns[protocol]
    prepared = [peer.prepare(chunks) for chunks in inputs]

    def run() -> None:
        for chunks in prepared:
            read(chunks)

    return run


# -- seeded streams ------------------------------------------------------------------------------------


@cache
def turns_of(protocol: str, shape: str, deltas: int) -> list[Turn]:
    return [long_turn(protocol, deltas)] if shape.startswith("long") else short_turns(protocol)


def is_right(peer: Peer, turns: list[Turn], inputs: list[list[bytes]]) -> bool:
    if peer.is_floor:
        return True
    results = [peer.turns[turn.protocol](chunks) for turn, chunks in zip(turns, inputs, strict=True)]
    return all(result.agrees(turn.expected) for turn, result in zip(turns, results, strict=True))


@pytest.fixture(
    scope="module",
    params=[(protocol, shape) for protocol in PROTOCOLS for shape in SHAPES],
    ids=", ".join,
)
def raced(request: pytest.FixtureRequest, plan: Plan) -> tuple[str, int, dict[str, Outcome]]:
    protocol, shape = request.param
    turns = turns_of(protocol, shape, plan.deltas)
    inputs = [turn.chunks(SHAPES[shape]) for turn in turns]
    contestants = [
        Contestant(
            peer.name,
            peer.versions,
            always(reading(peer, protocol, inputs)),
            partial(is_right, peer, turns, inputs),
        )
        for peer in readers(protocol)
    ]
    return f"{protocol}, {shape}", sum(turn.deltas for turn in turns), race(contestants, plan)


@pytest.mark.benchmark(timer=REPLAY)
@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.turns], ids=lambda peer: peer.name)
def bench_calls(raced: tuple[str, int, dict[str, Outcome]], peer: Peer, record: Record) -> None:
    case, deltas, outcomes = raced
    outcome = outcomes.get(peer.name)
    if outcome is None:
        pytest.skip("not for this protocol")
    value = None if outcome.median is None else outcome.median / deltas
    facts = {"floor": peer.is_floor}
    record(
        Row(
            GROUP,
            case,
            peer.name,
            outcome.versions,
            outcome.state,
            value,
            UNIT,
            len(outcome.times),
            facts,
        ),
        outcome,
    )


# -- recorded streams ----------------------------------------------------------------------------------


def reads_right(peer: Peer, recording: Recording) -> bool:
    try:
        result = peer.turns[recording.protocol](peer.prepare(recording.chunks(CHUNK)))
    except Exception:  # a peer may fail as it likes: it is then not timed on this one
        return False
    return peer.is_floor or recording.is_told_by(result)


def recorded_contestants(protocol: str, right: dict[str, list[Recording]]) -> list[Contestant]:
    """Each peer on what it reads right, and beside each other one trigate on the same."""
    ours = next(peer for peer in PEERS if peer.name == OURS)
    made = []
    for peer in readers(protocol):
        if not (inputs := [recording.chunks(CHUNK) for recording in right[peer.name]]):
            continue
        pairs = [(peer.name, peer)] if peer is ours else [(peer.name, peer), (beside(peer), ours)]
        for name, reader in pairs:
            run = reading(reader, protocol, inputs)
            made.append(Contestant(name, reader.versions, always(run), is_right=lambda: True))
    return made


def beside(peer: Peer) -> str:
    return OURS if peer.name == OURS else f"{OURS} beside {peer.name}"


@pytest.fixture(scope="module", params=PROTOCOLS)
def raced_recorded(request: pytest.FixtureRequest, plan: Plan) -> tuple[str, Any, dict[str, Outcome]]:
    protocol = request.param
    found = recordings(protocol)
    if not found:
        pytest.skip(f"no recorded streams at {CORPUS}")
    right = {
        peer.name: [recording for recording in found if reads_right(peer, recording)]
        for peer in readers(protocol)
    }
    return protocol, (len(found), right), race(recorded_contestants(protocol, right), plan)


@pytest.mark.benchmark(timer=REPLAY)
@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.turns], ids=lambda peer: peer.name)
def bench_recorded(raced_recorded: tuple[str, Any, dict[str, Outcome]], peer: Peer, record: Record) -> None:
    protocol, (count, right), outcomes = raced_recorded
    outcome = outcomes.get(peer.name)
    if outcome is None:
        pytest.skip("not for this protocol, or reads none of them right")
    events = sum(recording.events for recording in right[peer.name])
    own = outcomes[beside(peer)].median
    assert outcome.median is not None
    assert own is not None
    facts = {
        "floor": peer.is_floor,
        "right": len(right[peer.name]),
        "of": count,
        "own": own / events,
    }
    row = Row(
        RECORDED,
        protocol,
        peer.name,
        outcome.versions,
        outcome.state,
        outcome.median / events,
        "ns an event",
        len(outcome.times),
        facts,
    )
    record(row, outcome)

"""Drip: one argument in pieces of 16 bytes, ever longer: what one of its bytes costs, and whether that grows.

Rules
 - Chunks of 64 KiB. Work that grows with the square of the length shows as a figure that grows with the size.
 - An accumulator that would take too long at the next size is not run there, and the table says so; what it would
   take is foreseen from how it grew before.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest

import compare
from book import Row
from compare.peer import Peer
from plan import FULL, KIB, MIB, Plan
from race import Contestant, Outcome, always, race
from replay import REPLAY, Record
from turns import Turn, drip_turn

GROUP = "drip"
PROTOCOLS = ("openai-responses", "anthropic-messages")
PEERS = [
    peer
    for peer in compare.load()[0]
    if not peer.is_floor and any(protocol in peer.turns for protocol in PROTOCOLS)
]
TOO_LONG = "not run: would take too long"

#: Nanoseconds of a peer at the sizes so far, by protocol and peer.
SO_FAR: dict[tuple[str, str], list[float]] = {}


def named(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


@cache
def dripped(protocol: str, size: int) -> tuple[Turn, list[bytes]]:
    turn = drip_turn(protocol, size)
    return turn, turn.chunks(64 * KIB)


def is_right(peer: Peer, turn: Turn, chunks: list[bytes]) -> bool:
    return peer.turns[turn.protocol](chunks).agrees(turn.expected)


def foreseen(protocol: str, peer: Peer) -> float:
    """What the next size, four times the last, will take: as much more as the last step, or four times."""
    times = SO_FAR.get((protocol, peer.name), [])
    if not times:
        return 0.0
    return times[-1] * (max(4.0, times[-1] / times[-2]) if len(times) > 1 else 4.0)


@pytest.fixture(
    scope="module",
    params=[(protocol, size) for protocol in PROTOCOLS for size in FULL.drip_sizes],
    ids=lambda param: f"{param[0]}, {named(param[1])}",
)
def raced(request: pytest.FixtureRequest, plan: Plan) -> tuple[str, int, Turn, dict[str, Outcome]]:
    protocol, size = request.param
    if size not in plan.drip_sizes:
        pytest.skip("not in this plan")
    dripped.cache_clear()  # the largest is 80 MB
    turn, chunks = dripped(protocol, size)
    able = [peer for peer in PEERS if protocol in peer.turns]
    ran = [peer for peer in able if foreseen(protocol, peer) <= plan.patience_ns]
    outcomes = race(
        [
            Contestant(
                peer.name,
                peer.versions,
                always(partial(peer.turns[protocol], chunks)),
                partial(is_right, peer, turn, chunks),
            )
            for peer in ran
        ],
        plan,
    )
    for peer in able:
        if peer not in ran:
            outcomes[peer.name] = Outcome(peer.versions, TOO_LONG)
        elif (median := outcomes[peer.name].median) is not None:
            SO_FAR.setdefault((protocol, peer.name), []).append(median)
    return protocol, size, turn, outcomes


@pytest.mark.benchmark(timer=REPLAY)
@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def bench_drip(raced: tuple[str, int, Turn, dict[str, Outcome]], peer: Peer, record: Record) -> None:
    protocol, size, turn, outcomes = raced
    outcome = outcomes.get(peer.name)
    if outcome is None:
        pytest.skip("not for this protocol")
    value = None if outcome.median is None else outcome.median / turn.arguments
    facts: dict[str, Any] = {"size": size}
    row = Row(
        GROUP,
        f"{protocol}, {named(size)}",
        peer.name,
        outcome.versions,
        outcome.state,
        value,
        "ns a byte",
        len(outcome.times),
        facts,
    )
    record(row, outcome)

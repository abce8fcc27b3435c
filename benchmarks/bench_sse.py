"""SSE events: what one costs, from bytes to its type and text.

Rules
 - Every contestant is asked for `event` and `data` of each event, in the same loop, for some make them only then; one
   row of trigate is not, and shows what the asking costs.
 - A contestant is timed on a stream only if its events are the expected ones there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

import compare
from book import Row
from compare.peer import Peer
from corpus import NAMES, Stream, streams
from plan import KIB, Plan
from race import Contestant, Outcome, always, race
from replay import REPLAY, Record

GROUP = "sse"
CHUNKINGS = {"64 KiB": 64 * KIB, "one event": None}
CONTESTANTS = [peer for peer in compare.load()[0] if peer.batches is not None]


def asking(peer: Peer, chunks: list[bytes]) -> Callable[[], None]:
    batches = peer.batches
    assert batches is not None

    def run() -> None:
        for batch in batches(chunks):
            for event in batch:
                event.event  # noqa: B018
                event.data  # noqa: B018

    def run_unasked() -> None:
        for batch in batches(chunks):
            for _ in batch:
                pass

    return run if peer.asks_for_text else run_unasked


def is_right(peer: Peer, stream: Stream, chunks: list[bytes]) -> bool:
    """Whether the events are the expected ones; None stands for "message" and for no id in some peers."""
    assert peer.batches is not None
    events = [event for batch in peer.batches(chunks) for event in batch]
    return [seen(event) for event in events] == list(stream.expected)


def seen(event: Any) -> tuple[str, str, str, int | None]:
    return event.event or "message", event.data, event.id or "", event.retry


@cache
def corpus(count: int) -> dict[str, Stream]:
    return {stream.name: stream for stream in streams(count=count)}


@pytest.fixture(
    scope="module",
    params=[(name, chunking) for chunking in CHUNKINGS for name in NAMES],
    ids=", ".join,
)
def raced(request: pytest.FixtureRequest, plan: Plan) -> tuple[str, Stream, dict[str, Outcome]]:
    name, chunking = request.param
    stream = corpus(plan.events)[name]
    chunks = stream.chunks(CHUNKINGS[chunking])
    contestants = [
        Contestant(
            peer.name,
            peer.versions,
            always(asking(peer, chunks)),
            partial(is_right, peer, stream, chunks),
        )
        for peer in CONTESTANTS
    ]
    return f"{name}, {chunking}", stream, race(contestants, plan)


@pytest.mark.benchmark(timer=REPLAY)
@pytest.mark.parametrize("name", [peer.name for peer in CONTESTANTS])
def bench_sse(raced: tuple[str, Stream, dict[str, Outcome]], name: str, record: Record) -> None:
    case, stream, outcomes = raced
    outcome = outcomes[name]
    value = None if outcome.median is None else outcome.median / len(stream.expected)
    row = Row(GROUP, case, name, outcome.versions, outcome.state, value, "ns an event", len(outcome.times))
    record(row, outcome)

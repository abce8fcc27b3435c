"""Per chunk: what one call of feed costs, by what the chunk brings.

Rules
 - Each round has a fresh parser that stands in the middle of a text, or of a call's arguments; the loop around
   the calls is the same for all, and is in every figure.
 - Two floors: a method of a Python class that does nothing, and a builtin method that does nothing
   (`deque(maxlen=0).append`). They show what a call costs before it has done anything.
 - Half a delta can be fed to a parser only once before the rest, so there each call is that of another parser.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest

import trigate
from book import Row
from plan import Plan
from race import Contestant, Outcome, race
from replay import REPLAY, Record
from turns import PROTOCOLS, Turn, drip_turn, text_turn

GROUP = "chunk"
COMMENT = b": keep-alive\n\n"
#: How many events of a stream come before the first piece of its text.
HEADS = {"openai-responses": 4, "openai-chat": 1, "anthropic-messages": 3, "gemini": 0}
#: The same before the first piece of arguments; Gemini has no pieces.
CALL_HEADS = {"openai-responses": 3, "openai-chat": 2, "anthropic-messages": 4}
CASES = ("comment", "half a delta", "text", "text, deltas=False", "arguments", "arguments, deltas=False")
FLOORS = ("one object", "an object a call")

Feed = Callable[[bytes], Any]


class Nothing:
    def feed(self, chunk: bytes) -> None:
        """Does nothing."""


def methods(count: int) -> list[Feed]:
    return [Nothing().feed for _ in range(count)]


def builtin_methods(count: int) -> list[Feed]:
    return [deque[bytes](maxlen=0).append for _ in range(count)]


EMPTIES: dict[str, Callable[[int], list[Feed]]] = {
    "a Python method that does nothing": methods,
    "a builtin method that does nothing": builtin_methods,
}


def floor(empties: Callable[[int], list[Feed]], case: str, count: int) -> Callable[[], None]:
    if case == FLOORS[0]:
        return each_chunk(empties(1)[0], [COMMENT] * count)
    return each_feed(empties(count), COMMENT)


@cache
def texts(protocol: str, count: int) -> Turn:
    return text_turn(protocol, count)


@cache
def arguments(protocol: str, count: int) -> Turn:
    return drip_turn(protocol, count * 16)


def parser_at(protocol: str, blocks: tuple[bytes, ...], deltas: bool = True) -> trigate.ResponseParser:
    parser = trigate.ResponseParser(protocol, deltas=deltas)
    parser.feed(b"".join(blocks))
    return parser


def each_chunk(feed: Feed, chunks: list[bytes]) -> Callable[[], None]:
    def run() -> None:
        for chunk in chunks:
            feed(chunk)

    return run


def each_feed(feeds: list[Feed], chunk: bytes) -> Callable[[], None]:
    def run() -> None:
        for feed in feeds:
            feed(chunk)

    return run


def maker(protocol: str, case: str, count: int) -> Callable[[], Callable[[], None]] | None:
    """What is timed, anew for each round; None where the protocol has no such chunk."""
    kind, _, option = case.partition(", ")
    turn, head = texts(protocol, count), HEADS[protocol]
    if kind == "arguments":
        if protocol not in CALL_HEADS:
            return None
        turn, head = arguments(protocol, count), CALL_HEADS[protocol]
    first, deltas = turn.blocks[: head + 1], not option
    if case == "comment":
        return lambda: each_chunk(parser_at(protocol, first).feed, [COMMENT] * count)
    if case == "half a delta":
        half = turn.blocks[head + 1][: len(turn.blocks[head + 1]) // 2]
        return lambda: each_feed([parser_at(protocol, first).feed for _ in range(count)], half)
    chunks = list(turn.blocks[head + 1 : head + 1 + count])
    return lambda: each_chunk(parser_at(protocol, first, deltas).feed, chunks)


def brings_what_it_says(protocol: str, case: str, count: int) -> bool:
    """Whether the chunks of a case are of its kind, and the parser is where it should be."""
    kind, _, option = case.partition(", ")
    head = (CALL_HEADS if kind == "arguments" else HEADS)[protocol]
    turn = (arguments if kind == "arguments" else texts)(protocol, count)
    parser = parser_at(protocol, turn.blocks[: head + 1], not option)
    if kind in ("comment", "half a delta"):
        return not parser.feed(COMMENT) and bool(parser.response.text)
    items = parser.feed(turn.blocks[head + 1])
    wanted = trigate.TextDelta if kind == "text" else trigate.ArgumentsDelta
    return not items if option else [type(item) for item in items] == [wanted]


@pytest.fixture(scope="module")
def raced(plan: Plan) -> dict[str, Outcome]:
    """All cases and floors in one race, so that they can be compared."""
    count = plan.chunks
    made = [
        Contestant(
            f"{protocol}, {case}",
            trigate.__version__,
            make,
            partial(brings_what_it_says, protocol, case, count),
            fresh=True,
        )
        for protocol in PROTOCOLS
        for case in CASES
        if (make := maker(protocol, case, count)) is not None
    ]
    made += [
        Contestant(f"{name}, {case}", "", partial(floor, empties, case, count), lambda: True, fresh=True)
        for name, empties in EMPTIES.items()
        for case in FLOORS
    ]
    return race(made, plan)


@pytest.mark.benchmark(timer=REPLAY)
@pytest.mark.parametrize(
    ("protocol", "case"),
    [(protocol, case) for protocol in PROTOCOLS for case in CASES]
    + [(name, case) for name in EMPTIES for case in FLOORS],
)
def bench_chunk(raced: dict[str, Outcome], protocol: str, case: str, plan: Plan, record: Record) -> None:
    outcome = raced.get(f"{protocol}, {case}")
    if outcome is None:
        pytest.skip("the protocol has no such chunk")
    value = None if outcome.median is None else outcome.median / plan.chunks
    facts = {"floor": protocol not in PROTOCOLS}
    row = Row(
        GROUP, case, protocol, outcome.versions, outcome.state, value, "ns a chunk", len(outcome.times), facts
    )
    record(row, outcome)

"""What a generated turn says, before it is written in any protocol's way: hypothesis draws plans.

Rules
 - A plan is plain data: texts, calls with their argument text in pieces, an order, an end, some quirks.
 - Argument texts are mostly right; some are cut, doubled, followed by text, or hold a key twice.
 - What a quirk does on a wire, that protocol's writer says; an unknown one does nothing.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import strategies as st

__all__ = ["ENDS", "Ask", "Plan", "merged", "plans"]

ENDS = ["good", "good", "good", "good", "short", "blocked", "unknown", "none", "error", "unasked"]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Ask:
    """One call: its id, its name, and the pieces of its arguments. value: as an object, if they are one."""

    call_id: str
    name: str
    pieces: tuple[str, ...]
    value: dict[str, Any] | None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Plan:
    texts: tuple[str, ...]
    reasoning: tuple[str, ...]
    asks: tuple[Ask, ...]
    end: str
    quirks: frozenset[str]
    seed: int

    def has(self, quirk: str) -> bool:
        return quirk in self.quirks


def merged(tracks: list[list[_T]], seed: int, *, interleaved: bool) -> list[_T]:
    """The steps of all tracks in one order: one track after another, or mixed."""
    if not interleaved:
        return [step for track in tracks for step in track]
    chance = random.Random(seed)
    rest = [list(track) for track in tracks if track]
    steps: list[_T] = []
    while rest:
        track = chance.choice(rest)
        steps.append(track.pop(0))
        rest = [left for left in rest if left]
    return steps


_WORDS = st.text(st.sampled_from('ab{}[]":,\\ é☃😀\u2028\n/0'), max_size=6)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | _WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
_OBJECTS = st.dictionaries(st.sampled_from(["a", "b", "path", "q"]), _VALUES, max_size=3)
_FAULTS = [
    "",
    "",
    "",
    "",
    "",
    "",
    "cut",
    "cut",
    "tail",
    "twice",
    "double_key",
    "nan",
    "control",
    "empty",
    "list",
]


def _spoiled(text: str, fault: str, cut: int) -> str:
    if fault == "cut":
        return text[: cut % len(text)]
    faults = {
        "tail": text + " ok",
        "twice": text + text,
        "double_key": '{"a":1,"a":2}',
        "nan": '{"a":NaN}',
        "control": '{"a":"\t"}',
        "empty": "",
        "list": "[1]",
    }
    return faults.get(fault, text)


def _cut(text: str, places: list[int]) -> tuple[str, ...]:
    at = sorted(place % (len(text) + 1) for place in places)
    return tuple(text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True))


@st.composite
def _asks(draw: st.DrawFn, number: int, *, faults: bool) -> Ask:
    value = draw(_OBJECTS)
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    fault = draw(st.sampled_from(_FAULTS)) if faults else ""
    text = _spoiled(text, fault, draw(st.integers(1, 30)))
    pieces = _cut(text, draw(st.lists(st.integers(0, 40), max_size=3)))
    return Ask(
        f"call_{number}", draw(st.sampled_from(["get_time", "rm", "ü"])), pieces, None if fault else value
    )


@st.composite
def plans(
    draw: st.DrawFn, quirks: tuple[str, ...], *, faults: bool = True, ends: tuple[str, ...] = ()
) -> Plan:
    """faults: whether argument texts may be wrong. ends: which ends there are, all of them by default."""
    count = draw(st.sampled_from([0, 1, 1, 2, 2, 3]))
    chosen = draw(st.sets(st.sampled_from(quirks), max_size=3)) if quirks else set()
    return Plan(
        texts=tuple(draw(st.lists(_WORDS, max_size=2))),
        reasoning=tuple(draw(st.lists(_WORDS, max_size=1))),
        asks=tuple(draw(_asks(number, faults=faults)) for number in range(count)),
        end=draw(st.sampled_from(ends or ENDS)),
        quirks=frozenset(chosen),
        seed=draw(st.integers(0, 999)),
    )

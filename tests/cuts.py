"""Ways to cut a stream into chunks: whatever the cut, the results must be equal.

Short inputs are cut at every place, all inputs at seeded random places, so a failure can be repeated.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import TypeVar

EVERY_TWO = 200
EVERY_THREE = 24

_T = TypeVar("_T", bytes, str)


def at(data: _T, places: Iterable[int]) -> list[_T]:
    """The pieces of `data` between these places, which are in order; equal places give an empty piece."""
    borders = [0, *places, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(borders)]


def singly(data: _T) -> list[_T]:
    """One byte or character a piece."""
    return [data[place : place + 1] for place in range(len(data))]


def in_two(data: _T) -> Iterator[list[_T]]:
    """Every cut in two, the ones with an empty half included."""
    for place in range(len(data) + 1):
        yield at(data, [place])


def in_three(data: _T) -> Iterator[list[_T]]:
    """Every cut in three."""
    for second in range(len(data) + 1):
        for first in range(second + 1):
            yield at(data, [first, second])


def at_random(data: _T, seed: str, rounds: int = 4) -> Iterator[list[_T]]:
    """Seeded random cuts, from a few large pieces to many small ones, empty ones among them."""
    chance = random.Random(seed)
    for turn in range(rounds):
        count = chance.randint(1, 4) if turn % 2 == 0 else chance.randint(1, max(1, min(len(data), 400)))
        yield at(data, sorted(chance.randint(0, len(data)) for _ in range(count)))


def every(data: _T, seed: str) -> Iterator[list[_T]]:
    """All of the above, as far as the length of `data` allows."""
    yield [data]
    yield singly(data)
    if len(data) <= EVERY_TWO:
        yield from in_two(data)
    if len(data) <= EVERY_THREE:
        yield from in_three(data)
    yield from at_random(data, seed)

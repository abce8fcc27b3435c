"""How an outcome is handed to pytest-benchmark: a clock that tells times which were measured before.

Rules
 - pytest-benchmark runs one contestant to its end before the next begins; here they take turns (race.py). So its
   pedantic mode records and does not run: it is given an empty function, and this clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from book import Row
from race import Outcome

__all__ = ["REPLAY", "Record", "Replay", "replay"]

#: Writes a row into the book, and its rounds into pytest-benchmark.
Record = Callable[[Row, Outcome], None]


class Replay:
    def __init__(self) -> None:
        self._readings: list[float] = []

    def load(self, times: list[float]) -> None:
        self._readings = [reading for time in times for reading in (0.0, time / 1e9)]

    def __call__(self) -> float:
        """Nought when a round begins, its time when it ends."""
        return self._readings.pop(0)


#: pytest-benchmark takes a clock from a mark, so there is one for all.
REPLAY = Replay()


def replay(benchmark: Any, group: str, times: list[float]) -> None:
    REPLAY.load(times)
    benchmark.group = group
    benchmark.pedantic(lambda: None, rounds=len(times))

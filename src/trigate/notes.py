"""What was remarkable about a response, and what decided it: anomalies and decisions, each with its byte offset.

Rules
 - Bounded: anomalies by `max_anomalies`, the rest are counted; decisions by the calls, a few for each. What a
   detail repeats of the wire may be of any length, so that a long one is cut.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

__all__ = ["Anomaly", "Decision", "Notes"]


class Anomaly(msgspec.Struct, frozen=True):
    """A tolerated deviation: its code, the byte offset of the event that showed it, and what was seen."""

    code: str
    offset: int | None
    detail: str


class Decision(msgspec.Struct, frozen=True):
    """One step towards the verdict.

    rule: "call_started", "call_done", "call_void", "call_released", "conflict", "ended".
    offset: the first byte of the event that decided; None where only the end of the input did.
    """

    rule: str
    offset: int | None
    detail: str


_LONGEST = 1000


def _bounded(detail: str) -> str:
    return detail if len(detail) <= _LONGEST else detail[: _LONGEST - 1] + "…"


class Notes:
    """Collects both for one response. told: called with each that is new."""

    __slots__ = ("_anomalies", "_decisions", "_dropped", "_max", "_seen", "_told")

    def __init__(self, max_anomalies: int, told: Callable[[], None]) -> None:
        self._max = max_anomalies
        self._told = told
        self._anomalies: list[Anomaly] = []
        self._dropped = 0
        self._seen: dict[tuple[str, str], None] = {}  # an empty set weighs three times as much
        self._decisions: list[Decision] = []

    def anomaly(self, code: str, offset: int | None, detail: str, once: bool) -> None:
        detail = _bounded(detail)
        if once:
            if (code, detail) in self._seen:
                return
            if len(self._seen) < self._max:
                self._seen[code, detail] = None
        self._told()
        if len(self._anomalies) < self._max:
            self._anomalies.append(Anomaly(code, offset, detail))
        else:
            self._dropped += 1

    def decision(self, rule: str, offset: int | None, detail: str) -> None:
        self._told()
        self._decisions.append(
            Decision(rule, offset, detail if len(detail) <= _LONGEST else _bounded(detail))
        )

    def mark(self) -> tuple[int, int, int]:
        """How much is noted, for `forget`."""
        return len(self._anomalies), self._dropped, len(self._decisions)

    def forget(self, mark: tuple[int, int, int]) -> None:
        """What was noted since the mark is gone."""
        anomalies, self._dropped, decisions = mark
        del self._anomalies[anomalies:], self._decisions[decisions:]

    @property
    def count(self) -> int:
        """How many came, the dropped ones included: the same as long as nothing new did."""
        return self.anomaly_count + len(self._decisions)

    @property
    def anomaly_count(self) -> int:
        return len(self._anomalies) + self._dropped

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        if not self._dropped:
            return tuple(self._anomalies)
        dropped = f"{self._dropped} more were not kept (max_anomalies)"
        return (*self._anomalies, Anomaly("anomalies_dropped", None, dropped))

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decisions)

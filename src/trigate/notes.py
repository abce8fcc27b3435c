"""What was remarkable about a response, and what decided it: anomalies and decisions, each with its byte offset.

Rules
 - Bounded: anomalies by `max_anomalies`, the rest are counted; decisions by the calls, a few for each. What a
   detail repeats of the wire may be of any length, so that a long one is cut.
"""

from __future__ import annotations

import msgspec

from trigate._core import Lanes

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


class Notes(msgspec.Struct, eq=False):
    """Collects both for one response. lanes: told (`touch`) of each that is new."""

    _max: int
    _lanes: Lanes
    _anomalies: list[Anomaly] | None = None  # most responses have none
    _dropped: int = 0
    _seen: set[tuple[str, str]] | None = None
    _decisions: list[Decision] = []

    def anomaly(self, code: str, offset: int | None, detail: str, once: bool) -> None:
        detail = _bounded(detail)
        if once:
            if self._seen is None:
                self._seen = set()
            if (code, detail) in self._seen:
                return
            if len(self._seen) < self._max:
                self._seen.add((code, detail))
        self._lanes.touch()
        if self._anomalies is None:
            self._anomalies = []
        if len(self._anomalies) < self._max:
            self._anomalies.append(Anomaly(code, offset, detail))
        else:
            self._dropped += 1

    def decision(self, rule: str, offset: int | None, detail: str) -> None:
        self._lanes.touch()
        self._decisions.append(
            Decision(rule, offset, detail if len(detail) <= _LONGEST else _bounded(detail))
        )

    def mark(self) -> tuple[int, int, int]:
        """How much is noted, for `forget`."""
        return len(self._anomalies or ()), self._dropped, len(self._decisions)

    def forget(self, mark: tuple[int, int, int]) -> None:
        """What was noted since the mark is gone."""
        anomalies, self._dropped, decisions = mark
        if self._anomalies is not None:
            del self._anomalies[anomalies:]
        del self._decisions[decisions:]

    @property
    def count(self) -> int:
        """How many came, the dropped ones included: the same as long as nothing new did."""
        return self.anomaly_count + len(self._decisions)

    @property
    def anomaly_count(self) -> int:
        return (len(self._anomalies) if self._anomalies is not None else 0) + self._dropped

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        if not self._dropped:
            return tuple(self._anomalies or ())
        dropped = f"{self._dropped} more were not kept (max_anomalies)"
        return (*(self._anomalies or ()), Anomaly("anomalies_dropped", None, dropped))

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decisions)

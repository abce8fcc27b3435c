"""How much is measured: a quick look, or all of it.

Rules
 - Both plans measure the same things in the same way. The quick one has shorter streams and fewer rounds, so its
   figures say less: what grows with the length of a stream shows only in the full one.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "KIB", "MIB", "PLANS", "QUICK", "Plan"]

KIB = 1024
MIB = 1024 * KIB
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Plan:
    """rounds: at most, for each contestant in each case
    budget_ns: a contestant gets as many rounds as fit into this, one at least
    patience_ns: one that takes longer than this is not run again: its checked run is its figure
    least_ns: a contestant runs as often in a round as fits into this, once at least
    events, deltas: the length of the seeded streams
    chunks: how many chunks a round of the group "per chunk" feeds
    drip_sizes: bytes of the argument that comes in small pieces
    parsers: how many of them are weighed together
    core_bytes: how much the core reads at once; past the last-level cache, if the machine has the memory
    """

    name: str
    rounds: int
    budget_ns: int
    patience_ns: int
    least_ns: int
    events: int
    deltas: int
    chunks: int
    drip_sizes: tuple[int, ...]
    parsers: int
    core_bytes: int


QUICK = Plan(
    "quick",
    rounds=5,
    budget_ns=_SECOND // 4,
    patience_ns=2 * _SECOND,
    least_ns=5_000_000,
    events=1_000,
    deltas=2_000,
    chunks=500,
    drip_sizes=(64 * KIB, 256 * KIB),
    parsers=10_000,
    core_bytes=256 * MIB,
)
FULL = Plan(
    "full",
    rounds=15,
    budget_ns=8 * _SECOND,
    patience_ns=10 * _SECOND,
    least_ns=50_000_000,
    events=4_000,
    deltas=20_000,
    chunks=5_000,
    drip_sizes=(64 * KIB, 256 * KIB, MIB, 4 * MIB),
    parsers=10_000,
    core_bytes=1024 * MIB,
)
PLANS = {plan.name: plan for plan in (QUICK, FULL)}

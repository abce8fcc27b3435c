"""Contestants take turns: one runs, then the next, round after round, so that a busy machine hurts all alike.

Rules
 - A contestant is checked first; one that is not right is never timed.
 - Each round begins with another contestant, so that none always runs behind the same one.
 - The garbage collector is off while the clock runs, and has run before.
 - A slow contestant takes part in fewer rounds, spread over all of them.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import Any

from plan import Plan

__all__ = ["OTHER", "TIMED", "Contestant", "Outcome", "always", "race", "takes_part"]

TIMED = "timed"
OTHER = "other result"


@dataclass(frozen=True)
class Contestant:
    """make: gives what is timed, anew for each round; with `fresh` it is then run once, and not repeated
    is_right: runs it once, untimed, and says whether what came out is what must
    """

    name: str
    versions: str
    make: Callable[[], Callable[[], Any]]
    is_right: Callable[[], bool]
    fresh: bool = False


@dataclass
class Outcome:
    """times: nanoseconds of one run each; none where the contestant was not timed."""

    versions: str
    state: str
    times: list[float] = field(default_factory=list)

    @property
    def median(self) -> float | None:
        return statistics.median(self.times) if self.times else None


@dataclass
class _Lane:
    contestant: Contestant
    outcome: Outcome
    loops: int = 1
    rounds: int = 0


def always(run: Callable[[], Any]) -> Callable[[], Callable[[], Any]]:
    """For `make`: the same in each round."""
    return lambda: run


def race(contestants: Sequence[Contestant], plan: Plan) -> dict[str, Outcome]:
    """The outcome of each, by name."""
    gc.collect()
    gc.freeze()  # what is there already need not be looked at before every run
    try:
        lanes = [_lane(contestant, plan) for contestant in contestants]
        for number in range(plan.rounds):
            turn = number % max(len(lanes), 1)
            for lane in lanes[turn:] + lanes[:turn]:
                if takes_part(number, lane.rounds, plan.rounds):
                    lane.outcome.times.append(_clock(lane.contestant, lane.loops))
    finally:
        gc.unfreeze()
    return {lane.contestant.name: lane.outcome for lane in lanes}


def takes_part(number: int, rounds: int, of: int) -> bool:
    """Whether round `number` is one of the `rounds` that are spread over `of`."""
    return (number + 1) * rounds // of > number * rounds // of


def _lane(contestant: Contestant, plan: Plan) -> _Lane:
    """Checks, and finds out how often a contestant can run."""
    outcome = Outcome(contestant.versions, _state(contestant))
    lane = _Lane(contestant, outcome)
    if outcome.state != TIMED:
        return lane
    once = _clock(contestant, 1)
    if once > plan.patience_ns:
        outcome.times.append(once)
        return lane
    if not contestant.fresh:
        lane.loops = max(1, int(plan.least_ns // once))
    lane.rounds = min(max(int(plan.budget_ns // (once * lane.loops)), 1), plan.rounds)
    return lane


def _state(contestant: Contestant) -> str:
    try:
        return TIMED if contestant.is_right() else OTHER
    except Exception as error:  # a peer may fail as it likes: that is its result
        return f"{OTHER}: {type(error).__name__}"


def _clock(contestant: Contestant, loops: int) -> float:
    """Nanoseconds of one run."""
    run = contestant.make()
    gc.collect()
    gc.disable()
    try:
        start = perf_counter_ns()
        for _ in range(loops):
            run()
        return (perf_counter_ns() - start) / loops
    finally:
        gc.enable()

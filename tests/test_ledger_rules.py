"""The rules of a ledger, without a database: any order of requests and any time between them.

An oracle counts the runs: with a side effect, no second one unless somebody said that the first had not happened.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgers import digest, key
from trigate.ledger import Ask, Claim, Entry, Finding, LedgerError, rules
from trigate.ledger.entry import STATES

LEASE = 10
VERBS = (
    *("propose", "claim", "claim read-only", "claim other", "renew", "succeed", "fail", "release", "give up"),
    *("found succeeded", "found failed", "found not_happened", "found unknown"),
)
#: A verb, the time that passes before it, and which of the claims so far writes.
STEPS = st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 15), st.integers(0, 5)), max_size=30)
WAYS: dict[str, set[str]] = {state: set(ways) for state, (_, ways) in STATES.items()}


class Story:
    """One entry, all claims that were ever given out, and what an outsider counts."""

    def __init__(self) -> None:
        self.now = 1000
        self.entry: Entry | None = None
        self.claims: list[Claim] = []
        self.steps: set[tuple[str, str]] = set()
        self.runs_with_effect = 0

    def take(self, verb: str, which: int) -> None:
        old = self.entry
        if old is not None:
            self.note(old, rules.seen(old, self.now))
        try:
            new = self.apply(verb, which)
        except (LedgerError, IndexError):
            return
        if old is not None and new is not old:
            assert new.revision > old.revision
            assert new.fence >= old.fence
            self.note(rules.seen(old, self.now), new)
        self.entry = new

    def note(self, old: Entry, new: Entry) -> None:
        if new is not old and (old.state, old.fence, old.lease_until) != (
            new.state,
            new.fence,
            new.lease_until,
        ):
            self.steps.add((old.state, new.state))

    def apply(self, verb: str, which: int) -> Entry:
        held: Any = None
        if verb in ("renew", "succeed", "fail", "release", "give up"):
            held = self.claims[which]
        match verb:
            case "propose":
                return rules.propose(self.entry, Ask(key(), digest("a")), self.now)
            case "claim" | "claim read-only" | "claim other":
                return self.claim(
                    Ask(key(), digest("b" if verb == "claim other" else "a"), verb == "claim read-only")
                )
            case "renew":
                return rules.renew(self.entry, held, LEASE, self.now)
            case "succeed":
                return rules.settle(self.entry, held, Finding("succeeded"), "null", self.now)
            case "fail":
                return rules.settle(self.entry, held, Finding("failed", problem="x"), None, self.now)
            case "give up":
                return rules.settle(self.entry, held, Finding("unknown", problem="x"), None, self.now)
            case "release":
                new = rules.release(self.entry, held, "x", self.now)
                self.runs_with_effect = 0
                return new
        found: Any = verb.removeprefix("found ")
        if self.entry is None:
            raise IndexError
        text = "null" if found == "succeeded" else None
        asked = rules.seen(self.entry, self.now)
        new = rules.reconcile(self.entry, asked, Finding(found), text, self.now)
        if found == "not_happened":
            self.runs_with_effect = 0
        return new

    def claim(self, ask: Ask) -> Entry:
        before = None if self.entry is None else rules.seen(self.entry, self.now)
        claim = rules.claim(self.entry, ask, LEASE, self.now)
        assert (claim.outcome == "conflict") == (before is not None and before.digest != ask.digest)
        if claim.outcome == "claimed":
            assert before is None or before.state != "claimed"
            assert all(claim.fence > other.fence for other in self.claims)
            self.claims.append(claim)
            self.runs_with_effect += not ask.read_only
            assert self.runs_with_effect <= 1
        return claim.entry


@given(STEPS)
def test_no_order_of_requests_runs_a_side_effect_twice(steps: list[tuple[str, int, int]]) -> None:
    story = Story()
    for verb, time, which in steps:
        story.now += time
        story.take(verb, which)
    for old, new in story.steps:
        assert new in WAYS[old]


@pytest.mark.parametrize("state", STATES)
def test_every_step_of_the_table_can_be_taken(state: str) -> None:
    """Short stories that lead to each arrow."""
    stories = [
        ["propose", "claim"],
        ["claim", "renew"],
        *[["claim", verb] for verb in ("succeed", "fail", "give up", "release")],
        *[["claim", "give up", f"found {found}"] for found in ("succeeded", "failed", "not_happened")],
        ["claim read-only", "fail", "claim read-only"],
        ["claim read-only", "give up", "claim read-only"],
    ]
    seen = set()
    for verbs in stories:
        story = Story()
        for verb in verbs:
            story.now += 1
            story.take(verb, 0)
        seen |= story.steps
    assert {new for old, new in seen if old == state} == WAYS[state]

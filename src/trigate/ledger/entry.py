"""One call in a ledger, the states it can be in, and what a claim or an inquiry comes to.

Rules
 - Immutable pictures of one moment. Only a ledger changes what they show.
 - Times are whole microseconds since 1970 by the ledger's own clock: the host's for SQLite, the server's else.
 - A result is JSON, kept as ASCII text, so that every database gives back what it was given.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import msgspec

from trigate.ledger.key import Key

__all__ = ["STATES", "Ask", "Claim", "Entry", "Finding", "Outcome", "State"]

State: TypeAlias = Literal["proposed", "claimed", "succeeded", "failed", "unknown"]
Outcome: TypeAlias = Literal["claimed", "stored", "conflict", "busy", "unknown"]

#: Every state: what is known, and where it can go. docs/ledger.md has this table, made from here.
STATES: dict[State, tuple[str, dict[State, str]]] = {
    "proposed": ("it was seen, and has not run", {"claimed": "`claim`"}),
    "claimed": (
        "one worker may be running it; what it did is known to nobody else",
        {
            "claimed": "`renew`, or `claim` again for a read-only tool whose lease is over",
            "succeeded": "`succeed` by the holder",
            "failed": "`fail` by the holder",
            "unknown": "`give_up` by the holder, or the end of the lease",
            "proposed": "`fail(started=False)` by the holder: nothing had happened",
        },
    ),
    "succeeded": ("it ran once, and its result is stored", {}),
    "failed": (
        "it ran and failed, and the problem is stored",
        {"claimed": "`claim` for a read-only tool alone"},
    ),
    "unknown": (
        "it may have run or not, wholly or in part",
        {
            "succeeded": "`reconcile`: it had happened",
            "failed": "`reconcile`: it had failed",
            "proposed": "`reconcile`: it had not happened",
            "claimed": "`claim` for a read-only tool alone",
        },
    ),
}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One call as the ledger has it.

    digest         what was asked: see trigate.ledger.digest_of
    fence          grows by one with each claim: a tool that keeps the highest one seen can refuse a late worker
    lease_until    when the claim ends, in microseconds since 1970; None unless claimed
    read_only      whether it was claimed as a call without side effect
    result_json    JSON text of what it gave; None unless succeeded
    problem        why it is failed, unknown or proposed again; a sentence for people
    created, updated   microseconds since 1970
    revision       grows by one with each change
    """

    key: Key
    digest: str
    state: State
    fence: int = 0
    lease_until: int | None = None
    read_only: bool = False
    result_json: str | None = None
    problem: str | None = None
    created: int
    updated: int
    revision: int = 1

    @property
    def result(self) -> Any:
        """What the call gave, made anew each time; None unless succeeded."""
        return None if self.result_json is None else json.loads(self.result_json)


class Claim(msgspec.Struct, frozen=True):
    """What a claim came to.

    outcome  "claimed": run it now, it is yours until the lease ends. "stored": it has run, entry.state says how;
             "busy": another worker has it. "unknown": it may have run, nobody knows: reconcile.
             "conflict": the key is taken by a call with other arguments
    entry    the call as the ledger has it now. Of a conflict: the one that was there before
    """

    outcome: Outcome
    entry: Entry

    @property
    def key(self) -> Key:
        return self.entry.key

    @property
    def fence(self) -> int:
        return self.entry.fence

    @property
    def result(self) -> Any:
        """The stored result; None unless the outcome is stored and the call had succeeded."""
        return self.entry.result if self.outcome == "stored" else None


class Ask(msgspec.Struct, frozen=True):
    """One of the calls of claim_many."""

    key: Key
    digest: str
    read_only: bool = False


class Finding(msgspec.Struct, frozen=True):
    """What an inquiry found about a call whose outcome was unknown.

    state    "succeeded" with a result (any JSON value), "failed" with a problem, "not_happened": it may be claimed
             again; "unknown": still nobody knows
    """

    state: Literal["succeeded", "failed", "not_happened", "unknown"]
    result: Any = None
    problem: str | None = None

"""What becomes of an entry: every decision of a ledger, without a database.

Rules
 - Pure functions of what is stored, the ledger's time and the request. Each backend calls them inside its own
   transaction, so that all backends decide alike.
 - A function returns the entry to store; the same object means that nothing changes.
 - A lease that is over makes the outcome unknown, from that moment on and whoever looks. No rule leads from there to
   a second run of a call with side effects but one: somebody said that it had not happened.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.ledger.entry import Ask, Claim, Entry, Finding
from trigate.ledger.errors import LedgerError, StaleClaim

__all__ = ["claim", "in_doubt", "propose", "reconcile", "release", "renew", "seen", "settle"]

_LEASE_OVER = "the lease ended before an outcome was written"


def _changed(entry: Entry, now: int, **members: Any) -> Entry:
    return msgspec.structs.replace(entry, updated=now, revision=entry.revision + 1, **members)


def seen(entry: Entry, now: int) -> Entry:
    """The entry as it is at this time: unknown if its lease is over."""
    if entry.state != "claimed" or entry.lease_until is None or entry.lease_until > now:
        return entry
    return _changed(entry, now, state="unknown", lease_until=None, problem=_LEASE_OVER)


def propose(entry: Entry | None, ask: Ask, now: int) -> Entry:
    """Notes that a call was seen. LedgerError (digest_conflict) if the key has other arguments."""
    if entry is None:
        return _fresh(ask, now)
    if entry.digest != ask.digest:
        raise LedgerError(
            f"{entry.key} is noted with other arguments (digest {entry.digest}, not {ask.digest})",
            code="digest_conflict",
            layer="structure",
        )
    return seen(entry, now)


def _fresh(ask: Ask, now: int) -> Entry:
    return Entry(
        key=ask.key, digest=ask.digest, state="proposed", read_only=ask.read_only, created=now, updated=now
    )


def claim(entry: Entry | None, ask: Ask, lease: int, now: int) -> Claim:
    """What a claim comes to; its entry is the one to store. lease: microseconds."""
    if entry is None:
        taken = msgspec.structs.replace(_fresh(ask, now), state="claimed", fence=1, lease_until=now + lease)
        return Claim("claimed", taken)
    entry = seen(entry, now)
    if entry.digest != ask.digest:
        return Claim("conflict", entry)
    if entry.state == "claimed":
        return Claim("busy", entry)
    if entry.state == "succeeded":
        return Claim("stored", entry)
    # It must have been claimed as read-only then, too: what ran as a side effect is not made harmless by a word.
    may_run_again = entry.state == "proposed" or (ask.read_only and entry.read_only)
    if not may_run_again:
        return Claim("stored" if entry.state == "failed" else "unknown", entry)
    taken = _changed(
        entry,
        now,
        state="claimed",
        fence=entry.fence + 1,
        lease_until=now + lease,
        read_only=ask.read_only,
        problem=None,
    )
    return Claim("claimed", taken)


def _held(entry: Entry | None, held: Claim, now: int) -> Entry:
    """The entry, if the holder of the claim still has it."""
    if entry is not None:
        entry = seen(entry, now)
        if entry.state == "claimed" and entry.fence == held.fence:
            return entry
    found = "gone" if entry is None else f"{entry.state}, fence {entry.fence}"
    raise StaleClaim(
        f"the claim of {held.key} with fence {held.fence} is not held any more: the entry is {found}. Nothing was "
        "written. If you know what became of the call, tell it by reconcile()",
        code="stale_claim",
    )


def renew(entry: Entry | None, held: Claim, lease: int, now: int) -> Entry:
    """A longer lease for the holder; never a shorter one."""
    entry = _held(entry, held, now)
    return _changed(entry, now, lease_until=max(now + lease, entry.lease_until or 0))


def settle(entry: Entry | None, held: Claim, found: Finding, text: str | None, now: int) -> Entry:
    """The holder's own word on the outcome. The same word twice is one. text: the result as JSON."""
    if entry is not None and entry.fence == held.fence and _says(entry, found, text):
        return entry
    return _resolved(_held(entry, held, now), found, text, now)


def _says(entry: Entry, found: Finding, text: str | None) -> bool:
    return (entry.state, entry.result_json, entry.problem) == (found.state, text, found.problem)


def in_doubt(entry: Entry | None, asked: Entry) -> Entry:
    """The entry, if its outcome is unknown and nobody ran it since the inquiry began. LedgerError: not_in_doubt."""
    if entry is not None and entry.state == "unknown" and entry.fence == asked.fence:
        return entry
    found = "gone" if entry is None else f"{entry.state}, fence {entry.fence}"
    raise LedgerError(
        f"{asked.key} is not in doubt: the entry is {found}. Nothing was written",
        code="not_in_doubt",
        layer="unknown_outcome",
    )


def reconcile(entry: Entry | None, asked: Entry, found: Finding, text: str | None, now: int) -> Entry:
    """What an inquiry found, if the entry is as it was when the inquiry began."""
    entry = in_doubt(None if entry is None else seen(entry, now), asked)
    if found.state == "unknown" and found.problem in (None, entry.problem):
        return entry
    return _resolved(entry, found, text, now)


def release(entry: Entry | None, held: Claim, problem: str, now: int) -> Entry:
    """The holder says that nothing had happened: it may be claimed again."""
    return _resolved(_held(entry, held, now), Finding("not_happened", problem=problem), None, now)


def _resolved(entry: Entry, found: Finding, text: str | None, now: int) -> Entry:
    state = "proposed" if found.state == "not_happened" else found.state
    return _changed(entry, now, state=state, lease_until=None, result_json=text, problem=found.problem)

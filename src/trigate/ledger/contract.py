"""Ledger: at most once per key, and unknown outcomes shown.

Rules
 - The verbs and their meaning are here, once. A backend brings transactions and its clock, nothing else.
 - The claim is committed before claim() returns, so before anything runs.
 - Only the holder of a claim writes, and only while its lease lasts: else StaleClaim.
 - A ledger may be used by several threads and processes at once.
"""

from __future__ import annotations

import json
import string
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, TypeAlias, TypeVar, get_args

from trigate.errors import LimitError
from trigate.ledger import rules
from trigate.ledger.entry import Ask, Claim, Entry, Finding, State
from trigate.ledger.errors import LedgerError
from trigate.ledger.key import Key

__all__ = ["Decide", "Ledger"]

_T = TypeVar("_T")
#: What a transaction does: of the ledger's time and the entries found by id, the entries to store and what to return.
#: Called again where the transaction has to be made anew.
Decide: TypeAlias = Callable[[int, Mapping[str, Entry]], tuple[Sequence[Entry], _T]]

_MICRO = 1_000_000
_BATCH = 500
_STATES = get_args(State)
_HEX = frozenset(string.hexdigits.lower())


class Ledger(ABC):
    """The contract of all ledgers. Errors of the file or server are LedgerError, layer environment.

    max_result_bytes: of one result as JSON; LimitError (result_too_large) beyond it, and nothing is written.
    """

    max_result_bytes = 16 * 1024 * 1024

    # -- before the run

    def propose(self, key: Key, digest: str, *, read_only: bool = False) -> Entry:
        """Notes that a call was seen; returns the entry, an older one unchanged.

        LedgerError (digest_conflict, layer structure) if the key is noted with another digest.
        """
        ask = _checked(Ask(key, digest, read_only))

        def decide(now: int, found: Mapping[str, Entry]) -> tuple[Sequence[Entry], Entry]:
            old = found.get(key.id)
            entry = rules.propose(old, ask, now)
            return ([] if entry is old else [entry]), entry

        return self._transact([key.id], decide)

    def claim(self, key: Key, digest: str, *, lease: float = 60.0, read_only: bool = False) -> Claim:
        """Asks to run a call. Run it only if the outcome is "claimed", and write what came of it before the lease ends.

        lease      seconds until the outcome counts as unknown; renew() makes it longer
        read_only  the call has no side effect: it may run again where its outcome is failed or unknown
        """
        return self.claim_many([Ask(key, digest, read_only)], lease=lease)[0]

    def claim_many(self, asks: Iterable[Ask], *, lease: float = 60.0) -> list[Claim]:
        """claim() for many calls in one transaction; the claims are in the order of the asks."""
        asked = [_checked(ask) for ask in asks]
        duration = _micros(lease)
        if not asked:
            return []

        def decide(now: int, found: Mapping[str, Entry]) -> tuple[Sequence[Entry], list[Claim]]:
            stored, changed, claims = dict(found), {}, []
            for ask, id_ in zip(asked, ids, strict=True):
                claim = rules.claim(stored.get(id_), ask, duration, now)
                if claim.entry is not stored.get(id_):
                    stored[id_] = changed[id_] = claim.entry
                claims.append(claim)
            return list(changed.values()), claims

        ids = [ask.key.id for ask in asked]
        return self._transact(sorted(set(ids)), decide)

    # -- by the holder

    def renew(self, claim: Claim, *, lease: float = 60.0) -> Claim:
        """The same claim with a lease of so many seconds from now. StaleClaim if it is over."""
        _check_claim(claim)
        duration = _micros(lease)
        entry = self._change(claim.key, lambda old, now: rules.renew(old, claim, duration, now))
        return Claim("claimed", entry)

    def succeed(self, claim: Claim, result: Any = None) -> Entry:
        """Writes the result, any JSON value; it comes back as JSON kept it. StaleClaim if the claim is not held.

        Once more with the same result is no error: a caller may repeat it when the answer got lost.
        """
        return self._settle(claim, Finding("succeeded", result=result))

    def fail(self, claim: Claim, problem: str, *, started: bool = True) -> Entry:
        """Writes that the run failed. This is final for a call with side effects.

        started: False says that nothing had happened at all; then the call may be claimed again.
        """
        if started:
            return self._settle(claim, Finding("failed", problem=problem))
        _check_claim(claim)
        return self._change(claim.key, lambda old, now: rules.release(old, claim, problem, now))

    def give_up(self, claim: Claim, why: str) -> Entry:
        """Writes that nobody knows what became of the run: a deadline passed, a connection broke."""
        return self._settle(claim, Finding("unknown", problem=why))

    def _settle(self, claim: Claim, found: Finding) -> Entry:
        _check_claim(claim)
        text = self._result_text(found)
        return self._change(claim.key, lambda old, now: rules.settle(old, claim, found, text, now))

    # -- afterwards

    def get(self, key: Key) -> Entry | None:
        """The entry as it is now; a lease that is over shows as unknown."""
        return self._current(key)

    def entries(
        self, state: State | None = None, scope: str | None = None, *, limit: int = 1000
    ) -> list[Entry]:
        """Entries in this state and scope, the oldest first, at most `limit`."""
        if state is not None and state not in _STATES:
            raise ValueError(f"state must be one of {', '.join(_STATES)}, not {state!r}")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        now, found = self._select(state, scope, limit)
        return [rules.seen(entry, now) for entry in found]

    def find(self, prefix: str) -> list[Entry]:
        """Entries whose key's id begins so, at most two: enough to see whether it names one."""
        if not prefix or not _HEX.issuperset(prefix):
            raise ValueError(
                f"an id is made of hexadecimal digits, not {prefix!r}: "
                "it is the key's, which `trigate ledger list` shows, not the call's"
            )
        now, found = self._find(prefix)
        return [rules.seen(entry, now) for entry in found]

    def reconcile(self, key: Key, asked: Finding | Callable[[Entry], Finding]) -> Entry:
        """Resolves an unknown outcome by what `asked` found, or finds when it is called with the entry.

        Nothing is locked while it is asked. LedgerError: no_entry, or not_in_doubt (the entry is not unknown, or
        is not any more). Say "not_happened" only if whoever ran it is gone or cannot act any more.
        """
        entry = self.in_doubt(key)
        return self.resolve(entry, asked(entry) if callable(asked) else asked)

    def in_doubt(self, key: Key) -> Entry:
        """The first half of reconcile(): the entry, whose outcome is unknown. LedgerError: no_entry, not_in_doubt."""
        entry = self._current(key)
        if entry is None:
            raise LedgerError(f"the ledger has no {key}", code="no_entry")
        return rules.in_doubt(entry, entry)

    def resolve(self, entry: Entry, found: Finding) -> Entry:
        """The second half of reconcile(): writes what was found about the entry that in_doubt() gave."""
        if not isinstance(found, Finding):
            raise TypeError(f"an inquiry gives a Finding, not {type(found).__name__}")
        text = self._result_text(found)
        return self._change(entry.key, lambda old, now: rules.reconcile(old, entry, found, text, now))

    def expire(self) -> int:
        """Stores every lease that is over as unknown; how many there were. Not needed for safety: for tidy records."""
        count = 0
        while ids := [entry.key.id for entry in self._overdue(_BATCH)]:

            def decide(now: int, found: Mapping[str, Entry]) -> tuple[Sequence[Entry], int]:
                over = [new for old in found.values() if (new := rules.seen(old, now)) is not old]
                return over, len(over)

            count += self._transact(sorted(ids), decide)
        return count

    # -- what a backend brings

    @abstractmethod
    def _transact(self, ids: Sequence[str], decide: Decide[_T]) -> _T:
        """Reads these entries (sorted ids), decides and stores, all or nothing, durable when it returns."""

    @abstractmethod
    def _select(self, state: State | None, scope: str | None, limit: int) -> tuple[int, list[Entry]]:
        """The time, and the oldest entries that are in this state at this time."""

    @abstractmethod
    def _overdue(self, limit: int) -> list[Entry]:
        """Entries stored as claimed whose lease is over."""

    @abstractmethod
    def _find(self, prefix: str) -> tuple[int, list[Entry]]:
        """The time, and at most two entries whose id begins so."""

    @abstractmethod
    def _read(self, id_: str) -> tuple[int, Entry | None]:
        """The time, and one entry."""

    @abstractmethod
    def close(self) -> None:
        """Gives back the connection. Idempotent."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- shared by the verbs

    def _current(self, key: Key) -> Entry | None:
        now, entry = self._read(key.id)
        return None if entry is None else rules.seen(entry, now)

    def _change(self, key: Key, rule: Callable[[Entry | None, int], Entry]) -> Entry:
        def decide(now: int, found: Mapping[str, Entry]) -> tuple[Sequence[Entry], Entry]:
            old = found.get(key.id)
            entry = rule(old, now)
            return ([] if entry is old else [entry]), entry

        return self._transact([key.id], decide)

    def _result_text(self, found: Finding) -> str | None:
        if found.state != "succeeded":
            if found.result is not None:
                raise ValueError(f"{found.state} has no result")
            return None
        text = json.dumps(found.result, allow_nan=False)
        if len(text) > self.max_result_bytes:
            raise LimitError(
                f"the result has {len(text)} bytes as JSON, and at most {self.max_result_bytes} are kept",
                code="result_too_large",
                limit="max_result_bytes",
            )
        return text


def _checked(ask: Ask) -> Ask:
    if not isinstance(ask.key, Key):
        raise TypeError(f"key must be a Key, not {type(ask.key).__name__}")
    if not isinstance(ask.digest, str):
        raise TypeError(f"digest must be a str, not {type(ask.digest).__name__}")
    if len(ask.digest) != 64 or not _HEX.issuperset(ask.digest):
        raise ValueError(f"a digest is 64 hexadecimal digits, as digest_of() gives them, not {ask.digest!r}")
    return ask


def _check_claim(claim: Claim) -> None:
    if claim.outcome != "claimed":
        raise ValueError(
            f"only a claim whose outcome is claimed can be written to; this one is {claim.outcome}"
        )


def _micros(seconds: float) -> int:
    """A lease in microseconds; more than a century is a mistake."""
    if not 0 < seconds < 3.2e9:
        raise ValueError(f"a lease is a positive number of seconds, not {seconds!r}")
    return max(round(seconds * _MICRO), 1)

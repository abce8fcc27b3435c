"""What can go wrong with a ledger: it cannot be used, or the caller holds a claim no more.

Rules
 - What the ledger finds about a call is data (`Claim.outcome`), not an exception. These errors are about the ledger.
 - Whoever gets a LedgerError of claim() has no claim and must not run: if it was written after all, its lease ends
   and the call becomes unknown, never run.
 - Whoever gets a LedgerError of succeed() may call it again: writing the same result twice is one write.
"""

from __future__ import annotations

from trigate.errors import TrigateError

__all__ = ["CODES", "LedgerError", "StaleClaim"]

#: Every code of a LedgerError, and its layer. docs/errors.md says what to do about each.
CODES = {
    "ledger_busy": "environment",
    "ledger_corrupt": "environment",
    "ledger_full": "environment",
    "ledger_io": "environment",
    "ledger_not_durable": "environment",
    "ledger_read_only": "environment",
    "ledger_unavailable": "environment",
    "ledger_version": "environment",
    "no_entry": "environment",
    "not_a_ledger": "environment",
    "digest_conflict": "structure",
    "not_in_doubt": "unknown_outcome",
    "stale_claim": "unknown_outcome",
}


class LedgerError(TrigateError):
    """The ledger could not do it. Layer environment: the file, the disk, the server; unknown_outcome: the entry."""

    layer = "environment"


class StaleClaim(LedgerError):  # noqa: N818 - named for what it tells the holder
    """A write by one who holds the claim no more: its lease is over, or another one decided. Nothing was written."""

    layer = "unknown_outcome"

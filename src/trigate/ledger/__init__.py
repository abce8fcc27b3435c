"""trigate.ledger: a released call runs at most once per key, and an unknown outcome is shown.

Rules
 - A claim is committed before the run. Who has no claim does not run.
 - The clients of PostgreSQL and Redis are imported only when their ledgers are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigate.ledger.canonical import canonical
from trigate.ledger.contract import Ledger
from trigate.ledger.entry import Ask, Claim, Entry, Finding, Outcome, State
from trigate.ledger.errors import LedgerError, StaleClaim
from trigate.ledger.key import Key, digest_of, key_of
from trigate.ledger.places import open_ledger
from trigate.ledger.sqlite import SQLiteLedger

if TYPE_CHECKING:
    from trigate.ledger.postgres import PostgresLedger
    from trigate.ledger.redis import RedisLedger
    from trigate.ledger.threads import AsyncLedger, in_threads

__all__ = [
    "Ask",
    "AsyncLedger",
    "Claim",
    "Entry",
    "Finding",
    "Key",
    "Ledger",
    "LedgerError",
    "Outcome",
    "PostgresLedger",
    "RedisLedger",
    "SQLiteLedger",
    "StaleClaim",
    "State",
    "canonical",
    "digest_of",
    "in_threads",
    "key_of",
    "open_ledger",
]


def __getattr__(name: str) -> Any:
    """What needs a client, or asyncio, is loaded when it is asked for."""
    modules = {
        "PostgresLedger": "postgres",
        "RedisLedger": "redis",
        "AsyncLedger": "threads",
        "in_threads": "threads",
    }
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{modules[name]}"), name)

"""Where a ledger is, in one word: a path or a URL.

Rules
 - postgresql:// and postgres:// are PostgreSQL; redis://, rediss:// and unix:// are Redis; all else is a file.
 - The clients of the servers are imported here, when they are wanted.
"""

from __future__ import annotations

import os

from trigate.ledger.contract import Ledger
from trigate.ledger.sqlite import SQLiteLedger

__all__ = ["open_ledger"]


def open_ledger(where: str | os.PathLike[str], *, create: bool = True) -> Ledger:
    """The ledger at a path or URL.

    create: False opens only what is there. LedgerError as the ledgers raise it; ImportError names a missing extra.
    """
    kind = str(where).partition("://")[0] if "://" in str(where) else ""
    if kind in ("postgresql", "postgres"):
        from trigate.ledger.postgres import PostgresLedger

        return PostgresLedger(str(where), create=create)
    if kind in ("redis", "rediss", "unix"):
        from trigate.ledger.redis import RedisLedger

        return RedisLedger(str(where), create=create)
    if kind:
        raise ValueError(
            f"a ledger is a path, or a postgresql://, redis://, rediss:// or unix:// URL, not {where}"
        )
    return SQLiteLedger(where, mode="rwc" if create else "rw")

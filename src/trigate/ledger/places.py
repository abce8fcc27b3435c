"""Where a ledger is, in one word: a path or a URL.

Rules
 - postgresql:// and postgres:// are PostgreSQL; redis://, rediss:// and unix:// are Redis; all else is a file.
 - The clients of the servers are imported here, when they are wanted.
"""

from __future__ import annotations

import os
from typing import Literal

from trigate.ledger.contract import Ledger
from trigate.ledger.sqlite import SQLiteLedger

__all__ = ["open_ledger"]


def open_ledger(where: str | os.PathLike[str], *, mode: Literal["rwc", "rw", "ro"] = "rwc") -> Ledger:
    """The ledger at a path or URL.

    mode: "rwc" makes what is missing; "rw" opens only what is there; "ro" opens a file for reading alone, and is as
    "rw" for a server. LedgerError as the ledgers raise it; ValueError for another kind of URL; ImportError names the
    missing extra.
    """
    kind = str(where).partition("://")[0] if "://" in str(where) else ""
    if kind in ("postgresql", "postgres"):
        from trigate.ledger.postgres import PostgresLedger

        return PostgresLedger(str(where), create=mode == "rwc")
    if kind in ("redis", "rediss", "unix"):
        from trigate.ledger.redis import RedisLedger

        return RedisLedger(str(where), create=mode == "rwc")
    if kind:
        raise ValueError(
            f"a ledger is a path, or a postgresql://, redis://, rediss:// or unix:// URL, not {kind}://"
        )
    return SQLiteLedger(where, mode=mode)

"""SQLiteLedger: a ledger in one file, for the threads and processes of one host.

Rules
 - WAL and synchronous=FULL: what was committed survives the end of the process and of the power.
 - Every change is one BEGIN IMMEDIATE transaction: the lock is taken before anything is read.
 - The clock is the host's. The file must be on a local disk: WAL needs shared memory.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from trigate.ledger.contract import Decide, Ledger
from trigate.ledger.entry import STATES, Entry, State
from trigate.ledger.errors import LedgerError
from trigate.ledger.held import Held
from trigate.ledger.rows import COLUMNS, NAMES, SCHEMA_VERSION, condition, entry_of, row_of, wrong_version

__all__ = ["SQLiteLedger"]

_T = TypeVar("_T")
#: "tgLg": says in the file's head that it is a ledger.
_APPLICATION_ID = 0x74674C67
_TABLE = (
    "CREATE TABLE entries ("
    + ", ".join(f"{name} {kind.upper()}{'' if null else ' NOT NULL'}" for name, kind, null in COLUMNS)
    + f", PRIMARY KEY (id), CHECK (state IN ({', '.join(map(repr, STATES))})))"
)
_INDEX = "CREATE INDEX entries_by_state ON entries (state, created)"
_WRITE = (
    f"INSERT INTO entries ({NAMES}) VALUES ({', '.join('?' * len(COLUMNS))}) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name, _, _ in COLUMNS if name != "id")
)
_READ = f"SELECT {NAMES} FROM entries"
#: By SQLite's primary result code: our code, and what to do.
_CODES = {
    5: ("ledger_busy", "another process held the lock for longer than the timeout"),
    6: ("ledger_busy", "another connection held the lock for longer than the timeout"),
    8: ("ledger_read_only", "the file or its directory may not be written"),
    10: ("ledger_io", "the disk refused"),
    11: ("ledger_corrupt", "the file is damaged: restore it, and take what ran since then as unknown"),
    13: ("ledger_full", "the disk is full"),
    14: ("ledger_unavailable", "the file cannot be opened: does its directory exist, may you write there?"),
    26: ("ledger_corrupt", "the file is no SQLite database"),
}
_UNKNOWN_CODE = ("ledger_unavailable", "SQLite refused")


class SQLiteLedger(Ledger):
    """A ledger in one SQLite file.

    path     the file
    mode     "rwc" makes it where it is missing; "rw" does not; "ro" only reads
    timeout  seconds to wait for another process's lock before LedgerError (ledger_busy)
    """

    def __init__(
        self, path: str | os.PathLike[str], *, mode: Literal["rwc", "rw", "ro"] = "rwc", timeout: float = 10.0
    ) -> None:
        if mode not in ("rwc", "rw", "ro"):
            raise ValueError(f"mode must be 'rwc', 'rw' or 'ro', not {mode!r}")
        self._path = Path(path).absolute()
        self._mode = mode
        self._timeout = timeout
        self._held = Held(self._open)
        with self._using():
            pass

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors as LedgerErrors."""
        try:
            yield
        except sqlite3.Error as error:
            number = getattr(error, "sqlite_errorcode", 0) & 0xFF
            code, meaning = _CODES.get(number, _UNKNOWN_CODE)
            if number == sqlite3.SQLITE_CANTOPEN and self._mode != "rwc" and not self._path.exists():
                meaning = "there is no such file"
            raise LedgerError(
                f"the ledger {self._path} cannot be used: {error} ({meaning})", code=code
            ) from error

    # -- the connection

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time."""
        with self._told(), self._held.use() as connection:
            yield connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(self._path))}?mode={self._mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            with _transaction(connection, "DEFERRED"):  # one snapshot: another process may be making it
                version = self._version(connection)
            if self._mode != "ro":  # and it is ours, or empty: nobody else's file is touched
                self._to_wal(connection)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA fullfsync = ON")  # macOS: fsync alone does not reach the disk
            if version == 0:
                version = self._make(connection)
            if version != SCHEMA_VERSION:
                raise wrong_version(version)
        except BaseException:
            connection.close()
            raise
        return connection

    def _to_wal(self, connection: sqlite3.Connection) -> None:
        """Two processes that do this at once get "locked" without any waiting: so it waits here."""
        until = time.monotonic() + self._timeout
        while True:
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.005)
        if mode != "wal":
            raise LedgerError(
                f"the ledger {self._path} cannot have a write-ahead log here (its mode is {mode})",
                code="ledger_unavailable",
            )

    def _make(self, connection: sqlite3.Connection) -> int:
        """Makes the table, if nobody was faster; the version that is there then."""
        with _transaction(connection):
            if self._version(connection) == 0:
                strict = " STRICT" if sqlite3.sqlite_version_info >= (3, 37) else ""
                connection.execute(_TABLE + strict)
                connection.execute(_INDEX)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            return self._version(connection)

    def _version(self, connection: sqlite3.Connection) -> int:
        """The schema's version; 0 for an empty file that may be made one. LedgerError: not_a_ledger."""
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application == _APPLICATION_ID:
            return int(version)
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables or application or version or self._mode != "rwc":
            raise LedgerError(f"{self._path} is no ledger", code="not_a_ledger")
        return 0

    def close(self) -> None:
        with self._told():
            self._held.close()

    # -- what the contract asks for

    def _transact(self, ids: Sequence[str], decide: Decide[_T]) -> _T:
        with self._using() as connection, _transaction(connection):
            found = {}
            for id_ in ids:
                row = connection.execute(f"{_READ} WHERE id = ?", (id_,)).fetchone()
                if row is not None:
                    found[id_] = entry_of(row)
            changed, result = decide(_now(), found)
            connection.executemany(_WRITE, map(row_of, changed))
        return result

    def _select(self, state: State | None, scope: str | None, limit: int) -> tuple[int, list[Entry]]:
        now = _now()
        where, values = condition(state, scope, now, "?")
        return now, self._rows(f"{where} ORDER BY created, id LIMIT ?", *values, limit)

    def _overdue(self, limit: int) -> list[Entry]:
        return self._rows("WHERE state = 'claimed' AND lease_until <= ? LIMIT ?", _now(), limit)

    def _find(self, prefix: str) -> tuple[int, list[Entry]]:
        return _now(), self._rows("WHERE id >= ? AND id < ? LIMIT 2", prefix, prefix + "g")

    def _read(self, id_: str) -> tuple[int, Entry | None]:
        found = self._rows("WHERE id = ?", id_)
        return _now(), found[0] if found else None

    def _rows(self, rest: str, *values: Any) -> list[Entry]:
        with self._using() as connection:
            return [entry_of(row) for row in connection.execute(f"{_READ} {rest}", values).fetchall()]


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Committed at its end, or rolled back."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have rolled back by itself
            connection.execute("ROLLBACK")
        raise


def _now() -> int:
    """Microseconds since 1970 by the host's clock."""
    return time.time_ns() // 1000

"""PostgresLedger: a ledger in a PostgreSQL table, for any number of hosts.

Rules
 - A change locks its rows, in the order of their ids, decides by the server's clock, and commits.
 - A row that another one inserted meanwhile, a deadlock or a serialisation failure: the transaction is made anew.
 - synchronous_commit is never off: what was committed is on the server's disk.
 - A connection that broke is replaced at the next use; what was under way is a LedgerError.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from trigate.ledger.contract import Decide, Ledger
from trigate.ledger.entry import STATES, Entry, State
from trigate.ledger.errors import LedgerError
from trigate.ledger.rows import (
    COLUMNS,
    NAMES,
    SCHEMA_VERSION,
    Row,
    condition,
    entry_of,
    row_of,
    wrong_version,
)

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresLedger"]

_T = TypeVar("_T")
_NOW = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
_VALUES = ", ".join(["%s"] * len(COLUMNS))
_CHANGES = ", ".join(f"{name} = %s" for name, _, _ in COLUMNS[1:])
_ATTEMPTS = 20
_TABLE_NAME = re.compile(r"([a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*")
#: Connections of a parent process: never used or closed here, for the server would end the parent's session.
_inherited: list[object] = []


class PostgresLedger(Ledger):
    """A ledger in one table of a PostgreSQL database (12 or newer). Needs psycopg: `pip install 'trigate[postgres]'`.

    conninfo  a connection string or URL, as psycopg takes it
    table     the table's name; it is made where it is missing
    timeout   seconds to wait for the server or another one's lock before LedgerError
    create    False: a missing table is a LedgerError (not_a_ledger)
    """

    def __init__(
        self, conninfo: str, *, table: str = "trigate_ledger", timeout: float = 10.0, create: bool = True
    ) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise ImportError("PostgresLedger needs psycopg: pip install 'trigate[postgres]'") from error
        if not _TABLE_NAME.fullmatch(table):
            raise ValueError(f"table must be a plain name, or schema.name, not {table!r}")
        self._psycopg = psycopg
        self._conninfo = conninfo
        self._timeout = timeout
        self._create = create
        self._table = table
        self._is_closed = False
        self._forget()
        with self._told():
            self._use()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._connection: psycopg.Connection[Row] | None = None

    # -- the connection

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The server's errors as LedgerErrors."""
        kinds = self._psycopg.errors
        try:
            yield
        except self._psycopg.Error as error:
            code = "ledger_unavailable"
            if isinstance(error, kinds.DiskFull | kinds.OutOfMemory):
                code = "ledger_full"
            elif isinstance(error, kinds.ReadOnlySqlTransaction | kinds.InsufficientPrivilege):
                code = "ledger_read_only"
            elif isinstance(
                error, kinds.LockNotAvailable | kinds.DeadlockDetected | kinds.SerializationFailure
            ):
                code = "ledger_busy"
            words = " ".join(str(error).split())
            raise LedgerError(f"the ledger in {self._table} cannot be used: {words}", code=code) from error

    @contextmanager
    def _using(self) -> Iterator[psycopg.Connection[Row]]:
        """The connection, for one thread at a time."""
        if self._process != os.getpid():
            _inherited.append(self._connection)
            self._forget()
        with self._lock, self._told():
            yield self._use()

    def _use(self) -> psycopg.Connection[Row]:
        if self._is_closed:
            raise RuntimeError("the ledger is closed")
        if self._connection is None or self._connection.closed:
            self._connection = self._open()
        return self._connection

    def _open(self) -> psycopg.Connection[Row]:
        connection: psycopg.Connection[Row] = self._psycopg.connect(
            self._conninfo, autocommit=True, connect_timeout=max(int(self._timeout), 2)
        )
        try:
            connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
            milliseconds = max(int(self._timeout * 1000), 1)
            _run(connection, f"SET lock_timeout = {milliseconds}")
            _run(
                connection,
                "SELECT set_config('synchronous_commit', 'on', false) "
                "WHERE current_setting('synchronous_commit') = 'off'",
            )
            self._check_schema(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_schema(self, connection: psycopg.Connection[Row]) -> None:
        if self._version(connection) is None and self._create:
            types = {"text": "text", "integer": "bigint"}
            columns = [f"{name} {types[kind]}{'' if null else ' NOT NULL'}" for name, kind, null in COLUMNS]
            states = ", ".join(f"'{state}'" for state in STATES)
            index = self._table.rpartition(".")[2] + "_by_state"
            with connection.transaction():
                # Two that create one table at once fail, "if not exists" or not: so one after the other. To look for
                # the table again would not do: the server may answer from what it had cached before the lock.
                _run(connection, "SELECT pg_advisory_xact_lock(%s)", (0x74674C67,))
                _run(
                    connection,
                    f"CREATE TABLE IF NOT EXISTS {self._table} ({', '.join(columns)}, "
                    f"PRIMARY KEY (id), CHECK (state IN ({states})))",
                )
                _run(connection, f"CREATE INDEX IF NOT EXISTS {index} ON {self._table} (state, created)")
                _run(connection, f"COMMENT ON TABLE {self._table} IS 'trigate ledger {SCHEMA_VERSION}'")
        version = self._version(connection)
        if version is None or not version.startswith("trigate ledger "):
            raise LedgerError(f"the database has no ledger in {self._table}", code="not_a_ledger")
        if version != f"trigate ledger {SCHEMA_VERSION}":
            raise wrong_version(version.rpartition(" ")[2])

    def _version(self, connection: psycopg.Connection[Row]) -> str | None:
        """The table's comment, "" where it has none; None where there is no such table."""
        row = _run(
            connection,
            "SELECT coalesce(obj_description(to_regclass(%s), 'pg_class'), '') "
            "WHERE to_regclass(%s) IS NOT NULL",
            (self._table, self._table),
        ).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        self._is_closed = True
        if self._process == os.getpid():
            with self._lock:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None

    # -- what the contract asks for

    def _transact(self, ids: Sequence[str], decide: Decide[_T]) -> _T:
        kinds = self._psycopg.errors
        with self._using() as connection:
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    with connection.transaction():
                        return self._attempt(connection, ids, decide)
                except _OvertakenError:
                    continue
                except (kinds.DeadlockDetected, kinds.SerializationFailure):
                    if attempt == _ATTEMPTS:
                        raise
        raise LedgerError(f"{_ATTEMPTS} transactions in a row were overtaken by others", code="ledger_busy")

    def _attempt(self, connection: psycopg.Connection[Row], ids: Sequence[str], decide: Decide[_T]) -> _T:
        rows = _run(
            connection,
            f"SELECT {NAMES} FROM {self._table} WHERE id = ANY(%s) ORDER BY id FOR UPDATE",
            (list(ids),),
        ).fetchall()
        found = {entry.key.id: entry for entry in map(entry_of, rows)}
        changed, result = decide(self._now(connection), found)
        self._store(connection, sorted(changed, key=lambda entry: entry.key.id), found.keys())
        return result

    def _store(self, connection: psycopg.Connection[Row], changed: Sequence[Entry], known: Any) -> None:
        new = [row_of(entry) for entry in changed if entry.key.id not in known]
        old = [row_of(entry) for entry in changed if entry.key.id in known]
        with connection.cursor() as cursor:
            if old:
                cursor.executemany(
                    f"UPDATE {self._table} SET {_CHANGES} WHERE id = %s", [(*row[1:], row[0]) for row in old]
                )
            if new:
                cursor.executemany(
                    f"INSERT INTO {self._table} ({NAMES}) VALUES ({_VALUES}) ON CONFLICT DO NOTHING", new
                )
                if cursor.rowcount != len(new):
                    raise _OvertakenError

    def _now(self, connection: psycopg.Connection[Row]) -> int:
        row = _run(connection, f"SELECT {_NOW}").fetchone()
        assert row is not None
        return int(row[0] or 0)

    def _select(self, state: State | None, scope: str | None, limit: int) -> tuple[int, list[Entry]]:
        with self._using() as connection:
            now = self._now(connection)
            where, values = condition(state, scope, now, "%s")
            return now, self._rows(connection, f"{where} ORDER BY created, id LIMIT %s", *values, limit)

    def _overdue(self, limit: int) -> list[Entry]:
        with self._using() as connection:
            return self._rows(
                connection, f"WHERE state = 'claimed' AND lease_until <= {_NOW} LIMIT %s", limit
            )

    def _find(self, prefix: str) -> tuple[int, list[Entry]]:
        with self._using() as connection:
            found = self._rows(connection, "WHERE starts_with(id, %s) LIMIT 2", prefix)
            return self._now(connection), found

    def _read(self, id_: str) -> tuple[int, Entry | None]:
        with self._using() as connection:
            found = self._rows(connection, "WHERE id = %s", id_)
            return self._now(connection), found[0] if found else None

    def _rows(self, connection: psycopg.Connection[Row], rest: str, *values: Any) -> list[Entry]:
        rows = _run(connection, f"SELECT {NAMES} FROM {self._table} {rest}", values).fetchall()
        return [entry_of(row) for row in rows]


class _OvertakenError(Exception):
    """Another transaction inserted a row that this one had not found."""


def _run(connection: psycopg.Connection[Row], text: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Row]:
    """One statement; as bytes, for its text is put together here, of names that are ours or were checked."""
    return connection.execute(text.encode("ascii"), values or None)

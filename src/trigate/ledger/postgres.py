"""PostgresLedger: a ledger in a PostgreSQL table, for any number of hosts.

Rules
 - A change is one transaction that writes each row only if its revision is the one that was read. The server locks the
   row while it does; who comes second sees another revision, and decides anew.
 - The time is the server's.
 - synchronous_commit is never off: what was committed is on the server's disk.
 - A connection that broke is replaced at the next use; what was under way is a LedgerError.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trigate.ledger.entry import STATES, Entry, State
from trigate.ledger.errors import LedgerError
from trigate.ledger.held import Held
from trigate.ledger.optimistic import OptimisticLedger
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

_NOW = "(extract(epoch from clock_timestamp()) * 1000000)::bigint"
_VALUES = ", ".join(["%s"] * len(COLUMNS))
_CHANGES = ", ".join(f"{name} = %s" for name, _, _ in COLUMNS[1:])
_TABLE_NAME = re.compile(r"([a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*")


class PostgresLedger(OptimisticLedger):
    """A ledger in one table of a PostgreSQL database (12 or newer). Needs psycopg: `pip install 'trigate[postgres]'`.

    conninfo  a connection string or URL, as psycopg takes it
    table     the table's name; it is made where it is missing
    timeout   seconds to wait for a connection, for the network's acknowledgement, or for another one's lock
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
        self._held: Held[psycopg.Connection[Row]] = Held(self._open)
        with self._using():
            pass

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
        with self._told(), self._held.use() as connection:
            yield connection

    def _open(self) -> psycopg.Connection[Row]:
        milliseconds = max(int(self._timeout * 1000), 1)
        patience = {"connect_timeout": max(int(self._timeout), 2), "tcp_user_timeout": milliseconds}
        options: dict[str, Any] = {**patience, **self._psycopg.conninfo.conninfo_to_dict(self._conninfo)}
        connection: psycopg.Connection[Row] = self._psycopg.connect(autocommit=True, **options)
        try:
            connection.isolation_level = self._psycopg.IsolationLevel.READ_COMMITTED
            # No statement_timeout: the server would take it as leave not to wait for its synchronous standby.
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
        self._held.close()

    # -- what the contract asks for

    def _fetch(self, ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        names = ", ".join(f"e.{name}" for name, _, _ in COLUMNS)
        with self._using() as connection:
            rows = _run(
                connection,
                f"SELECT {_NOW}, {names} FROM (VALUES (1)) AS one LEFT JOIN {self._table} AS e ON e.id = ANY(%s)",
                (list(ids),),
            ).fetchall()
        found = [entry_of(row[1:]) for row in rows if row[1] is not None]
        return int(rows[0][0] or 0), {entry.key.id: entry for entry in found}

    def _store(self, changed: Sequence[Entry], found: Mapping[str, Entry]) -> bool:
        # In one order, the known before the new: so those who wait for each other wait in one direction.
        in_order = sorted(changed, key=lambda entry: (entry.key.id not in found, entry.key.id))
        with self._using() as connection:
            if len(in_order) == 1:  # one statement is a transaction by itself
                return self._write(connection, in_order, found)
            try:
                with connection.transaction():
                    if self._write(connection, in_order, found):
                        return True
                    raise self._psycopg.Rollback
            except self._psycopg.errors.DeadlockDetected:
                return False
            return False

    def _write(
        self, connection: psycopg.Connection[Row], changed: Sequence[Entry], found: Mapping[str, Entry]
    ) -> bool:
        """Whether all of them were written."""
        old = [
            (*row_of(entry)[1:], entry.key.id, found[entry.key.id].revision)
            for entry in changed
            if entry.key.id in found
        ]
        new = [row_of(entry) for entry in changed if entry.key.id not in found]
        update = f"UPDATE {self._table} SET {_CHANGES} WHERE id = %s AND revision = %s"
        insert = f"INSERT INTO {self._table} ({NAMES}) VALUES ({_VALUES}) ON CONFLICT DO NOTHING"
        with connection.cursor() as cursor:
            for statement, rows in ((update, old), (insert, new)):
                if rows:
                    cursor.executemany(statement.encode("ascii"), rows)
                    if cursor.rowcount != len(rows):
                        return False
        return True

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

    def _rows(self, connection: psycopg.Connection[Row], rest: str, *values: Any) -> list[Entry]:
        rows = _run(connection, f"SELECT {NAMES} FROM {self._table} {rest}", values).fetchall()
        return [entry_of(row) for row in rows]


def _run(connection: psycopg.Connection[Row], text: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Row]:
    """One statement; as bytes, for its text is put together here, of names that are ours or were checked."""
    return connection.execute(text.encode("ascii"), values or None)

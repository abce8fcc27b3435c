"""An entry as one row of plain values: what SQLite, PostgreSQL and Redis store.

Rules
 - One list of columns for all. Texts from the wire are kept as `kept` writes them, so any of them can be stored.
 - A row that cannot be read is a LedgerError (ledger_corrupt): never guessed at, never skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from trigate.ledger.entry import STATES, Entry, State
from trigate.ledger.errors import LedgerError
from trigate.ledger.key import Key, kept, unkept

__all__ = ["COLUMNS", "NAMES", "SCHEMA_VERSION", "Row", "condition", "entry_of", "row_of", "wrong_version"]

#: Grows when the columns change.
SCHEMA_VERSION = 1
Row: TypeAlias = tuple[str | int | bool | None, ...]

#: Name, type ("text" or "integer"), and whether it may be null.
COLUMNS: tuple[tuple[str, str, bool], ...] = (
    ("id", "text", False),
    ("scope", "text", False),
    ("response", "text", False),
    ("call", "text", False),
    ("tool", "text", False),
    ("digest", "text", False),
    ("state", "text", False),
    ("fence", "integer", False),
    ("lease_until", "integer", True),
    ("read_only", "integer", False),
    ("result", "text", True),
    ("problem", "text", True),
    ("created", "integer", False),
    ("updated", "integer", False),
    ("revision", "integer", False),
)
NAMES = ", ".join(name for name, _, _ in COLUMNS)


def row_of(entry: Entry) -> Row:
    key = entry.key
    return (
        key.id,
        *map(kept, (key.scope, key.response, key.call, key.tool)),
        entry.digest,
        entry.state,
        entry.fence,
        entry.lease_until,
        int(entry.read_only),
        entry.result_json,
        None if entry.problem is None else kept(entry.problem),
        entry.created,
        entry.updated,
        entry.revision,
    )


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry of a row, as `row_of` made it. LedgerError: ledger_corrupt."""
    try:
        (
            id_,
            scope,
            response,
            call,
            tool,
            digest,
            state,
            fence,
            lease,
            read_only,
            result,
            problem,
            *times,
        ) = row
        key = Key(*map(unkept, (scope, response, call, tool)))
        created, updated, revision = map(int, times)
        if key.id != id_ or state not in STATES or (state == "claimed") != (lease is not None):
            raise ValueError("its members contradict each other")
        return Entry(
            key=key,
            digest=digest,
            state=state,
            fence=int(fence),
            lease_until=None if lease is None else int(lease),
            read_only=bool(read_only),
            result_json=result,
            problem=None if problem is None else unkept(problem),
            created=created,
            updated=updated,
            revision=revision,
        )
    except (ValueError, TypeError) as error:
        raise LedgerError(f"a row of the ledger cannot be read: {error}", code="ledger_corrupt") from error


def wrong_version(found: object) -> LedgerError:
    """The error for a ledger that another version made."""
    return LedgerError(
        f"the ledger has schema version {found}, and this version of trigate reads {SCHEMA_VERSION}",
        code="ledger_version",
    )


def condition(state: State | None, scope: str | None, now: int, mark: str) -> tuple[str, list[str | int]]:
    """SQL for the entries that are in this state at this time, and its values. mark: how a parameter is written."""
    where: list[str] = []
    values: list[str | int] = []
    if state == "unknown":
        where.append(f"(state = 'unknown' OR state = 'claimed' AND lease_until <= {mark})")
        values.append(now)
    elif state == "claimed":
        where.append(f"state = 'claimed' AND lease_until > {mark}")
        values.append(now)
    elif state is not None:
        where.append(f"state = {mark}")
        values.append(state)
    if scope is not None:
        where.append(f"scope = {mark}")
        values.append(kept(scope))
    return (f"WHERE {' AND '.join(where)}" if where else ""), values

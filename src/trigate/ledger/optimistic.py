"""A ledger that reads, decides, and writes only if what it read still stands; else it begins anew.

Rules
 - What changes nothing writes nothing: a call that is seen again costs a read.
 - Each entry is written on the condition that its revision is the one that was read. All of them, or none.
 - Whoever is overtaken was overtaken by a change, so somebody always gets on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeVar

from trigate.ledger.contract import Decide, Ledger
from trigate.ledger.entry import Entry
from trigate.ledger.errors import LedgerError

__all__ = ["OptimisticLedger"]

_T = TypeVar("_T")
_ATTEMPTS = 100


class OptimisticLedger(Ledger):
    """What the ledgers on servers share."""

    def _transact(self, ids: Sequence[str], decide: Decide[_T]) -> _T:
        for _ in range(_ATTEMPTS):
            now, found = self._fetch(ids)
            changed, result = decide(now, found)
            if not changed or self._store(changed, found):
                return result
        raise LedgerError(f"{_ATTEMPTS} changes in a row were overtaken by others", code="ledger_busy")

    def _read(self, id_: str) -> tuple[int, Entry | None]:
        now, found = self._fetch([id_])
        return now, found.get(id_)

    @abstractmethod
    def _fetch(self, ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        """The server's time, and the entries that there are, by id."""

    @abstractmethod
    def _store(self, changed: Sequence[Entry], found: Mapping[str, Entry]) -> bool:
        """Whether they were written, and are durable: not if one of them is no more as it was found."""

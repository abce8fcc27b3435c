"""One connection for all threads of one process, one at a time.

Rules
 - It is opened when it is wanted, and again if it broke.
 - It does not cross a fork: the child opens its own. The parent's is never used or closed there, not even when nobody
   holds it any more: that would end the parent's session, or take its locks away.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Held"]


class _Closable(Protocol):
    def close(self) -> None: ...


_C = TypeVar("_C", bound=_Closable)


class Held(Generic[_C]):
    """A connection that `make` opens. A broken one says so by an attribute `closed`."""

    def __init__(self, make: Callable[[], _C]) -> None:
        self._make = make
        self._is_closed = False
        self._connection: _C | None = None
        self._lock = threading.Lock()
        _all.add(self)

    @contextmanager
    def use(self) -> Iterator[_C]:
        """The connection, for this thread alone. RuntimeError after close()."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the ledger is closed")
            if self._connection is None or getattr(self._connection, "closed", False):
                self._connection = self._make()
            yield self._connection

    def close(self) -> None:
        """Idempotent; waits for who uses it."""
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def leave_behind(self) -> None:
        """In the child of a fork: the connection is the parent's, and so is the lock, whoever held it."""
        if self._connection is not None:
            _inherited.append(self._connection)
        self._connection = None
        self._lock = threading.Lock()


_all: weakref.WeakSet[Held[Any]] = weakref.WeakSet()
_inherited: list[object] = []


def _after_fork() -> None:
    for held in list(_all):
        held.leave_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

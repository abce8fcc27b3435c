"""One thread that ends waits which no client library would end in time.

A blocking read returns when bytes come, pings too, and a library's own read timeout begins anew with each of them: it
can hold neither an idle timeout nor a deadline. So a second thread shuts the connection down, and the read returns.

Rules
 - One thread for all streams, there only while a stream with a bound is being read.
 - It keeps no stream alive.
"""

from __future__ import annotations

import threading
import weakref
from typing import Protocol

from trigate.sources.clock import now

__all__ = ["WATCHDOG", "Watched"]


class Watched(Protocol):
    """What is watched."""

    def due(self) -> float | None:
        """When to look again, in the time of `clock.now`; None: never."""

    def look(self) -> None:
        """The time has come: ends the wait if a bound is passed."""


class Watchdog:
    """Looks at each watched stream when it is due."""

    def __init__(self) -> None:
        self._watched: weakref.WeakSet[Watched] = weakref.WeakSet()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, stream: Watched) -> None:
        with self._changed:
            self._watched.add(stream)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="trigate-watchdog", daemon=True)
                self._thread.start()
            else:
                self._changed.notify()

    def remove(self, stream: Watched) -> None:
        with self._changed:
            self._watched.discard(stream)
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._watched:
                    self._thread = None
                    return
                wait = self._time_to_next()
                if wait is None or wait > 0:
                    self._changed.wait(wait)
                    continue
                late = [
                    stream for stream in self._watched if (at := stream.due()) is not None and at <= now()
                ]
            for stream in late:
                stream.look()
            del late

    def _time_to_next(self) -> float | None:
        dues = [at for stream in self._watched if (at := stream.due()) is not None]
        return min(dues) - now() if dues else None


WATCHDOG = Watchdog()

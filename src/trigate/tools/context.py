"""What a running tool may know and use: who calls, how long, whether it is called off, and how to tell progress.

Rules
 - A tool asks for it by a parameter annotated `Context`; the model never sees that parameter.
 - Cancellation is cooperative: a token that the tool looks at. Nobody kills a tool from outside.
 - Times are seconds of `time.monotonic`.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trigate.calls import ReleasedCall
from trigate.tools.problem import ToolError

__all__ = ["Cancellation", "Context", "Progress"]


class Progress(msgspec.Struct, frozen=True):
    """How far a long tool is. done of total, in a unit of the tool's choice; None where it does not know."""

    message: str
    done: float | None = None
    total: float | None = None


class Cancellation:
    """A token: whoever holds it may call the work off, once and for good. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._reason = ""
        self._listeners: list[Callable[[], object]] = []

    def cancel(self, reason: str = "") -> None:
        """Calls the work off. The first reason stands."""
        with self._lock:
            if self._event.is_set():
                return
            self._reason = reason
            self._event.set()
            listeners, self._listeners = self._listeners, []
        for tell in listeners:
            tell()

    def when_cancelled(self, tell: Callable[[], object]) -> Callable[[], None]:
        """Has it called once, by whoever cancels; at once if that has happened. It must not raise.

        Returns what takes it back: a token may live longer than those who listen to it.
        """
        with self._lock:
            if not self._event.is_set():
                self._listeners.append(tell)
                return functools.partial(self._forget, tell)
        tell()
        return functools.partial(self._forget, tell)

    def _forget(self, tell: Callable[[], object]) -> None:
        with self._lock:
            self._listeners = [each for each in self._listeners if each is not tell]

    @property
    def is_cancelled(self) -> bool:
        return self._event.is_set()

    @property
    def reason(self) -> str:
        return self._reason

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until the work is called off, at most so long; whether it was."""
        return self._event.wait(seconds)


@dataclass(slots=True, kw_only=True)
class Context:
    """One call's surroundings.

    scope         whose work it is: a user, a run, a tenant
    call          the call, where there is one
    deadline      when the result is of no use any more (time.monotonic), or None
    cancellation  the token
    on_progress   who is told of progress, or None
    values        what the application hands to its tools; trigate does not look at it
    """

    scope: str = ""
    call: ReleasedCall | None = None
    deadline: float | None = None
    cancellation: Cancellation = field(default_factory=Cancellation)
    on_progress: Callable[[Progress], object] | None = None
    values: dict[str, Any] = field(default_factory=dict)

    def remaining(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def check(self) -> None:
        """To be called between steps of long work: raises ToolError `cancelled` when there is no use in going on."""
        if self.cancellation.is_cancelled:
            reason = self.cancellation.reason
            raise ToolError("the call was cancelled" + (f": {reason}" if reason else ""), code="cancelled")
        if self.remaining() == 0:
            raise ToolError("the time for this call is over", code="cancelled")

    def report(self, message: str, done: float | None = None, total: float | None = None) -> None:
        """Tells progress, if somebody listens."""
        if self.on_progress is not None:
            self.on_progress(Progress(message, done, total))

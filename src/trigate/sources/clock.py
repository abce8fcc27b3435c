"""How long a source may take: with nothing to say, and in all.

Rules
 - Idle time runs only while bytes are waited for: the caller's own time between two items is the caller's.
 - What says nothing does not reset it: comments, pings, pieces without text.
 - The deadline runs from the start, whoever takes the time.
"""

from __future__ import annotations

import time

from trigate.response import ErrorInfo

__all__ = ["Clock"]

now = time.monotonic


class Clock:
    """idle_timeout: seconds without an event that says something. deadline: seconds in all. None: no bound."""

    def __init__(self, idle_timeout: float | None, deadline: float | None) -> None:
        self._idle = _checked("idle_timeout", idle_timeout)
        self._deadline = _checked("deadline", deadline)
        self._ends_at = None if deadline is None else now() + deadline
        self._spent = 0.0
        self._waits_since: float | None = None

    @property
    def is_needed(self) -> bool:
        return self._idle is not None or self._deadline is not None

    @property
    def minds_idling(self) -> bool:
        return self._idle is not None

    def wait(self) -> None:
        """The next bytes are waited for."""
        self._waits_since = now()

    def came(self, has_said_something: bool) -> None:
        """Bytes came."""
        if has_said_something:
            self._spent = 0.0
        elif self._waits_since is not None:
            self._spent += now() - self._waits_since
        self._waits_since = None

    @property
    def due(self) -> float | None:
        """When a bound is passed, if nothing comes and waiting begins now or has begun; in the time of `now`."""
        if self._idle is None:
            return self._ends_at
        waits_since = self._waits_since
        idle_at = (now() if waits_since is None else waits_since) + self._idle - self._spent
        return idle_at if self._ends_at is None else min(idle_at, self._ends_at)

    @property
    def passed(self) -> ErrorInfo | None:
        """The bound that is passed, as the response will tell it."""
        due = self.due
        return None if due is None or now() < due else self.first_due

    @property
    def first_due(self) -> ErrorInfo:
        """The bound that is passed first."""
        if self._idle is None or self.due == self._ends_at:
            message = f"the response was not over after {self._deadline} seconds"
            return ErrorInfo("transport", "timeout", "deadline_exceeded", message)
        message = f"no event that says something came for {self._idle} seconds"
        return ErrorInfo("transport", "timeout", "idle_timeout", message)


def _checked(name: str, seconds: float | None) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{name} must be a number of seconds or None, not {type(seconds).__name__}")
    if not seconds > 0:
        raise ValueError(f"{name} must be more than 0 seconds, not {seconds}")
    return seconds

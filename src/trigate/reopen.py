"""What the end of a response changes, kept, so that an end that was only that of a connection can be taken back.

Rules
 - Only an end that the bytes did not tell may be taken back: the connection broke, time was over, the caller stopped.
 - Everything is as it was before that end: the calls go on, nothing is announced twice. What was noted of the end is
   forgotten; what was noted before stays.
"""

from __future__ import annotations

from trigate._core import Lane
from trigate.turn import Turn

__all__ = ["Reopening"]


class Reopening:
    """A turn as it is before its end; `take_back` makes it so again."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._outcome = (turn._status, turn._error, turn.reason, turn.echo, turn.is_end_clean)
        self._calls = [
            (call, call._state, call._problem, call._flags, call._lane, call._end) for call in turn.calls
        ]
        self._unproven = None if turn._unproven is None else list(turn._unproven)
        # Closing a part makes a lone half of a character visible.
        self._halves = [(part, part._half, part.lane.text) for part in turn._texts.parts() if part.has_half]
        self._notes = turn._notes.mark()

    def take_back(self) -> None:
        turn = self._turn
        turn._status, turn._error, turn.reason, turn.echo, turn.is_end_clean = self._outcome
        turn.is_ended = False
        turn._ended = None
        turn.calls[:] = [call for call, *_ in self._calls]
        for call, state, problem, flags, lane, end in self._calls:
            call._state, call._problem, call._flags, call._lane, call._end = state, problem, flags, lane, end
        turn._unproven = self._unproven
        for part, half, text in self._halves:
            part._half, part.lane = half, Lane(text)
        turn._notes.forget(self._notes)

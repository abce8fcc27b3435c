"""The `event:` name beside the type in an event's JSON: no authority, but a witness.

Rules
 - The type in the JSON says what an event is. A missing or differing name is noted, once.
 - Where names were right from the first event on, a name that no event has was cut, and a cut may have taken a
   whole piece of the arguments with it: calls that are open then may not run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from trigate.calls import ToolCall
from trigate.framing import Frame
from trigate.turn import Turn

__all__ = ["EventNames"]


class EventNames(msgspec.Struct, eq=False):
    """Compares the names of one stream with its types. known: the names that events of the protocol have."""

    _turn: Turn
    _known: Collection[str]
    _is_named: bool | None = None

    def note_right(self) -> None:
        """The first event was one whose name is its type."""
        if self._is_named is None:
            self._is_named = True

    def check(self, kind: str, event: Frame, open_calls: Callable[[], Iterable[ToolCall]]) -> None:
        """Takes one event; open_calls: gives those whose arguments are not closed, asked only if a name was cut."""
        turn, name = self._turn, event.event
        if self._is_named is None:
            self._is_named = name == kind
        if name == "message":
            turn.anomaly("event_name_missing", event.start, "an event without a name", once=True)
        elif name != kind:
            turn.anomaly("event_name_differs", event.start, f"{name!r} holds {kind!r}", once=True)
            if self._is_named and name not in self._known:
                for call in open_calls():
                    detail = "an event's name was cut inside it, and perhaps more"
                    turn.void_call(call, "incomplete", event.start, detail)

"""What tells an event from all others, so that a replay of the stream can be told from its going on.

Rules
 - A protocol that numbers its events itself drops repeated ones itself. Where none does, the ids of server-sent
   events are used; such a stream is read event by event, for an event that nobody reads has no id.
 - One event that nothing tells apart is enough: from then on the stream cannot be resumed. It would be taken
   twice, and a piece of arguments taken twice is another call.
"""

from __future__ import annotations

import json
from typing import Literal

import msgspec

from trigate.errors import StructureError
from trigate.framing import Frame

__all__ = ["Numbering"]

# Events that carry nothing and may come without a number, in every protocol.
_NOISE = ("ping", "keepalive")
# What a remembered id costs beside its text.
_ID_SIZE = 100


class Numbering(msgspec.Struct, eq=False):
    """The marks of one response's events: a protocol's own (`event_id`, or Lanes.sequence), and SSE ids.

    max_kept: how many bytes of ids are remembered; past that the stream cannot be resumed by them.
    """

    _max_kept: int
    event_id: str | None = None
    resumed_by: Literal["own", "ids"] | None = None
    is_own_whole: bool = True
    watches_ids: bool = True
    _taken: set[str] | None = None  # most streams have no ids
    _kept: int = 0
    _latest: str = ""  # the id in force on this connection

    def lack(self, what: str, offset: int | None) -> None:
        """An event of a protocol with numbers came without one. StructureError where it may be a repeated one."""
        self.is_own_whole = False
        if self.resumed_by == "own":
            raise _unnumbered(what, offset)

    @property
    def last_id(self) -> str | None:
        """The id of the last event taken, its own or that of its frame; None where not each one has one."""
        if self.event_id is not None:
            return self.event_id if self.is_own_whole else None
        return self._latest if self.watches_ids and self._taken else None

    def resume(self, has_own_numbers: bool) -> bool:
        """The next event is one of a new connection; False if a repeated one could not be told."""
        if has_own_numbers and self.is_own_whole:
            self.resumed_by = "own"
        elif self.watches_ids and self._taken:
            self.resumed_by = "ids"
        else:
            return False
        self._latest = ""
        return True

    def is_taken(self, frame: Frame) -> bool:
        """Whether this event's SSE id was taken before the connection broke. Only while `watches_ids`."""
        event_id = getattr(frame, "id", "")
        if not event_id or event_id == self._latest:
            if not _says_nothing(frame):
                self._lose(frame.event, frame.start)
            return False
        self._latest = event_id
        if self._taken is None:
            self._taken = set()
        if event_id in self._taken:
            if self.resumed_by == "ids":
                return True
            self._lose(frame.event, frame.start)
            return False
        self._kept += len(event_id) + _ID_SIZE
        if self._kept > self._max_kept:
            self._lose(frame.event, frame.start)
        else:
            self._taken.add(event_id)
        return False

    def _lose(self, what: str, offset: int | None) -> None:
        """From here on ids do not tell events apart."""
        if self.resumed_by == "ids":
            raise _unnumbered(what, offset)
        self.watches_ids = False
        self._taken = None


def _unnumbered(what: str, offset: int | None) -> StructureError:
    return StructureError(
        f"{what or 'an event'} at byte {offset} has no number or id of its own: after a reconnect nothing tells "
        "whether it was taken before",
        code="event_without_number",
        offset=offset,
    )


def _says_nothing(frame: Frame) -> bool:
    data = frame.data_bytes.strip()
    if not data or data == b"[DONE]" or frame.event in _NOISE:
        return True
    if len(data) > _ID_SIZE:
        return False
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("type") in _NOISE

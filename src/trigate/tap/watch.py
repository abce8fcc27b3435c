"""What a gate has to know of a stream, event by event: where calls begin, where they are whole, where it all ends.

Rules
 - A mark belongs to one event, and says how things stood just behind it: what later bytes change makes later marks.
   So the marks do not depend on how the stream is cut.
 - Marks come in the order of the stream. Behind a break nothing is read.
"""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Literal, NamedTuple, TypeAlias

from trigate.calls import ToolCall, snapshot
from trigate.framing import BodyGatherer, Frame
from trigate.leftover import Leftover
from trigate.parser import ResponseParser
from trigate.protocols import interpreter
from trigate.response import ErrorInfo, Response

__all__ = ["CALL_WORDS", "Mark", "Place", "Watch"]

#: opened, whole, void: a call. failed: the provider said so. broken: the stream is at fault, or was cut. ended: the
#: response is over, and well. late: what stands behind the end does not belong there.
MarkKind: TypeAlias = Literal["opened", "whole", "void", "failed", "broken", "ended", "late"]


#: Members, and values of `type`, under which the protocols' calls stand.
CALL_WORDS = frozenset(
    {"function_call", "functionCall", "tool_call", "tool_calls", "toolCalls", "tool_use", "toolUse"}
)


class Place(NamedTuple):
    """The first byte of an event, and the number of the last numbered event before it."""

    start: int
    sequence: int | None


class Mark(NamedTuple):
    """position: the call's in the turn; call: as it was then. error: of failed and broken.

    names_call: of failed, whether what says so has a call in it as well, which some client might read.
    """

    kind: MarkKind
    place: Place
    position: int = -1
    call: ToolCall | None = None
    error: ErrorInfo | None = None
    names_call: bool = False


class Watch(ResponseParser):
    """A parser that leaves marks."""

    marks: deque[Mark]
    _seen: int
    _closed: list[ToolCall]
    _has_ended: bool
    _has_broken: bool
    _teller: Frame | Leftover | None

    def begin(self) -> None:
        """Before the first chunk."""
        self.marks = deque()
        self._seen = 0
        self._closed = self._turn.closed = []
        self._has_ended = False
        self._has_broken = False
        self._teller = None

    def _read(self, frame: Frame) -> bool:
        turn = self._turn
        place = Place(frame.start or 0, turn.lanes.sequence)
        noted = turn.anomaly_count if turn.is_ended else -1
        self._teller = frame
        goes_on = super()._read(frame)
        if noted < 0:
            seen = self._seen
            self._look(place)
            if seen == self._seen and not self._has_ended and frame.event in self._noise:
                self._look_into_noise(frame, place)
            goes_on = goes_on and not self._has_broken
        elif turn.anomaly_count != noted or (turn.protocol == "auto" and _says_something(frame)):
            self.marks.append(Mark("late", place))
        self._teller = None
        return goes_on

    @property
    def is_over(self) -> bool:
        """Whether the stream has told how it ended."""
        return self._has_ended

    def settle(self) -> None:
        """After a fault of the bytes and at the end: what no event told."""
        place = Place(self._whole, self._turn.lanes.sequence)
        if not self._has_ended:
            self._look(place)
        elif self._turn.is_faulted:
            self.marks.append(Mark("late", place))

    def _take_leftover(self, left: Leftover) -> bool:
        self._teller = left
        return super()._take_leftover(left)

    def finish(self) -> Response:
        response = super().finish()
        self.settle()
        return response

    def _look(self, place: Place) -> None:
        calls = self._turn.calls
        while self._seen < len(calls):
            self.marks.append(Mark("opened", place, self._seen))
            self._seen += 1
        if self._has_ended:
            return
        if self._turn.status not in ("in_progress", "completed", "incomplete", "cancelled"):
            self._break(place)
            return
        if self._closed:
            self._look_at_closed(place)
        if self._turn.is_ended:
            self._has_ended = True
            self.marks.append(Mark("ended", place))

    @property
    def _noise(self) -> tuple[str, ...]:
        return interpreter(self._turn.protocol).profile.noise

    def _look_into_noise(self, frame: Frame, place: Place) -> None:
        """What is passed over for its name must not be a call to a client that reads no names."""
        if names_call(frame.data_bytes):
            self._has_ended = self._has_broken = True
            message = f"an event named {frame.event!r} has a call in it"
            error = ErrorInfo("structure", "structure", "event_name_differs", message, place.start)
            self.marks.append(Mark("broken", place, error=error))

    def _look_at_closed(self, place: Place) -> None:
        for position in sorted([call._position for call in self._closed]):
            call = self._turn.calls[position]
            kind: MarkKind = "void" if call.state == "void" else "whole"
            self.marks.append(Mark(kind, place, position, snapshot(call)))
        self._closed.clear()

    def _break(self, place: Place) -> None:
        self._has_ended = True
        error = self._turn._error
        is_told = error is not None and error.layer == "provider"
        self._has_broken = not is_told
        if is_told:
            self.marks.append(Mark("failed", place, error=error, names_call=self._names_call()))
        else:
            self.marks.append(Mark("broken", place, error=error))

    def _names_call(self) -> bool:
        """Whether the event that told of a failure, or the body, has a call in it."""
        if self._teller is not None:
            return names_call(self._teller.data or "")
        return isinstance(self._framer, BodyGatherer) and names_call(bytes(self._framer.body))


def _says_something(frame: Frame) -> bool:
    return frame.data.strip() not in ("", "[DONE]")


def names_call(data: bytes | str) -> bool:
    """Whether this JSON has a member, or a type, that a call of some protocol stands under."""
    try:
        waiting: list[Any] = [json.loads(data)]
    except ValueError:
        return False
    except RecursionError:
        return True  # nobody has looked
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            kind = value.get("type")
            if isinstance(kind, str) and kind in CALL_WORDS:
                return True
            if any(value.get(word) for word in CALL_WORDS):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False

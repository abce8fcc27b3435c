"""The parts of one candidate, kept so that each can go back as it came.

Rules
 - Plain text parts, which are nearly all of them, are kept as sizes beside the text that they were added to: most
   cost one byte. Every other part is kept as its JSON.
 - Parts are never merged: the turn goes back part by part.
"""

from __future__ import annotations

from trigate._core import Sizes
from trigate.protocols.echo import Echo
from trigate.protocols.gemini_echo import TextRun
from trigate.text import TextPart
from trigate.turn import Turn

__all__ = ["Parts"]


class _Run:
    """Plain parts of one kind, one after the other: where they begin in `part`'s text, and the size of each."""

    __slots__ = ("is_thought", "part", "sizes", "start")

    def __init__(self, part: TextPart, is_thought: bool) -> None:
        self.part = part
        self.is_thought = is_thought
        self.start = part.lane.size
        self.sizes = Sizes()

    def so_far(self) -> TextRun:
        return TextRun(self.part.lane.text, self.start, self.sizes.packed, self.is_thought)


class Parts:
    """All parts of one candidate, in order of arrival."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._all: list[bytes | _Run] = []

    def add(self, raw: bytes, offset: int | None) -> bool:
        """A part as it came. False: it is more than may be kept."""
        if not self._turn.keep(len(raw), offset):
            return False
        self._all.append(raw)
        return True

    def begin_text(self, part: TextPart, is_thought: bool) -> Sizes:
        """A plain part begins, whose text is added to `part` next: its size is to be appended to what is returned."""
        last = self._all[-1] if self._all else None
        if isinstance(last, _Run) and last.part is part and last.is_thought == is_thought:
            return last.sizes
        self._turn.lanes.touch()
        run = _Run(part, is_thought)
        self._all.append(run)
        return run.sizes

    def to_echo(self) -> Echo:
        return Echo(tuple([each.so_far() if isinstance(each, _Run) else each for each in self._all]))

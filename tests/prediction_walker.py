"""What every random walk through a protocol has in common: lanes that are open, and what happens next.

Rules
 - Mostly the next frame is a delta of an open lane, like the one before it. In between lanes begin and end, and things
   come that mean nothing; how often what no server should send comes too is `wildness`.
 - Few different ids, indices and names, so that they meet again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from prediction_wire import Raw, Spelling, piece, string

__all__ = ["Lane", "Step", "Walker", "given"]

Step: TypeAlias = dict[str, Any]


class Lane(NamedTuple):
    """Where deltas go. style: how its deltas are written, the same each time."""

    kind: str
    place: int
    style: Any = None


def given(members: Step) -> Step:
    """Without those that are to be left out."""
    return {name: value for name, value in members.items() if value is not ...}


class Walker:
    """One walk. A protocol says what its steps look like."""

    def __init__(self, chance: random.Random, spelling: Spelling, hardness: float, wildness: float) -> None:
        self.chance = chance
        self.spelling = spelling
        self.hardness = hardness
        self.wildness = wildness
        self.frames: list[bytes] = []
        self.lanes: list[Lane] = []
        self.next = 0
        self.is_json = chance.random() < 0.5
        self.due: list[bytes] = []
        self.most = chance.choice((1, 2, 2, 3, 12))
        self.is_alternating = chance.random() < 0.3

    def begin(self) -> None: ...
    def start(self) -> None:
        """Opens a lane: adds it to `lanes`."""

    def delta(self, lane: Lane) -> None: ...
    def stop(self, lane: Lane) -> None: ...
    def mild(self) -> None:
        """What changes nothing, or should not."""

    def wild(self) -> None:
        """What may change everything."""

    def end(self) -> None: ...

    # -- for them -----------------------------------------------------------------------------------

    def text(self) -> Raw:
        """The next piece. In half of the walks those of each lane make one JSON object, if nothing goes wrong."""
        if self.due:
            return string(self.due.pop())
        inside = piece(self.chance, self.hardness)
        return string(b"q" if self.is_json and b'\\"' in inside else inside)

    def padding(self) -> Raw:
        return string(piece(self.chance, self.hardness / 3))

    def pick(self, *values: Any) -> Any:
        return self.chance.choice(values)

    def is_wild(self) -> bool:
        return self.chance.random() < self.wildness

    def one_of(self, *sorts: Callable[[], Any]) -> None:
        self.chance.choice(sorts)()

    def free_index(self) -> int:
        """The next index; a wild one may be in use, or far away."""
        if self.next and self.is_wild():
            return int(self.pick(*range(self.next), self.next + 1, 300))
        self.next += 1
        return self.next - 1

    # -- the walk -----------------------------------------------------------------------------------

    def walk(self, length: int) -> list[bytes]:
        self.begin()
        while len(self.frames) < length:
            roll = self.chance.random()
            if not self.lanes or (roll < 0.15 and len(self.lanes) < self.most):
                self.start()
                self.put(b'{\\"a\\":\\"', *self.lanes[-1:])
            elif self.is_wild():
                self.wild()
            elif roll < 0.85:
                self._run()
            elif roll < 0.92:
                self.mild()
            elif self.most > 1:
                lane = self.lanes.pop(self.chance.randrange(len(self.lanes)))
                self.put(b'\\"}', lane)
                self.stop(lane)
        self.put(b'\\"}', *self.lanes)
        self.end()
        return self.frames

    def put(self, inside: bytes, *lanes: Lane) -> None:
        """One delta with this text for each lane."""
        for lane in lanes if self.is_json else ():
            self.due = [inside]
            self.delta(lane)

    def _run(self) -> None:
        """A few deltas, of one lane or of several that take turns."""
        lane = self.pick(*self.lanes)
        for _ in range(self.chance.randint(1, 8)):
            self.delta(self.pick(*self.lanes) if self.is_alternating else lane)

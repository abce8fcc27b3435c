"""Patches: what takes another thing's place for a while, and can be taken out again in any order.

Rules
 - The latest patch that is still in counts; taking one out never disturbs another, whoever put it in.
 - With the last one out, the patched thing is what it was before: the same object, not a copy.
 - What somebody else put over a patch is not touched: the patch beneath it then hands on to the original.
 - A stream that has begun keeps the decoder that it began with.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

__all__ = ["Make", "Patch", "Stack"]

#: Makes a decoder. Its first argument makes the original one; what else it is given is for the place to say.
Make = Callable[..., Any]

_LOCK = threading.RLock()


class Patch:
    """A patch that is in. `undo` takes it out; as a context manager it does so at the end of the block."""

    def __init__(self, stack: Stack, make: Make) -> None:
        self.make = make
        self._stack = stack

    def undo(self) -> None:
        """Takes this patch out; nothing happens if it is out already."""
        self._stack.drop(self)

    @property
    def is_in(self) -> bool:
        return self in self._stack.patches

    def __enter__(self) -> Patch:
        if not self.is_in:
            raise RuntimeError("this patch was taken out: call patch() again")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.undo()


class Stack:
    """The patches of one place, the latest last.

    put_in:   called before the first patch, to make the place ask `top`
    take_out: called after the last one, to make it what it was
    """

    def __init__(self, put_in: Callable[[], None], take_out: Callable[[], None]) -> None:
        self.patches: tuple[Patch, ...] = ()
        self._put_in = put_in
        self._take_out = take_out

    @property
    def top(self) -> Patch | None:
        patches = self.patches
        return patches[-1] if patches else None

    def push(self, make: Make) -> Patch:
        with _LOCK:
            if not self.patches:
                self._put_in()
            patch = Patch(self, make)
            self.patches = (*self.patches, patch)
            return patch

    def drop(self, patch: Patch) -> None:
        with _LOCK:
            if patch not in self.patches:
                return
            self.patches = tuple(other for other in self.patches if other is not patch)
            if not self.patches:
                self._take_out()

    def pop(self) -> bool:
        """Takes the latest patch out; False if there is none."""
        with _LOCK:
            if self.patches:
                self.patches[-1].undo()
                return True
            return False

"""Events that repeat what is there already, a text or the list of items: read without it.

Rules
 - The copy is compared as it stands in the event; if it is equal, MARK takes its place, and the little that is left is
   decoded. What stood there is what is known: the text of the lane, or the items as they were kept.
 - MARK counts only where a copy belongs. Where it came to stand anywhere else, or could be the wire's own, and where
   the copy differs, the event is read as a whole: what is wrong with it is told there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from trigate._core import Lane
from trigate.protocols.responses_wire import (
    Arguments,
    Item,
    ItemEvent,
    ItemRead,
    Part,
    PartEvent,
    ResponseEvent,
    Text,
)
from trigate.protocols.wire import attempt

__all__ = ["LEAST", "Repeats"]

#: Shorter events are decoded as quickly.
LEAST = 512

#: A code point that Unicode keeps for internal use. It is no error on the wire; then nothing is cut.
MARK = "\ufdd0"
_MARK = MARK.encode()
_MARK_JSON = b'"' + _MARK + b'"'
_ESCAPED_MARK = re.compile(rb"\\u[fF][dD][dD]0")
#: How servers write the begin of a member's string, and of the list of items.
_STRINGS = {
    member: (f'"{member}":"'.encode(), f'"{member}": "'.encode())
    for member in ("text", "refusal", "arguments", "input")
}
_LISTS = ((b'"output":[', b","), (b'"output": [', b", "))

_T = TypeVar("_T", Text, PartEvent, Arguments)


class Repeats:
    """Knows the text that came last: its copies come next."""

    __slots__ = ("_lane", "_member", "_size", "_written")

    def __init__(self) -> None:
        self._lane: Lane | None = None
        self._member = ""
        self._written = b""  # the text as its last copy was written, with its quotes
        self._size = -1  # of the lane, then

    def expect(self, lane: Lane, member: str) -> None:
        """A piece or a copy of this text came, whose next copy is a member of that name."""
        if lane is not self._lane:
            self._lane = lane
            self._member = member
            self._forget()

    def read(self, data: bytes, shape: type[_T]) -> _T | None:
        """An event with a copy of the text; None if it must be read as a whole."""
        short = self._cut(data)
        made = attempt(short, shape) if short is not None else None
        if made is None or not self._fill((made.part if isinstance(made, PartEvent) else made,)):
            return None
        return made

    def read_item(self, data: bytes) -> ItemRead | None:
        """The event of an item that is done, likewise."""
        short = self._cut(data)
        made = attempt(short, ItemEvent) if short is not None else None
        item = attempt(made.item, Item) if made is not None else None
        if (
            made is None
            or item is None
            or not self._fill((item, *(item.content or ()), *(item.summary or ())))
        ):
            return None
        raw = bytes(made.item).replace(_MARK_JSON, self._written)
        self._forget()
        return ItemRead(
            type=made.type,
            sequence_number=made.sequence_number,
            error=made.error,
            item=item,
            raw=raw,
            output_index=made.output_index,
        )

    def read_end(self, data: bytes, items: Sequence[bytes]) -> ResponseEvent | None:
        """The event of the end, if its list of items is this one: it is then its response's output."""
        short = _without(data, items) if items else None
        made = attempt(short, ResponseEvent) if short is not None else None
        if made is None or [bytes(raw) for raw in made.response.output or ()] != [_MARK_JSON]:
            return None
        made.response.output = cast("Any", items)
        return made

    def _forget(self) -> None:
        """The item's last copy but that in the list of items has come: a long text is not kept for nothing."""
        self._written = b""
        self._size = -1

    def _cut(self, data: bytes) -> bytes | None:
        lane = self._lane
        if lane is None:
            return None
        for begin in _STRINGS[self._member]:
            place = data.find(begin)
            if place >= 0:
                break
        else:
            return None
        start = place + len(begin) - 1
        if lane.size == self._size and data.startswith(self._written, start):
            end = start + len(self._written)
        else:
            end = lane.end_of_copy(data, start)
            if end < 0:
                return None
            self._written = data[start:end]
            self._size = lane.size
        return _marked(data, start, end)

    def _fill(self, places: Iterable[Item | Part | Text | Arguments]) -> bool:
        """Puts the text where MARK stands; False if it stands in no place of a text."""
        assert self._lane is not None
        for place in places:
            if getattr(place, self._member, None) == MARK:
                setattr(place, self._member, self._lane.text)
                return True
        return False


def _marked(data: bytes, start: int, end: int) -> bytes | None:
    before, behind = data[:start], data[end:]
    if _may_hold_mark(before) or _may_hold_mark(behind):
        return None
    return before + _MARK_JSON + behind


def _may_hold_mark(rest: bytes) -> bool:
    return _MARK in rest or (b"\\u" in rest and _ESCAPED_MARK.search(rest) is not None)


def _without(data: bytes, items: Sequence[bytes]) -> bytes | None:
    """The event with MARK as the only one of these items, if it has them."""
    for begin, comma in _LISTS:
        place = data.find(begin)
        if place < 0:
            continue
        start = end = place + len(begin)
        for number, item in enumerate(items):
            if number:
                if not data.startswith(comma, end):
                    return None
                end += len(comma)
            if not data.startswith(item, end):
                return None
            end += len(item)
        return _marked(data, start, end) if data.startswith(b"]", end) else None
    return None

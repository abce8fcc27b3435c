"""The visible side of a Responses turn: text, refusals, reasoning and its summaries, part by part.

Rules
 - A part's text is its pieces joined. A later copy (done event, part, item, final list) fills a part that no
   piece reached, and is compared with one that pieces did; a difference is an anomaly, for no call depends on it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trigate.framing import Frame
from trigate.items import ReasoningDelta, RefusalDelta, TextDelta
from trigate.protocols.responses_repeats import Repeats
from trigate.protocols.responses_slots import Slots
from trigate.protocols.responses_wire import (
    AnyItem,
    AnyPartEvent,
    Head,
    Item,
    Part,
    PartEvent,
    Piece,
    Place,
    Text,
    parts_of,
)
from trigate.protocols.wire import attempt, decode
from trigate.text import TextPart, without_halves
from trigate.turn import Turn

__all__ = ["LANES", "ResponsesText"]

LANES = {
    "response.output_text.delta": "text",
    "response.output_text.done": "text",
    "response.refusal.delta": "refusal",
    "response.refusal.done": "refusal",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_text.done": "reasoning",
    "response.reasoning_summary_text.delta": "summary",
    "response.reasoning_summary_text.done": "summary",
}
_PART_LANES = {
    "output_text": "text",
    "refusal": "refusal",
    "reasoning_text": "reasoning",
    "summary_text": "summary",
}


_OPENERS: dict[str, Callable[[Turn], TextPart]] = {
    "text": Turn.open_text,
    "refusal": Turn.open_refusal,
    "reasoning": Turn.open_reasoning,
    "summary": Turn.open_reasoning,
}
_ADDERS = {
    "text": Turn.add_text,
    "refusal": Turn.add_refusal,
    "reasoning": Turn.add_reasoning,
    "summary": Turn.add_reasoning,
}
_KINDS: dict[str, type] = {
    "text": TextDelta,
    "refusal": RefusalDelta,
    "reasoning": ReasoningDelta,
    "summary": ReasoningDelta,
}


class _Parts:
    """The parts of one item's lane by their position. Mostly there is one: a dict of one weighs three times this."""

    __slots__ = ("_first", "_others", "_position")

    def __init__(self, position: int, first: TextPart) -> None:
        self._position = position
        self._first = first
        self._others: dict[int, TextPart] | None = None

    def at(self, position: int) -> TextPart | None:
        if position == self._position:
            return self._first
        return self._others.get(position) if self._others is not None else None

    def add(self, position: int, part: TextPart) -> None:
        if self._others is None:
            self._others = {}
        self._others[position] = part

    def all(self) -> list[tuple[int, TextPart]]:
        """In the order in which they began."""
        return [(self._position, self._first), *(self._others or {}).items()]


class ResponsesText(msgspec.Struct, eq=False):
    """Collects the text parts of one turn."""

    _turn: Turn
    _slots: Slots
    _repeats: Repeats
    _parts: dict[tuple[int, str], _Parts] = {}

    def piece(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        """A delta event."""
        piece = head if isinstance(head, Piece) else decode(data, Piece, event)
        if piece.delta:
            lane = LANES[kind]
            part, index = self._part(lane, piece, event)
            self._turn.take_piece(part, _KINDS[lane], piece.delta, index, event.start)

    def done(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        """A done event, which repeats one part's text."""
        message = head if isinstance(head, Text) else decode(data, Text, event)
        text = message.refusal if LANES[kind] == "refusal" else message.text
        if text is not None:
            self._compare(LANES[kind], message, text, event)

    def part_done(self, head: Head, data: bytes, event: Frame) -> None:
        """A content part as a whole."""
        message = head if isinstance(head, PartEvent) else attempt(data, PartEvent)
        if message is not None:
            self._compare_part(message.part, message, event)
            return
        other = decode(data, AnyPartEvent, event)
        if other.part:
            self._compare_part(decode(other.part, Part, event), other, event)

    def item(self, index: int, item: Item | AnyItem, raw: bytes, event: Frame) -> None:
        """A whole item. Where a server numbers its parts in another way, only the whole lane is compared."""
        parts: dict[str, list[tuple[int, str]]] = {}
        for group in parts_of(item, raw, event):
            for position, part in enumerate(group):
                lane = _PART_LANES.get(part.type)
                if lane is not None:
                    parts.setdefault(lane, []).append((position, _text_of(part, lane)))
        for lane, texts in parts.items():
            if self._agrees(index, lane, dict(texts)):
                for position, text in texts:
                    place = Place(output_index=index, content_index=position, summary_index=position)
                    self._compare(lane, place, text, event)
            elif self._joined(index, lane) != without_halves("".join(text for _, text in texts)):
                self._differs(lane, index, event)

    def _seen(self, index: int, lane: str) -> list[tuple[int, TextPart]]:
        parts = self._parts.get((index, lane))
        return [] if parts is None else [(position, part) for position, part in parts.all() if part]

    def _agrees(self, index: int, lane: str, texts: dict[int, str]) -> bool:
        """Whether each part that came has its equal at the same place: then the others can be filled."""
        return all(
            position in texts and part.is_equal(texts[position]) for position, part in self._seen(index, lane)
        )

    def _joined(self, index: int, lane: str) -> str:
        parts = [part for _, part in self._seen(index, lane)]
        for part in parts:
            part.close()
        return "".join(part.text for part in parts)

    def _compare_part(self, part: Part, place: Place, event: Frame) -> None:
        lane = _PART_LANES.get(part.type)
        if lane is not None:
            self._compare(lane, place, _text_of(part, lane), event)

    def _compare(self, lane: str, place: Place, text: str, event: Frame) -> None:
        part, index = self._part(lane, place, event)
        if not part:
            self._add(lane, part, text, index, event.start)
        elif not part.is_equal(text):
            self._differs(lane, index, event)

    def _differs(self, lane: str, index: int, event: Frame) -> None:
        self._turn.anomaly("text_differs", event.start, f"{lane} of output_index {index}", once=True)

    def _part(self, lane: str, place: Place, event: Frame) -> tuple[TextPart, int]:
        item_type = "reasoning" if lane in ("reasoning", "summary") else "message"
        slot = self._slots.find(place, event) or self._slots.implied(item_type, place, event)
        index = slot.index
        position = (place.summary_index if lane == "summary" else place.content_index) or 0
        parts = self._parts.get((index, lane))
        part = parts.at(position) if parts is not None else None
        if part is None:
            part = _OPENERS[lane](self._turn)
            if parts is None:
                self._parts[index, lane] = _Parts(position, part)
            else:
                parts.add(position, part)
        self._repeats.expect(part.lane, "refusal" if lane == "refusal" else "text")
        return part, index

    def _add(self, lane: str, part: TextPart, text: str, index: int, offset: int | None) -> None:
        _ADDERS[lane](self._turn, part, text, index, offset)


def _text_of(part: Part, lane: str) -> str:
    return (part.refusal if lane == "refusal" else part.text) or ""

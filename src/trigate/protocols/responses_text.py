"""The visible side of a Responses turn: text, refusals, reasoning and its summaries, part by part.

Rules
 - A part's text is its pieces joined. A later copy (done event, part, item, final list) fills a part that no
   piece reached, and is compared with one that pieces did; a difference is an anomaly, for no call depends on it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from trigate.framing import Frame
from trigate.protocols.responses_wire import Content, Part, Piece, Place, Text
from trigate.protocols.wire import decode
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


class ResponsesText:
    """Collects the text parts of one turn. `locate` gives the output index of a place and opens what is missing."""

    def __init__(self, turn: Turn, locate: Callable[[Place, str, Frame], int]) -> None:
        self._turn = turn
        self._locate = locate
        self._parts: dict[tuple[int, str], dict[int, TextPart]] = {}

    def piece(self, kind: str, data: bytes, event: Frame) -> None:
        """A delta event."""
        piece = decode(data, Piece, event)
        if piece.delta:
            part, index = self._part(LANES[kind], piece, event)
            self._add(LANES[kind], part, piece.delta, index, event.start)
            self._follow(LANES[kind], part, piece.delta, index)

    def done(self, kind: str, data: bytes, event: Frame) -> None:
        """A done event, which repeats one part's text."""
        message = decode(data, Text, event)
        text = message.refusal if LANES[kind] == "refusal" else message.text
        if text is not None:
            self._compare(LANES[kind], message, text, event)

    def part_done(self, data: bytes, event: Frame) -> None:
        """A content part as a whole."""
        message = decode(data, Text, event)
        if message.part:
            self._compare_part(message.part, message, event)

    def item(self, index: int, raw: bytes, event: Frame) -> None:
        """A whole item. Where a server numbers its parts in another way, only the whole lane is compared."""
        whole = decode(raw, Content, event)
        parts: dict[str, list[tuple[int, str]]] = {}
        for group in (whole.content, whole.summary):
            for position, part in enumerate(decode(raw, Part, event) for raw in group or ()):
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
        return [(position, part) for position, part in self._parts.get((index, lane), {}).items() if part]

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

    def _compare_part(self, raw: msgspec.Raw, place: Place, event: Frame) -> None:
        part = decode(raw, Part, event)
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
        index = self._locate(place, item_type, event)
        position = place.summary_index if lane == "summary" else place.content_index
        parts = self._parts.setdefault((index, lane), {})
        part = parts.get(position or 0)
        if part is None:
            turn = self._turn
            opener = {"text": turn.open_text, "refusal": turn.open_refusal}.get(lane, turn.open_reasoning)
            part = parts[position or 0] = opener()
        return part, index

    def _add(self, lane: str, part: TextPart, text: str, index: int, offset: int | None) -> None:
        turn = self._turn
        add = {"text": turn.add_text, "refusal": turn.add_refusal}.get(lane, turn.add_reasoning)
        add(part, text, index, offset)

    def _follow(self, lane: str, part: TextPart, text: str, index: int) -> None:
        turn = self._turn
        follow = {"text": turn.follow_text, "refusal": turn.follow_refusal}.get(lane, turn.follow_reasoning)
        follow(part, text, index)


def _text_of(part: Part, lane: str) -> str:
    return (part.refusal if lane == "refusal" else part.text) or ""

"""OpenAI Responses, read plainly: items by output index, four copies of each argument text that must be equal.

Rules
 - A call runs if its item is done as `completed`, all copies agree, the turn is completed, and the final list has it.
 - A sequence number that was taken is a repeat and dropped, unless it brings bad news; a gap while a call is open
   is a conflict, for a piece of its arguments may be what is missing.
"""

from __future__ import annotations

from typing import Any

from model.common import FAULTS, MalformedError, Outcome, Read, Turn, Usage, compact, loads, sse

__all__ = ["read"]

PIECES = {
    "response.function_call_arguments.delta": "delta",
    "response.custom_tool_call_input.delta": "delta",
}
COPIES = {
    "response.function_call_arguments.done": "arguments",
    "response.custom_tool_call_input.done": "input",
}
BUILTIN = {
    "shell_call": ("shell", ("action",)),
    "local_shell_call": ("local_shell", ("action",)),
    "apply_patch_call": ("apply_patch", ("operation",)),
    "computer_call": ("computer", ("action", "actions", "pending_safety_checks")),
}
ENDS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
    "response.canceled": "cancelled",
}


class _Item:
    """One client call: the text as it was pieced together, its copies, and the item's own end."""

    def __init__(self, index: int | None, item_id: str | None, order: int) -> None:
        self.index, self.item_id = index, item_id
        self.call = Read(place=(order if index is None else index, order))
        self.pieces: list[str] = []
        self.copies: list[str] = []
        self.done = False
        self.bad = False

    @property
    def open(self) -> bool:
        """Whether a piece of its arguments may still come."""
        return not self.done and not self.copies

    def identify(self, item: dict[str, Any]) -> bool:
        """Takes id and name; False if they are not what they were."""
        name = BUILTIN[item["type"]][0] if item["type"] in BUILTIN else item.get("name")
        call_id = item.get("call_id")
        same = self.call.name in ("", name or self.call.name)
        same = same and self.call.call_id in (None, call_id or self.call.call_id)
        self.call.name = self.call.name or name or ""
        self.call.call_id = self.call.call_id or call_id or None
        self.call.custom = item["type"] == "custom_tool_call"
        return same


def _payload(item: dict[str, Any]) -> str:
    if item["type"] in BUILTIN:
        members = {key: item[key] for key in BUILTIN[item["type"]][1] if key in item}
        return compact(next(iter(members.values())) if len(BUILTIN[item["type"]][1]) == 1 else members)
    text = item.get("input" if item["type"] == "custom_tool_call" else "arguments")
    return text if isinstance(text, str) else "" if text is None else compact(text)


def _is_call(item: dict[str, Any]) -> bool:
    return item.get("type") in ("function_call", "custom_tool_call", *BUILTIN)


class _Reader:
    def __init__(self) -> None:
        self.turn = Turn()
        self.items: list[_Item] = []
        self.taken: set[int] = set()
        self.texts: dict[tuple[int | None, int], str] = {}

    def sequence(self, event: dict[str, Any]) -> bool:
        """Whether the event is to be taken."""
        number = event.get("sequence_number")
        if not isinstance(number, int):
            return True
        if number in self.taken:
            return event["type"] == "error" or ENDS.get(event["type"], "completed") != "completed"
        if self.taken and number != max(self.taken) + 1 and any(item.open for item in self.items):
            self.turn.conflict = True
        self.taken.add(number)
        return True

    def find(self, index: int | None, item_id: str | None) -> _Item | None:
        """The item of a fragment: the newest at its index; without one that of its id, or the only open one."""
        here = [item for item in self.items if item.index == index] if index is not None else self.items
        named = [item for item in here if item_id and item.item_id == item_id]
        if named or index is not None:
            return (named or here)[-1] if here else None
        unfinished = [item for item in self.items if not item.done]
        return unfinished[0] if len(unfinished) == 1 else None

    def begin(self, index: int | None, item_id: str | None) -> _Item:
        self.items.append(_Item(index, item_id, len(self.items)))
        return self.items[-1]

    def event(self, event: dict[str, Any]) -> None:
        kind = event["type"]
        index = event.get("output_index")
        if kind == "error":
            self.turn.fail()
        elif kind in ENDS or kind == "response.done":
            self.ended(kind, event["response"])
            if self.turn.end == "failed":
                self.turn.fail()
        elif kind == "response.output_text.delta":
            key = (index, event.get("content_index", 0))
            self.texts[key] = self.texts.get(key, "") + event["delta"]
        elif kind == "response.output_text.done":
            self.texts.setdefault((index, event.get("content_index", 0)), event["text"])
        elif kind == "response.output_item.added" and _is_call(event["item"]):
            item = self.begin(index, event["item"].get("id"))
            item.identify(event["item"])
            if event["item"]["type"] not in BUILTIN and _payload(event["item"]):
                item.pieces.append(_payload(event["item"]))
        elif kind == "response.output_item.done":
            self.done(index, event["item"])
        elif kind in PIECES or kind in COPIES:
            self.arguments(kind, event)

    def arguments(self, kind: str, event: dict[str, Any]) -> None:
        item = self.find(event.get("output_index"), event.get("item_id"))
        if item is None or item.done:
            self.turn.conflict = True
        elif kind in PIECES:
            self.turn.conflict = self.turn.conflict or bool(item.copies)
            item.pieces.append(event["delta"])
        else:
            item.copies.append(event[COPIES[kind]])

    def done(self, index: int | None, data: dict[str, Any]) -> None:
        if data["type"] == "message":
            told = any(key[0] == index for key in self.texts)
            for place, part in enumerate(data.get("content") or []):
                if part.get("type") == "output_text" and not told:
                    self.texts.setdefault((index, place), part["text"])
        if not _is_call(data):
            return
        item = self.find(index, data.get("id")) or self.begin(index, data.get("id"))
        same = item.identify(data)
        self.turn.conflict = self.turn.conflict or not same
        item.copies.append(_payload(data))
        by_program = (data.get("caller") or {}).get("type") == "program"
        good = ("completed", None, "in_progress") if by_program else ("completed", None)
        item.done = True
        item.bad = data.get("status") not in good

    def ended(self, kind: str, response: dict[str, Any]) -> None:
        turn = self.turn
        status = response.get("status") or ENDS.get(kind, "incomplete")
        end = {"canceled": "cancelled"}.get(status, status)
        if ENDS.get(kind, "incomplete") != "completed" and end == "completed":
            end = ENDS.get(kind, "incomplete")
        details = response.get("incomplete_details") or {}
        turn.end = end
        turn.reason = details.get("reason") or status
        usage = response.get("usage")
        if usage:
            turn.usage = Usage(
                usage.get("input_tokens"),
                usage.get("output_tokens"),
                usage.get("total_tokens"),
                (usage.get("input_tokens_details") or {}).get("cached_tokens"),
                (usage.get("output_tokens_details") or {}).get("reasoning_tokens"),
            )
        listed = [item for item in response.get("output") or [] if _is_call(item)]
        if not response.get("output"):
            return
        if end == "completed" and len(listed) != len(self.items):
            turn.conflict = True
        in_order = sorted(self.items, key=lambda item: item.call.place)
        for item, final in zip(in_order, listed, strict=False):
            item.copies.append(_payload(final))
            same = item.identify(final)
            turn.conflict = turn.conflict or not same

    def settle(self) -> Outcome:
        turn = self.turn
        for item in self.items:
            call = item.call
            call.arguments = "".join(item.pieces) or next((copy for copy in item.copies if copy), "")
            call.closed = item.done and not item.bad
            if any(copy != call.arguments for copy in item.copies):
                if item.done and not item.bad:
                    turn.conflict = True
                    call.problem = "conflict"
                elif any(copy != call.arguments for copy in item.copies if copy):
                    turn.conflict = True
        turn.calls = [item.call for item in self.items]
        turn.text = "".join(self.texts.values())
        return turn.outcome()


def read(data: bytes) -> Outcome:
    wire = sse(data)
    reader = _Reader()
    for name, text in wire.events:
        if reader.turn.end or not text.strip() or text.strip().startswith("[DONE]"):
            continue
        try:
            event = loads(text)
            event.setdefault("type", name)
            if reader.sequence(event):
                reader.event(event)
        except FAULTS:
            reader.turn.fail()
            break
    if wire.broken and not reader.turn.end:
        reader.turn.fail()
    if not reader.turn.end and wire.pending and _is_error(wire.pending.data):
        reader.turn.fail()
    return reader.settle()


def _is_error(text: str) -> bool:
    try:
        event = loads(text)
    except MalformedError:
        return False
    return isinstance(event, dict) and event.get("type") == "error"

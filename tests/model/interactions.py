"""Gemini's Interactions stream, read plainly: steps by index, a status that says what is due.

Rules
 - A `function_call` step runs if it was stopped and the interaction's status is `requires_action`.
 - An event whose `event_id` was taken is a repeat and dropped.
 - `completed` asks for no action: a call of such a turn is not released.
"""

from __future__ import annotations

from typing import Any

from model.common import FAULTS, MalformedError, Outcome, Read, Turn, Usage, compact, loads, sse

__all__ = ["read"]

ENDS = {
    "requires_action": "completed",
    "completed": "completed",
    "incomplete": "incomplete",
    "requires_continuation": "incomplete",
    "failed": "failed",
    "budget_exceeded": "failed",
    "idle": "failed",
    "cancelled": "cancelled",
}
GOING_ON = {"queued", "in_progress"}


class _Reader:
    def __init__(self) -> None:
        self.turn = Turn()
        self.steps: dict[int, dict[str, Any]] = {}
        self.calls: dict[int, Read] = {}
        self.pieces: dict[int, str] = {}
        self.status: str | None = None
        self.over = False

    def event(self, kind: str, event: dict[str, Any]) -> None:
        if kind == "error":
            self.turn.fail()
            self.over = True
        elif kind == "step.start":
            self.start(event.get("index", -1), event["step"])
        elif kind == "step.delta":
            self.delta(self.index(event), event["delta"])
        elif kind == "step.stop":
            index = self.index(event)
            step = self.steps.pop(index, None)
            call = self.calls.get(index)
            if step and call:
                call.closed = True
                given = step.get("arguments")
                call.arguments = call.arguments or ("" if given is None else compact(given))
        elif kind == "interaction.status_update":
            self.status = event["status"]
        elif kind == "interaction.completed":
            interaction = event["interaction"]
            self.status = interaction.get("status") or self.status
            self.usage(interaction.get("usage") or {})
            self.over = True

    def index(self, event: dict[str, Any]) -> int:
        """The event's index; without one that of the only open step."""
        only = next(iter(self.steps)) if len(self.steps) == 1 else -1
        return int(event.get("index", only))

    def start(self, index: int, step: dict[str, Any]) -> None:
        if index in self.steps and index in self.calls:
            self.turn.conflict = True
        self.calls.pop(index, None)
        self.steps[index] = step
        if step.get("type") == "function_call":
            call = Read(step.get("id") or None, step.get("name") or "", place=(index,))
            self.calls[index] = call
            self.turn.calls.append(call)
            self.pieces[index] = ""
        for part in step.get("content") or []:
            self.turn.text += part.get("text") or ""

    def delta(self, index: int, delta: dict[str, Any]) -> None:
        if delta.get("type") == "text":
            self.turn.text += delta["text"]
        elif delta.get("type") == "arguments_delta":
            if index not in self.steps or index not in self.calls:
                self.turn.conflict = True
                return
            self.pieces[index] += delta["arguments"]
            self.calls[index].arguments = self.pieces[index]

    def usage(self, raw: dict[str, Any]) -> None:
        if raw:
            self.turn.usage = Usage(
                raw.get("total_input_tokens"),
                raw.get("total_output_tokens"),
                raw.get("total_tokens"),
                raw.get("total_cached_tokens"),
                raw.get("total_thought_tokens"),
            )

    def settle(self, closed: bool, *, broken: bool) -> Outcome:
        turn = self.turn
        if not turn.end and broken and not self.over:
            turn.fail()
        if not turn.end and self.status not in (None, *GOING_ON):
            turn.end = ENDS.get(self.status or "", "failed")
        if turn.end == "completed" and self.status == "requires_action" and not turn.calls:
            turn.end = "failed"
        if not closed and not self.over:
            turn.end = None
        turn.asked = self.status == "requires_action"
        turn.reason = None if self.status in GOING_ON else self.status
        return turn.outcome()


def read(data: bytes) -> Outcome:
    wire = sse(data)
    reader = _Reader()
    taken: set[str] = set()
    for name, text in wire.events:
        if reader.over or text.strip() == "[DONE]":
            break
        if not text.strip():
            continue
        try:
            event = loads(text)
            kind = event.get("event_type") or name
            event_id = event.get("event_id")
            if event_id and event_id in taken and kind != "error":
                continue
            taken.add(event_id)
            reader.event(kind, event)
        except FAULTS:
            reader.turn.fail()
            break
    return reader.settle(
        wire.closed, broken=wire.broken or _pending_error(wire.pending.data if wire.pending else "")
    )


def _pending_error(text: str) -> bool:
    try:
        event = loads(text)
    except MalformedError:
        return False
    return isinstance(event, dict) and event.get("event_type") == "error"

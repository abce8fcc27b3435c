"""Bedrock's ConverseStream, read plainly: AWS frames, blocks by index, usage after the end.

Rules
 - A `toolUse` block runs if it was stopped and `messageStop` says `tool_use`.
 - Both checksums of a frame must be right; an exception or error frame is the end, badly.
 - A piece for a block that is not open and an index opened twice are conflicts; text needs no start.
"""

from __future__ import annotations

from typing import Any

from model.common import FAULTS, Outcome, Read, Turn, Usage, Wire, eventstream, loads

__all__ = ["read", "read_wire"]

GOOD = {"tool_use", "end_turn", "stop_sequence"}
SHORT = {"max_tokens", "model_context_window_exceeded", "guardrail_intervened", "content_filtered"}


class _Reader:
    def __init__(self) -> None:
        self.turn = Turn()
        self.open: dict[int, Read] = {}
        self.others: set[int] = set()

    def event(self, name: str, payload: dict[str, Any]) -> None:
        turn = self.turn
        if name == "metadata":
            usage = payload.get("usage") or {}
            turn.usage = Usage(
                usage.get("inputTokens"),
                usage.get("outputTokens"),
                usage.get("totalTokens"),
                usage.get("cacheReadInputTokens"),
            )
        elif turn.end and name.startswith("contentBlock"):
            late = {**(payload.get("start") or {}), **(payload.get("delta") or {})}
            turn.conflict = turn.conflict or "toolUse" in late
        elif name == "contentBlockStart":
            self.start(payload["contentBlockIndex"], (payload.get("start") or {}).get("toolUse"))
        elif name == "contentBlockDelta":
            self.delta(payload["contentBlockIndex"], payload.get("delta") or {})
        elif name == "contentBlockStop":
            call = self.open.pop(payload["contentBlockIndex"], None)
            self.others.discard(payload["contentBlockIndex"])
            if call:
                call.closed = True
        elif name == "messageStop" and not turn.end:
            self.ended(payload.get("stopReason"))

    def start(self, index: int, tool: dict[str, Any] | None) -> None:
        if index in self.open or (tool and index in self.others):
            self.turn.conflict = True
        if not tool or tool.get("type") == "server_tool_use":
            self.others.add(index)
            return
        call = Read(tool.get("toolUseId") or None, tool.get("name") or "", place=(index,))
        self.open[index] = call
        self.turn.calls.append(call)

    def delta(self, index: int, delta: dict[str, Any]) -> None:
        self.turn.text += delta.get("text") or ""
        if "toolUse" not in delta:
            if index in self.open:
                self.turn.conflict = True
            return
        piece = delta["toolUse"].get("input") or ""
        if index in self.open:
            self.open[index].arguments += piece
        elif index not in self.others and piece:
            self.turn.conflict = True

    def ended(self, reason: str | None) -> None:
        turn = self.turn
        turn.reason = reason
        turn.end = "completed" if reason in GOOD else "incomplete" if reason in SHORT else "failed"
        turn.asked = reason == "tool_use"
        if turn.asked and not turn.calls:
            turn.end = "failed"


def read(data: bytes) -> Outcome:
    return read_wire(eventstream(data))


def read_wire(wire: Wire) -> Outcome:
    reader = _Reader()
    for name, text in wire.events:
        if name.startswith("!"):
            if not reader.turn.end:
                reader.turn.fail()
            break
        try:
            reader.event(name, loads(text))
        except FAULTS:
            reader.turn.fail()
            break
    if wire.broken and not reader.turn.end:
        reader.turn.fail()
    reader.turn.needs(wire.closed)
    return reader.turn.outcome()

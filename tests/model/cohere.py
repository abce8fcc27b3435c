"""Cohere's v2 chat stream, read plainly: calls by index, started, filled and ended.

Rules
 - A call runs if it was ended and `message-end` says `TOOL_CALL`.
 - A piece for a call that is not open and an index opened twice are conflicts.
 - The tool plan is no text; nothing repeats the arguments, so their JSON is the only check.
"""

from __future__ import annotations

from typing import Any

from model.common import FAULTS, Outcome, Read, Turn, Usage, compact, loads, sse

__all__ = ["read"]

GOOD = {"TOOL_CALL", "COMPLETE", "STOP_SEQUENCE"}


class _Reader:
    def __init__(self) -> None:
        self.turn = Turn()
        self.open: dict[int, Read] = {}
        self.over = False

    def event(self, kind: str, event: dict[str, Any]) -> None:
        message = (event.get("delta") or {}).get("message") or {}
        index = event["index"] if kind.startswith("tool-call") else 0
        if kind in ("content-start", "content-delta"):
            content = message.get("content") or {}
            self.turn.text += content.get("text") or ""
        elif kind == "tool-call-start":
            self.start(index, message["tool_calls"])
        elif kind == "tool-call-delta":
            piece = message["tool_calls"]["function"].get("arguments") or ""
            if index in self.open:
                self.open[index].arguments += piece
            else:
                self.turn.conflict = self.turn.conflict or bool(piece)
        elif kind == "tool-call-end":
            call = self.open.pop(index, None)
            if call:
                call.closed = True
        elif kind == "message-end":
            self.ended(event["delta"])

    def start(self, index: int, entry: dict[str, Any]) -> None:
        if index in self.open:
            self.turn.conflict = True
        body = entry.get("function") or {}
        call = Read(entry.get("id") or None, body.get("name") or "", place=(index,))
        given = body.get("arguments")
        call.arguments = given if isinstance(given, str) else compact(given) if given else ""
        self.open[index] = call
        self.turn.calls.append(call)

    def ended(self, delta: dict[str, Any]) -> None:
        turn, reason = self.turn, delta.get("finish_reason")
        self.over = True
        turn.reason = reason
        turn.end = "completed" if reason in GOOD else "incomplete" if reason == "MAX_TOKENS" else "failed"
        turn.asked = reason == "TOOL_CALL"
        if delta.get("error") or (turn.asked and not turn.calls):
            turn.end = "failed"
        usage = delta.get("usage") or {}
        tokens = usage.get("tokens") or {}
        if usage:
            turn.usage = Usage(
                tokens.get("input_tokens"),
                tokens.get("output_tokens"),
                None,
                usage.get("cached_tokens"),
                tokens.get("reasoning_tokens"),
            )


def read(data: bytes) -> Outcome:
    wire = sse(data)
    reader = _Reader()
    for name, text in wire.events:
        if reader.over or text.strip() == "[DONE]":
            break
        if not text.strip():
            continue
        try:
            event = loads(text)
            reader.event(event.get("type") or name, event)
        except FAULTS:
            reader.turn.fail()
            reader.over = True
            break
    if wire.broken and not reader.over:
        reader.turn.fail()
    return reader.turn.outcome()

"""Anthropic Messages, read plainly: blocks by index, each started, filled and stopped.

Rules
 - A `tool_use` block runs if it was stopped, the stop reason is `tool_use` and `message_stop` came.
 - The pieces are the arguments; without any, the `input` of the start block is.
 - A piece for a block that is not open, an index opened twice, and a start after the stop reason are conflicts.
"""

from __future__ import annotations

from typing import Any

from model.common import FAULTS, Event, MalformedError, Outcome, Read, Turn, Usage, Wire, compact, loads, sse

__all__ = ["read", "read_wire"]

GOOD = {"tool_use", "end_turn", "stop_sequence"}
SHORT = {"max_tokens", "model_context_window_exceeded", "pause_turn", "compaction", "refusal"}


class _Block:
    def __init__(self, index: int, block: dict[str, Any]) -> None:
        self.index = index
        self.block = block
        self.pieces = ""
        self.open = True

    @property
    def is_call(self) -> bool:
        return self.block.get("type") == "tool_use"

    def call(self) -> Read:
        given = self.block.get("input")
        text = self.pieces or (compact(given) if given and not self.open else "")
        return Read(
            call_id=self.block.get("id") or None,
            name=self.block.get("name") or "",
            arguments=text,
            place=(self.index,),
            closed=not self.open,
        )


class _Reader:
    def __init__(self) -> None:
        self.turn = Turn()
        self.blocks: list[_Block] = []
        self.stop_reason: str | None = None
        self.usage: dict[str, Any] = {}
        self.text = ""
        self.over = False

    def open_block(self, index: int) -> _Block | None:
        return next((block for block in self.blocks if block.index == index and block.open), None)

    def event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "error":
            self.turn.fail()
            self.over = True
        elif kind == "message_start":
            self.started(event["message"])
        elif kind == "content_block_start":
            if self.open_block(event["index"]) or self.stop_reason:
                self.turn.conflict = True
            self.blocks.append(_Block(event["index"], event["content_block"]))
            self.text += event["content_block"].get("text") or ""
        elif kind == "content_block_delta":
            self.delta(event["index"], event["delta"])
        elif kind == "content_block_stop":
            block = self.open_block(event["index"])
            if block:
                block.open = False
        elif kind == "message_delta":
            self.stop_reason = event["delta"].get("stop_reason") or self.stop_reason
            self.usage.update({key: value for key, value in (event.get("usage") or {}).items() if value})
        elif kind == "message_stop":
            self.over = True
            self.turn.end = self.ended()

    def started(self, message: dict[str, Any]) -> None:
        self.usage.update(message.get("usage") or {})
        self.stop_reason = message.get("stop_reason")
        for index, block in enumerate(message.get("content") or []):
            whole = _Block(index, block)
            whole.open = False
            self.blocks.append(whole)
            self.text += block.get("text") or ""

    def delta(self, index: int, delta: dict[str, Any]) -> None:
        block = self.open_block(index)
        if delta["type"] == "text_delta":
            self.text += delta["text"]
        piece = delta.get("partial_json") or ""
        if delta["type"] != "input_json_delta":
            if block and block.is_call:
                self.turn.conflict = True
        elif block is None or (block.block.get("type") == "text" and piece):
            self.turn.conflict = self.turn.conflict or bool(piece)
        else:
            block.pieces += piece

    def ended(self) -> str:
        calls = [block for block in self.blocks if block.is_call]
        if self.stop_reason == "tool_use" and not calls:
            return "failed"
        self.turn.asked = self.stop_reason == "tool_use"
        return (
            "completed"
            if self.stop_reason in GOOD
            else "incomplete"
            if self.stop_reason in SHORT
            else "failed"
        )

    def settle(self, wire: Wire) -> Outcome:
        turn = self.turn
        if not self.over and (wire.broken or _is_error(wire.pending)):
            turn.fail()
        turn.reason = turn.reason or self.stop_reason
        turn.calls = [block.call() for block in self.blocks if block.is_call]
        turn.text = self.text
        if self.usage:
            turn.usage = Usage(
                self.usage.get("input_tokens"),
                self.usage.get("output_tokens"),
                None,
                self.usage.get("cache_read_input_tokens"),
                (self.usage.get("output_tokens_details") or {}).get("thinking_tokens"),
            )
        return turn.outcome()


def _is_error(pending: Event | None) -> bool:
    try:
        event = loads(pending.data if pending else "")
    except MalformedError:
        return False
    return isinstance(event, dict) and event.get("type") == "error"


def read_wire(wire: Wire) -> Outcome:
    reader = _Reader()
    for _, text in wire.events:
        if reader.over:
            break
        if not text.strip() or text.strip() == "[DONE]":
            continue
        try:
            reader.event(loads(text))
        except FAULTS:
            reader.turn.fail()
            reader.over = True
    return reader.settle(wire)


def read(data: bytes) -> Outcome:
    return read_wire(sse(data))

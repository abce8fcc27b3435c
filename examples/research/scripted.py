"""A model that says what it is told to, as the Messages API streams it: for the recorded run and for the tests.

Rule: it is no model. What it "answers" was written by people, and its usage counts nothing but rounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from trigate.agent import DIALECTS, Dialect, Reply
from trigate.sources import parse

__all__ = ["ScriptedModel", "round_of"]

Call = tuple[str, str, Any]


class ScriptedModel:
    """Gives these streams, one for each round. name: what stands in the record."""

    name = "scripted"

    def __init__(self, rounds: Iterable[bytes]) -> None:
        self._rounds = list(rounds)
        self.bodies: list[dict[str, Any]] = []

    @property
    def dialect(self) -> Dialect:
        return DIALECTS["anthropic-messages"]

    async def ask(self, body: dict[str, Any], seconds: float) -> Reply:  # noqa: ARG002 - as any model
        self.bodies.append(json.loads(json.dumps(body)))
        stream = self._rounds.pop(0)
        return Reply(response=parse(stream, self.dialect.protocol), stream=stream, http_status=200)


def round_of(number: int, *calls: Call, text: str = "", stop: str = "") -> bytes:
    """One round's stream. calls: (id, name, arguments: a value, or a str that is its JSON text)."""
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "usage": {"input_tokens": 1, "output_tokens": 1}}}
    ]
    if text:
        events += _block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})
    for at, (call_id, name, arguments) in enumerate(calls, start=bool(text)):
        piece = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        events += _block(at, block, {"type": "input_json_delta", "partial_json": piece})
    reason = stop or ("tool_use" if calls else "end_turn")
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}})
    events.append({"type": "message_stop"})
    lines = (f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)
    return "".join(lines).encode()


def _block(at: int, block: dict[str, Any], delta: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": at, "content_block": block},
        {"type": "content_block_delta", "index": at, "delta": delta},
        {"type": "content_block_stop", "index": at},
    ]

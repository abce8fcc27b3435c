"""Builds Messages streams event by event, and runs them. A test says only what is special about its stream.

Rules
 - A Script writes what a correct server writes; `add` puts in anything else.
 - The events can also be had one by one, for a framing other than server-sent events.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import trigate

__all__ = ["DONE", "PING", "PROTOCOL", "Event", "Script", "codes", "one", "parse", "run", "states"]

PROTOCOL = "anthropic-messages"
Event: TypeAlias = dict[str, Any]
PING: Event = {"type": "ping"}
DONE = b"data: [DONE]\n\n"


def one(event: Event, name: str | None = None) -> bytes:
    """One server-sent event. name: the event's name, if not its type; "" for none."""
    named = event.get("type", "") if name is None else name
    line = f"event: {named}\n" if named else ""
    return f"{line}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


@dataclass
class Script:
    """The events of one message."""

    events: list[Event] = field(default_factory=list)

    @classmethod
    def begun(cls, **members: Any) -> Script:
        return cls().start(**members)

    def add(self, kind: str, **members: Any) -> Script:
        self.events.append({"type": kind} | members)
        return self

    def start(self, **members: Any) -> Script:
        message: Event = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
        message |= {"stop_reason": None, "usage": {"input_tokens": 9, "output_tokens": 1}} | members
        return self.add("message_start", message=message)

    def block(self, index: int, block_type: str, **members: Any) -> Script:
        return self.add("content_block_start", index=index, content_block={"type": block_type} | members)

    def tool(self, index: int = 0, call_id: str = "toolu_1", name: str = "go", **members: Any) -> Script:
        return self.block(index, "tool_use", **({"id": call_id, "name": name, "input": {}} | members))

    def delta(self, index: int, delta_type: str, **members: Any) -> Script:
        return self.add("content_block_delta", index=index, delta={"type": delta_type} | members)

    def json(self, index: int, *pieces: str) -> Script:
        for piece in pieces:
            self.delta(index, "input_json_delta", partial_json=piece)
        return self

    def stop(self, index: int = 0) -> Script:
        return self.add("content_block_stop", index=index)

    def call(self, index: int = 0, *pieces: str, call_id: str = "toolu_1", **members: Any) -> Script:
        """A whole tool_use block."""
        return self.tool(index, call_id, **members).json(index, *(pieces or ('{"a":', "1}"))).stop(index)

    def text(self, index: int = 0, *pieces: str) -> Script:
        """A whole text block."""
        self.block(index, "text", text="")
        for piece in pieces or ("Hi",):
            self.delta(index, "text_delta", text=piece)
        return self.stop(index)

    def reason(self, word: Any = "tool_use", **members: Any) -> Script:
        delta = {"stop_reason": word, "stop_sequence": None}
        return self.add("message_delta", **({"delta": delta, "usage": {"output_tokens": 7}} | members))

    def end(self, word: Any = "tool_use", **members: Any) -> Script:
        return self.reason(word, **members).add("message_stop")

    def data(self, *, names: bool = True) -> bytes:
        return b"".join(one(event, None if names else "") for event in self.events)

    def parse(self, **options: Any) -> trigate.Response:
        return parse(self.data(), **options)

    def run(self, **options: Any) -> tuple[list[trigate.Item], trigate.Response]:
        return run([self.data()], **options)


def parse(data: bytes | Iterable[bytes], **options: Any) -> trigate.Response:
    return trigate.parse(data, PROTOCOL, **options)


def run(chunks: Iterable[bytes], **options: Any) -> tuple[list[trigate.Item], trigate.Response]:
    """All items, and the final response."""
    parser = trigate.ResponseParser(PROTOCOL, **options)
    items = [item for chunk in chunks for item in parser.feed(chunk)]
    return items, parser.finish()


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


def states(response: trigate.Response) -> list[tuple[str | None, str, str | None]]:
    """Each call as (call_id, state, problem)."""
    return [(call.call_id, call.state, call.problem) for call in response.calls]

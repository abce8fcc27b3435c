"""Builds Cohere's events, and runs them. A test says only what is special about its stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import trigate
from streams import typical_cuts

__all__ = ["DONE", "PROTOCOL", "Event", "Script", "agree", "codes", "one", "parse", "states"]

PROTOCOL = "cohere-chat"
DONE = b"data: [DONE]\n\n"
Event: TypeAlias = dict[str, Any]


def one(event: Event, name: str | None = None) -> bytes:
    """One server-sent event. name: the event's name, if not its type; "" for none."""
    named = event.get("type", "") if name is None else name
    line = f"event: {named}\n" if named else ""
    return f"{line}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


@dataclass
class Script:
    """The events of one message: what a correct server writes; `add` and `say` put in anything else."""

    events: list[Event] = field(default_factory=list)

    @classmethod
    def begun(cls, message_id: str = "m1") -> Script:
        empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        return cls().add("message-start", id=message_id, delta={"message": empty})

    def add(self, kind: str, **members: Any) -> Script:
        self.events.append({"type": kind} | members)
        return self

    def say(self, kind: str, index: int | None, **message: Any) -> Script:
        """An event whose members are those of delta.message."""
        place = {} if index is None else {"index": index}
        return self.add(kind, **place, delta={"message": message})

    def text(self, *pieces: str, index: int = 0, kind: str = "text") -> Script:
        self.say("content-start", index, content={"type": kind, kind: ""})
        for piece in pieces:
            self.say("content-delta", index, content={kind: piece})
        return self.add("content-end", index=index)

    def plan(self, *pieces: str) -> Script:
        for piece in pieces:
            self.say("tool-plan-delta", None, tool_plan=piece)
        return self

    def tool(
        self, index: int = 0, call_id: str | None = "c1", name: str | None = "go", **more: Any
    ) -> Script:
        function = {"name": name, "arguments": ""} | more.pop("function", {})
        tool = {"id": call_id, "type": "function", "function": function} | more
        return self.say("tool-call-start", index, tool_calls=tool)

    def piece(self, index: int, *pieces: Any) -> Script:
        for piece in pieces:
            self.say("tool-call-delta", index, tool_calls={"function": {"arguments": piece}})
        return self

    def stop(self, index: int = 0) -> Script:
        return self.add("tool-call-end", index=index)

    def call(self, index: int = 0, *pieces: str, call_id: str = "c1", name: str = "go") -> Script:
        """A whole call."""
        return self.tool(index, call_id, name).piece(index, *(pieces or ('{"a":', "1}"))).stop(index)

    def end(self, reason: Any = "TOOL_CALL", **delta: Any) -> Script:
        return self.add("message-end", delta={"finish_reason": reason} | delta)

    def data(self, *, names: bool = True) -> bytes:
        return b"".join(one(event, None if names else "") for event in self.events)

    def parse(self, **options: Any) -> trigate.Response:
        """The response, which is the same at every cut."""
        return agree(self.data(), **options)

    def items(self, **options: Any) -> list[trigate.Item]:
        return trigate.ResponseParser(PROTOCOL, **options).feed(self.data())


def parse(data: bytes, **options: Any) -> trigate.Response:
    return trigate.parse(data, PROTOCOL, **options)


def agree(data: bytes, **options: Any) -> trigate.Response:
    first = parse(data, **options)
    for chunks in typical_cuts(data):
        assert trigate.parse(chunks, PROTOCOL, **options) == first
    return first


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


def states(response: trigate.Response) -> list[tuple[str | None, str, str | None]]:
    """Each call as (call_id, state, problem)."""
    return [(call.call_id, call.state, call.problem) for call in response.calls]

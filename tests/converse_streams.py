"""Builds ConverseStream messages, and runs them. A test says only what is special about its stream."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import trigate
from bedrock_frames import normal
from streams import typical_cuts

__all__ = ["PROTOCOL", "USAGE", "Event", "Script", "agree", "codes", "error_code", "one", "parse", "states"]

PROTOCOL = "bedrock-converse"
Event: TypeAlias = tuple[str, dict[str, Any]]
USAGE = {"inputTokens": 9, "outputTokens": 7, "totalTokens": 16}


def one(event: Event) -> bytes:
    """One message, with the padding that Bedrock puts into it."""
    return normal(event[0], json.dumps({"p": "abc"} | event[1], ensure_ascii=False).encode())


@dataclass
class Script:
    """The events of one message: what a correct server writes; `add` puts in anything else."""

    events: list[Event] = field(default_factory=list)

    @classmethod
    def begun(cls) -> Script:
        return cls().add("messageStart", role="assistant")

    def add(self, kind: str, **members: Any) -> Script:
        self.events.append((kind, members))
        return self

    def start(self, index: int = 0, **start: Any) -> Script:
        return self.add("contentBlockStart", contentBlockIndex=index, start=start)

    def tool(
        self, index: int = 0, call_id: str | None = "t1", name: str | None = "go", **more: Any
    ) -> Script:
        return self.start(index, toolUse={"toolUseId": call_id, "name": name} | more)

    def delta(self, index: int, **delta: Any) -> Script:
        return self.add("contentBlockDelta", contentBlockIndex=index, delta=delta)

    def piece(self, index: int, *pieces: Any) -> Script:
        for piece in pieces:
            self.delta(index, toolUse={"input": piece})
        return self

    def stop(self, index: int = 0) -> Script:
        return self.add("contentBlockStop", contentBlockIndex=index)

    def call(self, index: int = 0, *pieces: str, call_id: str = "t1", **more: Any) -> Script:
        """A whole toolUse block."""
        return self.tool(index, call_id, **more).piece(index, *(pieces or ('{"a":', "1}"))).stop(index)

    def text(self, index: int = 0, *pieces: str) -> Script:
        """A whole text block, which has no start."""
        for piece in pieces or ("Hi",):
            self.delta(index, text=piece)
        return self.stop(index)

    def reasoning(self, index: int, **content: Any) -> Script:
        return self.delta(index, reasoningContent=content)

    def end(self, reason: Any = "tool_use", **members: Any) -> Script:
        self.add("messageStop", stopReason=reason)
        return self.add("metadata", **({"usage": USAGE, "metrics": {"latencyMs": 1}} | members))

    def data(self) -> bytes:
        return b"".join(one(event) for event in self.events)

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


def error_code(response: trigate.Response) -> str | int | None:
    return response.error.code if response.error is not None else None


def states(response: trigate.Response) -> list[tuple[str | None, str, str | None]]:
    """Each call as (call_id, state, problem)."""
    return [(call.call_id, call.state, call.problem) for call in response.calls]

"""Builds Ollama's records, and runs them. A test says only what is special about its stream."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import trigate
from streams import typical_cuts

__all__ = [
    "PROTOCOL",
    "Json",
    "agree",
    "as_text",
    "call",
    "codes",
    "done",
    "lines",
    "parse",
    "record",
    "states",
]

PROTOCOL = "ollama-chat"
Json: TypeAlias = dict[str, Any]


def lines(*records: Json | str | bytes, eol: str = "\n") -> bytes:
    """The records, one a line; text and bytes stand as they are, with the line's end."""
    written = []
    for one in records:
        text = json.dumps(one, ensure_ascii=False) if isinstance(one, dict) else one
        written.append((text if isinstance(text, bytes) else text.encode()) + eol.encode())
    return b"".join(written)


def call(
    name: str | None = "go", arguments: Any = ..., *, call_id: str | None = None, **members: Any
) -> Json:
    """One of a message's tool_calls. members: of its function, such as the index."""
    function = {"name": name, "arguments": {"a": 1} if arguments is ... else arguments} | members
    told = {key: value for key, value in function.items() if value is not None}
    return ({"id": call_id} if call_id else {}) | {"function": told}


def record(content: str = "", *calls: Json, done: bool = False, **members: Any) -> Json:
    """A record; members: of its message."""
    message: Json = {"role": "assistant", "content": content} | members
    if calls:
        message["tool_calls"] = list(calls)
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done}


def as_text(function: str) -> str:
    """A record with one call, whose function is this JSON text."""
    return f'{{"message":{{"tool_calls":[{{"function":{function}}}]}},"done":false}}'


def done(reason: str | None = "stop", *calls: Json, **members: Any) -> Json:
    """The last record; members: its own, such as the counts."""
    told = {} if reason is None else {"done_reason": reason}
    return record("", *calls, done=True) | told | members


def parse(data: bytes, **options: Any) -> trigate.Response:
    return trigate.parse(data, PROTOCOL, **options)


def agree(*records: Json | str | bytes, **options: Any) -> trigate.Response:
    """The response, which is the same at every cut."""
    data = lines(*records)
    first = parse(data, **options)
    for chunks in typical_cuts(data):
        assert trigate.parse(chunks, PROTOCOL, **options) == first
    return first


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


def states(response: trigate.Response) -> list[tuple[str | None, str, str, str | None]]:
    """Each call as (call_id, name, state, problem)."""
    return [(one.call_id, one.name, one.state, one.problem) for one in response.calls]


#: Text, and two calls with their ids.
PARALLEL = [
    record("Checking "),
    record("both."),
    record("", call("get_weather", {"city": "Zürich"}, call_id="call_A", index=0)),
    record("", call("get_time", {"tz": "UTC"}, call_id="call_B", index=1)),
    done(total_duration=5, prompt_eval_count=20, eval_count=30),
]

# mypy: ignore-errors
# ruff: noqa: F821
"""Read by mypy alone (test_typing.py, without the line above): beside a line stands what mypy must say."""

from __future__ import annotations

from typing import Any

import msgspec

import trigate
from trigate import ReleasedCall, Response, ToolCall
from trigate.runner import Runner
from trigate.tools import Toolset, judge, tool


class Weather(msgspec.Struct):
    city: str


def run(call: ReleasedCall) -> None: ...


def look(call: ToolCall) -> None: ...


response = trigate.parse(b"", "openai-responses")
reveal_type(response)  # says: "trigate.response.Response"
reveal_type(response.calls)  # says: "tuple[trigate.calls.ToolCall, ...]"
reveal_type(response.released)  # says: "tuple[trigate.calls.ReleasedCall, ...]"
reveal_type(response.raise_for_status())  # says: "trigate.response.Response"

for draft in response.calls:
    look(draft)
    run(draft)  # error: arg-type
    draft.value()  # error: attr-defined
    draft.decode(Weather)  # error: attr-defined
    draft.state = "released"  # error: misc
    if isinstance(draft, ReleasedCall):
        run(draft)

for call in response.released:
    look(call)
    run(call)
    reveal_type(call.value())  # says: "dict[str, Any]"
    reveal_type(call.decode(Weather))  # says: "gate.Weather"
    reveal_type(call.call_id)  # says: "str | None"

for item in trigate.iter_items([b""]):
    match item:
        case trigate.ToolCallStarted(started):
            reveal_type(started)  # says: "trigate.calls.ToolCall"
            run(started)  # error: arg-type
        case trigate.ToolCallDone(done):
            run(done)  # error: arg-type
        case trigate.TextDelta(text, index):
            reveal_type(text)  # says: "str"
            reveal_type(index)  # says: "int"
        case trigate.ResponseEnded(ended):
            reveal_type(ended)  # says: "trigate.response.Response"


@tool
def plain(city: str) -> str:
    return city


@tool(read_only=True)
def declared(city: str) -> str:
    return city


reveal_type(plain)  # says: "trigate.tools.definition.Tool"
reveal_type(declared)  # says: "trigate.tools.definition.Tool"
for draft in response.calls:
    judge(draft, Toolset([plain, declared]))  # error: arg-type
for call in response.released:
    reveal_type(judge(call, Toolset([plain])).problem)  # says: "trigate.tools.problem.Problem | None"

options: dict[str, Any] = {}
runner = Runner(Toolset([plain]))
reveal_type(runner.run(response, calls=response.released))  # says: "trigate.runner.result.TurnResult"
runner.run(response, calls=response.calls)  # error: arg-type
runner.run(response, call=response.released)  # error: call-arg
Runner(Toolset([plain]), on_bad="some")  # error: arg-type

trigate.ResponseParser("openai-responses", release_on="never")  # error: arg-type
trigate.ResponseParser("openai-responses").feed("text")  # error: arg-type
trigate.parse("text")  # error: arg-type
Response(status="done", protocol="x")  # error: arg-type

"""From the bytes of a stream to the judgment: what is no arguments at all never reaches a tool.

Also where the parser's limits were raised or its leniencies asked for: then the judgment still refuses what no tool
should get.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import trigate
from model.plans import Ask, Plan
from model.writers import WRITERS
from trigate.tools import Policy, Toolset, judge, problem_of_void, tool

#: Where arguments are text of their own; elsewhere they are part of an event's JSON, and break that.
OF_TEXT = (
    *("openai-responses", "openai-chat", "anthropic-messages"),
    *("bedrock-invoke", "bedrock-converse", "cohere-chat"),
)
MIB = 1024 * 1024


@tool
def transfer(amount: float, to: Any = None) -> None:
    """Moves money: running it would be the fault."""
    raise AssertionError(f"{amount} moved to {to}")


TOOLS = Toolset([transfer])


def parse(protocol: str, *pieces: str, **options: Any) -> trigate.Response:
    asks = (Ask("call_aaa", "transfer", pieces, None),)
    frames = WRITERS[protocol](Plan((), (), asks, "good", frozenset(), 0))
    return trigate.parse(iter(frames), protocol, **options)


@pytest.mark.parametrize("protocol", OF_TEXT)
@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ('{"amount":1,"amount":1000}', "duplicate_key", "repeated"),
        ('{"to":{"a":1,"a":2},"amount":1}', "duplicate_key", "repeated"),
        ('{"amount":NaN}', "malformed", "strict JSON"),
        ('{"amount":-Infinity}', "malformed", "strict JSON"),
        ('{"amount":1}{"amount":2}', "malformed", "strict JSON"),
        ('{"amount":100', "incomplete", "too early"),
        ("[1]", "malformed", "strict JSON"),
    ],
)
def test_what_is_no_object_is_never_released(protocol: str, text: str, reason: str, words: str) -> None:
    response = parse(protocol, text)
    assert response.released == ()
    (call,) = response.calls
    with pytest.raises(TypeError, match="only a ReleasedCall"):
        judge(call, TOOLS)  # type: ignore[arg-type]
    problem = problem_of_void(call)
    assert (problem.code, problem.facts) == ("invalid_arguments", {"reason": reason})
    assert words in json.loads(problem.to_model())["message"]


@pytest.mark.parametrize("protocol", OF_TEXT)
def test_nesting_of_10_000_levels(protocol: str) -> None:
    text = '{"amount":1,"to":' + "[" * 10_000 + "]" * 10_000 + "}"
    response = parse(protocol, text)
    assert response.released == ()
    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("limit", "depth_too_large")


@pytest.mark.parametrize("protocol", ["openai-chat", "anthropic-messages"])
def test_arguments_of_50_mb(protocol: str) -> None:
    pieces = ('{"amount":1,"to":"', *(["x" * MIB] * 50), '"}')
    response = parse(protocol, *pieces)
    assert response.released == ()
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("limit", "arguments_too_large")


def test_a_stream_of_50_mb_holds_no_more_than_the_limit() -> None:
    """The parser stops keeping at its limit, whatever still comes."""
    head = {"id": "c", "object": "chat.completion.chunk", "model": "m"}

    def chunks() -> Iterator[bytes]:
        for number in range(50):
            function: dict[str, Any] = {"arguments": "x" * MIB}
            fragment: dict[str, Any] = {"index": 0, "function": function}
            if not number:
                fragment |= {"id": "call_1", "type": "function"}
                function["name"] = "transfer"
            choice = {"index": 0, "delta": {"tool_calls": [fragment]}}
            yield b"data: " + json.dumps(head | {"choices": [choice]}).encode() + b"\n\n"

    response = trigate.parse(chunks(), "openai-chat")
    assert response.released == ()
    assert response.error is not None
    assert response.error.code == "arguments_too_large"
    assert sum(len(call.arguments) for call in response.calls) <= 17 * MIB


# -- limits raised, leniencies asked for -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "path"),
    [
        ('{"amount":NaN}', {"lenient": ["nan"]}, "$.amount"),
        ('{"amount":1e999}', {}, "$.amount"),
        ('{"amount":1,"to":"\\ud800"}', {}, "$.to"),
        (
            '{"amount":1,"to":' + "[" * 10_000 + "]" * 10_000 + "}",
            {"limits": trigate.Limits(max_depth=20_000)},
            "$",
        ),
        ('{"amount":"1"}', {}, "$.amount"),
        ('{"amount":1,"more":2}', {}, "$.more"),
        ("", {}, "$.amount"),
    ],
)
def test_the_judgment_refuses_what_was_released(text: str, options: dict[str, Any], path: str) -> None:
    response = parse("openai-chat", text, **options)
    (call,) = response.released
    judgment = judge(call, TOOLS, Policy(side_effects=True))
    assert not judgment.allowed
    assert judgment.problem is not None
    assert judgment.problem.code == "invalid_arguments"
    assert [each.path for each in judgment.problem.findings] == [path]
    message = response.tool_result_message(call, judgment.problem.to_model(), is_error=True)
    assert "call_aaa" in json.dumps(message)


def test_what_is_right_is_allowed_in_every_protocol() -> None:
    for protocol, write in WRITERS.items():
        asks = (Ask("call_aaa", "transfer", ('{"amount":', "1.5}"), {"amount": 1.5}),)
        data = b"".join(write(Plan((), (), asks, "good", frozenset(), 0)))
        (call,) = trigate.parse(data, protocol).released
        judgment = judge(call, TOOLS, Policy(side_effects=True))
        assert (judgment.allowed, judgment.arguments) == (True, {"amount": 1.5}), protocol

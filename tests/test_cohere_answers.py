"""How a Cohere turn goes back: the message with plan, content and citations, and the results of calls."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from cohere_streams import Script


def test_the_assistant_s_message() -> None:
    script = Script.begun().plan("I will ", "look.").text("Hm.", kind="thinking")
    response = script.call(0, '{"a": ', "1.0}").tool(1, "c2", "now").stop(1).end().parse()
    assert response.to_message() == {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "go", "arguments": '{"a": 1.0}'}},
            {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        ],
        "tool_plan": "I will look.",
        "content": [{"type": "thinking", "thinking": "Hm."}],
    }


def test_text_alone() -> None:
    script = Script.begun().text("Hm.", kind="thinking").text("Zü", "rich", index=1)
    assert script.end("COMPLETE").parse().to_message() == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Zürich"}],
    }


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "COMPLETE", "ERROR", None])
def test_calls_that_nothing_may_answer_are_left_out(reason: str | None) -> None:
    response = Script.begun().text("Hi").call(0).end(reason).parse()
    assert response.to_message() == {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}


def test_a_void_call_is_left_out() -> None:
    response = Script.begun().call(0, "[1]").call(1, call_id="c2").end().parse()
    assert [call["id"] for call in response.to_message()["tool_calls"]] == ["c2"]


def test_what_came_of_a_message_that_was_cut() -> None:
    response = Script.begun().text("Hi").call(0).parse()
    assert response.to_message() == {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}


@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("12 °C", "12 °C"),
        ({"t": 1}, [{"type": "document", "document": {"data": {"t": 1}}}]),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ([{"a": "ü"}], '[{"a": "ü"}]'),
        ([], "[]"),
        (None, ""),
        (7, "7"),
    ],
)
def test_results(content: Any, told: Any, is_error: bool) -> None:
    response = Script.begun().call(0).end().parse()
    answer = response.tool_result_message(response.released[0], content, is_error)
    assert answer == {"role": "tool", "tool_call_id": "c1", "content": told}


def test_what_cannot_be_answered() -> None:
    response = Script.begun().tool(0, None).stop(0).end().parse()
    with pytest.raises(ValueError, match="no call_id"):
        response.tool_result_message(response.calls[0], "x")
    good = Script.begun().call(0).end().parse()
    with pytest.raises(TypeError, match="bytes"):
        good.tool_result_message(good.released[0], b"x")
    assert isinstance(good.released[0], trigate.ReleasedCall)

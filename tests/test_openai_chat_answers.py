"""Chat completions, answers: the assistant's message, and the results of its calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from openai_chat_streams import DONE, call, delta, finish, parse, piece, text, tools

CALL = {"id": "call_1", "type": "function", "function": {"name": "go", "arguments": '{"n":1}'}}


def message_of(*chunks: Any, **options: Any) -> dict[str, Any]:
    message = parse(*chunks, **options).to_message()
    assert isinstance(message, dict)
    assert json.loads(json.dumps(message)) == message
    return message


# -- the assistant's message -------------------------------------------------------------------------


def test_text_alone() -> None:
    assert message_of(text("Hi"), finish("stop"), DONE) == {"role": "assistant", "content": "Hi"}


def test_nothing_at_all() -> None:
    assert message_of(finish("stop"), DONE) == {"role": "assistant", "content": ""}
    assert message_of() == {"role": "assistant", "content": ""}


def test_calls_without_text_have_no_content() -> None:
    assert message_of(call(), finish(), DONE) == {"role": "assistant", "content": None, "tool_calls": [CALL]}


def test_text_and_calls() -> None:
    second = CALL | {"id": "b"}
    message = message_of(text("Hi"), call(), call(call_id="b", index=1), finish(), DONE)
    assert message == {"role": "assistant", "content": "Hi", "tool_calls": [CALL, second]}


def test_a_refusal() -> None:
    message = message_of(delta(refusal="no"), finish("stop"), DONE)
    assert message == {"role": "assistant", "content": None, "refusal": "no"}


@pytest.mark.parametrize("empty", ["", None])
def test_empty_arguments_go_back_as_the_object_that_they_stood_for(empty: str | None) -> None:
    (told,) = message_of(call(empty), finish(), DONE)["tool_calls"]
    assert told["function"]["arguments"] == "{}"


def test_a_custom_call() -> None:
    fragment = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": ""}}
    (told,) = message_of(tools(fragment), finish(), DONE)["tool_calls"]
    assert told == {"id": "c", "type": "custom", "custom": {"name": "sql", "input": ""}}


def test_the_deprecated_function_call() -> None:
    message = message_of(
        delta(function_call={"name": "go", "arguments": "{}"}), finish("function_call"), DONE
    )
    assert message == {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "go", "arguments": "{}"},
    }


def test_a_void_call_of_a_completed_response_stays_for_it_has_to_be_answered() -> None:
    message = message_of(call("{}{}"), call("{}", call_id="b", index=1), finish(), DONE)
    assert [each["function"]["arguments"] for each in message["tool_calls"]] == ["{}{}", "{}"]


def test_a_call_that_no_result_can_name_is_left_out() -> None:
    assert "tool_calls" not in message_of(text("Hi"), call(call_id=None), finish(), DONE)
    (told,) = message_of(call(call_id=None), finish(), DONE, ids="generate")["tool_calls"]
    assert told["id"].startswith("tg_")


@pytest.mark.parametrize(
    "ends", [(finish("length"), DONE), (finish("error"), DONE), (), (finish(), text("x"))]
)
def test_of_a_response_that_is_not_completed_the_calls_are_left_out(ends: tuple[Any, ...]) -> None:
    message = message_of(text("Hi"), call(), *ends)
    assert "tool_calls" not in message
    assert message["content"].startswith("Hi")


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_under_its_own_name(member: str) -> None:
    message = message_of(delta(**{member: "a"}), delta(**{member: "b"}), call(), finish(), DONE)
    assert message[member] == "ab"
    assert {"reasoning_content", "reasoning"} & message.keys() == {member}


def test_reasoning_details_go_back_whole() -> None:
    def part(text: str, **members: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "text": text, "format": "f", "index": 0} | members

    locked = {"type": "reasoning.encrypted", "data": "x" * 9, "index": 1, "id": "rs_1"}
    message = message_of(
        delta(reasoning="a", reasoning_details=[part("a", signature="")]),
        delta(reasoning="b", reasoning_details=[part("b", signature="")]),
        delta(reasoning="", reasoning_details=[part("", signature="sig==")]),
        delta(reasoning_details=[locked]),
        delta(reasoning_details=[locked, part("c", index=2)]),
        call(),
        finish(),
        DONE,
    )
    assert message["reasoning_details"] == [part("ab", signature="sig=="), locked, locked, part("c", index=2)]


def test_details_of_odd_types_go_back_as_they_came() -> None:
    odd = [{"type": "reasoning.text", "text": 5}, {"type": "reasoning.text", "text": 6}, {"type": 1}]
    message = message_of(delta(reasoning_details=odd), call(), finish(), DONE)
    assert len(message["reasoning_details"]) == 2


def test_signatures_go_back_on_their_call() -> None:
    extra = {"google": {"thought_signature": "c2ln"}}
    message = message_of(
        delta(content="Hi", extra_content={"google": {"thought": True}}),
        tools(piece('{"n":1}', "go", id="call_1", extra_content=extra)),
        tools(piece("{}", "at", id="b"), end="stop"),
        DONE,
    )
    assert message["extra_content"] == {"google": {"thought": True}}
    assert [each.get("extra_content") for each in message["tool_calls"]] == [extra, None]


def test_a_content_list_with_thinking_goes_back_as_a_list() -> None:
    def parts(thought: str, said: str) -> list[dict[str, Any]]:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}
        return [thinking] * bool(thought) + [{"type": "text", "text": said}] * bool(said)

    message = message_of(
        delta(content=parts("a", "")), delta(content=parts("b", "H")), text("i"), finish("stop"), DONE
    )
    assert message["content"] == parts("ab", "Hi")


def test_a_content_list_without_thinking_goes_back_as_text() -> None:
    message = message_of(delta(content=[{"type": "text", "text": "Hi"}]), finish("stop"), DONE)
    assert message["content"] == "Hi"


def test_of_several_choices_the_first_goes_on() -> None:
    response = parse(text("B", 1), text("A"), call(choice=1), call("{}"), finish(), finish(choice=1), DONE)
    message = response.to_message()
    assert message["content"] == "A"
    assert [each["function"]["arguments"] for each in message["tool_calls"]] == ["{}"]


def test_a_first_choice_that_is_not_number_zero() -> None:
    message = message_of(text("B", 1), call(choice=1), finish(choice=1), DONE)
    assert message == {"role": "assistant", "content": "B", "tool_calls": [CALL]}


# -- results -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_error", [False, True])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("done", "done"),
        (None, ""),
        ({"t": "ü"}, '{"t": "ü"}'),
        ([1], "[1]"),
        ([], "[]"),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
    ],
)
def test_a_result(content: Any, told: Any, is_error: bool) -> None:
    response = parse(call(), finish(), DONE)
    answer = response.tool_result_message(response.calls[0], content, is_error)
    assert answer == {"role": "tool", "tool_call_id": "call_1", "content": told}


@pytest.mark.parametrize(
    "model", ["mistral-large-latest", "Ministral-8B", "accounts/fireworks/models/kimi-k2"]
)
def test_some_models_want_the_name_as_well(model: str) -> None:
    response = parse(call() | {"model": model}, finish(), DONE)
    answer = response.tool_result_message(response.calls[0], "done")
    assert answer == {"role": "tool", "tool_call_id": "call_1", "name": "go", "content": "done"}


def test_the_result_of_a_function_call_carries_its_name() -> None:
    response = parse(delta(function_call={"name": "go", "arguments": "{}"}), finish("function_call"), DONE)
    answer = response.tool_result_message(response.calls[0], "done")
    assert answer == {"role": "function", "name": "go", "content": "done"}


def test_what_cannot_be_answered() -> None:
    response = parse(call(call_id=None), tools({"index": 1, "id": "b", "type": "browser"}), finish(), DONE)
    for each in response.calls:
        with pytest.raises(ValueError, match="answer"):
            response.tool_result_message(each, "done")
    fine = parse(call(), finish(), DONE)
    with pytest.raises(TypeError, match="bytes"):
        fine.tool_result_message(fine.calls[0], b"done")


def test_it_works_the_same_after_auto() -> None:
    data = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
    response = trigate.parse(data, "auto")
    assert response.to_message() == {"role": "assistant", "content": "Hi"}

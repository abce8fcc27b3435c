"""How an Ollama turn goes back: the message with its calls as they came, and the results of calls."""

from __future__ import annotations

import pytest

from ollama_streams import PARALLEL, agree, call, done, record


def test_the_assistant_s_message() -> None:
    message = agree(*PARALLEL).to_message()
    assert message == {
        "role": "assistant",
        "content": "Checking both.",
        "tool_calls": [
            {
                "id": "call_A",
                "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Zürich"}},
            },
            {"id": "call_B", "function": {"index": 1, "name": "get_time", "arguments": {"tz": "UTC"}}},
        ],
    }


def test_calls_that_nothing_may_answer_are_left_out() -> None:
    response = agree(record("Hi", call("a", [1]), call("b")), done())
    assert [one["function"]["name"] for one in response.to_message()["tool_calls"]] == ["b"]
    cut = agree(record("Hi", call()), done("length"))
    assert cut.to_message() == {"role": "assistant", "content": "Hi"}


@pytest.mark.parametrize("is_error", [False, True])
def test_results(is_error: bool) -> None:
    response = agree(*PARALLEL)
    first = response.released[0]
    assert response.tool_result_message(first, "12 °C", is_error) == {
        "role": "tool",
        "tool_name": "get_weather",
        "content": "12 °C",
        "tool_call_id": "call_A",
    }
    told = response.tool_result_message(first, {"t": "ü"}, is_error)
    assert told["content"] == '{"t": "ü"}'
    assert response.tool_result_message(first, None, is_error)["content"] == ""
    with pytest.raises(TypeError, match="bytes"):
        response.tool_result_message(first, b"x", is_error)


def test_a_made_up_id_does_not_go_back() -> None:
    response = agree(record("", call()), done(), ids="generate")
    assert response.tool_result_message(response.released[0], "x") == {
        "role": "tool",
        "tool_name": "go",
        "content": "x",
    }
    nameless = agree(record("", call(None)), done())
    with pytest.raises(ValueError, match="no name"):
        nameless.tool_result_message(nameless.calls[0], "x")

"""How a Messages turn goes back: the message with its opaque members unchanged, and the results of calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from anthropic_streams import Script, one, parse, run

SIGNATURE = "EqoB+/\u00fc==" + "a" * 600


def thought(script: Script, index: int = 0) -> Script:
    script.block(index, "thinking", thinking="", signature="")
    script.delta(index, "thinking_delta", thinking="Hm, ").delta(index, "thinking_delta", thinking="yes.")
    return script.delta(index, "signature_delta", signature=SIGNATURE).stop(index)


def test_the_assistant_s_message() -> None:
    script = thought(Script.begun()).block(1, "redacted_thinking", data="EmwK").stop(1).text(2)
    response = script.call(3, toolset_name="t", caller={"type": "direct"}).end().parse()
    assert response.reasoning == "Hm, yes."
    assert response.to_message() == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm, yes.", "signature": SIGNATURE},
            {"type": "redacted_thinking", "data": "EmwK"},
            {"type": "text", "text": "Hi"},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "go",
                "input": {"a": 1},
                "toolset_name": "t",
                "caller": {"type": "direct"},
            },
        ],
    }


def test_thinking_that_comes_whole() -> None:
    script = Script.begun().block(0, "thinking", thinking="Hm.", signature="s==").stop(0).text(1)
    response = script.end("end_turn").parse()
    assert response.reasoning == "Hm."
    assert response.to_message()["content"][0] == {"type": "thinking", "thinking": "Hm.", "signature": "s=="}


@pytest.mark.parametrize("before", [{}, {"citations": None}, {"citations": []}, {"citations": [{"n": 0}]}])
def test_citations(before: dict[str, Any]) -> None:
    script = Script.begun().block(0, "text", text="", **before).delta(0, "text_delta", text="T")
    script.delta(0, "citations_delta", citation={"n": 1.50}).delta(0, "citations_delta", citation=None)
    script.delta(0, "citations_delta", citation={"n": 2})
    items, response = script.stop(0).end("end_turn").run()
    cited = [*(before.get("citations") or []), {"n": 1.5}, {"n": 2}]
    assert response.to_message()["content"] == [{"type": "text", "text": "T", "citations": cited}]
    assert len([item for item in items if isinstance(item, trigate.OtherEvent)]) == 2


def test_what_is_not_whole_does_not_go_back() -> None:
    script = Script.begun().block(0, "thinking", thinking="cut").stop(0).block(1, "text", text="").stop(1)
    script.block(2, "text", text="cut te").block(3, "thinking", thinking="x", signature="s").tool(4)
    script.json(4, '{"a":').block(5, "server_tool_use", id="s", name="n", input={"q": 1})
    for response in (script.parse(), Script([*script.events]).end("max_tokens").parse()):
        assert response.to_message()["content"] == [{"type": "text", "text": "cut te"}]


def test_calls_that_nothing_may_answer_are_left_out() -> None:
    for word in ("end_turn", "max_tokens", "refusal", None):
        message = Script.begun().text(0).call(1).end(word).parse().to_message()
        assert [block["type"] for block in message["content"]] == ["text"]
    some = Script.begun().call(0).call(1, "{", call_id="toolu_2").call(2).end().parse()
    assert [block["id"] for block in some.to_message()["content"]] == ["toolu_1"]
    conflict = Script.begun().call(0).call(1, "{}").end().parse()
    assert conflict.to_message()["content"] == []


@pytest.mark.parametrize("word", ["pause_turn", "compaction"])
def test_what_the_provider_wants_back_is_unaltered(word: str) -> None:
    script = (
        thought(Script.begun()).block(1, "server_tool_use", id="s", name="n", input={}).json(1, '{"q":1}')
    )
    message = script.stop(1).call(2).end(word).parse().to_message()
    assert [block["type"] for block in message["content"]] == ["thinking", "server_tool_use", "tool_use"]
    assert message["content"][1]["input"] == {"q": 1}


def test_inputs_go_back_digit_by_digit() -> None:
    text = '{"big":123456789012345678901234567890,"n":1.10}'
    response = Script.begun().call(0, text).end().parse()
    assert text.encode() in response.echo[0]
    assert response.to_message()["content"][0]["input"]["big"] == 123456789012345678901234567890


def test_empty_and_lenient_inputs_go_back_as_objects() -> None:
    empty = Script.begun().tool(0).stop(0).end().parse()
    assert empty.to_message()["content"][0]["input"] == {}
    lenient = Script.begun().call(0, '{"a":"x\ny"} ok').end()
    response = lenient.parse(lenient={"control_characters", "trailing_text"})
    assert response.to_message()["content"][0]["input"] == {"a": "x\ny"}
    escaped = Script.begun().call(0, '{"a":"\\ud83d"}').end().parse()
    assert escaped.to_message()["content"][0]["input"] == {"a": "\ud83d"}


def test_results() -> None:
    response = Script.begun().call(0).end().parse()
    (call,) = response.released

    def answer(content: Any, is_error: bool = False) -> dict[str, Any]:
        message = response.tool_result_message(call, content, is_error)
        assert message["role"] == "user"
        (block,) = message["content"]
        assert (block.pop("type"), block.pop("tool_use_id")) == ("tool_result", "toolu_1")
        assert isinstance(block, dict)
        return block

    blocks = [{"type": "text", "text": "12"}, {"type": "image", "source": {}}]
    assert answer("12 °C") == {"content": "12 °C"}
    assert answer(blocks) == {"content": blocks}
    assert answer({"ü": 1}) == {"content": '{"ü": 1}'}
    assert answer([1, 2]) == {"content": "[1, 2]"}
    assert answer([]) == {"content": "[]"}
    assert answer(None) == {"content": ""}
    assert answer("no such city", is_error=True) == {"content": "no such city", "is_error": True}
    with pytest.raises(TypeError):
        answer(b"12")


def test_a_result_names_the_call_s_toolset() -> None:
    script = Script.begun().text(0).call(1, toolset_name="maps").call(2, call_id="toolu_2")
    response = script.end().parse()
    named, plain = (response.tool_result_message(call, "x")["content"][0] for call in response.released)
    assert named["toolset_name"] == "maps"
    assert "toolset_name" not in plain


def test_a_call_without_an_id_has_no_answer() -> None:
    response = Script.begun().tool(0, "").stop(0).end().parse()
    with pytest.raises(ValueError, match="no call_id"):
        response.tool_result_message(response.calls[0], "x")


# -- text completions --------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1500, 50_000])
def test_a_call_as_deep_as_the_caller_allows_goes_back_as_it_came(depth: int) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    limits = trigate.Limits(max_depth=depth)
    script = Script.begun().call(0, deep)
    assert script.parse(limits=limits).status == "truncated"
    response = script.end().parse(limits=limits)
    assert [call.arguments for call in response.released] == [deep]
    assert deep.encode() in response.echo[0]


def completion(*pieces: str, word: str | None = "stop_sequence") -> list[bytes]:
    head = {"type": "completion", "id": "compl_1", "model": "claude-2.1"}
    events = [one(head | {"completion": piece, "stop_reason": None}) for piece in pieces]
    return [*events, one(head | {"completion": "", "stop_reason": word})]


def test_text_completions() -> None:
    items, response = run(completion("Light", " scat"))
    assert (response.status, response.reason, response.text) == ("completed", "stop_sequence", "Light scat")
    assert (response.id, response.model) == ("compl_1", "claude-2.1")
    assert response.to_message()["content"] == [{"type": "text", "text": "Light scat"}]
    assert isinstance(items[-1], trigate.ResponseEnded)
    assert parse(completion("a", word="max_tokens")).status == "incomplete"
    assert parse(completion("a", word="else")).status == "failed"
    assert parse(completion("a", word=None)).status == "truncated"
    assert trigate.parse(completion("a")) == parse(completion("a"))


def test_text_completions_are_no_part_of_a_message() -> None:
    for script in (Script.begun().call(0), Script().call(0)):
        response = parse([script.data(), *completion("x"), Script().end().data()])
        assert (response.text, [call.call_id for call in response.released]) == ("", ["toolu_1"])
        assert "unknown_type" in [anomaly.code for anomaly in response.anomalies]
    assert json.loads(parse(completion("a")).echo[0]) == {"type": "text", "text": "a"}

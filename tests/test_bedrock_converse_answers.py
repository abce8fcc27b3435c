"""How a ConverseStream turn goes back: the message, opaque members unchanged, and the results of calls."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from bedrock_frames import normal
from converse_streams import Script, agree

SIGNATURE = "EqoB+/ü==" + "a" * 600


def blob(data: bytes) -> str:
    return base64.b64encode(data).decode()


def content_of(script: Script, reason: str = "end_turn") -> Any:
    message = script.end(reason).parse().to_message()
    assert message.keys() == {"role", "content"}
    assert message["role"] == "assistant"
    return message["content"]


def test_the_assistant_s_message() -> None:
    script = (
        Script.begun().reasoning(0, text="Hm, ").reasoning(0, text="yes.").reasoning(0, signature=SIGNATURE)
    )
    script.stop(0).text(1, "Zü", "rich").call(2, '{"a":1.50}').tool(3, "t2", "now").stop(3)
    assert content_of(script, "tool_use") == [
        {"reasoningContent": {"reasoningText": {"text": "Hm, yes.", "signature": SIGNATURE}}},
        {"text": "Zürich"},
        {"toolUse": {"toolUseId": "t1", "name": "go", "input": {"a": 1.5}}},
        {"toolUse": {"toolUseId": "t2", "name": "now", "input": {}}},
    ]


def test_reasoning_that_is_hidden() -> None:
    one = content_of(Script.begun().reasoning(0, redactedContent="EmwK").stop(0))
    assert one == [{"reasoningContent": {"redactedContent": "EmwK"}}]
    script = Script.begun().reasoning(0, redactedContent=blob(b"a")).reasoning(0, redactedContent=blob(b"bc"))
    assert content_of(script.stop(0)) == [{"reasoningContent": {"redactedContent": blob(b"abc")}}]
    broken = (
        Script.begun().reasoning(0, redactedContent="!").reasoning(0, redactedContent="?").stop(0).text(1)
    )
    assert content_of(broken) == [{"text": "Hi"}]


def test_a_signature_alone_and_reasoning_without_one() -> None:
    alone = content_of(Script.begun().reasoning(0, signature="s").stop(0))
    assert alone == [{"reasoningContent": {"reasoningText": {"text": "", "signature": "s"}}}]
    unsigned = content_of(Script.begun().reasoning(0, text="Hm.").stop(0))
    assert unsigned == [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}]


def test_reasoning_that_was_cut_does_not_go_back() -> None:
    assert content_of(Script.begun().text(0).reasoning(1, text="Hm"), "max_tokens") == [{"text": "Hi"}]
    assert content_of(Script.begun().delta(0, text="Hi"), "max_tokens") == [{"text": "Hi"}]
    odd = Script.begun().reasoning(0, text="Hm").delta(0, novel={"x": 1}).stop(0).text(1)
    assert content_of(odd) == [{"text": "Hi"}]


def test_empty_text_is_left_out() -> None:
    assert content_of(Script.begun().text(0, "").text(1)) == [{"text": "Hi"}]


def test_citations() -> None:
    first, second = {"title": "T", "location": {"n": 1.5}}, {"title": "U"}
    script = Script.begun().delta(0, text="Hi").delta(0, citation=first).delta(0, citation=second).stop(0)
    script.delta(1, citation=first).stop(1)
    assert content_of(script) == [
        {"citationsContent": {"content": [{"text": "Hi"}], "citations": [first, second]}},
        {"citationsContent": {"content": [], "citations": [first]}},
    ]


def test_tools_of_the_server() -> None:
    script = Script.begun().tool(0, "s1", "search", type="server_tool_use").piece(0, '{"q":1}').stop(0)
    script.start(1, toolResult={"toolUseId": "s1", "status": "success", "type": "found"})
    script.delta(1, toolResult=[{"text": "a"}, {"text": "b"}, {"json": {}}, {"text": "c"}]).stop(1)
    assert content_of(script) == [
        {"toolUse": {"toolUseId": "s1", "name": "search", "type": "server_tool_use", "input": {"q": 1}}},
        {
            "toolResult": {
                "toolUseId": "s1",
                "status": "success",
                "type": "found",
                "content": [{"text": "ab"}, {"json": {}}, {"text": "c"}],
            }
        },
    ]


def test_images() -> None:
    script = (
        Script.begun().start(0, image={"format": "png"}).delta(0, image={"source": {"bytes": blob(b"a")}})
    )
    script.delta(0, image={"source": {"bytes": blob(b"bc")}}).stop(0).start(1, image={"format": "png"}).stop(
        1
    )
    assert content_of(script) == [{"image": {"format": "png", "source": {"bytes": blob(b"abc")}}}]


def test_blocks_stand_in_the_order_of_their_index() -> None:
    script = Script.begun().delta(1, text="b").delta(0, text="a").stop(0).stop(1)
    assert content_of(script) == [{"text": "a"}, {"text": "b"}]


@pytest.mark.parametrize("reason", ["max_tokens", "end_turn", "guardrail_intervened", "odd"])
def test_calls_that_nothing_may_answer_are_left_out(reason: str) -> None:
    script = Script.begun().text(0).call(1)
    assert content_of(script, reason) == [{"text": "Hi"}]


def test_void_calls_are_left_out() -> None:
    script = Script.begun().call(0, "[1]").call(1, '{"a":1,"a":2}', call_id="t2").call(2, call_id="t3")
    told = content_of(script, "tool_use")
    assert [block["toolUse"]["toolUseId"] for block in told] == ["t3"]


def test_arguments_that_only_a_leniency_allows() -> None:
    response = Script.begun().call(0, '{"a":1} ok').end().parse(lenient={"trailing_text"})
    assert response.to_message()["content"][0]["toolUse"]["input"] == {"a": 1}


def test_what_came_of_a_message_that_was_lost() -> None:
    response = Script.begun().text(0).call(1).delta(2, text="mo").parse()
    assert response.status == "truncated"
    assert response.to_message() == {"role": "assistant", "content": [{"text": "Hi"}, {"text": "mo"}]}


def test_a_start_told_with_nulls() -> None:
    payload = b'{"contentBlockIndex":0,"start":{"toolResult":null,"toolUse":{"toolUseId":"t1","name":"go"}}}'
    data = Script.begun().data() + normal("contentBlockStart", payload) + Script().stop(0).end().data()
    (block,) = agree(data).to_message()["content"]
    assert block == {"toolUse": {"toolUseId": "t1", "name": "go", "input": {}}}


# -- results -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("is_error", "status"), [(False, "success"), (True, "error")])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("12 °C", [{"text": "12 °C"}]),
        ({"t": 1}, [{"json": {"t": 1}}]),
        ([{"text": "x"}, {"image": {"format": "png"}}], [{"text": "x"}, {"image": {"format": "png"}}]),
        ([{"a": "ü"}], [{"text": '[{"a": "ü"}]'}]),
        ([], [{"text": "[]"}]),
        (7, [{"text": "7"}]),
        (None, []),
    ],
)
def test_results(content: Any, told: Any, is_error: bool, status: str) -> None:
    response = Script.begun().call(0).end().parse()
    assert response.tool_result_message(response.released[0], content, is_error) == {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "t1", "content": told, "status": status}}],
    }


def test_what_cannot_be_answered() -> None:
    response = Script.begun().tool(0, None).stop(0).end().parse()
    with pytest.raises(ValueError, match="no call_id"):
        response.tool_result_message(response.calls[0], "x")
    good = Script.begun().call(0).end().parse()
    with pytest.raises(TypeError, match="bytes"):
        good.tool_result_message(good.released[0], b"x")

"""What must come before what in a Messages stream, which blocks there are, and when a call may run early."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from anthropic_streams import Event, Script, codes, run, states

RELEASED = [("toolu_1", "released", None)]
CONFLICT = [("toolu_1", "void", "conflict")]


# -- starts and stops --------------------------------------------------------------------------------


def test_no_message_start_is_noted() -> None:
    response = Script().call(0).end().parse()
    assert states(response) == RELEASED
    assert codes(response) == ["missing_start"]


def test_the_same_message_start_twice_is_noted() -> None:
    response = Script.begun().start().call(0).end().parse()
    assert states(response) == RELEASED
    assert codes(response) == ["repeated_event"]
    block = {"type": "tool_use", "id": "toolu_1", "name": "go", "input": {}}
    whole = Script.begun(content=[block], stop_reason="tool_use").start(
        content=[block], stop_reason="tool_use"
    )
    assert states(whole.add("message_stop").parse()) == RELEASED


@pytest.mark.parametrize(
    "other", [{"id": "msg_2"}, {"id": None}, {"content": [{"type": "text", "text": "x"}]}]
)
def test_a_second_message_is_a_conflict(other: dict[str, Any]) -> None:
    for script in (Script.begun().call(0), Script.begun().call(0).reason()):
        response = script.start(**other).end().parse()
        assert (response.status, response.released) == ("conflict", ())
        assert "response_restarted" in codes(response)


def test_text_without_a_start_is_kept() -> None:
    script = (
        Script.begun().delta(0, "text_delta", text="Hi").delta(1, "thinking_delta", thinking="hm").call(2)
    )
    response = script.end().parse()
    assert (response.text, response.reasoning, states(response)) == ("Hi", "hm", RELEASED)
    assert set(codes(response)) == {"delta_without_start", "block_without_stop"}


def test_arguments_without_a_start_are_a_conflict() -> None:
    response = Script.begun().call(0).json(1, '{"b":').stop(1).end().parse()
    assert (response.status, response.released) == ("conflict", ())
    assert "orphan_arguments" in codes(response)


def test_an_empty_piece_without_a_start_is_noted() -> None:
    script = (
        Script.begun().call(0).json(1, "").delta(2, "signature_delta", signature="s").delta(3, "new_delta")
    )
    response = script.end().parse()
    assert states(response) == RELEASED
    assert codes(response) == [*["delta_without_start"] * 3, "unknown_type"]


def test_a_stop_without_a_start_is_noted() -> None:
    response = Script.begun().call(0).stop(1).stop(0).end().parse()
    assert states(response) == RELEASED
    assert codes(response) == ["stop_without_start", "repeated_stop"]


def test_a_call_without_a_stop_is_incomplete() -> None:
    script = Script.begun().call(0).tool(1, "toolu_2").json(1, '{"b":2}')
    response = script.end().parse()
    assert states(response) == [*RELEASED, ("toolu_2", "void", "incomplete")]
    assert codes(response) == ["block_without_stop", "cut_call_in_completed_response"]
    late = script.events[:-2]
    assert states(Script([*late]).reason().stop(1).add("message_stop").parse()) == states(response)


def test_arguments_after_their_end_are_a_conflict() -> None:
    late = Script.begun().call(0).json(0, "2").end().parse()
    cut = (
        Script.begun()
        .tool(0)
        .json(0, '{"a":1}')
        .reason("max_tokens")
        .json(0, "2")
        .add("message_stop")
        .parse()
    )
    server = (
        Script.begun().call(1).block(0, "server_tool_use", id="s", name="n", input={}).stop(0).json(0, "2")
    )
    for response in (late, cut, server.end().parse()):
        assert (response.status, response.released) == ("conflict", ())
        assert "delta_after_close" in codes(response)
    assert Script.begun().call(0).json(0, "").end().parse().anomalies == ()


def test_text_after_its_end_is_kept_and_noted() -> None:
    response = Script.begun().text(0, "a").delta(0, "text_delta", text="b").end("end_turn").parse()
    assert (response.text, codes(response)) == ("ab", ["delta_after_close"])


def test_blocks_after_the_stop_reason() -> None:
    response = Script.begun().call(0).reason().text(1).add("message_stop").parse()
    assert states(response) == RELEASED
    assert codes(response) == ["block_after_stop_reason"]
    response = Script.begun().call(0).reason().call(1, call_id="toolu_2").add("message_stop").parse()
    assert (response.status, response.released) == ("conflict", ())


def test_a_gap_in_the_index_is_noted() -> None:
    response = Script.begun().text(1).call(3).end().parse()
    assert states(response) == RELEASED
    assert codes(response) == ["index_gap", "index_gap"]


# -- an index used twice -----------------------------------------------------------------------------


def test_the_same_start_again_is_dropped() -> None:
    response = Script.begun().tool(0).tool(0).json(0, '{"a":1}').stop(0).end().parse()
    assert states(response) == RELEASED
    assert codes(response) == ["repeated_event"]


@pytest.mark.parametrize("second", ["toolu_1", "toolu_2"])
def test_a_start_inside_an_open_call_is_a_conflict(second: str) -> None:
    response = Script.begun().tool(0).json(0, '{"a":').tool(0, second).json(0, "1}").stop(0).end().parse()
    assert (response.status, response.released) == ("conflict", ())
    assert "index_reused" in codes(response)


def test_another_call_at_a_closed_index_is_a_new_one() -> None:
    response = Script.begun().call(0).call(0, call_id="toolu_2").end().parse()
    assert states(response) == [*RELEASED, ("toolu_2", "released", None)]
    assert codes(response) == ["index_reused"]


def test_a_whole_block_again_runs_once() -> None:
    response = Script.begun().call(0).call(0).end().parse()
    assert states(response) == [*RELEASED, ("toolu_1", "void", "repeated")]
    assert Script.begun().call(0).call(0, '{"a":2}').end().parse().status == "conflict"


# -- deltas that do not fit --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "text_delta", "text": "1"},
        {"type": "thinking_delta", "thinking": "1"},
        {"type": "signature_delta", "signature": "s"},
        {"type": "citations_delta", "citation": {"type": "char_location"}},
        {"type": "compaction_delta", "content": "c"},
    ],
)
def test_another_delta_inside_a_call_is_a_conflict(delta: Event) -> None:
    script = (
        Script.begun().tool(0).json(0, '{"a":').add("content_block_delta", index=0, delta=delta).json(0, "1}")
    )
    response = script.stop(0).end().parse()
    assert (response.status, states(response)) == ("conflict", CONFLICT)
    assert "misplaced_delta" in codes(response)


def test_arguments_outside_a_tool_are_a_conflict() -> None:
    for script in (
        Script.begun().block(0, "text", text=""),
        Script.begun().block(0, "thinking", thinking=""),
    ):
        response = script.json(0, '{"a":1}').stop(0).call(1).end().parse()
        assert (response.status, response.released) == ("conflict", ())
        assert "misplaced_delta" in codes(response)


def test_empty_deltas_in_the_wrong_place_are_noted() -> None:
    script = (
        Script.begun().block(0, "text", text="").json(0, "").stop(0).tool(1).delta(1, "text_delta", text="")
    )
    response = script.json(1, '{"a":1}').stop(1).end().parse()
    assert states(response) == RELEASED
    assert codes(response) == ["misplaced_delta", "misplaced_delta"]
    misfit = (
        Script.begun().block(0, "text", text="").delta(0, "signature_delta", signature="s").stop(0).call(1)
    )
    assert states(misfit.end().parse()) == RELEASED


def test_an_unknown_delta_in_a_call_voids_that_call() -> None:
    script = Script.begun().tool(0).json(0, '{"a":1').delta(0, "input_json_delta_2", partial_json="0")
    response = script.json(0, "}").stop(0).call(1, call_id="toolu_2").end().parse()
    assert response.status == "completed"
    assert states(response) == [("toolu_1", "void", "unknown_type"), ("toolu_2", "released", None)]


def test_an_unknown_event_with_a_delta_for_a_call_voids_that_call() -> None:
    script = Script.begun().tool(0).json(0, '{"a":1')
    script.add("content_block_delta_2", index=0, delta={"type": "input_json_delta", "partial_json": "0"})
    response = script.json(0, "}").stop(0).end().parse()
    assert states(response) == [("toolu_1", "void", "unknown_type")]


def test_an_unknown_event_without_a_delta_leaves_the_call_alone() -> None:
    script = (
        Script.begun().tool(0).json(0, '{"a":1').add("content_block_progress", index=0).json(0, "}").stop(0)
    )
    response = script.end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["unknown_type"])


# -- what is not known -------------------------------------------------------------------------------


def unknowns() -> list[Script]:
    new = {"type": "hologram", "data": {"x": 1}}
    return [
        Script.begun().add("content_block_progress", index=0, progress=0.5).call(0).end(),
        Script.begun().add("message_pause", reason="x").call(0).end(),
        Script.begun().add("content_block_start", index=0, content_block=new).stop(0).call(1).end(),
        Script.begun().block(0, "text", text="").delta(0, "style_delta", style="b").stop(0).call(1).end(),
        Script.begun().block(0, "text", text="").delta(0, "", text={"x": 1}).stop(0).call(1).end(),
        Script.begun().block(0, "hologram", id=7, name=[]).json(0, '{"q":1}').stop(0).call(1).end(),
    ]


@pytest.mark.parametrize("number", range(6))
def test_unknown_things_are_shown_and_harm_nothing(number: int) -> None:
    script = unknowns()[number]
    items, response = script.run()
    assert states(response) == RELEASED
    assert codes(response) == ["unknown_type"]
    assert any(isinstance(item, trigate.OtherEvent) for item in items)
    strict = script.parse(strict=True)
    assert strict.error is not None
    assert (strict.status, strict.released, strict.error.code) == ("failed", (), "unknown_type")
    items, _ = script.run(strict=True)
    assert isinstance(items[-1], trigate.ResponseEnded)


def test_an_unknown_block_goes_back_only_if_nothing_changed_it() -> None:
    content = unknowns()[2].parse().to_message()["content"]
    assert content[0] == {"type": "hologram", "data": {"x": 1}}
    assert [block["type"] for block in unknowns()[5].parse().to_message()["content"]] == ["tool_use"]


def test_a_whole_message_with_an_unknown_block_in_its_start() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "go", "input": {}}
    script = Script.begun(content=[{"type": "new"}, block], stop_reason="tool_use").add("message_stop")
    assert states(script.parse()) == RELEASED
    assert script.parse(strict=True).calls == ()


# -- blocks of the provider --------------------------------------------------------------------------


def test_server_tools_are_kept_apart() -> None:
    script = Script.begun().block(0, "server_tool_use", id="s_1", name="web_search", input={})
    script.json(0, '{"query":', '"x"}').stop(0)
    script.block(
        1, "web_search_tool_result", tool_use_id="s_1", content=[{"type": "web_search_result"}]
    ).stop(1)
    script.block(2, "mcp_tool_use", id="s_2", name="ask", server_name="wiki", input={"q": 1}).stop(2)
    script.block(3, "mcp_tool_result", tool_use_id="s_2", is_error=False, content=[]).stop(3)
    items, response = script.call(4).end().run()
    assert states(response) == RELEASED
    assert [(call.type, call.id, call.name) for call in response.server_calls] == [
        ("server_tool_use", "s_1", "web_search"),
        ("web_search_tool_result", "s_1", None),
        ("mcp_tool_use", "s_2", "ask"),
        ("mcp_tool_result", "s_2", None),
    ]
    assert [json.loads(call.raw).get("input") for call in response.server_calls] == [
        {"query": "x"},
        None,
        {"q": 1},
        None,
    ]
    shown = [(item.type, item.data) for item in items if isinstance(item, trigate.OtherEvent)]
    assert shown == [(call.type, call.raw) for call in response.server_calls]
    assert len(response.to_message()["content"]) == 5


def test_a_server_tool_s_broken_input_is_shown_as_text_and_not_sent_back() -> None:
    script = Script.begun().block(0, "server_tool_use", id="s", name="n", input={}).json(0, '{"q":').stop(0)
    response = script.end("max_tokens").parse()
    assert json.loads(response.server_calls[0].raw)["input"] == '{"q":'
    assert response.to_message()["content"] == []


@pytest.mark.parametrize(
    "block",
    [
        {"type": "container_upload", "file_id": "file_1"},
        {"type": "mcp_tool_listing", "tools": []},
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
        {"type": "brand_new_tool_result", "tool_use_id": "s", "content": []},
        {"type": "compaction", "content": "whole"},
    ],
)
def test_whole_blocks_of_the_provider(block: Event) -> None:
    script = Script.begun().add("content_block_start", index=0, content_block=block).stop(0).call(1)
    response = script.end().parse()
    assert states(response) == RELEASED
    assert [json.loads(call.raw) for call in response.server_calls] == [block]
    assert response.to_message()["content"][0] == block
    assert response.anomalies == ()


def test_compaction_streams() -> None:
    script = Script.begun().block(0, "compaction", content=None)
    script.delta(0, "compaction_delta", content="summary", encrypted_content="e==").stop(0).text(1)
    response = script.end("end_turn").parse()
    assert response.to_message()["content"][0] == {
        "type": "compaction",
        "content": "summary",
        "encrypted_content": "e==",
    }


# -- early release -----------------------------------------------------------------------------------


def test_early_release_waits_until_generation_moved_on() -> None:
    parser = trigate.ResponseParser("anthropic-messages", release_on="call")

    def feed(script: Script) -> list[str]:
        items = parser.feed(script.data())
        return [item.call.state for item in items if isinstance(item, trigate.ToolCallDone)]

    assert feed(Script.begun().call(0)) == []
    assert states(parser.response) == [("toolu_1", "done", None)]
    assert feed(Script().tool(1, "toolu_2")) == ["released"]
    assert [call.call_id for call in parser.response.released] == ["toolu_1"]
    assert feed(Script().json(1, "{}").stop(1)) == []
    assert feed(Script().reason()) == ["released"]
    assert feed(Script().add("message_stop")) == []
    assert states(parser.finish()) == [*RELEASED, ("toolu_2", "released", None)]


@pytest.mark.parametrize("word", ["max_tokens", "end_turn", "refusal", "pause_turn", None])
def test_the_last_call_is_not_released_early_for_another_reason(word: str | None) -> None:
    items, response = Script.begun().call(0).call(1, call_id="toolu_2").end(word).run(release_on="call")
    assert [call.call_id for call in response.released] == ["toolu_1"]
    done = [(item.call.call_id, item.call.state) for item in items if isinstance(item, trigate.ToolCallDone)]
    assert done == [("toolu_1", "released"), ("toolu_2", "void")]


def test_an_early_release_stands_when_the_response_fails() -> None:
    script = Script.begun().call(0).text(1)
    _, response = run([script.data(), b"event: error\ndata: {}\n\n"], release_on="call")
    assert (response.status, states(response)) == ("failed", RELEASED)


def test_nothing_is_released_early_after_a_fallback() -> None:
    script = Script.begun().call(0).block(1, "fallback").stop(1).text(2)
    assert script.parse(release_on="call").released == ()
    items, response = script.end().run(release_on="call")
    assert states(response) == RELEASED
    assert [item.call.state for item in items if isinstance(item, trigate.ToolCallDone)] == ["released"]


def test_nothing_is_released_early_after_a_conflict() -> None:
    script = Script.begun().call(0).json(0, "x").text(1)
    assert script.parse(release_on="call").released == ()


# -- limits ------------------------------------------------------------------------------------------


def test_limits_hold() -> None:
    many = Script.begun().call(0).call(1, call_id="toolu_2").end()
    for limits, code in (
        (trigate.Limits(max_calls=1), "too_many_calls"),
        (trigate.Limits(max_arguments_bytes=6), "arguments_too_large"),
        (trigate.Limits(max_response_bytes=80), "response_too_large"),
    ):
        response = many.parse(limits=limits)
        assert response.error is not None
        assert (response.status, response.released, response.error.code) == ("failed", (), code)
    server = Script.begun().block(0, "server_tool_use", id="s", name="n", input={}).json(0, "x" * 200).stop(0)
    kept = server.end("end_turn").parse(limits=trigate.Limits(max_response_bytes=200))
    assert kept.error is not None
    assert kept.error.code == "response_too_large"


def test_deep_json_in_a_block_is_a_limit() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    block = f'{{"type":"web_search_tool_result","tool_use_id":"s","content":{deep}}}'
    event = f'data: {{"type":"content_block_start","index":0,"content_block":{block}}}\n\n'
    _, response = run([Script.begun().data(), event.encode(), Script().stop(0).call(1).end().data()])
    assert response.error is not None
    assert (response.status, response.released, response.error.code) == ("failed", (), "depth_too_large")

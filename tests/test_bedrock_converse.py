"""Each rule of docs/protocols/bedrock-converse.md: what releases a call, what does not, what is noted."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from bedrock_frames import message, normal
from converse_streams import PROTOCOL, USAGE, Script, agree, codes, error_code, one, parse, states
from streams import every_two_cut
from trigate.protocols.bedrock_converse import BedrockConverse

RELEASED = [("t1", "released", None)]
CONFLICT = [("t1", "void", "conflict")]


def good() -> Script:
    return Script.begun().text(0, "Let me ", "see.").call(1).end()


# -- a good message ----------------------------------------------------------------------------------


def test_a_good_message() -> None:
    response = good().parse()
    assert (response.status, response.reason, response.clean_end) == ("completed", "tool_use", True)
    assert (response.text, states(response)) == ("Let me see.", RELEASED)
    assert response.released[0].value() == {"a": 1}
    assert response.released[0].wire_key == (1,)
    assert response.usage == trigate.Usage(9, 7, 16, raw=USAGE)
    assert response.anomalies == ()


def test_items_in_stream_order() -> None:
    assert [type(item).__name__ for item in good().items()] == [
        *("TextDelta", "ToolCallStarted", "ArgumentsDelta", "ToolCallDone"),
        *("UsageUpdate", "ResponseEnded"),
    ]


def test_every_cut_in_two_is_equal() -> None:
    data = Script.begun().call(0, '{"a":"', "Zürich \U0001f600", '"}').end().data()
    whole = parse(data)
    assert states(whole) == RELEASED
    for chunks in every_two_cut(data):
        assert trigate.parse(chunks, PROTOCOL) == whole


def test_no_prefix_releases_anything() -> None:
    script = good()
    data = script.data()
    stopped = len(data) - len(one(script.events[-1]))
    for length in range(len(data)):
        response = parse(data[:length])
        if length != stopped:
            assert (response.status, response.released) == ("truncated", ())


def test_blocks_that_have_no_start() -> None:
    script = Script.begun().reasoning(0, text="Hm.").reasoning(0, signature="s").stop(0).text(1)
    response = script.delta(2, citation={"title": "T"}).stop(2).end("end_turn").parse()
    assert (response.text, response.reasoning, response.anomalies) == ("Hi", "Hm.", ())


@pytest.mark.parametrize("start", [{}, {"text": ""}, {"reasoningContent": {}}, {"text": None}])
def test_an_empty_start_is_tolerated(start: dict[str, Any]) -> None:
    response = Script.begun().start(0, **start).text(0).start(1).call(2).end().parse()
    assert (response.text, states(response)) == ("Hi", RELEASED)
    assert codes(response) == ["block_without_stop"]
    without = Script.begun().add("contentBlockStart", contentBlockIndex=0).text(0).end("end_turn").parse()
    assert (without.text, without.anomalies) == ("Hi", ())


def test_indices_may_have_gaps() -> None:
    """Nova leaves out the numbers of blocks that stayed empty."""
    response = Script.begun().text(0).call(3).end().parse()
    assert (states(response), response.anomalies) == (RELEASED, ())


# -- the frame ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 5, 9, 20, -30, -1])
def test_a_flipped_bit_is_fatal(place: int) -> None:
    events = good().events
    for number in range(len(events)):
        frames = [bytearray(one(event)) for event in events]
        frames[number][place] ^= 1
        response = parse(b"".join(frames))
        assert response.error is not None
        assert (response.status, response.error.layer) == ("failed", "decode")
        assert response.error.code in ("prelude_crc_mismatch", "message_crc_mismatch")
        assert response.released == ()


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"{", "invalid_json"),
        (b'{"contentBlockIndex":1,"delta":{"toolUse":{"input":"\xff"}}}', "invalid_utf8"),
        (b"", "missing_member"),
        (b"[]", "wrong_shape"),
        (b'{"delta":{"toolUse":{"input":"}"}}}', "wrong_shape"),
        (b'{"contentBlockIndex":"1","delta":{"toolUse":{"input":"}"}}}', "wrong_shape"),
        (b'{"contentBlockIndex":1,"delta":{"toolUse":{"input":7}}}', "wrong_shape"),
        (b'{"contentBlockIndex":1,"delta":{"toolUse":[]}}', "wrong_shape"),
        (b'{"contentBlockIndex":1,"delta":{"toolUse":{}}}', "missing_member"),
        (b'{"contentBlockIndex":1,"delta":{"text":7}}', "wrong_shape"),
        (b'{"contentBlockIndex":1,"delta":null}', "wrong_shape"),
        (b'{"contentBlockIndex":1}', "missing_member"),
    ],
)
def test_a_delta_that_cannot_be_read_is_fatal(payload: bytes, code: str) -> None:
    """Skipped, it would leave a shorter argument text, which may be right JSON."""
    data = Script.begun().call(0).tool(1, "t2").data() + normal("contentBlockDelta", payload)
    response = agree(data + Script().stop(1).end().data())
    assert (response.status, error_code(response), response.released) == ("failed", code, ())


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("contentBlockStart", {"contentBlockIndex": 1, "start": "x"}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": "x"}}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": 7}}}),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": []}}),
        ("contentBlockStart", {"start": {}}),
        ("contentBlockStop", {}),
        ("messageStop", {"stopReason": 7}),
    ],
)
def test_a_member_of_another_type_is_fatal(kind: str, members: dict[str, Any]) -> None:
    response = Script.begun().call(0).add(kind, **members).end().parse()
    assert (response.status, error_code(response), response.released) == ("failed", "wrong_shape", ())


def test_unknown_events_are_shown() -> None:
    data = Script.begun().call(0).data() + normal("novel", b"\xff") + normal("other", b'{"x":1}')
    data += message({":message-type": "event"}, b"{}") + Script().end().data()
    response = agree(data)
    assert (states(response), codes(response)) == (RELEASED, ["unknown_type"] * 3)
    assert agree(data, strict=True).status == "failed"
    items = trigate.ResponseParser(PROTOCOL).feed(data)
    assert [item.type for item in items if isinstance(item, trigate.OtherEvent)] == [
        "novel",
        "other",
        "message",
    ]


def test_the_initial_response_is_noise() -> None:
    data = message({":event-type": "initial-response", ":message-type": "event"}, b"{}")
    assert states(agree(data + good().data())) == RELEASED
    assert agree(data + good().data()).anomalies == ()


# -- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [(), ("",), ("", ""), (None,), (" ",)])
def test_empty_arguments(pieces: tuple[Any, ...]) -> None:
    response = Script.begun().tool(0).piece(0, *pieces).stop(0).end().parse()
    assert response.released[0].value() == {}
    assert response.released[0].flags == ("empty_arguments",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a":1', "incomplete"),
        ('{"a":1}{"a":1}', "malformed"),
        ('{"a":1} ok', "malformed"),
        ("[1]", "malformed"),
        ('{"a":Infinity}', "malformed"),
        ('{"a":"\n"}', "malformed"),
        ('{"a":1,"a":2}', "duplicate_key"),
    ],
)
def test_bad_arguments(text: str, problem: str) -> None:
    response = Script.begun().call(0, text).call(1, call_id="t2").end().parse()
    assert (response.status, response.reason) == ("completed", "tool_use")
    assert states(response) == [("t1", "void", problem), ("t2", "released", None)]
    cut = ["cut_call_in_completed_response"] if problem == "incomplete" else [f"call_{problem}"]
    assert codes(response) == cut


def test_arguments_as_an_object() -> None:
    payload = b'{"contentBlockIndex":0,"delta":{"toolUse":{"input":{ "a":1.50 }}}}'
    data = Script.begun().tool(0).data() + normal("contentBlockDelta", payload)
    response = agree(data + Script().stop(0).end().data())
    assert response.released[0].arguments == '{ "a":1.50 }'
    assert response.released[0].flags == ("arguments_not_string",)
    both = agree(data + Script().piece(0, "{}").stop(0).end().data())
    assert (both.status, error_code(both), states(both)) == ("conflict", "arguments_differ", CONFLICT)
    late = Script.begun().tool(0).piece(0, '{"a":', {"b": 1}, "}").stop(0).end().parse()
    assert (late.status, error_code(late)) == ("conflict", "arguments_differ")


def test_a_pair_of_surrogates_in_two_pieces() -> None:
    data = Script.begun().tool(0).data()
    for piece in (rb"{\"a\":\"\ud83d", rb"\ude00\"}"):
        payload = b'{"contentBlockIndex":0,"delta":{"toolUse":{"input":"' + piece + b'"}}}'
        data += normal("contentBlockDelta", payload)
    response = agree(data + Script().stop(0).end().data())
    assert response.released[0].value() == {"a": "\U0001f600"}


# -- identity and order ------------------------------------------------------------------------------


def test_interleaved_calls() -> None:
    script = Script.begun().tool(0).tool(1, "t2").piece(1, '{"b"').piece(0, '{"a"').piece(1, ":2}")
    response = script.stop(1).piece(0, ":1}").stop(0).end().parse()
    assert [(each.call_id, each.value()) for each in response.released] == [
        ("t1", {"a": 1}),
        ("t2", {"b": 2}),
    ]
    assert response.anomalies == ()


def test_a_call_needs_an_id_and_a_name() -> None:
    response = Script.begun().tool(0, None).stop(0).tool(1, "t2", None).stop(1).end().parse()
    assert [each.problem for each in response.calls] == ["no_call_id", "no_name"]
    made = Script.begun().tool(0, None).stop(0).end().parse(ids="generate")
    assert str(made.released[0].call_id).startswith("tg_")


def test_one_id_for_two_calls() -> None:
    response = Script.begun().call(0).call(1, '{"a":2}').end().parse()
    assert (response.status, error_code(response), response.released) == ("conflict", "call_id_reused", ())
    twice = Script.begun().call(0).call(1).end().parse()
    assert states(twice) == [("t1", "released", None), ("t1", "void", "repeated")]


def test_an_index_used_again() -> None:
    response = Script.begun().call(0).call(0, call_id="t2").end().parse()
    assert [each.call_id for each in response.released] == ["t1", "t2"]
    assert codes(response) == ["index_reused"]
    for opened in (
        Script.begun().tool(0).piece(0, "{}").tool(0, "t2"),
        Script.begun().tool(0).start(0),
        Script.begun().start(0).tool(0),
        Script.begun().tool(0, "s", type="server_tool_use").tool(0),
    ):
        still_open = opened.piece(0, "{}").stop(0).end().parse()
        assert (still_open.status, error_code(still_open)) == ("conflict", "index_reused")
        assert still_open.released == ()


def test_a_tool_after_text_that_was_not_stopped() -> None:
    """Text has no start, and what belongs to the tool cannot belong to the text."""
    response = Script.begun().delta(0, text="Hi").call(0).end().parse()
    assert (response.text, states(response)) == ("Hi", RELEASED)
    assert codes(response) == ["index_reused", "block_without_stop"]


def test_a_start_told_twice() -> None:
    response = Script.begun().tool(0).tool(0).piece(0, "{}").stop(0).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["repeated_event"])
    late = Script.begun().tool(0).piece(0, "{}").tool(0).stop(0).end().parse()
    assert (late.status, error_code(late)) == ("conflict", "index_reused")


# -- tools of the server -----------------------------------------------------------------------------


def test_a_tool_of_the_server_is_no_call() -> None:
    script = Script.begun().tool(0, "s1", "search", type="server_tool_use").piece(0, '{"q":', "1.50}").stop(0)
    script.start(1, toolResult={"toolUseId": "s1", "status": "success", "type": "search_result"})
    script.delta(1, toolResult=[{"text": "a"}]).delta(1, toolResult=[{"text": "b"}, {"json": {"n": 1}}]).stop(
        1
    )
    response = script.text(2).end("end_turn").parse()
    assert (response.status, response.calls, response.anomalies) == ("completed", (), ())
    assert [(call.type, call.id, call.name, call.status) for call in response.server_calls] == [
        ("server_tool_use", "s1", "search", None),
        ("search_result", "s1", None, "success"),
    ]
    assert '"input": {"q":1.50}' in response.server_calls[0].raw
    assert json.loads(response.server_calls[1].raw)["content"] == [{"text": "ab"}, {"json": {"n": 1}}]
    others = [item.type for item in script.items() if isinstance(item, trigate.OtherEvent)]
    assert others == ["server_tool_use", "search_result"]


def test_a_server_tool_with_half_an_input_is_shown() -> None:
    script = Script.begun().tool(0, "s1", "search", type="server_tool_use").piece(0, '{"q":').stop(0)
    response = script.text(1).end("end_turn").parse()
    assert json.loads(response.server_calls[0].raw)["input"] == '{"q":'
    assert response.to_message()["content"] == [{"text": "Hi"}]


def test_a_message_that_asks_but_has_only_a_server_tool() -> None:
    response = Script.begun().tool(0, "s1", type="server_tool_use").stop(0).end().parse()
    assert (response.status, error_code(response)) == ("failed", "missing_call")


def test_a_tool_of_an_unknown_type() -> None:
    script = Script.begun().call(0, type="mcp_tool_use").call(1, call_id="t2").end()
    response = script.parse()
    assert states(response) == [("t1", "void", "unknown_type"), ("t2", "released", None)]
    assert (response.calls[0].arguments, response.server_calls) == ('{"a":1}', ())
    assert codes(response) == ["unknown_type", "call_unknown_type"]
    assert script.parse(strict=True).status == "failed"
    assert states(Script.begun().call(0, type="tool_use").end().parse()) == RELEASED


# -- pieces out of place -----------------------------------------------------------------------------


def test_a_piece_for_no_block() -> None:
    response = Script.begun().call(0).piece(5, "1").end().parse()
    assert (response.status, error_code(response), response.released) == ("conflict", "orphan_arguments", ())
    empty = Script.begun().call(0).piece(5, "").end().parse()
    assert (states(empty), codes(empty)) == (RELEASED, ["delta_without_start"])


@pytest.mark.parametrize(
    "script",
    [
        Script.begun().delta(0, text="Hi"),
        Script.begun().reasoning(0, text="Hm."),
        Script.begun().start(0),
        Script.begun().start(0, image={"format": "png"}),
        Script.begun().start(0, toolResult={"toolUseId": "s1"}),
    ],
)
def test_arguments_for_a_block_that_is_no_tool(script: Script) -> None:
    events = list(script.events)
    response = Script(events).piece(0, "1").stop(0).call(1).end().parse()
    assert (response.status, error_code(response), response.released) == ("conflict", "misplaced_delta", ())
    empty = Script(list(script.events)).piece(0, "").stop(0).call(1).end().parse()
    assert (states(empty), codes(empty)) == (RELEASED, ["misplaced_delta"])


@pytest.mark.parametrize(
    "delta", [{"text": "x"}, {"reasoningContent": {"text": "x"}}, {"citation": {}}, {"toolResult": []}]
)
def test_something_else_inside_a_call(delta: dict[str, Any]) -> None:
    response = Script.begun().tool(0).delta(0, **delta).piece(0, "{}").stop(0).end().parse()
    assert (response.status, error_code(response), states(response)) == (
        "conflict",
        "misplaced_delta",
        CONFLICT,
    )


def test_an_empty_text_inside_a_call_is_noted() -> None:
    response = Script.begun().tool(0).delta(0, text="").piece(0, "{}").stop(0).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["misplaced_delta"])


def test_text_and_reasoning_at_one_index() -> None:
    response = Script.begun().reasoning(0, text="Hm.").delta(0, text="Hi").stop(0).end("end_turn").parse()
    assert (response.text, response.reasoning, codes(response)) == ("Hi", "Hm.", ["misplaced_delta"])


def test_two_members_in_one_delta() -> None:
    response = Script.begun().tool(0).delta(0, toolUse={"input": "{}"}, text="x").stop(0).end().parse()
    assert (response.status, error_code(response)) == ("conflict", "misplaced_delta")


def test_an_unknown_delta() -> None:
    script = Script.begun().tool(0).delta(0, novel={"x": 1}).piece(0, "{}").stop(0)
    script.delta(1, novel={}).delta(1, text="Hi").stop(1).call(2, call_id="t2").end()
    response = script.parse()
    assert states(response) == [("t1", "void", "unknown_type"), ("t2", "released", None)]
    assert codes(response) == ["unknown_type", "call_unknown_type"]
    assert script.parse(strict=True).status == "failed"


def test_an_unknown_event_for_an_open_call() -> None:
    script = Script.begun().tool(0).add("contentBlockPatch", contentBlockIndex=0, x=1).piece(0, "{}").stop(0)
    assert states(script.end().parse()) == [("t1", "void", "unknown_type")]


@pytest.mark.parametrize("delta", [{}, {"text": None}])
def test_an_empty_delta(delta: dict[str, Any]) -> None:
    """For a text it is only odd. For an open call it may have been a piece."""
    response = Script.begun().delta(0, **delta).text(0).call(1).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["empty_delta"])
    response = Script.begun().tool(0).delta(0, **delta).piece(0, "{}").stop(0).end().parse()
    assert states(response) == [("t1", "void", "unknown_type")]
    assert codes(response) == ["empty_delta", "call_unknown_type"]


def test_an_unknown_start() -> None:
    script = Script.begun().start(0, novel={}).delta(0, text="x").stop(0).call(1).end()
    response = script.parse()
    assert (response.text, states(response)) == ("", RELEASED)
    assert codes(response) == ["unknown_type", "misplaced_delta"]
    assert script.parse(strict=True).status == "failed"


def test_a_result_without_a_start() -> None:
    response = Script.begun().delta(0, toolResult=[{"text": "a"}]).stop(0).call(1).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["delta_without_start"])
    assert [list(block) for block in response.to_message()["content"]] == [["toolUse"]]


# -- early release, limits, auto ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("following", "count"),
    [
        (Script().tool(1, "t2"), 1),
        (Script().delta(1, text="x"), 1),
        (Script().start(1), 1),
        (Script().add("messageStop", stopReason="tool_use"), 1),
        (Script().add("messageStop", stopReason="end_turn"), 0),
        (Script().add("messageStop", stopReason="max_tokens"), 0),
        (Script().stop(0), 0),
        (Script().add("metadata", usage=USAGE), 0),
        (Script().add("novel"), 0),
    ],
)
def test_what_proves_a_call(following: Script, count: int) -> None:
    """contentBlockStop may come for a call that a limit cut: something of the model must follow."""
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    parser.feed(Script.begun().call(0).data())
    assert parser.response.released == ()
    items = parser.feed(following.data())
    assert len(parser.response.released) == count
    assert len([item for item in items if isinstance(item, trigate.ToolCallDone)]) == count


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (trigate.Limits(max_calls=1), "too_many_calls"),
        (trigate.Limits(max_arguments_bytes=3), "arguments_too_large"),
        (trigate.Limits(max_response_bytes=50), "response_too_large"),
        (trigate.Limits(max_depth=1), "depth_too_large"),
    ],
)
def test_limits(limits: trigate.Limits, code: str) -> None:
    response = Script.begun().call(0, '{"a":{}}').call(1, call_id="t2").text(2).end().parse(limits=limits)
    assert (response.status, error_code(response), response.released) == ("failed", code, ())


def test_auto_knows_its_events() -> None:
    data = good().data()
    assert trigate.parse(data) == parse(data)
    assert trigate.parse(data).protocol == PROTOCOL
    assert BedrockConverse.recognises(trigate.ServerSentEvent("messageStart"), {"role": "assistant"})
    assert not BedrockConverse.recognises(trigate.ServerSentEvent("metadata"), {})
    assert not BedrockConverse.recognises(trigate.ServerSentEvent(), {"role": "assistant"})

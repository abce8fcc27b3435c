"""Each rule of docs/protocols/cohere-chat.md: what releases a call, what does not, and what is only noted."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from cohere_streams import DONE, PROTOCOL, Script, agree, codes, one, parse, states
from streams import every_two_cut
from trigate.protocols.cohere_chat import CohereChat

RELEASED = [("c1", "released", None)]
CONFLICT = [("c1", "void", "conflict")]
TOKENS = {
    "billed_units": {"input_tokens": 1, "output_tokens": 2},
    "tokens": {"input_tokens": 10, "output_tokens": 20.0, "reasoning_tokens": 5},
    "cached_tokens": 4,
}


def good() -> Script:
    return Script.begun().plan("I will ", "look.").call(0).end(usage=TOKENS)


def error_code(response: trigate.Response) -> str | int | None:
    return response.error.code if response.error is not None else None


# -- a good message ----------------------------------------------------------------------------------


def test_a_good_message() -> None:
    response = good().parse()
    assert (response.status, response.reason, response.clean_end) == ("completed", "TOOL_CALL", True)
    assert (response.id, response.text, response.reasoning) == ("m1", "", "I will look.")
    assert states(response) == RELEASED
    assert response.released[0].value() == {"a": 1}
    assert response.released[0].wire_key == (0,)
    assert response.usage == trigate.Usage(10, 20, None, 4, 5, TOKENS)
    assert response.anomalies == ()


def test_items_in_stream_order() -> None:
    assert [type(item).__name__ for item in good().items()] == [
        *("ReasoningDelta", "ToolCallStarted", "ArgumentsDelta", "ToolCallDone"),
        *("UsageUpdate", "ResponseEnded"),
    ]


def test_every_cut_in_two_is_equal() -> None:
    data = Script.begun().call(0, '{"a":"', "Zürich \U0001f600", '"}').end().data()
    whole = parse(data)
    assert states(whole) == RELEASED
    for chunks in every_two_cut(data):
        assert trigate.parse(chunks, PROTOCOL) == whole


def test_no_prefix_releases_anything() -> None:
    data = good().data()
    for length in range(len(data)):
        response = parse(data[:length])
        assert (response.status, response.released) == ("truncated", ())


def test_text_and_thinking() -> None:
    script = Script.begun().text("Hm, ", "yes.", kind="thinking").text("Zü", "rich", index=1).end("COMPLETE")
    response = script.parse()
    assert (response.status, response.text, response.reasoning) == ("completed", "Zürich", "Hm, yes.")
    assert [item.index for item in script.items() if isinstance(item, trigate.TextDelta)] == [1]


def test_content_that_begins_with_text() -> None:
    script = Script.begun().say("content-start", 0, content={"type": "text", "text": "Hi"})
    assert script.end("COMPLETE").parse().text == "Hi"


# -- the frame ---------------------------------------------------------------------------------------


def test_the_sentinel() -> None:
    data = good().data()
    assert agree(data + DONE) == agree(data)
    assert agree(data + DONE + one({"type": "debug"})).released == agree(data).released
    without = agree(Script.begun().call(0).data() + DONE)
    assert (without.status, without.released) == ("truncated", ())
    late = agree(Script.begun().call(0).data() + DONE + Script().end().data())
    assert (late.status, late.released, codes(late)) == ("truncated", (), ["event_after_end"])


def test_names_are_only_a_check() -> None:
    plain = good()
    unnamed = agree(plain.data(names=False))
    assert (unnamed.released, codes(unnamed)) == (plain.parse().released, ["event_name_missing"])
    renamed = agree(b"".join(one(event, "x") for event in plain.events))
    assert renamed.released == plain.parse().released
    assert set(codes(renamed)) == {"event_name_differs"}


def test_the_name_counts_where_the_type_is_missing() -> None:
    events = good().events
    data = b"".join(one({k: v for k, v in each.items() if k != "type"}, each["type"]) for each in events)
    assert states(agree(data)) == RELEASED


@pytest.mark.parametrize(
    "bad", [b"data: {\n\n", b"event: tool-call-delta\ndata: oops\n\n", b"data: {} x\n\n"]
)
def test_an_event_that_is_no_json_is_fatal(bad: bytes) -> None:
    """Skipped, it would leave a shorter argument text, which may be right JSON."""
    data = Script.begun().tool(0).piece(0, "{").data() + bad + Script().piece(0, "}").stop(0).end().data()
    response = agree(data)
    assert (response.status, error_code(response), response.released) == ("failed", "invalid_json", ())


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("tool-call-start", {"index": 0, "delta": {"message": {"tool_calls": [{"id": "c1"}]}}}),
        ("tool-call-start", {"index": "0", "delta": {"message": {"tool_calls": {}}}}),
        ("tool-call-start", {"index": 0, "delta": {"message": {"tool_calls": {"id": 7}}}}),
        ("tool-call-start", {"index": 0, "delta": {"message": {"tool_calls": {"function": {"name": 7}}}}}),
        (
            "tool-call-delta",
            {"index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": 7}}}}},
        ),
        (
            "tool-call-delta",
            {"index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": []}}}}},
        ),
        ("content-delta", {"index": 0, "delta": {"message": {"content": {"text": 7}}}}),
        ("tool-plan-delta", {"delta": {"message": {"tool_plan": {}}}}),
        ("message-end", {"delta": {"finish_reason": 7}}),
    ],
)
def test_a_member_of_another_type_is_fatal(kind: str, members: Any) -> None:
    script = Script.begun().call(1).tool(0, "c0")
    response = script.add(kind, **members).stop(0).end().parse()
    assert (response.status, error_code(response), response.released) == ("failed", "wrong_shape", ())


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        ("tool-call-start", {"delta": {"message": {"tool_calls": {"id": "c2"}}}}),
        ("tool-call-delta", {"delta": {"message": {"tool_calls": {"function": {"arguments": "}"}}}}}),
        ("tool-call-end", {}),
        ("tool-call-delta", {"index": 0}),
        ("tool-call-delta", {"index": 0, "delta": {"message": {"tool_calls": {"function": {}}}}}),
    ],
)
def test_a_missing_member_is_fatal(kind: str, members: Any) -> None:
    response = Script.begun().tool(0).piece(0, "{}").add(kind, **members).stop(0).end().parse()
    assert (response.status, error_code(response), response.released) == ("failed", "missing_member", ())


# -- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [(), ("",), ("", ""), (None,), (" ",)])
def test_empty_arguments(pieces: tuple[Any, ...]) -> None:
    response = Script.begun().tool(0).piece(0, *pieces).stop(0).end().parse()
    assert response.released[0].value() == {}
    assert response.released[0].flags == ("empty_arguments",)
    assert response.to_message()["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_that_begin_in_the_start() -> None:
    response = Script.begun().tool(0, function={"arguments": '{"a"'}).piece(0, ":1}").stop(0).end().parse()
    assert response.released[0].arguments == '{"a":1}'


def test_arguments_as_an_object() -> None:
    text = '{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"c1","function":'
    text += '{"name":"go","arguments":{ "a":1.50 }}}}}}'
    data = Script.begun().data() + f"event: tool-call-start\ndata: {text}\n\n".encode()
    response = agree(data + Script().stop(0).end().data())
    assert response.released[0].arguments == '{ "a":1.50 }'
    assert response.released[0].flags == ("arguments_not_string",)
    both = agree(data + Script().piece(0, "{}").stop(0).end().data())
    assert (both.status, error_code(both), states(both)) == ("conflict", "arguments_differ", CONFLICT)
    late = Script.begun().tool(0).piece(0, '{"a":', {"b": 1}, "}").stop(0).end().parse()
    assert (late.status, error_code(late)) == ("conflict", "arguments_differ")


def test_an_empty_object_in_the_start_is_a_stand_in() -> None:
    script = Script.begun().tool(0, function={"arguments": {}}).piece(0, '{"a":1}').stop(0)
    assert script.end().parse().released[0].value() == {"a": 1}
    assert Script.begun().tool(0, function={"arguments": {}}).stop(0).end().parse().released[0].value() == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a":1', "incomplete"),
        ('{"a":1}{"a":1}', "malformed"),
        ('{"a":1} ok', "malformed"),
        ("[1]", "malformed"),
        ('{"a":NaN}', "malformed"),
        ('{"a":"\t"}', "malformed"),
        ('{"a":1,"a":2}', "duplicate_key"),
    ],
)
def test_bad_arguments(text: str, problem: str) -> None:
    response = Script.begun().call(0, text).call(1, call_id="c2").end().parse()
    assert (response.status, response.reason) == ("completed", "TOOL_CALL")
    assert states(response) == [("c1", "void", problem), ("c2", "released", None)]
    cut = ["cut_call_in_completed_response"] if problem == "incomplete" else [f"call_{problem}"]
    assert codes(response) == cut


def test_a_pair_of_surrogates_in_two_pieces() -> None:
    data = Script.begun().tool(0).piece(0, '{"a":"HIGH', 'LOW"}').stop(0).end().data()
    response = agree(data.replace(b"HIGH", rb"\ud83d").replace(b"LOW", rb"\ude00"))
    assert response.released[0].value() == {"a": "\U0001f600"}


# -- identity and order ------------------------------------------------------------------------------


def test_interleaved_calls() -> None:
    script = Script.begun().tool(0).tool(1, "c2").piece(1, '{"b"').piece(0, '{"a"').piece(1, ":2}")
    response = script.stop(1).piece(0, ":1}").stop(0).end().parse()
    assert [(one.call_id, one.value()) for one in response.released] == [("c1", {"a": 1}), ("c2", {"b": 2})]
    assert response.anomalies == ()


def test_calls_and_content_count_apart() -> None:
    response = Script.begun().text("Hi").call(0).end().parse()
    assert (response.text, states(response)) == ("Hi", RELEASED)


def test_a_gap_in_the_indices_is_noted() -> None:
    response = Script.begun().call(1).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["index_gap"])


def test_a_call_needs_an_id_and_a_name() -> None:
    response = Script.begun().tool(0, None).stop(0).tool(1, "c2", None).stop(1).end().parse()
    assert [(one.state, one.problem) for one in response.calls] == [
        ("void", "no_call_id"),
        ("void", "no_name"),
    ]
    made = Script.begun().tool(0, None).stop(0).end().parse(ids="generate")
    assert str(made.released[0].call_id).startswith("tg_")


def test_an_id_that_changes() -> None:
    script = Script.begun().tool(0)
    script.say("tool-call-delta", 0, tool_calls={"id": "c9", "function": {"arguments": "{}"}})
    response = script.stop(0).end().parse()
    assert (response.status, error_code(response), response.released) == ("conflict", "call_id_changed", ())


def test_one_id_for_two_calls() -> None:
    response = Script.begun().call(0).call(1, '{"a":2}').end().parse()
    assert (response.status, error_code(response), response.released) == ("conflict", "call_id_reused", ())
    twice = Script.begun().call(0).call(1).end().parse()
    assert states(twice) == [("c1", "released", None), ("c1", "void", "repeated")]


def test_an_index_used_again() -> None:
    response = Script.begun().call(0).call(0, call_id="c2").end().parse()
    assert [one.call_id for one in response.released] == ["c1", "c2"]
    assert codes(response) == ["index_reused"]
    still_open = Script.begun().tool(0).piece(0, "{}").tool(0, "c2").piece(0, "{}").stop(0).end().parse()
    assert (still_open.status, error_code(still_open)) == ("conflict", "index_reused")
    assert (states(still_open), codes(still_open)) == (CONFLICT, ["index_reused"])


def test_a_start_told_twice() -> None:
    response = Script.begun().tool(0).tool(0).piece(0, "{}").stop(0).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["repeated_event"])


def test_an_unknown_type_of_call() -> None:
    script = Script.begun().tool(0, type="builtin").piece(0, "{}").stop(0).call(1, call_id="c2").end()
    response = script.parse()
    assert states(response) == [("c1", "void", "unknown_type"), ("c2", "released", None)]
    assert codes(response) == ["unknown_type", "call_unknown_type"]
    assert response.calls[0].arguments == "{}"
    assert script.parse(strict=True).status == "failed"


# -- what is missing, and what is too much -----------------------------------------------------------


def test_a_piece_for_no_call() -> None:
    response = Script.begun().call(0).piece(5, "1").end().parse()
    assert (response.status, error_code(response), response.released) == ("conflict", "orphan_arguments", ())
    empty = Script.begun().call(0).piece(5, "").end().parse()
    assert (states(empty), codes(empty)) == (RELEASED, ["delta_without_start"])


def test_a_piece_after_the_end_of_its_call() -> None:
    response = Script.begun().call(0).piece(0, "1").end().parse()
    assert (response.status, error_code(response), states(response)) == (
        "conflict",
        "delta_after_close",
        CONFLICT,
    )
    assert states(Script.begun().call(0).piece(0, "").end().parse()) == RELEASED


def test_a_call_without_its_end() -> None:
    """It was cut, whatever its text looks like. The others were not: they are told apart by their index."""
    response = Script.begun().call(0).tool(1, "c2").piece(1, "{}").end().parse()
    assert (response.status, states(response)) == ("completed", [*RELEASED, ("c2", "void", "incomplete")])
    assert codes(response) == ["call_without_end", "cut_call_in_completed_response"]
    cut = Script.begun().tool(0).piece(0, "{}").end("MAX_TOKENS").parse()
    assert (cut.status, states(cut)) == ("incomplete", [("c1", "void", "incomplete")])
    unasked = Script.begun().tool(0).piece(0, "{}").end("COMPLETE").parse()
    assert (unasked.status, states(unasked)) == ("completed", [("c1", "void", "incomplete")])
    assert codes(unasked) == ["call_without_end", "cut_call_in_completed_response"]


def test_ends_that_end_nothing() -> None:
    response = Script.begun().call(0).stop(0).stop(7).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["repeated_stop", "stop_without_start"])


def test_a_missing_start_of_the_message() -> None:
    response = agree(Script().call(0).end(id="m").data())
    assert (states(response), codes(response)) == (RELEASED, ["missing_start"])


def test_a_message_that_begins_again() -> None:
    script = Script.begun()
    script.events += Script.begun().call(0).end().events
    assert (states(script.parse()), codes(script.parse())) == (RELEASED, ["repeated_event"])
    for first, second in ((Script.begun().call(0), "m1"), (Script.begun(), "m2")):
        first.events += Script.begun(second).call(1, call_id="c2").end().events
        response = first.parse()
        assert (response.status, error_code(response)) == ("conflict", "response_restarted")
        assert response.released == ()


def test_text_without_a_start() -> None:
    response = Script.begun().say("content-delta", 0, content={"text": "Hi"}).end("COMPLETE").parse()
    assert (response.text, codes(response)) == ("Hi", ["delta_without_start"])


def test_another_id_at_the_end() -> None:
    response = (
        Script.begun().call(0).add("message-end", id="m9", delta={"finish_reason": "TOOL_CALL"}).parse()
    )
    assert (response.id, states(response), codes(response)) == ("m1", RELEASED, ["response_id_changed"])
    late = Script().call(0).add("message-end", id="m9", delta={"finish_reason": "TOOL_CALL"}).parse()
    assert late.id == "m9"


def test_events_after_the_end() -> None:
    script = good()
    data = script.data() + Script.begun("m2").call(1, call_id="c2").end().data()
    response = agree(data + one({"type": "error", "message": "late"}))
    assert (response.status, states(response), codes(response)) == (
        "completed",
        RELEASED,
        ["event_after_end"],
    )


# -- what carries neither text nor calls -------------------------------------------------------------


def test_other_events() -> None:
    citation = {"start": 0, "end": 2, "text": "Hi", "sources": [{"type": "tool", "n": 1.5}]}
    script = (
        Script.begun().text("Hi").say("citation-start", 0, citations=citation).add("citation-end", index=0)
    )
    script.say("citation-start", 1, citations=[citation]).add("debug", prompt="p").add("novel", x=1)
    script.end("COMPLETE")
    others = [item for item in script.items() if isinstance(item, trigate.OtherEvent)]
    assert [item.type for item in others] == ["citation-start", "citation-start", "debug", "novel"]
    assert json.loads(others[3].data) == {"type": "novel", "x": 1}
    response = script.parse()
    assert (response.status, codes(response)) == ("completed", ["unknown_type"])
    assert response.to_message()["citations"] == [citation]
    assert script.parse(strict=True).status == "failed"


def test_content_of_an_unknown_type() -> None:
    script = Script.begun().say("content-start", 0, content={"type": "image", "url": "x"})
    response = script.add("content-end", index=0).call(0).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["unknown_type"])


# -- early release, limits, auto ---------------------------------------------------------------------


def test_nothing_is_released_before_the_end() -> None:
    """Nobody says whether tool-call-end comes for a call that a limit cut."""
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    parser.feed(Script.begun().call(0).call(1, call_id="c2").text("Hi").data())
    assert parser.response.released == ()
    parser.feed(Script().end().data())
    assert len(parser.finish().released) == 2


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (trigate.Limits(max_calls=1), "too_many_calls"),
        (trigate.Limits(max_arguments_bytes=3), "arguments_too_large"),
        (trigate.Limits(max_response_bytes=3), "response_too_large"),
        (trigate.Limits(max_depth=1), "depth_too_large"),
    ],
)
def test_limits(limits: trigate.Limits, code: str) -> None:
    response = Script.begun().call(0, '{"a":{}}').call(1, call_id="c2").text("Hi").end().parse(limits=limits)
    assert (response.status, error_code(response), response.released) == ("failed", code, ())


def test_auto_knows_its_events() -> None:
    data = good().data()
    assert trigate.parse(data) == parse(data)
    assert trigate.parse(data).protocol == PROTOCOL
    assert CohereChat.recognises(trigate.ServerSentEvent(), {"type": "message-start"})
    assert not CohereChat.recognises(trigate.ServerSentEvent(), {"type": "message_start"})
    assert not CohereChat.recognises(trigate.ServerSentEvent("message-start"), {"type": ["x"]})


def test_an_unknown_event_that_may_bring_a_piece_of_an_open_call_spoils_it() -> None:
    script = Script.begun().tool(0, "c1", "rm").piece(0, '{"path":"/tmp')
    script.say("tool-calL-delta", 0, tool_calls={"function": {"arguments": "/a"}})
    response = script.piece(0, '"}').stop(0).end().parse()
    assert response.released == ()
    assert states(response) == [("c1", "void", "unknown_type")]


def test_a_name_that_was_cut_inside_a_call_spoils_it() -> None:
    data = Script.begun().tool(0, "c1", "rm").piece(0, '{"path":"/tmp', '"}').stop(0).end().data()
    cut = data.replace(b"event: tool-call-end", b"event: toolevent: tool-call-end")
    response = agree(cut)
    assert states(response) == [("c1", "void", "incomplete")]

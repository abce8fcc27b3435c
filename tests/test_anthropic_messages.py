"""The rules of docs/protocols/anthropic-messages.md: what releases a call, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import trigate
from anthropic_streams import DONE, PING, PROTOCOL, Event, Script, codes, one, parse, run, states
from streams import every_two_cut
from trigate.protocols.anthropic_messages import AnthropicMessages

RELEASED = [("toolu_1", "released", None)]
CONFLICT = [("toolu_1", "void", "conflict")]


def good() -> Script:
    return Script.begun().text(0, "Let me ", "see.").call(1).end()


# -- a good message ----------------------------------------------------------------------------------


def test_a_good_message() -> None:
    response = good().parse()
    assert (response.status, response.reason, response.clean_end) == ("completed", "tool_use", True)
    assert (response.id, response.model, response.text) == ("msg_1", "m", "Let me see.")
    assert states(response) == RELEASED
    assert response.released[0].value() == {"a": 1}
    assert response.released[0].wire_key == (1,)
    assert response.anomalies == ()


def test_items_in_stream_order() -> None:
    items, response = good().run()
    kinds = [type(item).__name__ for item in items]
    assert kinds == [
        *("UsageUpdate", "TextDelta", "ToolCallStarted", "ArgumentsDelta", "ToolCallDone"),
        *("UsageUpdate", "ResponseEnded"),
    ]
    assert isinstance(items[-1], trigate.ResponseEnded)
    assert items[-1].response.calls == response.calls


def test_every_cut_in_two_is_equal() -> None:
    data = Script.begun().call(0, '{"a":"', "Zürich \U0001f600", '"}').end().data()
    whole = parse(data)
    assert states(whole) == RELEASED
    for chunks in every_two_cut(data):
        assert parse(chunks) == whole


def test_pings_mean_nothing_anywhere() -> None:
    plain = good()
    pinged = Script([event for made in plain.events for event in (PING, made, PING)])
    assert replace(pinged.parse(), decisions=()) == replace(plain.parse(), decisions=())  # offsets differ


def test_a_sentinel_after_the_end_means_nothing() -> None:
    assert parse(good().data() + DONE) == good().parse()


def test_a_sentinel_ends_nothing() -> None:
    script = Script.begun().call(0).reason()
    assert parse(script.data() + DONE).status == "truncated"
    response = parse(script.data() + DONE + one({"type": "message_stop"}))
    assert (response.status, response.released) == ("truncated", ())
    assert codes(response) == ["event_after_end"]


def test_events_after_the_end_change_nothing() -> None:
    data = good().data()
    late = [
        one(event) for event in (*Script().text(2).events, {"type": "error", "error": {"type": "x"}}, PING)
    ]
    for event in late:
        items, response = run([data, event])
        assert states(response) == RELEASED
        assert response.status == "completed"
        assert isinstance(items[-1], trigate.ResponseEnded)
        assert codes(response) == ([] if event == one(PING) else ["event_after_end"])
    assert codes(parse(data + b"event: error\ndata: overloaded\n\n")) == ["event_after_end"]


def test_empty_data_is_no_event() -> None:
    noisy = parse(b"event: ping\ndata:\n\n" + good().data())
    assert replace(noisy, decisions=()) == replace(good().parse(), decisions=())  # offsets differ


# -- names and types ---------------------------------------------------------------------------------


def test_names_may_be_missing() -> None:
    response = parse(good().data(names=False))
    assert states(response) == RELEASED
    assert codes(response) == ["event_name_missing"]


def test_the_type_in_the_json_counts() -> None:
    data = b"".join(one(event, "content_block_stop") for event in good().events)
    response = parse(data)
    assert states(response) == RELEASED
    assert set(codes(response)) == {"event_name_differs"}


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("", "released"),
        ("message_stop", "released"),
        ("ping", "released"),
        ("content_block_delevent: content_block_delta", "void"),
    ],
)
def test_a_name_that_was_cut_inside_a_call_voids_it(name: str, state: str) -> None:
    """Where the names were right before, bytes were lost there: perhaps a piece of the arguments."""
    script = Script.begun().call(0).tool(1, "toolu_2").json(1, '{"b":', "2}").stop(1).end()
    place = len(script.events) - 4
    data = b"".join(one(event, name if at == place else None) for at, event in enumerate(script.events))
    response = parse(data)
    problem = "incomplete" if state == "void" else None
    assert states(response) == [*RELEASED, ("toolu_2", state, problem)]
    assert codes(response)[0] == ("event_name_differs" if name else "event_name_missing")
    never = b"".join(one(event, "delta") for event in script.events)
    assert len(parse(never).released) == 2


def test_the_name_counts_where_the_json_has_no_type() -> None:
    events = [({k: v for k, v in event.items() if k != "type"}, event["type"]) for event in good().events]
    response = parse(b"".join(one(event, name) for event, name in events))
    assert states(response) == RELEASED
    assert codes(response) == []


# -- how it ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["end_turn", "stop_sequence"])
def test_a_good_end_that_asks_for_nothing_runs_nothing(word: str) -> None:
    response = Script.begun().call(0).end(word).parse()
    assert (response.status, response.reason) == ("completed", word)
    assert states(response) == [("toolu_1", "void", "not_requested")]
    assert Script.begun().text(0).end(word).parse().status == "completed"


@pytest.mark.parametrize(
    "word", ["max_tokens", "model_context_window_exceeded", "pause_turn", "compaction", "refusal"]
)
def test_a_cut_paused_or_refused_message_runs_nothing(word: str) -> None:
    response = Script.begun().call(0).call(1, call_id="toolu_2").end(word).parse()
    assert (response.status, response.reason, response.error) == ("incomplete", word, None)
    assert {state[1:] for state in states(response)} == {("void", "response_not_completed")}
    with pytest.raises(trigate.errors.IncompleteError) as raised:
        response.raise_for_status()
    assert raised.value.code == word


def test_what_the_wire_says_of_a_stop_is_shown() -> None:
    details = {"category": "cyber", "explanation": "no"}
    delta = {"stop_reason": "refusal", "stop_details": details}
    items, _ = Script.begun().end("refusal", delta=delta).run()
    (other,) = [item for item in items if isinstance(item, trigate.OtherEvent)]
    assert other.type == "message_delta"
    assert json.loads(other.data)["delta"]["stop_details"] == details


@pytest.mark.parametrize("word", [None, ""])
def test_no_stop_reason_fails(word: str | None) -> None:
    for script in (Script.begun().call(0).end(word), Script.begun().call(0).add("message_stop")):
        response = script.parse()
        assert (response.status, response.reason, response.released) == ("failed", None, ())
        assert response.error is not None
        assert (response.error.layer, response.error.code) == ("structure", "missing_stop_reason")


def test_an_unknown_stop_reason_fails_and_is_kept() -> None:
    response = Script.begun().call(0).end("terminated").parse()
    assert (response.status, response.reason, response.released) == ("failed", "terminated", ())
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("provider", "terminated")


def test_tool_use_without_a_call_fails() -> None:
    script = Script.begun().block(0, "server_tool_use", id="s", name="web_search", input={}).stop(0)
    response = script.end().parse()
    assert (response.status, response.reason) == ("failed", "tool_use")
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("structure", "missing_call")


def test_no_message_stop_is_truncated() -> None:
    response = Script.begun().call(0).reason().parse()
    assert (response.status, response.released) == ("truncated", ())
    assert states(response) == [("toolu_1", "void", "response_not_completed")]


def test_message_stop_without_its_blank_line_is_no_event() -> None:
    data = good().data().rstrip(b"\n")
    assert parse(data).status == "truncated"
    assert states(parse(data, lenient={"unterminated_last_event"})) == RELEASED


def test_the_last_message_delta_counts() -> None:
    script = (
        Script.begun().call(0).reason("end_turn", usage={"output_tokens": 3}).end(usage={"output_tokens": 8})
    )
    response = script.parse()
    assert states(response) == RELEASED
    assert codes(response) == ["reason_changed"]
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (9, 8)
    assert Script.begun().call(0).reason().end("end_turn").parse().released == ()
    assert Script.begun().call(0).reason().end(None).parse().status == "failed"


def test_a_later_count_leaves_the_stop_reason() -> None:
    script = Script.begun().call(0).reason().add("message_delta", delta={}, usage={"output_tokens": 9})
    response = script.add("message_delta", usage={"output_tokens": 10}).add("message_stop").parse()
    assert states(response) == RELEASED
    assert response.usage is not None
    assert response.usage.output_tokens == 10


@pytest.mark.parametrize(
    "words", [["max_tokens"], ["refusal"], ["max_tokens", None], ["pause_turn", "end_turn"], ["never_heard"]]
)
def test_a_message_that_was_cut_does_not_come_to_ask(words: list[str | None]) -> None:
    script = Script.begun().call(0)
    for word in words:
        script.reason(word)
    response = script.end().parse()
    assert (response.status, response.released) == ("conflict", ())
    assert "reason_changed" in codes(response)


def test_usage_is_merged() -> None:
    start = {"input_tokens": 5, "cache_read_input_tokens": 3, "output_tokens": 1, "service_tier": "standard"}
    end = {"input_tokens": None, "output_tokens": 20, "output_tokens_details": {"thinking_tokens": 12}}
    usage = Script.begun(usage=start).text(0).end("end_turn", usage=end).parse().usage
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (5, 20, None)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (3, 12)
    assert usage.raw == start | {"output_tokens": 20, "output_tokens_details": {"thinking_tokens": 12}}
    odd = Script.begun(usage="many").text(0).end("end_turn", usage={"output_tokens": True}).parse().usage
    assert odd is not None
    assert odd.output_tokens is None


def test_tokens_that_became_nothing() -> None:
    assert codes(Script.begun().end("end_turn").parse()) == ["usage_without_content"]
    assert codes(Script.begun(usage={}).end("end_turn", usage={"output_tokens": 0}).parse()) == []


# -- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [(), ("",), ("", "")])
def test_no_arguments_are_an_empty_object(pieces: tuple[str, ...]) -> None:
    response = Script.begun().tool(0).json(0, *pieces).stop(0).end().parse()
    (call,) = response.released
    assert (call.arguments, call.value(), call.flags) == ("", {}, ("empty_arguments",))


@pytest.mark.parametrize("start", [{}, {"input": None}, {"input": ""}, {"input": {}}])
def test_every_empty_stand_in_is_one(start: dict[str, Any]) -> None:
    script = Script.begun().block(0, "tool_use", id="toolu_1", name="go", **start)
    assert script.json(0, "").stop(0).end().parse().released[0].value() == {}
    script = Script.begun().block(0, "tool_use", id="toolu_1", name="go", **start)
    assert script.json(0, '{"a":1}').stop(0).end().parse().released[0].value() == {"a": 1}


def test_a_call_whose_arguments_were_never_told_is_incomplete() -> None:
    response = Script.begun().block(0, "tool_use", id="toolu_1", name="go").stop(0).end().parse()
    assert states(response) == [("toolu_1", "void", "incomplete")]
    assert codes(response) == ["cut_call_in_completed_response"]
    block = {"type": "tool_use", "id": "toolu_1", "name": "go"}
    whole = Script.begun(content=[block], stop_reason="tool_use").add("message_stop").parse()
    assert states(whole) == [("toolu_1", "void", "incomplete")]


@pytest.mark.parametrize("pieces", [(), ("",), (" ",)])
def test_the_start_s_input_counts_where_no_piece_came(pieces: tuple[str, ...]) -> None:
    response = Script.begun().tool(0, input={"n": 1}).json(0, *pieces).stop(0).end().parse()
    (call,) = response.released
    assert (call.arguments.strip(), call.value(), call.flags) == ('{"n": 1}', {"n": 1}, ())


def test_the_start_s_input_keeps_its_digits() -> None:
    block = '{"type":"tool_use","id":"t","name":"go","input":{"n":1.10,"big":123456789012345678901234567890}}'
    start = f'data: {{"type":"content_block_start","index":0,"content_block":{block}}}\n\n'
    response = parse(Script.begun().data() + start.encode() + Script().stop(0).end().data())
    assert response.released[0].arguments == '{"n":1.10,"big":123456789012345678901234567890}'
    assert response.released[0].value()["big"] == 123456789012345678901234567890


def test_an_input_that_is_a_string_is_noted() -> None:
    response = Script.begun().tool(0, input='{"n":1}').stop(0).end().parse()
    assert response.released[0].value() == {"n": 1}
    assert codes(response) == ["input_not_object"]
    assert states(Script.begun().tool(0, input='{"n":').stop(0).end().parse()) == [
        ("toolu_1", "void", "incomplete")
    ]
    assert states(Script.begun().tool(0, input=[1]).stop(0).end().parse()) == [
        ("toolu_1", "void", "malformed")
    ]


def test_input_given_both_ways() -> None:
    same = (
        Script.begun().tool(0, input={"a": 1, "b": [2]}).json(0, '{"b":[2],', '"a":1}').stop(0).end().parse()
    )
    assert same.released[0].arguments == '{"b":[2],"a":1}'
    for other in ({"a": 2}, {"a": True}, {"a": 1, "b": 1}, "{", [1]):
        response = Script.begun().tool(0, input=other).json(0, '{"a":1}').stop(0).end().parse()
        assert (response.status, states(response)) == ("conflict", CONFLICT)
        assert "arguments_differ" in codes(response)


def test_null_as_a_piece_is_an_empty_one() -> None:
    script = Script.begun().tool(0).delta(0, "input_json_delta", partial_json=None).json(0, '{"a":1}')
    assert states(script.stop(0).end().parse()) == RELEASED


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a":1', "incomplete"),
        ('{"a":1}}', "malformed"),
        ('{"a":1}{"a":1}', "malformed"),
        ("[1]", "malformed"),
        ("null", "malformed"),
        ('{"a":NaN}', "malformed"),
        ('{"a":1,"a":2}', "duplicate_key"),
    ],
)
def test_arguments_that_are_not_one_object(text: str, problem: str) -> None:
    response = Script.begun().call(0, text).call(1, call_id="toolu_2").end().parse()
    assert states(response) == [("toolu_1", "void", problem), ("toolu_2", "released", None)]
    assert response.calls[0].arguments == text
    cut = ["cut_call_in_completed_response"] if problem == "incomplete" else [f"call_{problem}"]
    assert codes(response) == cut


def test_an_escape_and_a_character_cut_between_pieces() -> None:
    halves = (
        rb'{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"%s"}}'
    )
    pieces = [rb"{\"a\":\"\\u00", rb"fc \ud83d", rb"\ude00\"}"]
    middle = b"".join(b"data: " + halves % piece + b"\n\n" for piece in pieces)
    response = parse(Script.begun().tool(0).data() + middle + Script().stop(0).end().data())
    assert response.released[0].value() == {"a": "ü \U0001f600"}


def test_blocks_may_interleave() -> None:
    script = (
        Script.begun()
        .tool(0)
        .tool(1, "toolu_2")
        .json(0, '{"a":')
        .json(1, '{"b":')
        .json(0, "1}")
        .json(1, "2}")
    )
    response = script.stop(1).stop(0).end().parse()
    assert [(call.call_id, call.value()) for call in response.released] == [
        ("toolu_1", {"a": 1}),
        ("toolu_2", {"b": 2}),
    ]


# -- identity ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("call_id", [None, ""])
def test_a_call_needs_an_id(call_id: str | None) -> None:
    script = Script.begun().tool(0, id=call_id).stop(0).end()
    assert states(script.parse()) == [(None, "void", "no_call_id")]
    (call,) = script.parse(ids="generate").released
    assert call.call_id is not None
    assert call.call_id.startswith("tg_")


def test_a_call_needs_a_name() -> None:
    assert states(Script.begun().tool(0, name="").stop(0).end().parse()) == [("toolu_1", "void", "no_name")]


def test_an_id_is_used_once() -> None:
    twice = Script.begun().call(0).call(1).end().parse()
    assert states(twice) == [*RELEASED, ("toolu_1", "void", "repeated")]
    other = Script.begun().call(0).call(1, "{}").end().parse()
    assert (other.status, states(other)) == ("conflict", CONFLICT * 2)


def test_a_program_s_call_is_the_client_s() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    assert states(Script.begun().call(0, caller=caller).end().parse()) == RELEASED


def test_a_message_that_comes_whole_in_its_start() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "go", "input": {"a": 1}}
    text = {"type": "text", "text": "Now."}
    script = Script.begun(content=[text, block], stop_reason="tool_use").add("message_stop")
    response = script.parse()
    assert (response.status, response.reason, response.text) == ("completed", "tool_use", "Now.")
    assert states(response) == RELEASED
    assert response.calls[0].index == 1
    again = Script.begun(content=[block]).end().parse()
    assert states(again) == RELEASED


def test_a_stop_reason_in_the_start_says_nothing_of_what_follows() -> None:
    assert Script.begun(stop_reason="tool_use").call(0).add("message_stop").parse().status == "failed"
    block = {"type": "tool_use", "id": "toolu_1", "name": "go", "input": {}}
    script = Script.begun(content=[block], stop_reason="tool_use").call(1, call_id="toolu_2")
    response = script.add("message_stop").parse()
    assert (response.status, response.released) == ("failed", ())


def test_auto_and_the_class_know_the_protocol() -> None:
    for event in good().events:
        assert AnthropicMessages.recognises(trigate.ServerSentEvent(), event)
    others: list[Event] = [{"type": "response.created"}, {"type": ["message_start"]}, {"choices": []}, {}]
    for other in others:
        assert not AnthropicMessages.recognises(trigate.ServerSentEvent(), other)
    found = trigate.parse(one(PING) + good().data())
    assert (found.protocol, states(found)) == (PROTOCOL, RELEASED)

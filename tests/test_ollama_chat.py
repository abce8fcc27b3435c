"""Each rule of docs/protocols/ollama-chat.md: what releases a call, what does not, and what is only noted."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from ollama_streams import (
    PARALLEL,
    PROTOCOL,
    Json,
    agree,
    as_text,
    call,
    codes,
    done,
    lines,
    parse,
    record,
    states,
)
from streams import every_two_cut
from trigate.protocols.ollama_chat import OllamaChat

RELEASED = [(None, "go", "released", None)]


# -- a good turn -------------------------------------------------------------------------------------


def test_a_good_turn() -> None:
    response = agree(*PARALLEL)
    assert (response.status, response.reason, response.clean_end) == ("completed", "stop", True)
    assert (response.text, response.model, response.id) == ("Checking both.", "m", None)
    assert states(response) == [
        ("call_A", "get_weather", "released", None),
        ("call_B", "get_time", "released", None),
    ]
    assert [one.value() for one in response.released] == [{"city": "Zürich"}, {"tz": "UTC"}]
    assert response.usage == trigate.Usage(
        20, 30, raw={"total_duration": 5, "prompt_eval_count": 20, "eval_count": 30}
    )
    assert response.anomalies == ()


def test_every_cut_in_two_is_equal() -> None:
    data = lines(*PARALLEL[2:])
    whole = parse(data)
    assert len(whole.released) == 2
    for chunks in every_two_cut(data):
        assert trigate.parse(chunks, PROTOCOL) == whole


def test_items_in_stream_order() -> None:
    parser = trigate.ResponseParser(PROTOCOL)
    items = parser.feed(lines(*PARALLEL))
    one_call = ["ToolCallStarted", "ArgumentsDelta", "ToolCallDone"]
    assert [type(item).__name__ for item in items] == [
        "TextDelta",
        *one_call,
        *one_call,
        "UsageUpdate",
        "ResponseEnded",
    ]


def test_no_prefix_releases_anything() -> None:
    data = lines(*PARALLEL)
    for length in range(len(data)):
        response = parse(data[:length])
        assert (response.status, response.released) == ("truncated", ())


def test_thinking_is_reasoning() -> None:
    response = agree(record("", thinking="Hm, "), record("Yes", thinking="so."), done())
    assert (response.reasoning, response.text) == ("Hm, so.", "Yes")
    assert response.to_message() == {"role": "assistant", "content": "Yes", "thinking": "Hm, so."}


def test_generate_has_its_text_elsewhere() -> None:
    head = {"model": "m", "done": False}
    last = {"model": "m", "response": "", "done": True, "done_reason": "stop", "context": [1, 2]}
    response = agree(head | {"response": "O"}, head | {"response": "", "thinking": "T"}, last)
    assert (response.status, response.text, response.reasoning) == ("completed", "O", "T")


# -- the frame ---------------------------------------------------------------------------------------


def test_lines_end_at_lf_alone() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\r"
    response = agree(record(text), record("", call("go", {"q": text})), done())
    assert response.text == text
    assert response.released[0].value() == {"q": text}


@pytest.mark.parametrize("eol", ["\r\n", "\n\n", "\r\n \n\n"])
def test_crlf_and_blank_lines(eol: str) -> None:
    plain = parse(lines(*PARALLEL))
    for data in (lines(*PARALLEL, eol=eol), b"\n \r\n" + lines(*PARALLEL, eol=eol)):
        response = parse(data)
        assert (response.status, response.text, response.usage) == (plain.status, plain.text, plain.usage)
        assert (response.calls, response.anomalies, response.clean_end) == (plain.calls, (), True)


@pytest.mark.parametrize("bad", ['{"message":', "data: {}", "{} {}", '{"done":false'])
def test_a_line_that_is_no_json_is_fatal(bad: str) -> None:
    response = agree(record("Hi", call()), bad, done())
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", "invalid_json", ())
    assert response.text == "Hi"


def test_broken_utf8_is_fatal() -> None:
    response = agree(record("", call()), b'{"message":{"content":"\xff"},"done":false}', done())
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", "invalid_utf8", ())


@pytest.mark.parametrize(
    "bad",
    [
        '{"message":[],"done":false}',
        '{"message":{"content":7},"done":false}',
        '{"message":{"tool_calls":{}},"done":false}',
        '{"message":{"tool_calls":["x"]},"done":false}',
        '{"message":{"tool_calls":[{"id":7}]},"done":false}',
        '{"message":{"tool_calls":[{"function":{"index":"0"}}]},"done":false}',
        '{"message":{},"done":"true"}',
        '{"message":{},"done":true,"done_reason":1}',
        "[1]",
    ],
)
def test_a_member_of_another_type_is_fatal(bad: str) -> None:
    response = agree(record("", call()), bad, done())
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", "wrong_shape", ())


def test_members_that_do_not_matter_may_be_anything() -> None:
    odd = record("Hi", call()) | {"model": 7, "created_at": [], "logprobs": {"x": None}}
    response = agree(odd, done(eval_count="many"))
    assert (response.status, response.model, states(response)) == ("completed", "m", RELEASED)
    assert response.usage is not None
    assert response.usage.output_tokens is None


# -- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['{ "b" : 1.50, "a":[ 12345678901234567890 ] }', '{"a":"\\u00fc\\/"}'])
def test_the_arguments_are_the_bytes_of_the_wire(text: str) -> None:
    response = agree(as_text(f'{{"name":"go","arguments":{text}}}'), done())
    assert response.released[0].arguments == text
    assert response.released[0].value() == json.loads(text)


@pytest.mark.parametrize("empty", [None, {}])
def test_no_arguments_are_an_empty_object(empty: Json | None) -> None:
    response = agree(record("", call("go", empty)), done())
    assert response.released[0].value() == {}
    assert response.to_message()["tool_calls"] == [{"function": {"name": "go", "arguments": {}}}]


def test_absent_and_null_arguments_are_flagged() -> None:
    for text in ('{"name":"go"}', '{"name":"go","arguments":null}'):
        assert agree(as_text(text), done()).released[0].flags == ("empty_arguments",)


@pytest.mark.parametrize("value", [[1], 7, True])
def test_arguments_that_are_no_object_are_malformed(value: Any) -> None:
    response = agree(record("", call("go", value)), done())
    assert states(response) == [(None, "go", "void", "malformed")]


def test_arguments_as_a_string_are_judged_like_any_text() -> None:
    response = agree(record("", call("go", '{"a":1}')), done())
    assert (states(response), codes(response)) == (RELEASED, ["arguments_not_object"])
    assert response.released[0].flags == ("arguments_not_object",)
    assert response.to_message()["tool_calls"][0]["function"]["arguments"] == {"a": 1}
    cut = agree(record("", call("go", '{"a":')), done())
    assert states(cut) == [(None, "go", "void", "incomplete")]
    assert codes(cut) == ["arguments_not_object", "cut_call_in_completed_response"]


def test_duplicate_keys() -> None:
    line = as_text('{"name":"go","arguments":{"a":1,"a":2}}')
    assert states(agree(line, done())) == [(None, "go", "void", "duplicate_key")]
    assert agree(line, done(), lenient={"duplicate_keys"}).released[0].value() == {"a": 2}


def test_lone_surrogates_are_kept() -> None:
    text = '{"message":{"content":"\\ud83d"},"done":false}'
    response = agree(text, as_text('{"name":"go","arguments":{"a":"\\udc00"}}'), done())
    assert response.text == "\ufffd"
    assert response.released[0].flags == ("lone_surrogate",)
    assert response.released[0].value() == {"a": "\udc00"}


def test_a_call_without_a_name() -> None:
    for one in (call(None), {"id": "call_A"}, {"function": None}):
        response = agree(record("", one), done())
        assert [(each.state, each.problem) for each in response.calls] == [("void", "no_name")]


# -- identity ----------------------------------------------------------------------------------------


def test_ids_are_not_needed_and_can_be_made() -> None:
    turn = [record("", call()), done()]
    assert agree(*turn).released[0].call_id is None
    made = agree(*turn, ids="generate").released[0].call_id
    assert made is not None
    assert made.startswith("tg_")
    assert agree(*turn, ids="generate").released[0].call_id == made


def test_calls_stand_in_the_order_of_their_index() -> None:
    response = agree(record("", call("b", index=1)), record("", call("a", index=0)), done())
    assert [one.name for one in response.released] == ["a", "b"]
    assert codes(response) == []


def test_a_gap_in_the_indices_is_noted() -> None:
    response = agree(record("", call("b", index=1)), done())
    assert (states(response), codes(response)) == ([(None, "b", "released", None)], ["index_gap"])


def test_all_calls_at_index_0() -> None:
    """Older servers number every call of a stream 0."""
    calls = [call("go", {"a": number}, index=0) for number in (1, 2)]
    for turn in ([record("", *calls)], [record("", one) for one in calls]):
        response = agree(*turn, done())
        assert [one.value() for one in response.released] == [{"a": 1}, {"a": 2}]
        assert codes(response) == []


# -- the same call twice -----------------------------------------------------------------------------


@pytest.mark.parametrize("call_id", ["call_A", None])
@pytest.mark.parametrize("index", [0, None])
def test_calls_in_a_record_and_again_in_the_last(call_id: str | None, index: int | None) -> None:
    first = call("go", {"a": 1, "b": 2}, call_id=call_id, index=index)
    again = call("go", {"b": 2, "a": 1}, call_id=call_id, index=index)
    response = agree(record("", first), done("stop", again))
    assert states(response) == [(call_id, "go", "released", None)]
    assert codes(response) == ["repeated_call"]
    assert response.released[0].arguments == '{"a": 1, "b": 2}'


def test_a_call_that_loses_its_id_on_the_way() -> None:
    response = agree(record("", call(call_id="call_A", index=0)), done("stop", call(index=0)))
    assert states(response) == [("call_A", "go", "released", None)]


def test_calls_in_the_last_record_alone() -> None:
    response = agree(record("Hi"), done("stop", call("a", index=0), call("b", index=1)))
    assert [one.name for one in response.released] == ["a", "b"]
    assert response.anomalies == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (call(call_id="call_A", index=0), call(call_id="call_B", index=0)),
        (call(index=0), call(index=1)),
        (call("a"), call("b")),
        (call("go", {"a": 1}), call("go", {"a": 1.0})),
        (call("go", {"a": 1}), call("go", {"a": True})),
    ],
)
def test_what_tells_two_calls_apart(one: Json, other: Json) -> None:
    assert len(agree(record("", one), record("", other), done()).released) == 2


def test_equal_calls_of_one_list_are_two() -> None:
    """Without ids and indices only their places tell them apart; told again, they are still two."""
    twice = [call("roll", {}), call("roll", {})]
    response = agree(record("", *twice), done("stop", *twice))
    assert len(response.released) == 2
    assert codes(response) == ["repeated_call", "repeated_call"]


def test_an_equal_call_of_a_later_record_is_not_run_twice() -> None:
    """It may be a second call, but nothing says so."""
    response = agree(record("", call("roll", {})), record("", call("roll", {})), done())
    assert (len(response.released), codes(response)) == (1, ["repeated_call"])


@pytest.mark.parametrize("other", [call("go", {"a": 2}, call_id="A"), call("no", call_id="A")])
def test_one_id_for_two_calls_is_a_conflict(other: Json) -> None:
    response = agree(record("", call(call_id="A")), done("stop", other))
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["call_id_reused"]


# -- the end -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "status", "problem"),
    [
        ("stop", "completed", None),
        ("length", "incomplete", "response_not_completed"),
        ("load", "completed", "not_requested"),
        ("unload", "completed", "not_requested"),
        ("aborted", "failed", "response_not_completed"),
    ],
)
def test_reasons(reason: str, status: str, problem: str | None) -> None:
    response = agree(record("Hi", call()), done(reason))
    assert (response.status, response.reason, response.text) == (status, reason, "Hi")
    assert [one.problem for one in response.calls] == [problem]
    assert len(response.released) == (1 if problem is None else 0)
    if status == "failed":
        assert response.error is not None
        assert (response.error.layer, response.error.type, response.error.code) == (
            "provider",
            reason,
            reason,
        )


@pytest.mark.parametrize("reason", ["stop", "load", "unload"])
def test_ends_without_calls(reason: str) -> None:
    response = agree(record("Hi"), done(reason))
    assert (response.status, response.reason, response.error) == ("completed", reason, None)


@pytest.mark.parametrize("reason", [None, ""])
def test_no_reason_is_a_failure(reason: str | None) -> None:
    response = agree(record("Hi", call()), done(reason))
    assert response.error is not None
    assert (response.status, response.reason, response.released) == ("failed", None, ())
    assert (response.error.layer, response.error.code) == ("structure", "missing_done_reason")


def test_without_a_last_record() -> None:
    data = lines(record("Hi", call()))
    for tail in (b"", lines(done())[:-1], lines(done())[:20]):
        response = parse(data + tail)
        assert (response.status, response.reason, response.released) == ("truncated", None, ())
        assert (response.text, response.clean_end) == ("Hi", False)


def test_a_last_record_without_its_lf_counts_for_the_lenient() -> None:
    data = lines(record("", call())) + lines(done())[:-1]
    response = parse(data, lenient={"unterminated_last_event"})
    assert (response.status, states(response)) == ("completed", RELEASED)
    assert codes(response) == ["unterminated_last_event"]


def test_records_after_the_last_mean_nothing() -> None:
    turn = [record("Hi", call()), done()]
    response = agree(*turn, record("more", call("no")), {"error": "late"}, "broken")
    assert (response.status, response.text, states(response)) == ("completed", "Hi", RELEASED)
    assert codes(response) == ["event_after_end"]


def test_tokens_without_content() -> None:
    assert codes(agree(done(eval_count=9))) == ["usage_without_content"]
    assert codes(agree(record("Hi"), done(eval_count=9))) == []
    assert codes(agree(done(prompt_eval_count=9))) == []


def test_a_cached_prompt_is_not_counted() -> None:
    usage = agree(record("Hi"), done(eval_count=3)).usage
    assert usage == trigate.Usage(None, 3, raw={"eval_count": 3})
    assert agree(record("Hi"), done()).usage is None


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ["model runner stopped", {"message": "model runner stopped"}])
@pytest.mark.parametrize("lf", [b"\n", b""])
def test_an_error_record(error: Any, lf: bytes) -> None:
    data = lines(record("Hi", call())) + json.dumps({"error": error}).encode() + lf
    response = parse(data)
    for chunks in every_two_cut(data):
        assert trigate.parse(chunks, PROTOCOL) == response
    assert response.error is not None
    assert (response.status, response.text, response.released) == ("failed", "Hi", ())
    assert (response.error.layer, response.error.message) == ("provider", "model runner stopped")


def test_an_error_alone() -> None:
    for body in (b'{"error":"model not found"}', b'{"error":"model not found"}\n'):
        response = parse(body)
        assert response.error is not None
        assert (response.status, response.error.message) == ("failed", "model not found")


def test_an_unknown_record() -> None:
    turn = [record("", call()), {"status": "pulling manifest"}, done()]
    response = agree(*turn)
    assert (response.status, states(response), codes(response)) == ("completed", RELEASED, ["unknown_type"])
    assert agree(*turn, strict=True).status == "failed"
    parser = trigate.ResponseParser(PROTOCOL)
    others = [item for item in parser.feed(lines(*turn)) if isinstance(item, trigate.OtherEvent)]
    assert [json.loads(item.data) for item in others] == [{"status": "pulling manifest"}]


def test_images_are_shown() -> None:
    parser = trigate.ResponseParser(PROTOCOL)
    items = parser.feed(lines(record("", images=["aGk="]), done()))
    assert [item.type for item in items if isinstance(item, trigate.OtherEvent)] == ["images"]


# -- limits and policies -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (trigate.Limits(max_calls=1), "too_many_calls"),
        (trigate.Limits(max_arguments_bytes=3), "arguments_too_large"),
        (trigate.Limits(max_response_bytes=20), "response_too_large"),
        (trigate.Limits(max_depth=1), "depth_too_large"),
    ],
)
def test_limits(limits: trigate.Limits, code: str) -> None:
    response = agree(record("", call("a", {"a": {}}), call("b")), record("more"), done(), limits=limits)
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", code, ())


def test_release_on_call() -> None:
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    parser.feed(lines(record("", call(call_id="A"))))
    (early,) = parser.response.released
    assert parser.response.tool_result_message(early, "x")["tool_call_id"] == "A"
    parser.feed(lines(done("length", call(call_id="A"))))
    response = parser.finish()
    assert (response.status, response.released) == ("incomplete", (early,))
    assert "tool_calls" not in response.to_message()


# -- auto --------------------------------------------------------------------------------------------


def test_auto_knows_its_records() -> None:
    data = lines(*PARALLEL)
    assert trigate.parse(data) == parse(data)
    assert trigate.parse(data).protocol == PROTOCOL
    frame = trigate.ServerSentEvent()
    assert OllamaChat.recognises(frame, {"message": {}, "done": False})
    assert OllamaChat.recognises(frame, {"response": "x", "done": False})
    assert not OllamaChat.recognises(frame, {"message": "x"})
    assert not OllamaChat.recognises(frame, {"done": True})
    assert not OllamaChat.recognises(trigate.ServerSentEvent("x"), {"message": {}, "done": False})

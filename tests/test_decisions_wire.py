"""Decisions about the stream itself: its end, errors in all shapes, sentinels, comments, broken events.

One test per row of the decision table; the default first, then how to differ.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from streams import PROTOCOL, Framing, Script, bytewise, codes, function_item, run, verdict

CALL = '{"a":1}'


def good() -> Script:
    return Script().created().call(CALL)


def parse(data: bytes, **options: Any) -> trigate.Response:
    """Whole and byte by byte: the cut is not an input."""
    whole = trigate.parse(data, PROTOCOL, **options)
    assert trigate.parse(bytewise(data), PROTOCOL, **options) == whole
    return whole


def fault(response: trigate.Response) -> tuple[str, str, str | int, int | None]:
    assert response.error is not None
    return response.status, response.error.layer, response.error.code, response.error.offset


# -- the last event ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", [b"", b"\n"])
def test_last_event_without_its_blank_line(tail: bytes) -> None:
    data = good().end().data().rstrip(b"\n") + tail
    response = parse(data)
    code = "truncated_in_event" if tail else "truncated_in_line"
    assert fault(response) == ("truncated", "transport", code, len(data))
    assert response.released == ()
    lenient = parse(data, lenient={"unterminated_last_event"})
    assert lenient.status == "completed"
    assert verdict(lenient) == [("call_1", "released", None)]
    assert codes(lenient) == ["unterminated_last_event"]


def test_leniency_for_the_last_event_makes_no_terminal_event_of_another_one() -> None:
    data = good().data().rstrip(b"\n")
    response = parse(data, lenient={"unterminated_last_event"})
    assert response.status == "truncated"
    assert response.released == ()


def test_text_without_a_terminal_event_is_truncated() -> None:
    response = parse(Script().created().message("All done.").data())
    assert fault(response)[:3] == ("truncated", "transport", "truncated_before_terminal")
    assert response.text == "All done."


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b": hello\n\n", b"\xef\xbb\xbf", b"data\n\n", b"retry: 5\n\n"]
)
def test_a_stream_of_nothing(data: bytes) -> None:
    assert fault(parse(data)) == ("truncated", "transport", "truncated_before_terminal", len(data))


# -- sentinel, comments, keep-alives, BOM ------------------------------------------------------------


@pytest.mark.parametrize(
    "end", [b"data: [DONE]\n\n", b"data:[DONE]\n\n", b"data:  [DONE] \n\n", b": bye\n\n", b"\n"]
)
def test_what_may_follow_the_terminal_event(end: bytes) -> None:
    response = parse(good().end().data() + end)
    assert response.status == "completed"
    assert response.clean_end
    assert codes(response) == []


def test_the_sentinel_alone_ends_nothing_well() -> None:
    data = good().data() + b"data: [DONE]\n\n"
    assert fault(parse(data)) == ("truncated", "transport", "truncated_before_terminal", len(data))


def test_nothing_is_read_after_the_sentinel() -> None:
    data = good().data() + b"data: [DONE]\n\n" + Script(next_number=5).end(output=[]).data()
    response = parse(data)
    assert response.status == "truncated"
    assert response.released == ()
    assert codes(response) == ["event_after_end"]


def test_comments_and_keepalives_change_nothing() -> None:
    plain = good().end().parse()
    script = Script().add("keepalive").created().add("keepalive").call(CALL).add("keepalive").end()
    data = script.data(Framing(between=b": OPENROUTER PROCESSING\n\n:\r\n", eol=b"\r\n"))
    response = parse(data)
    assert response.calls == plain.calls
    assert codes(response) == []


def test_a_keepalive_counts_in_the_numbers() -> None:
    script = Script().created()
    script.add("keepalive", sequence_number=1).skip()
    assert codes(parse(script.call(CALL).end().data())) == []


def test_a_bom_is_not_data() -> None:
    assert parse(good().end().data(Framing(bom=True))).status == "completed"


def test_events_without_names_and_with_other_names() -> None:
    """The JSON's own type is the authority; `event:` may be missing or say something else."""
    assert parse(good().end().data(Framing(names=False))).released
    renamed = good().end().data().replace(b"event: response.completed", b"event: message.stop")
    assert parse(renamed).released


def test_an_event_name_stands_in_for_a_missing_type() -> None:
    data = good().end().data().replace(b'"type":"response.completed",', b"")
    assert parse(data).status == "completed"


# -- errors of the provider --------------------------------------------------------------------------

ERRORS: list[dict[str, Any]] = [
    {
        "type": "error",
        "error": {"type": "server_error", "code": "overloaded", "message": "busy", "param": None},
    },
    {"type": "error", "code": "overloaded", "message": "busy", "param": None},
    {"error": {"type": "server_error", "code": "overloaded", "message": "busy"}},
]


@pytest.mark.parametrize("value", ERRORS)
@pytest.mark.parametrize("before", [Script().created(), good()])
def test_an_error_event_in_each_shape(value: dict[str, Any], before: Script) -> None:
    start = before.data()
    response = parse(start + b"data: " + json.dumps(value).encode() + b"\n\n")
    assert fault(response) == ("failed", "provider", "overloaded", len(start))
    assert response.error is not None
    assert response.error.message == "busy"
    assert response.error.raw == value
    assert response.released == ()
    assert {call.problem for call in response.calls} <= {"response_not_completed"}
    assert response.clean_end


def test_error_then_failed_is_one_failure() -> None:
    script = good().add("error", **ERRORS[1])
    script.end("response.failed", error={"code": "other", "message": "later"})
    response = parse(script.data())
    assert fault(response)[:3] == ("failed", "provider", "overloaded")
    assert codes(response) == []


def test_error_after_completed_is_reported_and_changes_nothing() -> None:
    for event in (
        b'data: {"type":"error","message":"late"}\n\n',
        b"event: error\ndata: late\n\n",
        b"error: late\n\n",
    ):
        response = parse(good().end().data() + event)
        assert response.status == "completed"
        assert codes(response) == ["event_after_end"]


def test_an_error_event_is_never_dropped_for_its_number() -> None:
    response = parse(good().add("error", sequence_number=0, message="busy").data())
    assert response.status == "failed"
    assert codes(response) == ["repeated_event"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (b"event: error\ndata: upstream timed out\n\n", "upstream timed out"),
        (b'error: {"code":500,"message":"boom"}\n\n', "boom"),
        (b"error: boom\n\n", "boom"),
        (b'data: {"error":"boom"}\n\n', "boom"),
        (b'event: error\ndata: {"detail":"boom"}\n\n', "boom"),
    ],
)
def test_errors_in_other_people_s_shapes(event: bytes, message: str) -> None:
    start = good().data()
    response = parse(start + event)
    assert fault(response)[:2] == ("failed", "provider")
    assert response.error is not None
    assert (response.error.message, response.error.offset) == (message, len(start))


def test_failed_keeps_the_provider_s_words() -> None:
    response = parse(
        good().end("response.failed", error={"code": "rate_limit_exceeded", "message": "slow"}).data()
    )
    assert response.reason == "rate_limit_exceeded"
    assert response.error is not None
    assert (response.error.layer, response.error.code, response.error.message) == (
        "provider",
        "rate_limit_exceeded",
        "slow",
    )


def test_failed_without_an_error_object() -> None:
    response = parse(good().end("response.failed", error=None).data())
    assert fault(response)[:3] == ("failed", "provider", "failed")


# -- bodies that are no stream -----------------------------------------------------------------------


def test_a_json_error_body() -> None:
    body = {"error": {"message": "no key", "type": "invalid_request_error", "code": "invalid_api_key"}}
    for text in (json.dumps(body), json.dumps(body, indent=2), "\n " + json.dumps(body)):
        response = parse(text.encode())
        assert fault(response)[:3] == ("failed", "provider", "invalid_api_key")
        assert response.reason is None


@pytest.mark.parametrize("body", [b"<html><body>502 Bad Gateway</body></html>", b'{"id":"resp_1"}', b"[1]"])
def test_a_body_that_is_no_error_either(body: bytes) -> None:
    response = parse(body)
    assert fault(response) == ("failed", "transport", "not_a_stream", 0)
    assert response.error is not None
    assert body[:10].decode() in response.error.message


def test_a_truncated_json_body() -> None:
    body = b'{"error": {"message": "no'
    assert fault(parse(body)) == ("truncated", "transport", "truncated_in_body", len(body))


def test_a_body_past_its_limit() -> None:
    body = b'{"error": {"message": "' + b"x" * 100 + b'"}}'
    assert parse(body, limits=trigate.Limits(max_event_bytes=len(body))).status == "failed"
    response = parse(body, limits=trigate.Limits(max_event_bytes=len(body) - 1))
    assert fault(response)[:3] == ("failed", "limit", "event_too_large")
    assert response.error is not None
    assert response.error.limit == "max_event_bytes"


def test_a_drop_of_blanks_before_a_stream_is_nothing() -> None:
    assert parse(b"\r\n \n\t\n" + good().end().data()).status == "completed"


# -- events that are broken --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "at"),
    [(b'{"type" 1}', 8), (b'{"type":"x"', 11), (b'   {"a":tru}', 11), (b"{}x", 2), (b'{"a":"\x01"}', 6)],
)
def test_an_event_that_is_not_json_names_the_byte(broken: bytes, at: int) -> None:
    start = good().data()
    response = parse(start + b"data:" + broken + b"\n\n" + Script(next_number=5).end(output=[]).data())
    assert fault(response) == ("failed", "decode", "invalid_json", len(start) + len(b"data:") + at)
    assert response.released == ()


def test_broken_json_over_several_lines_names_the_event() -> None:
    start = Script().created().data()
    response = parse(start + b'data: {"a":1,\ndata: "b" 2}\n\n')
    assert fault(response) == ("failed", "decode", "invalid_json", len(start))


def test_json_over_several_data_lines_is_one_event() -> None:
    data = (
        good()
        .end()
        .data()
        .replace(b'"type":"response.completed",', b'"type":\ndata: "response.completed",\ndata:\n')
    )
    data = data.replace(b'data:\n"seq', b'data:\ndata:"seq')
    assert parse(data).status == "completed"


@pytest.mark.parametrize("value", [b"[1]", b"1", b'"x"', b"null", b'{"type":5}'])
def test_an_event_that_is_no_object(value: bytes) -> None:
    start = Script().created().data()
    response = parse(start + b"data: " + value + b"\n\n")
    assert fault(response) == ("failed", "structure", "wrong_shape", len(start))


WRONG_MEMBERS: list[dict[str, Any]] = [
    {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": 5},
    {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": {"a": 1}},
    {"type": "response.function_call_arguments.delta", "output_index": "0", "delta": "x"},
    {"type": "response.function_call_arguments.delta", "output_index": 1.5, "delta": "x"},
    {"type": "response.output_text.delta", "output_index": 0, "delta": ["x"]},
    {"type": "response.output_text.delta", "output_index": 0, "content_index": "0", "delta": "x"},
    {"type": "response.output_item.added", "output_index": 0, "item": None},
    {"type": "response.output_item.added", "output_index": 0, "item": "x"},
    {"type": "response.output_item.done", "output_index": True, "item": {"type": "message"}},
    {"type": "response.output_item.done", "output_index": 0, "item": {"type": 1}},
    {"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "content": "x"}},
    {"type": "response.output_item.done", "output_index": 0, "item": function_item("{}", call_id=7)},
    {"type": "response.completed", "response": "x"},
    {"type": "response.completed", "response": None},
    {"type": "response.completed", "response": {"status": 1}},
    {"type": "response.completed", "response": {"status": "completed", "output": {}}},
    {"type": "response.completed", "response": {"status": "completed", "output": [1]}},
    {"type": "response.created", "response": []},
]


@pytest.mark.parametrize("event", WRONG_MEMBERS, ids=json.dumps)
def test_members_of_the_wrong_type(event: dict[str, Any]) -> None:
    start = Script(numbered=False).created().call(CALL, index=3).data()
    end = Script(numbered=False).end(output=[]).data()
    response = parse(start + Framing().one(event) + end)
    assert fault(response) == ("failed", "structure", "wrong_shape", len(start))
    assert verdict(response) == [("call_1", "void", "response_not_completed")]


@pytest.mark.parametrize(
    "kind", ["response.output_item.added", "response.output_item.done", "response.completed"]
)
def test_the_member_that_an_event_is_about_is_missing(kind: str) -> None:
    start = good().data()
    response = parse(start + Framing().one({"type": kind, "output_index": 5}))
    assert fault(response)[:2] == ("failed", "structure")
    assert fault(response)[2] in ("missing_member", "missing_response")
    assert response.released == ()


@pytest.mark.parametrize("index", [-1, 10**40, 2**63])
def test_an_odd_output_index_is_only_a_key(index: int) -> None:
    response = parse(Script().created().call(CALL, index=index).end().data())
    assert verdict(response) == [("call_1", "released", None)]
    assert response.calls[0].index == index


@pytest.mark.parametrize("number", ["7", 1.0, True, None, [], {}])
def test_a_sequence_number_that_is_no_integer_is_not_counted(number: Any) -> None:
    script = Script(numbered=False).created().call(CALL).end()
    for event in script.events:
        event["sequence_number"] = number
    response = parse(script.data())
    assert response.status == "completed"
    assert codes(response) == []


def test_invalid_utf8() -> None:
    start = Script().created().data()
    data = start + b'data: {"type":"response.output_text.delta","delta":"\xff"}\n\n'
    response = parse(data)
    assert fault(response) == ("failed", "decode", "invalid_utf8", data.index(b"\xff"))
    text = Script().created().message("a?b").end().data().replace(b"?", b"\xff")
    lenient = parse(text, lenient={"utf8"})
    assert (lenient.status, lenient.text) == ("completed", "a\ufffdb")


def test_invalid_utf8_after_the_end_is_told() -> None:
    response = parse(good().end().data() + b"data: \xff\n\n")
    assert response.status == "completed"
    assert verdict(response) == [("call_1", "released", None)]
    assert codes(response) == ["fault_after_end"]
    assert not response.clean_end


# -- after the end, after a fault --------------------------------------------------------------------


def test_events_after_the_terminal_one() -> None:
    script = good().end().call('{"late":1}', index=1, call_id="call_2", item_id="fc_2").end(output=[])
    response = parse(script.data())
    assert response.status == "completed"
    assert verdict(response) == [("call_1", "released", None)]
    assert codes(response) == ["event_after_end"] * 5
    garbage = parse(good().end().data() + b"data: garbage\n\n")
    assert garbage.status == "completed"
    assert codes(garbage) == ["fault_after_end"]
    assert not garbage.clean_end


def test_after_a_fault_nothing_more_is_taken() -> None:
    start = Script().created().data() + b"data: {]\n\n"
    alone = parse(start)
    items, response = run([start + Script(next_number=1).call(CALL).end().data()])
    assert response == alone
    assert codes(response) == []
    assert isinstance(items[-1], trigate.ResponseEnded)


def test_an_unended_tail_after_the_end_is_no_clean_end() -> None:
    response = parse(good().end().data() + b"data: tail")
    assert response.status == "completed"
    assert not response.clean_end


# -- depth and size ----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [100, 500, 900, 990, 1000, 1010, 3000, 100_000])
@pytest.mark.parametrize(
    "shape",
    [
        '{"type":"error","message":%s}',
        '{"type":"response.created","response":{"id":"r","more":%s}}',
        '{"type":"response.new","more":%s}',
        '{"type":"response.output_item.done","output_index":0,"item":{"type":"shell_call","call_id":"c","action":{"a":%s}}}',
        '{"type":"response.output_item.done","output_index":0,"item":{"type":"novel","call_id":"c","action":{"a":%s}}}',
        '{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","caller":%s}}',
        '{"type":"response.completed","response":{"status":"completed","usage":%s}}',
        '{"type":"response.failed","response":{"status":"failed","error":%s}}',
        '{"type":"error","message":"\\ud800","more":%s}',
        '{"error":{"message":%s}}',
        "%s",
    ],
)
def test_no_depth_of_an_event_raises(shape: str, depth: int) -> None:
    text = shape % ("[" * depth + "]" * depth)
    for data in (f"data: {text}\n\n", text):
        response = trigate.parse(data.encode(), PROTOCOL)
        assert response.released == ()
        assert response.status in ("failed", "completed", "truncated", "conflict")


@pytest.mark.parametrize("member", ["error", "usage", "metadata", "incomplete_details"])
@pytest.mark.parametrize("kind", ["response.completed", "response.failed", "response.incomplete"])
def test_no_number_of_an_event_raises(kind: str, member: str) -> None:
    script = good().end(kind, **{member: {"code": "N", "message": "m", "reason": "r"}})
    response = trigate.parse(script.data().replace(b'"N"', b"9" * 5000), PROTOCOL)
    assert response.status in (kind.removeprefix("response."), "failed")
    assert len(response.released) == (1 if response.status == "completed" else 0)


def test_completed_without_a_status_is_noted() -> None:
    response = parse(good().end("response.completed", status=None).data())
    assert response.status == "completed"
    assert "missing_status" in [anomaly.code for anomaly in response.anomalies]


def test_completed_around_an_error_is_a_failure() -> None:
    response = parse(good().end("response.completed", error={"code": "server_error", "message": "m"}).data())
    assert (response.status, response.reason, response.released) == ("failed", "server_error", ())
    assert [anomaly.code for anomaly in response.anomalies] == ["status_differs"]

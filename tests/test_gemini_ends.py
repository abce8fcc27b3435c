"""How a Gemini response ends: finish reasons, blocks, errors in all their places, and what goes back."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from gemini_streams import GEMINI, agree, array, call, chunk, codes, parse, partial, sse, states, stop
from trigate.protocols.gemini import PROFILE, Gemini

BLOCKS = [
    "SAFETY",
    "RECITATION",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MODEL_ARMOR",
    "LANGUAGE",
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_OTHER",
    "IMAGE_RECITATION",
    "NO_IMAGE",
    "ESCALATION",
    "PUP_LIMITED_DISABLED",
]
FAILURES = [
    "MALFORMED_FUNCTION_CALL",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
    "MISSING_THOUGHT_SIGNATURE",
    "MALFORMED_RESPONSE",
    "OTHER",
    "FINISH_REASON_UNSPECIFIED",
]
GO = call("go", {"a": 1})
ERROR = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
PRETTY = (
    b'{\n  "error": {\n    "code": 503,\n    "message": "overloaded",\n    "status": "UNAVAILABLE"\n  }\n}'
)


# -- finish reasons ------------------------------------------------------------------------------------


def test_stop_with_and_without_calls() -> None:
    assert states(agree(sse([chunk(GO), stop()]))) == [("go", "released", None)]
    plain = agree(sse([chunk({"text": "x"}, finish="STOP")]))
    assert (plain.status, plain.reason, plain.calls, plain.error) == ("completed", "STOP", (), None)


@pytest.mark.parametrize("word", ["MAX_TOKENS", "CONTINUATION", *BLOCKS, "IMAGE_OF_TOMORROW"])
def test_cut_blocked_or_paused(word: str) -> None:
    open_call = call("write", willContinue=True)
    response = agree(sse([chunk(GO), chunk(open_call), stop(finish=word)]))
    assert (response.status, response.reason, response.error) == ("incomplete", word, None)
    assert states(response) == [("go", "void", "response_not_completed"), ("write", "void", "incomplete")]
    assert codes(response) == []


@pytest.mark.parametrize("word", [*FAILURES, "A_WORD_OF_TOMORROW"])
def test_failed(word: str) -> None:
    last = chunk(finish=word, finishMessage="Malformed function call: go(")
    response = agree(sse([chunk(GO), last]))
    assert (response.status, response.reason, response.released) == ("failed", word, ())
    error = response.error
    assert error is not None
    assert (error.layer, error.type, error.code) == ("provider", word, word)
    assert error.message == "Malformed function call: go("
    assert error.offset == len(sse([chunk(GO)]))
    assert parse(sse([chunk(GO), chunk(finish=word)])).status == "failed"


def test_the_profile_names_every_word() -> None:
    assert {*BLOCKS, *FAILURES, "MAX_TOKENS", "CONTINUATION"} == PROFILE.ends_otherwise.keys() - {
        "promptFeedback.blockReason"
    }
    assert Gemini.profile is PROFILE


@pytest.mark.parametrize(
    ("words", "status", "runs", "noted"),
    [
        (["STOP", "STOP"], "completed", True, []),
        (["STOP", "MAX_TOKENS"], "incomplete", False, ["reason_changed"]),
        (["STOP", "MALFORMED_FUNCTION_CALL"], "failed", False, ["reason_changed"]),
        (["FINISH_REASON_UNSPECIFIED", "STOP"], "completed", True, []),
        (["MAX_TOKENS", "STOP"], "completed", False, ["reason_changed", "call_not_requested"]),
        (["MALFORMED_FUNCTION_CALL", "STOP"], "completed", False, ["reason_changed", "call_not_requested"]),
    ],
)
def test_the_last_reason_counts(words: list[str], status: str, runs: bool, noted: list[str]) -> None:
    """But what was cut or malformed before the last word is not run."""
    response = agree(sse([chunk(GO, finish=words[0]), chunk({"text": "x"}, finish=words[1])]))
    assert (response.status, response.reason) == (status, words[-1])
    assert bool(response.released) is runs
    assert codes(response) == noted


def test_parts_after_a_reason_are_legal() -> None:
    response = agree(sse([chunk({"text": "a"}, finish="STOP"), chunk({"text": "b"}), chunk(GO), stop()]))
    assert (response.status, response.text, len(response.released)) == ("completed", "ab", 1)
    assert codes(response) == ["parts_after_finish"]
    usage = {"usageMetadata": {"totalTokenCount": 3}, "responseId": "r1"}
    assert codes(agree(sse([chunk(GO, finish="STOP"), usage, chunk()]))) == []


@pytest.mark.parametrize("last", [chunk(), {"usageMetadata": {"totalTokenCount": 3}}, chunk(finish="")])
def test_no_reason_is_a_lost_stream(last: dict[str, Any]) -> None:
    for data in (sse([chunk(GO), last]), array([chunk(GO), last])):
        response = agree(data)
        assert (response.status, response.reason, response.released) == ("truncated", None, ())
        assert states(response) == [("go", "void", "response_not_completed")]
        assert response.error is not None
        assert response.error.code == "truncated_before_terminal"


def test_a_cut_inside_of_a_streamed_call_is_named() -> None:
    response = agree(sse([chunk(call("write", willContinue=True))]))
    assert response.error is not None
    assert response.error.code == "truncated_in_arguments"


@pytest.mark.parametrize(
    "word",
    ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK", "NEW"],
)
def test_a_blocked_prompt(word: str) -> None:
    blocked = {"promptFeedback": {"blockReason": word, "safetyRatings": []}, "usageMetadata": {}}
    for data in (sse([blocked]), array([blocked])):
        for protocol in (GEMINI, "auto"):
            response = agree(data, protocol)
            assert (response.status, response.reason) == ("incomplete", word)
            assert response.protocol == GEMINI


def test_a_block_outweighs_candidates() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    for chunks in ([blocked, chunk(GO), stop()], [chunk(GO), stop(), blocked], [stop(GO) | blocked]):
        response = agree(sse(chunks))
        assert (response.status, response.reason, response.released) == ("incomplete", "SAFETY", ())


def test_feedback_without_a_block_says_nothing() -> None:
    ratings: dict[str, Any] = {"promptFeedback": {"safetyRatings": []}}
    assert agree(sse([ratings, chunk(GO), stop()])).status == "completed"
    assert agree(sse([ratings])).status == "truncated"


# -- errors --------------------------------------------------------------------------------------------


def is_overloaded(response: trigate.Response, offset: int | None) -> None:
    error = response.error
    assert error is not None
    assert (response.status, response.reason, response.released) == ("failed", None, ())
    assert (error.layer, error.type, error.code) == ("provider", "UNAVAILABLE", 503)
    assert (error.message, error.offset) == ("overloaded", offset)


def test_an_error_chunk() -> None:
    before = [chunk(GO, finish="STOP")]
    is_overloaded(agree(sse([*before, ERROR])), len(sse(before)))
    is_overloaded(agree(sse([ERROR])), 0)
    is_overloaded(agree(sse([*before, ERROR]) + b"data: x"), len(sse(before)))
    late = agree(sse([*before, ERROR, chunk(GO), stop()]))
    is_overloaded(late, len(sse(before)))
    assert codes(late) == ["event_after_end"]


def test_an_error_element_of_an_array() -> None:
    for chunks in ([ERROR], [chunk(GO, finish="STOP"), ERROR]):
        data = array(chunks)
        is_overloaded(agree(data), data.rindex(b'{\n  "error"'))


@pytest.mark.parametrize(
    "data", [b'event: error\ndata: {"code":503,"message":"m"}\n\n', b"event: error\ndata: m\n\n"]
)
def test_an_error_event(data: bytes) -> None:
    response = agree(sse([chunk(GO, finish="STOP"), data]))
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.layer, response.error.message) == ("provider", "m")


@pytest.mark.parametrize("empty", [None, {}, ""])
def test_an_error_that_is_none(empty: Any) -> None:
    assert agree(sse([chunk(GO) | {"error": empty}, stop()])).status == "completed"


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b"\r\n\r\n" + sse([stop()])])
@pytest.mark.parametrize("protocol", [GEMINI, "auto"])
def test_raw_json_between_events_is_an_error(end: bytes, protocol: str) -> None:
    """Old models end every chunk with STOP: without this, the error would be skipped as an SSE field."""
    before = sse([chunk(GO, finish="STOP")])
    for error in (PRETTY, PRETTY.replace(b"\n", b"\r\n")):
        is_overloaded(agree(before + error + end, protocol), len(before))


def test_raw_json_that_is_cut() -> None:
    before = sse([chunk(GO, finish="STOP")])
    for length in range(1, len(PRETTY)):
        response = parse(before + PRETTY[:length])
        assert (response.status, response.released) == ("truncated", ())


@pytest.mark.parametrize("text", [b'{"candidates":[]}', b"{oops", b'{"error":null}'])
def test_other_text_between_events_may_be_a_lost_chunk(text: bytes) -> None:
    before = sse([chunk(GO, finish="STOP")])
    response = agree(before + text + b"\n\n" + sse([stop()]))
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("structure", "stray_text")
    assert response.error.offset == len(before)


def test_raw_json_alone() -> None:
    for protocol in (GEMINI, "auto"):
        response = agree(PRETTY, protocol)
        assert response.status == "failed"
        assert response.error is not None
        assert response.error.code == 503


# -- usage and identity ----------------------------------------------------------------------------------


def test_usage_is_cumulative() -> None:
    first = {"promptTokenCount": 5, "candidatesTokenCount": 1, "totalTokenCount": 6}
    last = first | {"candidatesTokenCount": 7, "thoughtsTokenCount": 3, "cachedContentTokenCount": 2}
    last |= {"totalTokenCount": 15, "toolUsePromptTokenCount": 0}
    data = sse([chunk({"text": "x"}) | {"usageMetadata": first}, stop() | {"usageMetadata": last}])
    usage = agree(data).usage
    assert usage == trigate.Usage(5, 7, 15, 2, 3, last)
    cut = agree(data[:-4]).usage
    assert cut is not None
    assert cut.total_tokens == 6


@pytest.mark.parametrize("odd", ["1e999", '"\\ud800"'])
def test_usage_that_holds_what_msgspec_refuses(odd: str) -> None:
    """Also of chunks that go unread, whose counts are read late."""
    texts = [chunk({"text": text}) | {"usageMetadata": {"totalTokenCount": 9}} for text in "abcde"]
    details = f'"usageMetadata":{{"promptTokensDetails":[{{"x":{odd}}}],'.encode()
    data = sse([*texts, stop()]).replace(b'"usageMetadata":{', details)
    assert data.count(details) == len(texts)
    usage = agree(data).usage
    assert usage is not None
    assert usage.total_tokens == 9


def test_usage_after_the_end() -> None:
    response = agree(sse([chunk(GO, finish="STOP"), {"usageMetadata": {"totalTokenCount": 9}}]))
    assert response.status == "completed"
    assert response.usage is not None
    assert response.usage.total_tokens == 9
    items = trigate.ResponseParser(GEMINI).feed(sse([{"usageMetadata": {"totalTokenCount": 9}}]))
    assert [type(item) for item in items] == [trigate.UsageUpdate]


def test_tokens_without_content() -> None:
    empty = stop() | {"usageMetadata": {"candidatesTokenCount": 40}}
    assert codes(agree(sse([empty]))) == ["usage_without_content"]
    assert codes(agree(sse([chunk({"text": "x"}), empty]))) == []


def test_the_response_id_is_constant() -> None:
    other = chunk(GO) | {"responseId": "r2"}
    response = agree(sse([chunk({"text": "x"}), other, other, stop()]))
    assert (response.id, response.status) == ("r1", "completed")
    assert codes(response) == ["response_id_changed"]


# -- what goes back --------------------------------------------------------------------------------------


def test_the_message_keeps_every_part() -> None:
    parts: list[dict[str, Any]] = [
        {"text": "t", "thought": True},
        {"text": "a"},
        {"text": "b", "thoughtSignature": "c2ln=="},
        GO | {"thoughtSignature": "AY89a1/+"},
        {"text": "", "thoughtSignature": "last"},
    ]
    response = parse(sse([chunk(part) for part in parts] + [stop()]))
    assert response.to_message() == {"role": "model", "parts": [*parts, {"text": ""}]}


@pytest.mark.parametrize(
    ("word", "keeps"), [("STOP", True), ("CONTINUATION", True), ("SAFETY", False), ("", False)]
)
def test_calls_that_nothing_may_answer_do_not_go_back(word: str, keeps: bool) -> None:
    response = parse(sse([chunk({"text": "x"}), chunk(GO), chunk(finish=word)]))
    parts = [{"text": "x"}, GO] if keeps else [{"text": "x"}]
    assert response.to_message() == {"role": "model", "parts": parts}


def test_the_token_of_a_continuation_is_told() -> None:
    items = trigate.ResponseParser(GEMINI).feed(sse([chunk(finish="CONTINUATION", continuationToken="dG9r")]))
    assert [(item.type, item.data) for item in items if isinstance(item, trigate.OtherEvent)] == [
        ("continuationToken", '"dG9r"')
    ]


def test_answers() -> None:
    first, second = call("get_weather", {}, id="fA"), call("now")
    response = parse(sse([chunk(first, second), stop()]), ids="generate")
    assert response.tool_result_message(response.calls[0], {"c": 20}) == {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "fA", "name": "get_weather", "response": {"output": {"c": 20}}}}
        ],
    }
    assert response.calls[1].call_id is not None
    # The id was made here, so the provider cannot know it: the name and the order answer.
    assert response.tool_result_message(response.calls[1], "no clock", is_error=True) == {
        "role": "user",
        "parts": [{"functionResponse": {"name": "now", "response": {"error": "no clock"}}}],
    }
    with pytest.raises(TypeError, match="bytes"):
        response.tool_result_message(response.calls[0], b"x")


def test_the_id_of_a_streamed_call_is_known() -> None:
    parts = [call("write", willContinue=True, id="f1"), partial(("$.a", "numberValue", 1), more=False)]
    response = parse(sse([chunk(*parts), stop()]))
    answer = response.tool_result_message(response.released[0], "ok")
    assert answer["parts"][0]["functionResponse"]["id"] == "f1"


def test_a_call_without_a_name_cannot_be_answered() -> None:
    response = parse(sse([chunk(call(None, {"a": 1})), stop()]))
    with pytest.raises(ValueError, match="no name"):
        response.tool_result_message(response.calls[0], "x")


@pytest.mark.parametrize(
    ("value", "is_gemini"),
    [
        ({"candidates": []}, True),
        ({"promptFeedback": {}}, True),
        ({"usageMetadata": {}, "modelVersion": "m"}, True),
        ({"usageMetadata": {}}, False),
        ({"candidates": [], "type": "x"}, False),
        ({"choices": [], "candidates": []}, False),
        ({}, False),
    ],
)
def test_recognises(value: dict[str, Any], is_gemini: bool) -> None:
    assert Gemini.recognises(trigate.ServerSentEvent(), value) is is_gemini

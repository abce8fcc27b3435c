"""The rows of docs/protocols/gemini.md, one by one: parts, calls, ends, errors, and what goes back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

import trigate
from gemini_streams import (
    DONE,
    GEMINI,
    agree,
    array,
    call,
    chunk,
    codes,
    parse,
    sse,
    states,
    stop,
)

GO = call("go", {"a": 1})


# -- framing -------------------------------------------------------------------------------------------

EXAMPLE = [
    chunk({"text": "Checking "}),
    chunk({"text": "both."}),
    chunk(call("get_weather", {"city": "Zürich"}, id="fA") | {"thoughtSignature": "c2ln"}),
    chunk(call("get_time", {"tz": "UTC"}, id="fB")),
    {
        **stop(),
        "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 30, "totalTokenCount": 50},
    },
]


@pytest.mark.parametrize(
    "data",
    [
        sse(EXAMPLE, "\r\n"),
        sse(EXAMPLE, "\n"),
        array(EXAMPLE),
        array(EXAMPLE, ",\r\n"),
        array(EXAMPLE, "\n,\r\n\r\n"),
        array(EXAMPLE, ","),
    ],
)
@pytest.mark.parametrize("protocol", [GEMINI, "auto"])
def test_both_framings(data: bytes, protocol: str) -> None:
    response = agree(data, protocol)
    assert (response.protocol, response.status, response.reason) == (GEMINI, "completed", "STOP")
    assert (response.text, response.id, response.model) == ("Checking both.", "r1", "m")
    assert [(one.call_id, one.name, one.value()) for one in response.released] == [
        ("fA", "get_weather", {"city": "Zürich"}),
        ("fB", "get_time", {"tz": "UTC"}),
    ]
    assert response.usage is not None
    assert (response.usage.input_tokens, response.usage.output_tokens) == (20, 30)
    assert codes(response) == []
    assert response.clean_end


def test_an_array_without_its_bracket_is_truncated() -> None:
    data = array(EXAMPLE)
    for end in (data.rindex(b"]"), data.rindex(b"}"), data.rindex(b"{")):
        response = agree(data[:end])
        assert response.status == "truncated"
        assert response.released == ()


@pytest.mark.parametrize("data", [b"[]", b"[ ]\n"])
def test_an_empty_array_is_no_response(data: bytes) -> None:
    assert agree(data).status == "truncated"


def test_the_last_event_without_its_blank_line_is_none() -> None:
    data = sse([chunk(GO), stop()])
    response = agree(data[:-4])
    assert response.status == "truncated"
    assert response.error is not None
    assert response.error.code == "truncated_in_line"
    lenient = parse(data[:-4], lenient={"unterminated_last_event"})
    assert lenient.status == "completed"
    assert len(lenient.released) == 1


def test_a_sentinel_ends_nothing_and_hides_what_follows() -> None:
    assert agree(sse([chunk(GO), stop(), DONE])).status == "completed"
    assert agree(sse([chunk(GO), DONE])).status == "truncated"
    late = agree(sse([chunk(GO), stop(), DONE, chunk(call("late", {}))]))
    assert [one.name for one in late.released] == ["go"]
    assert codes(late) == ["event_after_end"]


def test_comments_names_and_empty_events_change_nothing() -> None:
    plain = [chunk(GO), stop()]
    noise = sse([b": keep-alive\n\n", plain[0], b"event: message\nid: 7\ndata:\n\n", b": x {\n", plain[1]])
    assert replace(agree(noise), decisions=()) == replace(parse(sse(plain)), decisions=())


# -- parts ---------------------------------------------------------------------------------------------


def test_text_and_thoughts_in_order() -> None:
    data = sse(
        [
            chunk({"text": "think ", "thought": True}),
            chunk({"text": "more", "thought": True, "thoughtSignature": "s"}, {"text": "An"}),
            chunk({"text": "swer"}, GO, {"text": "!"}),
            stop(),
        ]
    )
    response = agree(data)
    assert (response.reasoning, response.text) == ("think more", "Answer!")
    parser = trigate.ResponseParser(GEMINI)
    items = [
        item for item in parser.feed(data) if isinstance(item, trigate.TextDelta | trigate.ReasoningDelta)
    ]
    assert [(type(item), item.text, item.index) for item in items] == [
        (trigate.ReasoningDelta, "think more", 0),
        (trigate.TextDelta, "Answer", 0),
        (trigate.TextDelta, "!", 0),
    ]


def test_a_character_in_two_halves() -> None:
    data = b'data: {"candidates":[{"content":{"parts":[{"text":"\\ud83d"},{"text":"\\ude00"}]}}]}\n\n'
    data += b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n'
    assert agree(data).text == "\U0001f600"


def test_content_and_parts_may_be_missing() -> None:
    empty: list[Any] = [
        {"candidates": [{}]},
        {"candidates": [{"content": None, "index": None}]},
        {"candidates": [{"content": {}}]},
        {"candidates": [{"content": {"parts": None, "role": "model"}}]},
        {"candidates": []},
        {"candidates": None, "responseId": "r1"},
    ]
    response = agree(sse([*empty, chunk(GO), {"candidates": [{"finishReason": "STOP"}]}]))
    assert states(response) == [("go", "released", None)]
    assert codes(response) == []


def test_what_the_server_runs_is_not_for_the_client() -> None:
    parts: list[dict[str, Any]] = [
        {"executableCode": {"language": "PYTHON", "code": "1", "id": "x1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1", "id": "x1"}},
        {"toolCall": {"toolType": "GOOGLE_SEARCH", "args": {"q": 1}, "id": "t1"}, "thoughtSignature": "s"},
        {"toolResponse": {"toolType": "GOOGLE_SEARCH", "id": "t1"}},
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
        {"fileData": {"fileUri": "gs://x"}},
    ]
    response = agree(sse([chunk(*parts), stop()]))
    assert response.calls == ()
    assert [(one.type, one.id, one.name, one.status) for one in response.server_calls] == [
        ("executableCode", "x1", None, None),
        ("codeExecutionResult", "x1", None, "OUTCOME_OK"),
        ("toolCall", "t1", "GOOGLE_SEARCH", None),
        ("toolResponse", "t1", "GOOGLE_SEARCH", None),
    ]
    assert json.loads(response.server_calls[0].raw) == parts[0]["executableCode"]
    assert response.to_message()["parts"] == [*parts, {"text": ""}]
    assert codes(response) == []
    items = trigate.ResponseParser(GEMINI).feed(sse([chunk(*parts)]))
    assert [item.type for item in items if isinstance(item, trigate.OtherEvent)] == [
        next(iter(part)) for part in parts
    ]


def test_unknown_parts_are_kept() -> None:
    part = {"hologram": {"x": 1}}
    data = sse([chunk(part, GO), stop()])
    response = agree(data)
    assert codes(response) == ["unknown_type"]
    assert len(response.released) == 1
    assert response.to_message()["parts"][0] == part
    strict = parse(data, strict=True)
    assert (strict.status, strict.released) == ("failed", ())


def test_an_unknown_chunk_is_kept() -> None:
    response = agree(sse([chunk(GO), {"hologram": 1}, stop()]))
    assert (codes(response), len(response.released)) == (["unknown_type"], 1)


# -- calls ---------------------------------------------------------------------------------------------


def test_each_part_is_a_call_of_its_own() -> None:
    response = agree(sse([chunk(GO, GO), chunk(GO), stop()]))
    assert [(one.call_id, one.name, one.arguments, one.index) for one in response.released] == [
        (None, "go", '{"a":1}', index) for index in range(3)
    ]
    assert len({one.wire_key for one in response.calls}) == 3
    ids = [one.call_id for one in parse(sse([chunk(GO, GO), chunk(GO), stop()]), ids="generate").calls]
    assert len(set(ids)) == 3


def test_arguments_keep_the_wires_bytes() -> None:
    text = '{ "n": 1.0,  "big": 12345678901234567890, "é": "\\u00e9", "e": 1e2 }'
    data = sse(
        [b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"go","args":%s}}]}}]}\n\n']
    )
    response = agree(data % text.encode() + sse([stop()]))
    assert response.calls[0].arguments == text
    assert response.calls[0].flags == ()
    assert response.released[0].value()["big"] == 12345678901234567890


@pytest.mark.parametrize("part", [call("go"), call("go", {}), {"functionCall": {"name": "go", "args": None}}])
def test_no_arguments(part: dict[str, Any]) -> None:
    response = agree(sse([chunk(part, finish="STOP")]))
    assert response.released[0].value() == {}
    is_empty = part["functionCall"].get("args") is None
    assert response.calls[0].arguments == ("" if is_empty else "{}")
    assert response.calls[0].flags == (("empty_arguments",) if is_empty else ())


@pytest.mark.parametrize(
    ("args", "problem"),
    [("[1]", "malformed"), ('"{}"', "malformed"), ("1", "malformed"), ('{"a":1,"a":2}', "duplicate_key")],
)
def test_arguments_that_are_no_object(args: str, problem: str) -> None:
    body = (
        b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"go","args":%s}}]}}]}' % args.encode()
    )
    response = agree(sse([b"data: " + body + b"\n\n", stop()]))
    assert response.status == "completed"
    assert states(response) == [("go", "void", problem)]


def test_a_lone_surrogate_in_arguments_is_flagged() -> None:
    body = rb'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"go","args":{"a": "\ud83d"}}}]}}]}'
    response = agree(sse([b"data: " + body + b"\n\n", stop()]))
    assert response.calls[0].arguments == '{"a": "\\ud83d"}'
    assert (response.calls[0].state, response.calls[0].flags) == ("released", ("lone_surrogate",))


def test_ids_are_unique_where_there_are_any() -> None:
    first = call("go", {"a": 1}, id="f1")
    twice = agree(sse([chunk(first), chunk(first), stop()]))
    assert states(twice) == [("go", "released", None), ("go", "void", "repeated")]
    other = agree(sse([chunk(first), chunk(call("go", {"a": 2}, id="f1")), stop()]))
    assert (other.status, other.released) == ("conflict", ())


def test_a_call_without_a_name() -> None:
    response = agree(sse([chunk(call(None, {"a": 1}), GO), stop()]))
    assert states(response) == [("", "void", "no_name"), ("go", "released", None)]


def test_candidates_are_alternatives() -> None:
    data = sse(
        [
            {
                "candidates": [
                    *chunk({"text": "A"}, GO)["candidates"],
                    *chunk({"text": "B"}, GO, index=1)["candidates"],
                ]
            },
            chunk({"text": "a"}, finish="STOP"),
            chunk({"text": "b"}, finish="STOP", index=1),
        ]
    )
    for options in ({}, {"release_on": "call"}):
        response = agree(data, **options)
        assert (response.status, response.texts) == ("completed", ("Aa", "Bb"))
        assert states(response) == [("go", "released", None), ("go", "released", None)]
        assert [call.wire_key[0] for call in response.released] == [0, 1]
        assert response.to_message()["parts"] == [{"text": "A"}, GO, {"text": "a"}]


def test_candidates_have_ids_of_their_own() -> None:
    same = [chunk(call("go", {"a": at}, id="f1"), index=at, finish="STOP") for at in range(2)]
    response = agree(sse(same))
    values = [one.value() for one in response.released]
    assert (response.status, values) == ("completed", [{"a": 0}, {"a": 1}])


@pytest.mark.parametrize(
    ("word", "status"),
    [("MAX_TOKENS", "incomplete"), ("OTHER", "failed"), (None, "truncated"), ("STOP", "completed")],
)
def test_a_turn_is_as_good_as_its_worst_candidate(word: str | None, status: str) -> None:
    response = agree(sse([chunk(GO, finish="STOP"), chunk({"text": "B"}, index=1, finish=word)]))
    assert response.status == status
    assert len(response.released) == (status == "completed")


def test_a_candidate_twice_in_one_chunk() -> None:
    both = {"candidates": [*chunk(GO)["candidates"], *chunk({"text": "x"}, index=None)["candidates"]]}
    response = agree(sse([both, stop()]))
    assert (response.status, response.released) == ("conflict", ())


@pytest.mark.parametrize(("index", "is_good"), [(127, True), (128, False), (-1, False), (10**12, False)])
def test_candidates_are_bounded(index: int, is_good: bool) -> None:
    response = agree(sse([chunk({"text": "x"}, index=index, finish="STOP")]))
    assert response.status == ("completed" if is_good else "failed")
    if not is_good:
        assert response.error is not None
        assert response.error.code == "candidate_out_of_range"


@pytest.mark.parametrize(
    "part",
    [
        {"text": 1},
        {"thought": "yes", "text": "x"},
        {"functionCall": []},
        {"functionCall": {"name": 1}},
        {"functionCall": {"id": 1, "name": "go"}},
        {"functionCall": {"name": "go", "willContinue": "no"}},
        {"functionCall": {"name": "go", "partialArgs": {}}},
        {"functionCall": {"name": "go", "partialArgs": [1]}},
        {"functionCall": {"name": "go", "partialArgs": [{"jsonPath": "$.a", "stringValue": 1}]}},
        [],
        None,
    ],
)
def test_a_member_of_the_wrong_type_fails_the_response(part: Any) -> None:
    response = agree(sse([chunk(GO), chunk(part), stop()]))
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("structure", "wrong_shape")
    assert response.error.offset == len(sse([chunk(GO)]))


def test_broken_json_fails_the_response() -> None:
    response = agree(sse([chunk(GO), b'data: {"candidates":[{\n\n', stop()]))
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert response.error.code == "invalid_json"


def test_events_and_their_order() -> None:
    parser = trigate.ResponseParser(GEMINI)
    first = parser.feed(sse([chunk(GO)]))
    assert [type(item) for item in first] == [
        trigate.ToolCallStarted,
        trigate.ArgumentsDelta,
        trigate.ToolCallDone,
    ]
    assert parser.response.status == "in_progress"
    assert parser.response.released == ()
    last = parser.feed(sse([stop() | {"usageMetadata": {"totalTokenCount": 9}}]))
    assert [type(item) for item in last] == [trigate.UsageUpdate]
    assert parser.response.status == "in_progress"
    assert len(parser.finish().released) == 1


def test_released_early() -> None:
    data = sse([chunk(GO)])
    response = agree(data, release_on="call")
    assert response.status == "truncated"
    assert len(response.released) == 1


def test_what_a_response_keeps_is_bounded() -> None:
    data = sse([chunk({"hologram": "x" * 500}), chunk(GO), stop()])
    response = agree(data, limits=trigate.Limits(max_response_bytes=500))
    assert response.error is not None
    assert (response.status, response.error.limit, response.released) == ("failed", "max_response_bytes", ())


def test_calls_are_bounded() -> None:
    data = sse([chunk(GO, GO, GO), stop()])
    assert len(agree(data, limits=trigate.Limits(max_calls=3)).released) == 3
    response = agree(data, limits=trigate.Limits(max_calls=2))
    assert response.error is not None
    assert (response.status, response.error.limit, response.released) == ("failed", "max_calls", ())

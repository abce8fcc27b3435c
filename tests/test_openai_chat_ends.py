"""Chat completions, ends: finish words, sentinels, errors, choices, and what may come behind an end."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from openai_chat_streams import (
    DONE,
    PROTOCOL,
    call,
    chunk,
    codes,
    delta,
    finish,
    parse,
    piece,
    text,
    tools,
    usage,
    verdict,
    wire,
)
from trigate.protocols.openai_chat import NATIVE_ENDS, PROFILE

GO = ("call_1", "go", '{"n":1}', None)
CUT = ("call_1", "go", '{"n":1}', "incomplete")


def error_of(response: trigate.Response) -> tuple[str, str, str | int, str]:
    assert response.error is not None
    return response.error.layer, response.error.type, response.error.code, response.error.message


# -- finish words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["tool_calls", "function_call", "stop", "eos"])
def test_words_after_which_calls_run(word: str) -> None:
    response = parse(call(), finish(word), usage(), DONE)
    assert (response.status, response.reason, response.clean_end) == ("completed", word, True)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


@pytest.mark.parametrize("word", ["stop", "eos"])
def test_words_that_need_no_call(word: str) -> None:
    response = parse(text("hi"), finish(word), DONE)
    assert (response.status, response.reason, response.text) == ("completed", word, "hi")


@pytest.mark.parametrize("word", ["tool_calls", "function_call"])
def test_a_wish_to_run_what_is_not_there_is_a_failure(word: str) -> None:
    response = parse(text("hi"), finish(word), DONE)
    assert (response.status, response.reason) == ("failed", word)
    assert error_of(response)[:3] == ("structure", "structure", "no_calls")


@pytest.mark.parametrize("word", ["length", "content_filter"])
@pytest.mark.parametrize("arguments", ['{"n":1}', '{"n":'])
def test_a_cut_reply_proves_no_call(word: str, arguments: str) -> None:
    response = parse(call(arguments), finish(word), DONE)
    assert (response.status, response.reason, response.error) == ("incomplete", word, None)
    assert verdict(response) == [("call_1", "go", arguments, "incomplete")]


@pytest.mark.parametrize("word", ["error", "abort", "sensitive", "network_error", "never_heard_of", "STOP"])
def test_every_other_word_is_a_failure(word: str) -> None:
    response = parse(call(), finish(word), DONE)
    assert (response.status, response.reason, response.released) == ("failed", word, ())
    assert error_of(response)[:3] == ("provider", word, word)


def test_the_profile_is_what_the_code_does() -> None:
    for word in (*PROFILE.asks_to_run, *PROFILE.ends_well):
        assert parse(call(), finish(word), DONE).status == PROFILE.status_of(word) == "completed"
    for word, status in PROFILE.ends_otherwise.items():
        assert parse(call(), finish(word), DONE).status == status
    assert (PROFILE.closes_arguments, PROFILE.completes_call) == ((), ())


@pytest.mark.parametrize("end", [DONE, ""])
@pytest.mark.parametrize("word", [None, ""])
def test_a_choice_without_a_finish_is_lost(word: str | None, end: str) -> None:
    response = parse(text("hi"), call(), finish(word), end)
    assert (response.status, response.reason, response.released) == ("truncated", None, ())
    assert response.text == "hi"
    assert not response.clean_end
    assert error_of(response)[0] == "transport"


def test_a_sentinel_without_any_choice_is_lost() -> None:
    response = parse(DONE)
    assert response.status == "truncated"
    assert error_of(response)[2] == "no_finish_reason"


def test_the_error_of_a_lost_stream_says_where() -> None:
    response = parse(call(), DONE)
    assert response.error is not None
    assert response.error.offset == len(wire(call()))
    assert "choice 0" in response.error.message


@pytest.mark.parametrize(
    "done", ["data: [DONE]\n\n", "data:[DONE]\n\n", "data: [DONE] \r\n\r\n", "data:  [DONE]\r\r"]
)
def test_the_sentinel_in_all_its_spellings(done: str) -> None:
    response = parse(call(), finish(), done)
    assert (response.status, response.clean_end, response.anomalies) == ("completed", True, ())


def test_a_cut_call_in_a_completed_response_does_not_run() -> None:
    response = parse(call(call_id="a"), call('{"n":', call_id="b", index=1), finish(), DONE)
    assert response.status == "completed"
    assert verdict(response) == [("a", "go", '{"n":1}', None), ("b", "go", '{"n":', "incomplete")]
    assert codes(response) == ["cut_call_in_completed_response"]


# -- finish without a sentinel -----------------------------------------------------------------------


def test_a_finish_at_the_end_of_the_input_is_an_end_that_is_not_clean() -> None:
    response = parse(call(), finish())
    assert (response.status, response.reason, response.clean_end) == ("completed", "tool_calls", False)
    assert verdict(response) == [GO]
    assert codes(response) == ["missing_sentinel"]


@pytest.mark.parametrize("tail", ["data: [", "data: [DON", "data: [DONE]", "data: [DONE]\n", ": keep-ali"])
def test_a_cut_sentinel_or_comment_takes_nothing_back(tail: str) -> None:
    response = parse(call(), finish(), tail)
    assert (response.status, response.clean_end) == ("completed", False)
    assert verdict(response) == [GO]


@pytest.mark.parametrize(
    "tail",
    [
        "d",
        "data:",
        'data: {"err',
        'data: {"choices":[]}',
        "event: error\n",
        "event: error\ndata: [",
        "error: {",
    ],
)
def test_any_other_cut_event_may_be_an_error(tail: str) -> None:
    """So the calls do not run, although the finish was there."""
    response = parse(call(), finish(), tail)
    assert (response.status, response.released) == ("truncated", ())


def test_a_bad_finish_is_told_whatever_is_cut_behind_it() -> None:
    response = parse(call(), finish("length"), 'data: {"us')
    assert (response.status, response.reason, response.clean_end) == ("incomplete", "length", False)


def test_an_unterminated_error_is_told() -> None:
    response = parse(call(), finish(), 'data: {"error":{"message":"late","code":500}}')
    assert (response.status, response.reason, response.released) == ("failed", None, ())


def test_an_unterminated_last_finish_counts_only_if_asked() -> None:
    data = wire(call(), finish())[:-2]
    assert trigate.parse(data, PROTOCOL).status == "truncated"
    response = trigate.parse(data, PROTOCOL, lenient={"unterminated_last_event"})
    assert (response.status, codes(response)) == (
        "completed",
        ["unterminated_last_event", "missing_sentinel"],
    )


# -- a finish and what comes with it, or behind it ---------------------------------------------------


def test_a_delta_counts_before_the_finish_in_its_own_chunk() -> None:
    response = parse(call('{"n":'), tools(piece("1}", index=0), end="stop"), DONE)
    assert verdict(response) == [GO]


@pytest.mark.parametrize(
    "second", [finish(), delta(end="tool_calls", content="", role="assistant"), finish(None)]
)
def test_a_second_equal_finish_means_nothing(second: dict[str, Any]) -> None:
    response = parse(call(), finish(), second, second | {"usage": {"prompt_tokens": 1}}, DONE)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


@pytest.mark.parametrize(
    ("first", "second", "status", "reason"),
    [
        ("tool_calls", "length", "incomplete", "length"),
        ("length", "tool_calls", "incomplete", "length"),
        ("stop", "error", "failed", "error"),
        ("error", "stop", "failed", "error"),
        ("content_filter", "error", "failed", "error"),
        ("stop", "tool_calls", "completed", "stop"),
    ],
)
def test_of_two_finishes_the_worse_one_counts(first: str, second: str, status: str, reason: str) -> None:
    response = parse(call(), finish(first), finish(second), DONE)
    assert (response.status, response.reason) == (status, reason)
    assert bool(response.released) is (status == "completed")
    assert codes(response) == ["reason_changed"]


@pytest.mark.parametrize(
    "late",
    [
        text("x"),
        delta(refusal="x"),
        delta(content=[{"type": "text", "text": "x"}]),
        tools(piece("}", index=0)),
        tools(piece("{}", "at", id="b", index=1)),
        tools({"index": 0, "id": "call_1"}),
        delta(function_call={"name": "at", "arguments": "{}"}),
    ],
)
def test_content_behind_a_finish_is_a_conflict(late: dict[str, Any]) -> None:
    response = parse(call(), finish(), late, DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert verdict(response) == [("call_1", "go", '{"n":1}', "conflict")]
    assert set(codes(response)) == {"delta_after_close"}


@pytest.mark.parametrize(
    "empty",
    [
        text(""),
        delta(tool_calls=[]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": ""}}]),
        delta(content=None, refusal="", reasoning_content="", function_call={}),
        chunk({"index": 0, "content_filter_results": {}, "content_filter_offsets": {"check_offset": 1}}),
    ],
)
def test_empty_pieces_behind_a_finish_mean_nothing(empty: dict[str, Any]) -> None:
    response = parse(call(), finish(), empty, DONE)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


def test_reasoning_behind_a_finish_is_noted() -> None:
    response = parse(call(), finish(), delta(reasoning_content="hm"), DONE)
    assert verdict(response) == [GO]
    assert (response.reasoning, codes(response)) == ("hm", ["reasoning_after_finish"])


@pytest.mark.parametrize(
    "after", [text("x"), call("{}", "at", "b", 1), 'data: {"error":"x"}\n\n', "data: {\n\n"]
)
def test_nothing_behind_the_sentinel_counts(after: Any) -> None:
    response = parse(call(), finish(), DONE, after, DONE)
    assert (response.status, response.text) == ("completed", "")
    assert verdict(response) == [GO]
    assert codes(response) == ["event_after_end"]


def test_early_release_is_not_taken_back_in_silence() -> None:
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    parser.feed(wire(call(), finish(), text("more"), DONE))
    response = parser.finish()
    assert response.status == "conflict"
    assert [each.call_id for each in response.released] == ["call_1"]


# -- laundered finishes ------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["stop", "tool_calls"])
@pytest.mark.parametrize(
    "native", ["length", "max_tokens", "MAX_TOKENS", "error", "MALFORMED_FUNCTION_CALL", "refusal"]
)
def test_the_native_word_shows_a_laundered_finish(word: str, native: str) -> None:
    response = parse(call(), finish(word, native_finish_reason=native), DONE)
    assert (response.status, response.reason) == (NATIVE_ENDS[native.lower()], native)
    assert response.released == ()
    assert codes(response) == ["finish_laundered"]


@pytest.mark.parametrize("native", ["stop", "tool_use", "end_turn", "STOP", "completed", None, "", 7])
def test_a_good_or_unknown_native_word_changes_nothing(native: Any) -> None:
    response = parse(call(), finish(native_finish_reason=native), DONE)
    assert (verdict(response), response.anomalies) == ([GO], ())


def test_a_native_word_may_come_before_or_behind_the_finish() -> None:
    before = finish(None, native_finish_reason="length")
    behind = finish("stop", native_finish_reason="length")
    for chunks in ([before, finish("stop", native_finish_reason="stop")], [finish("stop"), behind]):
        response = parse(call(), *chunks, DONE)
        assert (response.status, response.reason, response.released) == ("incomplete", "length", ())


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ('data: {"error":{"message":"m","type":"t","code":503}}', ("t", 503, "m")),
        ('data: {"error":{"message":"m","type":"t","code":"c"}}', ("t", "c", "m")),
        ('data: {"error":{"message":"m","code":400},"choices":[],"id":"x"}', ("error", 400, "m")),
        ('data: {"error":"m"}', ("error", "error", "m")),
        ('data: {"object":"error","message":"m","type":"t","code":40001}', ("t", 40001, "m")),
        ('data: {"type":"error","error":{"message":"m","type":"t"}}', ("t", "t", "m")),
        ('data: {"type":"error","message":"m","code":"c"}', ("error", "c", "m")),
        ('data: {"detail":"m"}', ("error", "error", "m")),
        (
            'event: error\ndata: {"error":{"message":"m","type":"t","code":"tool_use_failed"}}',
            ("t", "tool_use_failed", "m"),
        ),
        ('event: error\ndata: {"message":"m","code":7}', ("error", 7, "m")),
        ("event: error\ndata: m", ("error", "error", "m")),
        ('error: {"code":500,"message":"m","type":"t"}', ("t", 500, "m")),
        (
            'data: {"x_groq":{"error":"m"},"choices":[],"object":"chat.completion.chunk"}',
            ("error", "error", "m"),
        ),
        (
            'data: {"choices":[{"index":0,"finish_reason":"error","error":{"code":502,"message":"m"}}]}',
            ("error", 502, "m"),
        ),
    ],
)
@pytest.mark.parametrize("before", [[call()], [call(), finish()], []])
def test_an_error_in_every_shape(block: str, expected: tuple[str, str | int, str], before: list[Any]) -> None:
    response = parse(*before, block + "\n\n", DONE)
    assert error_of(response) == ("provider", *expected)
    assert (response.status, response.released) == ("failed", ())
    assert response.reason == ("tool_calls" if len(before) == 2 else None)
    assert response.error is not None
    assert response.error.offset == len(wire(*before))
    assert response.anomalies == ()


@pytest.mark.parametrize("no_error", [None, {}, "", False])
def test_an_error_member_that_says_nothing_is_none(no_error: Any) -> None:
    response = parse(call(), finish(error=no_error) | {"error": no_error}, DONE)
    assert verdict(response) == [GO]


def test_an_error_event_without_data_is_an_error() -> None:
    response = parse(call(), finish(), "event: error\ndata:\n\n", DONE)
    assert (response.status, response.released) == ("failed", ())


def test_usage_beside_an_error_is_counted() -> None:
    response = parse(usage() | {"error": {"message": "m"}}, DONE)
    assert response.usage is not None
    assert response.usage.total_tokens == 5


def test_a_body_that_is_no_stream_is_its_error() -> None:
    response = trigate.parse(b'{"error":{"message":"m","type":"t","code":"c"}}', PROTOCOL)
    assert error_of(response) == ("provider", "t", "c", "m")


def test_a_whole_completion_in_a_stream_is_not_read_as_an_empty_one() -> None:
    whole = chunk({"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"})
    response = parse(whole | {"object": "chat.completion"}, DONE)
    assert (response.status, error_of(response)[2]) == ("failed", "whole_completion")


# -- choices -----------------------------------------------------------------------------------------


def two_choices(*ends: str | None) -> trigate.Response:
    return parse(
        text("A"),
        text("B", 1),
        call(call_id="a", choice=1),
        call(call_id="a", choice=0),
        *(finish(word, at) for at, word in enumerate(ends)),
        DONE,
    )


def test_text_and_calls_are_kept_by_choice() -> None:
    response = two_choices("tool_calls", "stop")
    assert (response.status, response.reason) == ("completed", "tool_calls")
    assert (response.text, response.texts) == ("A", ("A", "B"))
    assert [(each.wire_key[0], each.call_id) for each in response.released] == [(0, "a"), (1, "a")]


@pytest.mark.parametrize(
    ("ends", "status", "reason"),
    [
        (("tool_calls", "length"), "incomplete", "length"),
        (("length", "content_filter"), "incomplete", "length"),
        (("error", "length"), "failed", "error"),
        (("tool_calls",), "truncated", None),
        (("length", None), "truncated", None),
        (("error", None), "failed", "error"),
    ],
)
def test_the_worst_choice_speaks_for_all(ends: tuple[str, ...], status: str, reason: str | None) -> None:
    response = two_choices(*ends)
    assert (response.status, response.reason, response.released) == (status, reason, ())


def test_at_the_end_of_the_input_every_choice_must_have_finished() -> None:
    both = [call(call_id="a"), call(call_id="b", choice=1), finish()]
    assert parse(*both).status == "truncated"
    assert len(parse(*both, finish(choice=1)).released) == 2


def test_a_choice_that_asks_for_calls_it_does_not_have_fails_them_all() -> None:
    response = parse(call(), finish(), finish(choice=1), DONE)
    assert (response.status, error_of(response)[2], response.released) == ("failed", "no_calls", ())


def test_a_choice_without_an_index_is_the_first() -> None:
    data = json.loads(wire(call())[6:])
    del data["choices"][0]["index"]
    response = parse(data, finish(), DONE)
    assert (verdict(response), codes(response)) == ([GO], ["missing_index"])


@pytest.mark.parametrize("index", [-1, 128, 2**40])
def test_a_choice_out_of_range_is_a_fault(index: int) -> None:
    response = parse(text("x", index), finish("stop", index), DONE)
    assert (response.status, error_of(response)[2]) == ("failed", "choice_out_of_range")


def test_the_last_possible_choice() -> None:
    response = parse(text("x", 127), finish("stop", 127), DONE)
    assert (response.status, response.texts[127]) == ("completed", "x")

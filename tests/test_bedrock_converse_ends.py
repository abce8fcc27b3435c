"""How a ConverseStream message ends, well or not: docs/protocols/bedrock-converse.md, "How it ends"."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from bedrock_frames import error, exception
from converse_streams import PROTOCOL, USAGE, Script, agree, codes, error_code, one, parse, states
from streams import every_two_cut

RELEASED = [("t1", "released", None)]
STOP = one(("messageStop", {"stopReason": "tool_use"}))
METADATA = one(("metadata", {"usage": USAGE}))


@pytest.mark.parametrize(
    ("reason", "status", "problem"),
    [
        ("tool_use", "completed", None),
        ("end_turn", "completed", "not_requested"),
        ("stop_sequence", "completed", "not_requested"),
        ("max_tokens", "incomplete", "response_not_completed"),
        ("model_context_window_exceeded", "incomplete", "response_not_completed"),
        ("guardrail_intervened", "incomplete", "response_not_completed"),
        ("content_filtered", "incomplete", "response_not_completed"),
        ("malformed_tool_use", "failed", "response_not_completed"),
        ("malformed_model_output", "failed", "response_not_completed"),
        ("odd", "failed", "response_not_completed"),
    ],
)
def test_reasons(reason: str, status: str, problem: str | None) -> None:
    response = Script.begun().text(0).call(1).end(reason).parse()
    assert (response.status, response.reason, response.text) == (status, reason, "Hi")
    assert [each.problem for each in response.calls] == [problem]
    assert len(response.released) == (1 if problem is None else 0)
    assert response.usage is not None
    if status == "failed":
        assert response.error is not None
        assert (response.error.layer, response.error.type, response.error.code) == (
            "provider",
            reason,
            reason,
        )


def test_it_asks_for_calls_and_has_none() -> None:
    response = Script.begun().text(0).end().parse()
    assert (response.status, response.reason, error_code(response)) == ("failed", "tool_use", "missing_call")


@pytest.mark.parametrize("reason", [None, ""])
def test_no_reason_is_a_failure(reason: Any) -> None:
    response = Script.begun().call(0).end(reason).parse()
    assert (response.status, error_code(response), response.released) == ("failed", "missing_stop_reason", ())


# -- metadata, and the end of the input --------------------------------------------------------------


def test_without_metadata_only_the_usage_is_missing() -> None:
    response = agree(Script.begun().call(0).data() + STOP)
    assert (response.status, states(response), response.usage) == ("completed", RELEASED, None)
    assert (response.clean_end, codes(response)) == (False, ["missing_metadata"])


def test_nothing_runs_before_metadata_or_the_end_of_the_input() -> None:
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(Script.begun().call(0).data() + STOP)
    assert (parser.response.status, parser.response.released) == ("in_progress", ())
    parser.feed(METADATA)
    assert len(parser.response.released) == 1


def test_a_message_cut_behind_the_stop_may_be_an_exception() -> None:
    data = Script.begun().call(0).data() + STOP
    for tail in (METADATA, exception("throttlingException")):
        for length in range(1, len(tail)):
            response = parse(data + tail[:length])
            assert (response.status, error_code(response)) == ("truncated", "truncated_in_event")
            assert response.released == ()
    limit = Script.begun().call(0).add("messageStop", stopReason="max_tokens").data()
    assert parse(limit + METADATA[:20]).status == "incomplete"


def test_metadata_before_the_stop() -> None:
    response = agree(Script.begun().call(0).data() + METADATA + STOP)
    assert (response.status, states(response)) == ("completed", RELEASED)
    assert (response.clean_end, codes(response)) == (True, ["metadata_before_stop"])
    without = agree(Script.begun().call(0).data() + METADATA)
    assert (without.status, without.released) == ("truncated", ())


def test_a_trace_is_shown() -> None:
    script = Script.begun().text(0).end("guardrail_intervened", trace={"guardrail": {}})
    script.events.insert(-2, ("novel", {}))
    assert [item.type for item in script.items() if isinstance(item, trigate.OtherEvent)] == [
        "novel",
        "metadata",
    ]


def test_fields_of_the_model_are_shown() -> None:
    script = (
        Script.begun()
        .text(0)
        .add("messageStop", stopReason="end_turn", additionalModelResponseFields={"x": 1})
    )
    assert [item.type for item in script.items() if isinstance(item, trigate.OtherEvent)] == ["messageStop"]


def test_usage() -> None:
    told = USAGE | {"cacheReadInputTokens": 3, "cacheWriteInputTokens": 2, "outputTokens": True}
    usage = Script.begun().text(0).end("end_turn", usage=told).parse().usage
    assert usage == trigate.Usage(9, None, 16, 3, raw=told)
    assert Script.begun().text(0).end("end_turn", usage=None).parse().usage is None
    assert codes(Script.begun().end("end_turn").parse()) == ["usage_without_content"]


def test_messages_after_the_end() -> None:
    data = Script.begun().call(0).end().data()
    late = Script.begun().call(1, call_id="t2").end().data() + exception("x") + error("y", "z")
    response = agree(data + late)
    assert (response.status, states(response)) == ("completed", RELEASED)
    assert set(codes(response)) == {"event_after_end"}


# -- after messageStop -------------------------------------------------------------------------------


def test_a_second_stop() -> None:
    data = Script.begun().call(0).data() + STOP
    same = agree(data + STOP + METADATA)
    assert (states(same), codes(same)) == (RELEASED, ["repeated_event"])
    for reason in ("max_tokens", "end_turn", None):
        other = agree(data + one(("messageStop", {"stopReason": reason})) + METADATA)
        assert (other.status, error_code(other), other.released) == ("conflict", "reason_changed", ())


@pytest.mark.parametrize(
    ("late", "code"),
    [
        (Script().call(1, call_id="t2"), "block_after_stop_reason"),
        (Script().piece(0, "1"), "delta_after_close"),
        (Script().piece(5, "1"), "orphan_arguments"),
        (Script.begun(), "response_restarted"),
    ],
)
def test_a_call_goes_on_after_the_stop(late: Script, code: str) -> None:
    response = agree(Script.begun().call(0).data() + STOP + late.data() + METADATA)
    assert (response.status, error_code(response), response.released) == ("conflict", code, ())


def test_text_goes_on_after_the_stop() -> None:
    late = Script().text(1).stop(0)
    response = agree(Script.begun().call(0).data() + STOP + late.data() + METADATA)
    assert (response.text, states(response)) == ("Hi", RELEASED)
    assert codes(response) == ["block_after_stop_reason", "repeated_stop", "repeated_stop"]


# -- what is missing ---------------------------------------------------------------------------------


def test_a_missing_start_of_the_message() -> None:
    response = Script().call(0).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["missing_start"])


def test_a_message_that_begins_again() -> None:
    script = Script.begun().add("messageStart", role="assistant").call(0).end()
    assert (states(script.parse()), codes(script.parse())) == (RELEASED, ["repeated_event"])
    again = Script.begun().call(0).add("messageStart", role="assistant").call(1, call_id="t2").end().parse()
    assert (again.status, error_code(again), again.released) == ("conflict", "response_restarted", ())


def test_a_call_without_its_stop() -> None:
    """It was cut, whatever its text looks like. The others were not: they are told apart by their index."""
    response = Script.begun().call(0).tool(1, "t2").piece(1, "{}").end().parse()
    assert (response.status, states(response)) == ("completed", [*RELEASED, ("t2", "void", "incomplete")])
    assert codes(response) == ["block_without_stop", "cut_call_in_completed_response"]
    late = agree(Script.begun().tool(0).piece(0, "{}").data() + STOP + Script().stop(0).data() + METADATA)
    assert (late.status, states(late)) == ("completed", [("t1", "void", "incomplete")])
    cut = Script.begun().tool(0).piece(0, "{}").end("max_tokens").parse()
    assert (cut.status, states(cut)) == ("incomplete", [("t1", "void", "incomplete")])
    assert codes(cut) == ["block_without_stop"]
    unasked = Script.begun().tool(0).piece(0, "{}").end("end_turn").parse()
    assert (unasked.status, states(unasked)) == ("completed", [("t1", "void", "incomplete")])


def test_text_without_its_stop() -> None:
    response = Script.begun().delta(0, text="Hi").call(1).end().parse()
    assert (response.text, states(response), codes(response)) == ("Hi", RELEASED, ["block_without_stop"])


def test_stops_that_stop_nothing() -> None:
    response = Script.begun().call(0).stop(0).stop(7).end().parse()
    assert (states(response), codes(response)) == (RELEASED, ["repeated_stop", "stop_without_start"])


def test_text_after_its_stop() -> None:
    response = Script.begun().text(0).delta(0, text="!").call(1).end().parse()
    assert (response.text, states(response), codes(response)) == ("Hi!", RELEASED, ["delta_after_close"])


def test_arguments_after_their_stop() -> None:
    response = Script.begun().call(0).piece(0, "1").end().parse()
    assert (response.status, error_code(response)) == ("conflict", "delta_after_close")
    assert states(response) == [("t1", "void", "conflict")]


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "internalServerException",
        "modelStreamErrorException",
        "validationException",
        "throttlingException",
        "serviceUnavailableException",
        "modelTimeoutException",
        "novelException",
    ],
)
def test_exceptions(name: str) -> None:
    head = Script.begun().text(0).call(1).data()
    for data, reason in (
        (head + exception(name), None),
        (head + STOP + exception(name) + METADATA, "tool_use"),
        (exception(name), None),
    ):
        response = agree(data)
        assert response.error is not None
        assert (response.status, response.reason, response.released) == ("failed", reason, ())
        assert (response.error.layer, response.error.type, response.error.code) == ("provider", name, name)
        assert response.error.message == "Too many"
        assert response.error.offset == data.index(exception(name))


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b'{"originalMessage":"m","originalStatusCode":424}', "m"),
        (b'{"Message":"m"}', "m"),
        (b"plain", "plain"),
        (b"[1]", "[1]"),
        (b"\xff", "\ufffd"),
        (b"", "the stream ended with x"),
    ],
)
def test_what_an_exception_says(payload: bytes, said: str) -> None:
    response = agree(Script.begun().call(0).data() + exception("x", payload))
    assert response.error is not None
    assert (response.status, response.error.message, response.released) == ("failed", said, ())


def test_an_error_message_has_no_payload() -> None:
    data = Script.begun().call(0).data() + error("InternalError", "It broke")
    response = agree(data)
    assert response.error is not None
    assert (response.status, response.reason, response.released) == ("failed", None, ())
    assert (response.error.type, response.error.message) == ("InternalError", "It broke")
    for chunks in every_two_cut(data):
        assert trigate.parse(chunks, PROTOCOL) == response


def test_auto_tells_an_error_without_knowing_the_protocol() -> None:
    for data in (
        error("InternalError", "Too many"),
        exception("InternalError"),
        error("InternalError", "Too many") * 2,
    ):
        response = trigate.parse(data)
        assert response.error is not None
        assert (response.status, response.error.layer, response.error.code) == (
            "failed",
            "provider",
            "InternalError",
        )
        assert response.error.message == "Too many"


def test_a_call_that_ran_early_stays_released() -> None:
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    parser.feed(Script.begun().call(0).text(1).data() + exception("throttlingException"))
    response = parser.finish()
    assert (response.status, len(response.released)) == ("failed", 1)

"""How a Cohere message ends, well or not: docs/protocols/cohere-chat.md, "How it ends"."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from cohere_streams import Script, agree, codes


def error_code(response: trigate.Response) -> str | int | None:
    return response.error.code if response.error is not None else None


@pytest.mark.parametrize(
    ("reason", "status", "problem"),
    [
        ("TOOL_CALL", "completed", None),
        ("COMPLETE", "completed", "not_requested"),
        ("STOP_SEQUENCE", "completed", "not_requested"),
        ("MAX_TOKENS", "incomplete", "response_not_completed"),
        ("ERROR", "failed", "response_not_completed"),
        ("TIMEOUT", "failed", "response_not_completed"),
        ("ODD", "failed", "response_not_completed"),
    ],
)
def test_reasons(reason: str, status: str, problem: str | None) -> None:
    response = Script.begun().text("Hi").call(0).end(reason).parse()
    assert (response.status, response.reason, response.text) == (status, reason, "Hi")
    assert [one.problem for one in response.calls] == [problem]
    assert len(response.released) == (1 if problem is None else 0)
    if status == "failed":
        assert response.error is not None
        assert (response.error.layer, response.error.type) == ("provider", reason)


def test_it_asks_for_calls_and_has_none() -> None:
    response = Script.begun().plan("I will").end().parse()
    assert (response.status, response.reason, error_code(response)) == ("failed", "TOOL_CALL", "missing_call")


@pytest.mark.parametrize("members", [{"delta": {}}, {}, {"delta": {"finish_reason": None}}])
def test_no_reason_is_a_failure(members: Any) -> None:
    response = Script.begun().call(0).add("message-end", **members).parse()
    assert (response.status, error_code(response), response.released) == (
        "failed",
        "missing_finish_reason",
        (),
    )


def test_usage() -> None:
    billed = {"billed_units": {"input_tokens": 1, "output_tokens": 2}}
    usage = Script.begun().text("Hi").end("COMPLETE", usage=billed).parse().usage
    assert usage == trigate.Usage(1, 2, raw=billed)
    assert Script.begun().end("COMPLETE").parse().usage is None
    assert codes(Script.begun().end("COMPLETE", usage=billed).parse()) == ["usage_without_content"]


# -- errors ------------------------------------------------------------------------------------------


def test_an_error_at_the_end() -> None:
    for reason in ("ERROR", "COMPLETE", "TOOL_CALL", None):
        response = Script.begun().call(0).end(reason, error="overloaded").parse()
        assert response.error is not None
        assert (response.status, response.reason, response.released) == ("failed", reason, ())
        assert (response.error.layer, response.error.message) == ("provider", "overloaded")


@pytest.mark.parametrize(
    "event",
    [
        b'event: error\ndata: {"message":"too many"}\n\n',
        b'data: {"type":"error","message":"too many"}\n\n',
        b'event: error\ndata: {"type":"tool-call-end","index":0,"message":"too many"}\n\n',
        b'data: {"id":"x","message":"too many"}\n\n',
        b'data: {"error":{"message":"too many"}}\n\n',
        b"event: error\ndata: too many\n\n",
    ],
)
def test_an_error_event(event: bytes) -> None:
    response = agree(Script.begun().text("Hi").call(0).data() + event + Script().end().data())
    assert response.error is not None
    assert (response.status, response.text, response.released) == ("failed", "Hi", ())
    assert (response.error.layer, response.error.message) == ("provider", "too many")

"""A response that is ended from outside: nothing is completed by it, and nothing that was there is lost."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from replays import NUMBERED
from streams import PROTOCOL, Script, codes, function_item

LOST = trigate.ErrorInfo("transport", "transport", "connection_lost", "it broke")
REFUSED = trigate.ErrorInfo("provider", "busy", "b", "m", http_status=503)
OPEN = Script().created().message("Hallo").added(1, function_item("", status="in_progress")).delta(1, '{"a"')
STATUSES = pytest.mark.parametrize("status", ["cancelled", "truncated"])


@STATUSES
def test_what_was_there_is_shown_and_nothing_may_run(status: Any) -> None:
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    parser.feed(OPEN.data())
    response = parser.stop(status, LOST)
    assert (response.status, response.text, response.clean_end) == (status, "Hallo", False)
    assert response.error is not None
    assert (response.error.code, response.error.offset) == ("connection_lost", len(OPEN.data()))
    assert [(call.state, call.problem, call.arguments) for call in response.calls] == [
        ("void", "incomplete", '{"a"')
    ]
    assert "Hallo" in str(response.to_message())
    assert parser.stop("failed", REFUSED) is response
    assert parser.finish() is response
    assert parser.response is response
    with pytest.raises(RuntimeError, match="after finish"):
        parser.feed(b"")


@STATUSES
@pytest.mark.parametrize("name", NUMBERED)
def test_no_protocol_completes_what_is_stopped(name: str, status: Any) -> None:
    """Also where the end of the input is its own end: every event but what follows the last one has come."""
    numbered = NUMBERED[name]
    for count in range(len(numbered.events)):
        parser, _ = numbered.begin_with(count)
        ended = parser.response.status != "in_progress"
        response = parser.stop(status, LOST)
        assert ended or response.status in (status, "incomplete")
        assert ended or response.released == ()


def test_what_had_ended_stays() -> None:
    data = Script().created().call("{}").end().data()
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(data)
    response = parser.stop("cancelled", LOST)
    assert (response.status, codes(response), len(response.released)) == ("completed", [], 1)
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(data)
    response = parser.stop("truncated", LOST)
    assert (response.status, codes(response)) == ("completed", ["fault_after_end"])
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(b"data: {\n\n")
    response = parser.stop("cancelled", LOST)
    assert response.status == "failed"
    assert response.error is not None
    assert response.error.code == "invalid_json"


def test_a_conflict_stays_one() -> None:
    script = Script().created().call('{"a":1}').done(0, function_item('{"a":2}'))
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(script.data())
    assert parser.stop("truncated", LOST).status == "conflict"


def test_before_anything_came() -> None:
    for protocol in ("auto", *trigate.PROTOCOLS):
        for data in (b"", b"\n", b"{"):
            parser = trigate.ResponseParser(protocol)
            parser.feed(data)
            response = parser.stop("failed", REFUSED)
            assert (response.status, response.error) == ("failed", REFUSED)
    with pytest.raises(trigate.ProviderError) as caught:
        response.raise_for_status()
    assert caught.value.http_status == 503


@STATUSES
def test_an_error_in_the_unfinished_event(status: Any) -> None:
    """What the provider said last says more than that the connection broke; who cancels does not want to know."""
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(OPEN.data() + b'data: {"type":"error","code":"busy","message":"m"}\n')
    response = parser.stop(status, LOST)
    assert response.error is not None
    assert response.error.code == ("busy" if status == "truncated" else "connection_lost")


def test_a_parser_that_was_interrupted_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class SignalError(BaseException):
        pass

    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(OPEN.data())

    def interrupted(_: object) -> None:
        raise SignalError

    monkeypatch.setattr(parser._interpreter, "event", interrupted)
    with pytest.raises(SignalError):
        parser.feed(Script(next_number=9).call("{}").data())
    with pytest.raises(RuntimeError):
        parser.finish()
    assert parser.stop("cancelled", LOST).status == "cancelled"
    with pytest.raises(RuntimeError, match="interrupted"):
        parser.resume()


def test_a_cause_is_chained() -> None:
    cause = OSError("down")
    error = trigate.ErrorInfo("transport", "transport", "connection_lost", "m", cause=cause)
    parser = trigate.ResponseParser(PROTOCOL)
    with pytest.raises(trigate.TransportError) as caught:
        parser.stop("truncated", error).raise_for_status()
    assert caught.value.__cause__ is cause

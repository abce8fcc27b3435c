"""Rows of the Messages reference, read against it: errors in any dress, messages that begin again."""

from __future__ import annotations

import pytest

import trigate
from anthropic_streams import Script, codes, parse

ERRORS = [
    b'event: error\ndata: {"type":"overloaded_error","message":"boom"}\n\n',
    b'event: overloaded_error\ndata: {"type":"overloaded_error","message":"boom"}\n\n',
    b'event: x\ndata: {"type":"x","error":{"type":"overloaded_error","message":"boom"}}\n\n',
    b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"},'
    b'"error":{"type":"overloaded_error","message":"boom"}}\n\n',
    b'data: {"message":"boom","code":"overloaded_error"}\n\n',
]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_heard_in_any_dress(error: bytes) -> None:
    response = parse(Script.begun().call().data() + error + Script().end().data())
    assert response.error is not None
    assert (response.status, response.error.code) == ("failed", "overloaded_error")
    assert (response.error.message, response.released) == ("boom", ())


def test_the_same_message_again_behind_content() -> None:
    """A stream that is replayed from its start: its text would stand twice."""
    again = Script.begun().text(0).data()
    response = parse(again + Script.begun().text(0).call(1).end().data())
    assert response.error is not None
    assert (response.error.code, response.released) == ("response_restarted", ())
    twice = parse(Script.begun().data() + Script.begun().call().end().data())
    assert (len(twice.released), codes(twice)) == (1, ["repeated_event"])


def test_one_id_for_a_cut_call_and_a_whole_one_releases_nothing_early() -> None:
    script = Script.begun().call(0, "{").call(1).text(2)
    assert script.parse(release_on="call").released == ()
    assert script.end().parse(release_on="call").status == "conflict"


def test_a_toolset_is_told() -> None:
    (call,) = Script.begun().call(0, toolset_name="crm").end().parse().released
    assert isinstance(call, trigate.ReleasedCall)
    assert call.flags == ("namespaced",)

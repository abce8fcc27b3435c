"""One rule for all protocols: a call that was never closed is void under a good end, and the others run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import anthropic_streams
import cohere_streams
import converse_streams
import gemini_streams
import trigate
from cohere_streams import one as cohere_event

WHOLE = '{"a":1}'


def messages() -> trigate.Response:
    script = anthropic_streams.Script.begun().call(0, WHOLE, call_id="c1")
    return script.tool(1, "c2").json(1, WHOLE).end().parse()


def converse() -> trigate.Response:
    script = converse_streams.Script.begun().call(0, WHOLE, call_id="c1")
    return script.tool(1, "c2").piece(1, WHOLE).end().parse()


def cohere() -> trigate.Response:
    script = cohere_streams.Script.begun().call(0, WHOLE, call_id="c1")
    return script.tool(1, "c2").piece(1, WHOLE).end().parse()


def interactions() -> trigate.Response:
    steps = gemini_streams.function_step(0, WHOLE, call_id="c1")
    cut = gemini_streams.function_step(1, WHOLE, call_id="c2")[:-1]
    end = (gemini_streams.completed(), gemini_streams.DONE)
    return gemini_streams.read(gemini_streams.CREATED, *steps, *cut, *end)


@pytest.mark.parametrize("make", [messages, converse, cohere, interactions])
def test_a_call_that_was_never_closed(make: Callable[[], trigate.Response]) -> None:
    response = make()
    assert response.status == "completed"
    told = [(call.call_id, call.state, call.problem) for call in response.calls]
    assert told == [("c1", "released", None), ("c2", "void", "incomplete")]
    assert "cut_call_in_completed_response" in [anomaly.code for anomaly in response.anomalies]


def test_text_behind_the_end_of_its_message_is_told() -> None:
    script = converse_streams.Script.begun().delta(0, text="a").call(1)
    script.add("messageStop", stopReason="tool_use").delta(0, text="b").add("metadata")
    response = script.parse()
    assert converse_streams.codes(response) == ["block_without_stop", "delta_after_close"]


@pytest.mark.parametrize(
    "error",
    [
        cohere_event({"type": "internal_error", "message": "boom"}),
        cohere_event({"type": "x", "error": "boom"}),
        cohere_event({"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}, "error": "boom"}),
    ],
)
def test_an_error_of_cohere_s_in_any_dress(error: bytes) -> None:
    script = cohere_streams.Script.begun().call()
    response = cohere_streams.parse(script.data() + error + cohere_streams.Script().end().data())
    assert response.error is not None
    assert (response.status, response.error.message, response.released) == ("failed", "boom", ())


@pytest.mark.parametrize("delta", [{}, {"toolUse": None}])
def test_a_delta_without_members_may_be_a_lost_piece(delta: dict[str, None]) -> None:
    script = converse_streams.Script.begun().tool(0).delta(0, **delta).stop(0).end()
    assert converse_streams.states(script.parse()) == [("t1", "void", "unknown_type")]

"""Rows of the Gemini reference, read against it: replays, two attempts at one turn, ends that came too early."""

from __future__ import annotations

import pytest

from gemini_streams import Chunk, agree, call, chunk, codes, sse, states, stop

GO = call("go", {"a": 1})
TURN = [chunk({"text": "Hi"}), chunk(GO), stop()]


def test_a_turn_that_is_delivered_twice_runs_once() -> None:
    response = agree(sse([*TURN, *TURN]))
    assert states(response) == [("go", "released", None), ("go", "void", "repeated")]
    assert codes(response) == ["parts_after_finish", "call_repeated"]


def test_equal_calls_before_the_end_are_two() -> None:
    assert len(agree(sse([chunk(GO, GO), stop()])).released) == 2
    assert len(agree(sse([chunk(GO), chunk(GO), stop()])).released) == 2


def test_an_end_with_every_chunk() -> None:
    chunks = [chunk({"text": "Hi"}, finish="STOP"), chunk(GO, finish="STOP"), chunk(call("b"), finish="STOP")]
    response = agree(sse(chunks))
    assert (response.status, len(response.released), codes(response)) == ("completed", 2, [])


@pytest.mark.parametrize("again", [GO, call("other"), call("go", {"a": 1}, id="f9")])
def test_calls_under_two_response_ids(again: Chunk) -> None:
    chunks = [chunk(GO), chunk(again) | {"responseId": "r2"}, stop() | {"responseId": "r2"}]
    response = agree(sse(chunks))
    assert response.error is not None
    assert (response.status, response.error.code) == ("conflict", "response_restarted")
    assert response.released == ()


def test_another_response_id_alone_is_noted() -> None:
    response = agree(sse([chunk(GO), stop() | {"responseId": "r2"}]))
    assert (len(response.released), codes(response)) == (1, ["response_id_changed"])


def test_a_call_behind_the_end_needs_another_end() -> None:
    early = [chunk({"text": "Hi"}, finish="STOP"), chunk(GO)]
    cut = agree(sse(early))
    assert (cut.status, cut.released) == ("truncated", ())
    assert len(agree(sse([*early, stop()])).released) == 1


def test_a_bad_end_is_not_forgotten_behind_such_a_call() -> None:
    response = agree(sse([chunk({"text": "Hi"}, finish="MAX_TOKENS"), chunk(GO), stop()]))
    assert states(response) == [("go", "void", "not_requested")]

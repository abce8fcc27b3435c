"""Decisions about how a response ends: the final list, cut calls, statuses, early release.

One test per row of the decision table that can occur in this protocol.
"""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from one_call import CALL, RELEASED, conflict, good, parse, started
from streams import Event, Script, codes, function_item, run, verdict

# -- the final list ----------------------------------------------------------------------------------


def two() -> Script:
    return good().call('{"b":2}', index=1, call_id="call_2", item_id="fc_2")


def test_an_empty_final_list() -> None:
    response = parse(good().end(output=[]))
    assert verdict(response) == RELEASED
    assert codes(response) == ["empty_final_output"]
    assert response.to_message() == [function_item(CALL)]


def test_a_shorter_final_list() -> None:
    response = parse(two().end(output=[function_item(CALL)]))
    assert conflict(response) == "call_missing_in_final_output"
    assert verdict(response) == [("call_1", "void", "response_not_completed"), ("call_2", "void", "conflict")]


@pytest.mark.parametrize("kind", ["response.incomplete", "response.failed"])
def test_a_shorter_final_list_of_a_turn_that_did_not_end_well(kind: str) -> None:
    script = good().added(1, function_item("", call_id="call_2", id="fc_2", status="in_progress"))
    response = parse(script.delta(1, "{", item_id="fc_2").end(kind))
    assert response.status == kind.removeprefix("response.")
    assert verdict(response) == [
        ("call_1", "void", "response_not_completed"),
        ("call_2", "void", "incomplete"),
    ]
    assert codes(response) == ["call_missing_in_final_output"]


def test_a_reordered_final_list() -> None:
    script = two()
    response = parse(script.end(output=[script.output[1], script.output[0]]))
    assert [call.call_id for call in response.released] == ["call_1", "call_2"]
    assert codes(response) == ["final_order_differs"]


def test_an_extra_call_in_the_final_list() -> None:
    for position in (0, 1):
        output: list[Event] = [function_item(CALL)]
        output.insert(position, function_item("{}", call_id="call_x", id="fc_x"))
        response = parse(good().end(output=output))
        assert sorted(verdict(response)) == [("call_1", "released", None), ("call_x", "released", None)]
        assert "item_without_start" in codes(response)


def test_the_final_list_says_that_a_call_is_not_whole() -> None:
    response = parse(good().end(output=[function_item(CALL, status="incomplete")]))
    assert verdict(response) == [("call_1", "void", "incomplete")]
    assert codes(response) == ["cut_call_in_completed_response"]


# -- a call that was cut in a response that says completed -------------------------------------------


def test_cut_arguments_in_a_completed_response() -> None:
    script = good().call('{"text":"cu', index=1, call_id="call_2", item_id="fc_2")
    response = parse(script.end())
    assert response.status == "completed"
    assert verdict(response) == [("call_1", "released", None), ("call_2", "void", "incomplete")]
    assert codes(response) == ["cut_call_in_completed_response"]


@pytest.mark.parametrize("status", ["incomplete", "in_progress", "failed", "novel"])
def test_an_item_done_that_is_not_completed(status: str) -> None:
    second = function_item("{}", call_id="call_2", id="fc_2")
    for output in ([], [function_item(CALL), second], [function_item(CALL), second | {"status": status}]):
        script = (
            good().call("{}", index=1, call_id="call_2", item_id="fc_2", status=status).end(output=output)
        )
        assert verdict(parse(script)) == [("call_1", "released", None), ("call_2", "void", "incomplete")]


def test_an_item_without_a_status_is_whole() -> None:
    assert verdict(parse(Script().created().call(CALL, status=...).end())) == RELEASED


def test_a_call_of_a_program_stays_in_progress() -> None:
    caller = {"type": "program", "caller_id": "cm_1"}
    assert (
        verdict(parse(Script().created().call(CALL, status="in_progress", caller=caller).end())) == RELEASED
    )


# -- how the response ended --------------------------------------------------------------------------

ENDS: list[tuple[str, Any, str]] = [
    ("response.completed", "completed", "completed"),
    ("response.completed", ..., "completed"),
    ("response.completed", "incomplete", "incomplete"),
    ("response.completed", "failed", "failed"),
    ("response.completed", "cancelled", "cancelled"),
    ("response.completed", "canceled", "cancelled"),
    ("response.completed", "in_progress", "failed"),
    ("response.completed", "queued", "failed"),
    ("response.completed", "novel", "failed"),
    ("response.incomplete", "incomplete", "incomplete"),
    ("response.incomplete", "completed", "incomplete"),
    ("response.failed", "completed", "failed"),
    ("response.cancelled", "cancelled", "cancelled"),
    ("response.canceled", "canceled", "cancelled"),
    ("response.cancelled", ..., "cancelled"),
    ("response.done", "completed", "failed"),
    ("response.done", ..., "failed"),
    ("response.done", "incomplete", "incomplete"),
    ("response.done", "cancelled", "cancelled"),
]


@pytest.mark.parametrize(("kind", "said", "status"), ENDS)
def test_every_end_and_every_status(kind: str, said: Any, status: str) -> None:
    response = parse(good().end(kind, status=said))
    assert response.status == status
    is_whole = status == "completed"
    assert len(response.released) == (1 if is_whole else 0)
    assert [call.problem for call in response.calls] == [None if is_whole else "response_not_completed"]
    told = {"canceled": "cancelled", "done": "failed"}
    plain = kind.removeprefix("response.")
    differs = said is not ... and told.get(said, said) != told.get(plain, plain)
    assert ("status_differs" in codes(response)) is differs


@pytest.mark.parametrize(
    "reason", ["max_output_tokens", "content_filter", "max_messages", "steered", "novel"]
)
def test_the_reason_of_an_incomplete_response_is_the_wire_s(reason: str) -> None:
    response = parse(good().end("response.incomplete", incomplete_details={"reason": reason}))
    assert (response.status, response.reason, response.released) == ("incomplete", reason, ())
    assert response.error is None


@pytest.mark.parametrize("details", [None, {}, {"reason": 5}, "x"])
def test_an_incomplete_response_without_a_reason(details: Any) -> None:
    response = parse(good().end("response.incomplete", incomplete_details=details))
    assert (response.status, response.reason, response.released) == ("incomplete", None, ())


# -- early release -----------------------------------------------------------------------------------


def test_early_release_and_a_later_failure() -> None:
    script = two().end("response.failed", error={"code": "server_error", "message": "x"})
    items, response = run([script.data()], release_on="call")
    done = [item.call for item in items if isinstance(item, trigate.ToolCallDone)]
    assert [type(call) for call in done] == [trigate.ReleasedCall] * 2
    assert response.status == "failed"
    assert [call.call_id for call in response.released] == ["call_1", "call_2"]


def test_after_a_conflict_nothing_is_released_early() -> None:
    script = (
        started().delta(0, CALL).closed(0, "{}").call("{}", index=1, call_id="call_2", item_id="fc_2").end()
    )
    response = parse(script, release_on="call")
    assert conflict(response) == "arguments_differ"


def test_early_release_of_a_call_that_the_end_denies_is_told() -> None:
    response = parse(good().end(output=[function_item('{"a":2}')]), release_on="call")
    assert response.status == "conflict"
    assert codes(response) == ["arguments_differ"]
    assert response.calls[0].arguments == CALL

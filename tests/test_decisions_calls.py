"""Decisions about calls: the four copies of the arguments, identity, order, repetition, what must be there.

One test per row of the decision table that can occur in this protocol.
"""

from __future__ import annotations

from typing import Any

import pytest

from one_call import CALL, RELEASED, conflict, good, parse, started
from streams import Script, codes, function_item, message_item, verdict

# -- the four copies ---------------------------------------------------------------------------------


def test_each_copy_may_be_the_one_that_differs() -> None:
    other = '{"a":2}'
    at_close = started().delta(0, CALL).closed(0, other).done(0, function_item(CALL)).end()
    at_done = started().delta(0, CALL).closed(0, CALL).done(0, function_item(other)).end()
    at_final = good().end(output=[function_item(other)])
    for script in (at_close, at_done, at_final):
        response = parse(script)
        assert conflict(response) == "arguments_differ"
        assert verdict(response) == [("call_1", "void", "conflict")]
        assert response.calls[0].arguments == CALL
        assert response.error is not None
        assert other in response.error.message


@pytest.mark.parametrize("other", ['{"a": 1}', '{"a":1} ', '{"a":1.0}', '{"\\u0061":1}'])
def test_copies_are_compared_as_text(other: str) -> None:
    assert conflict(parse(started().delta(0, CALL).closed(0, other).end())) == "arguments_differ"


def test_a_conflict_voids_the_other_calls_too() -> None:
    script = good().added(1, function_item("", call_id="call_2", id="fc_2", status="in_progress"))
    script.delta(1, "{", item_id="fc_2").closed(1, "{}", item_id="fc_2").end(output=[])
    assert verdict(parse(script)) == [
        ("call_1", "void", "response_not_completed"),
        ("call_2", "void", "conflict"),
    ]


@pytest.mark.parametrize("end", [{}, {"output": []}])
def test_missing_copies_are_no_fault(end: dict[str, Any]) -> None:
    no_deltas = started().closed(0, CALL).done(0, function_item(CALL))
    no_close = started().delta(0, '{"a"').delta(0, ":1}").done(0, function_item(CALL))
    only_done = started().done(0, function_item(CALL))
    for script in (no_deltas, no_close, only_done):
        response = parse(script.end(**end))
        assert verdict(response) == RELEASED
        assert response.calls[0].arguments == CALL
        assert codes(response) == (["empty_final_output"] if end else [])


def test_item_done_missing() -> None:
    script = started().delta(0, CALL).closed(0, CALL)
    with_final = parse(Script(script.events[:], next_number=4).end(output=[function_item(CALL)]))
    assert verdict(with_final) == RELEASED
    assert codes(with_final) == ["item_done_missing"]
    without = parse(Script(script.events[:], next_number=4).end(output=[]))
    assert verdict(without) == [("call_1", "void", "incomplete")]
    assert codes(without) == ["empty_final_output", "item_done_missing", "cut_call_in_completed_response"]


def test_arguments_that_come_after_they_were_judged_are_never_taken() -> None:
    """The item closed with no text; a final list cannot put another one into a call that was found good."""
    for late in ('{"a":1,"a":2}', "rm -rf /", '{"a":1}'):
        script = started().done(0, function_item("")).end(output=[function_item(late)])
        for release_on in ("response", "call"):
            response = parse(script, release_on=release_on)
            assert response.status == "conflict"
            assert response.calls[0].arguments == ""


def test_a_copy_that_is_null_or_absent_says_nothing() -> None:
    for nothing in (None, ...):
        script = started().delta(0, CALL).done(0, function_item(nothing)).end(output=[function_item(nothing)])
        response = parse(script)
        assert verdict(response) == RELEASED
        assert set(codes(response)) == {"arguments_missing"}


def test_a_delta_after_the_text_was_closed() -> None:
    response = parse(
        started().delta(0, CALL).closed(0, CALL).delta(0, " ").done(0, function_item(CALL)).end()
    )
    assert conflict(response) == "delta_after_close"


# -- sequence numbers --------------------------------------------------------------------------------


def test_a_repeated_event_is_dropped() -> None:
    script = started().delta(0, '{"a"')
    script.events.append(script.events[-1])
    response = parse(script.delta(0, ":1}").closed(0, CALL).done(0, function_item(CALL)).end())
    assert verdict(response) == RELEASED
    assert response.calls[0].arguments == CALL
    assert codes(response) == ["repeated_event"]


def test_a_repeated_terminal_event_is_only_noted() -> None:
    script = good().end()
    script.events.append(script.events[-1])
    assert codes(parse(script)) == ["event_after_end"]


def test_a_gap_outside_of_arguments() -> None:
    response = parse(good().skip().message("x", index=1).skip(2).end())
    assert verdict(response) == RELEASED
    assert codes(response) == ["sequence_gap", "sequence_gap"]


def test_a_gap_inside_arguments() -> None:
    """A lost piece may leave a shorter text that is JSON all the same: 100 of 1000."""
    script = started().delta(0, '{"n":10').skip().delta(0, "0}").done(0, function_item('{"n":100}')).end()
    response = parse(script)
    assert conflict(response) == "sequence_gap"
    assert verdict(response) == [("call_1", "void", "conflict")]


def test_a_gap_after_the_text_was_closed() -> None:
    script = started().delta(0, CALL).closed(0, CALL).skip().done(0, function_item(CALL)).end()
    response = parse(script)
    assert verdict(response) == RELEASED
    assert codes(response) == ["sequence_gap"]


# -- identity ----------------------------------------------------------------------------------------


def test_the_same_call_id_with_other_content() -> None:
    for text, name in ((CALL, "stop"), ('{"a":2}', "go")):
        response = parse(good().call(text, index=1, item_id="fc_2", name=name).end())
        assert conflict(response) == "call_id_reused"
        assert verdict(response) == [("call_1", "void", "conflict")] * 2


def test_the_same_call_id_while_both_are_open() -> None:
    script = started().added(1, function_item("", id="fc_2", status="in_progress"))
    script.delta(0, CALL).delta(1, '{"b":1}', item_id="fc_2")
    script.done(0, function_item(CALL)).done(1, function_item('{"b":1}', id="fc_2"))
    assert conflict(parse(script.end())) == "call_id_reused"


def test_the_same_call_id_where_one_was_cut() -> None:
    script = (
        good().added(1, function_item("", id="fc_2", status="in_progress")).delta(1, '{"a":', item_id="fc_2")
    )
    assert conflict(parse(script.end(output=[]))) == "call_id_reused"


def test_the_same_call_twice_runs_once() -> None:
    twice = good().call(CALL, index=1, item_id="fc_2")
    for output in (None, [function_item(CALL)], []):
        script = Script(twice.events[:], twice.output, twice.next_number)
        response = parse(script.end() if output is None else script.end(output=output))
        assert verdict(response) == [("call_1", "released", None), ("call_1", "void", "repeated")]
        assert "call_repeated" in codes(response)


def test_identity_only_in_the_done_item() -> None:
    for nothing in ("", None, ...):
        start = function_item("", call_id=nothing, name=nothing, status="in_progress")
        script = (
            Script().created().added(0, start).delta(0, CALL).closed(0, CALL).done(0, function_item(CALL))
        )
        response = parse(script.end())
        assert verdict(response) == RELEASED
        assert response.calls[0].name == "go"
        assert codes(response) == []


def test_a_name_may_come_with_the_end_of_the_arguments() -> None:
    script = started(name="").delta(0, CALL).closed(0, CALL, name="go").done(0, function_item(CALL, name=...))
    assert parse(script.end()).calls[0].name == "go"


@pytest.mark.parametrize(("member", "code"), [("call_id", "call_id_changed"), ("name", "name_changed")])
def test_identity_that_changes(member: str, code: str) -> None:
    changed = function_item(CALL, **{member: "other"})
    at_done = started().delta(0, CALL).done(0, changed).end()
    at_final = good().end(output=[changed])
    for script in (at_done, at_final):
        response = parse(script)
        assert conflict(response) == code
        assert verdict(response) == [("call_1", "void", "conflict")]


def test_no_call_id() -> None:
    script = Script().created().call(CALL, call_id=None).end()
    response = parse(script)
    assert (response.status, verdict(response)) == ("completed", [(None, "void", "no_call_id")])
    assert codes(response) == ["call_no_call_id"]


def test_generated_ids_are_stable_and_their_own() -> None:
    script = Script().created().call(CALL, call_id=None)
    script.call(CALL, index=1, call_id=None, item_id="fc_2").call(CALL, index=2, item_id="fc_3").end()
    response = parse(script, ids="generate")
    first, second, third = (call.call_id for call in response.released)
    assert first is not None
    assert second is not None
    assert first.startswith("tg_")
    assert second.startswith("tg_")
    assert len({first, second}) == 2
    assert third == "call_1"
    assert [call.call_id for call in parse(script, ids="generate").calls] == [first, second, third]


def test_no_name() -> None:
    response = parse(Script().created().call(CALL, name="").end())
    assert verdict(response) == [("call_1", "void", "no_name")]


def test_item_ids_that_change_with_each_event() -> None:
    """Some gateways do that: the output index routes, and the deviation is noted once."""
    script = (
        started(id="a")
        .delta(0, '{"a"', item_id="b")
        .delta(0, ":1}", item_id="c")
        .closed(0, CALL, item_id="d")
    )
    script.done(0, function_item(CALL, id="e")).end(output=[function_item(CALL, id="f")])
    response = parse(script)
    assert verdict(response) == RELEASED
    assert codes(response) == ["item_id_changed"]


def test_items_without_ids() -> None:
    script = started(id=None).delta(0, CALL, item_id=None).done(0, function_item(CALL, id=None)).end()
    response = parse(script)
    assert verdict(response) == RELEASED
    assert codes(response) == []


def test_the_wire_index_reused_is_a_new_call() -> None:
    script = good().call('{"b":2}', index=0, call_id="call_2", item_id="fc_2")
    script.end(output=[function_item(CALL), function_item('{"b":2}', call_id="call_2", id="fc_2")])
    response = parse(script)
    assert [call.arguments for call in response.released] == [CALL, '{"b":2}']
    assert codes(response) == ["index_reused"]


def test_late_pieces_of_a_call_whose_index_was_reused() -> None:
    script = started().delta(0, '{"a"')
    script.added(0, function_item("", call_id="call_2", id="fc_2", status="in_progress"))
    script.delta(0, ":1}", item_id="fc_1").delta(0, "{}", item_id="fc_2")
    script.done(0, function_item(CALL)).done(0, function_item("{}", call_id="call_2", id="fc_2"))
    response = parse(
        script.end(output=[function_item(CALL), function_item("{}", call_id="call_2", id="fc_2")])
    )
    assert [call.arguments for call in response.released] == [CALL, "{}"]


def test_pieces_that_may_belong_to_two_open_calls() -> None:
    """Without an item id nobody can say which of the two calls of one index a piece belongs to."""
    script = started().delta(0, '{"a"')
    script.added(0, function_item("", call_id="call_2", id="fc_2", status="in_progress"))
    script.add("response.function_call_arguments.delta", output_index=0, delta=":1}")
    assert conflict(parse(script.end(output=[]))) == "ambiguous_fragment"


def test_an_item_added_twice() -> None:
    script = started()
    script.add("response.output_item.added", output_index=0, item=script.events[-1]["item"])
    response = parse(script.delta(0, CALL).done(0, function_item(CALL)).end())
    assert verdict(response) == RELEASED
    assert codes(response) == ["repeated_item"]


def test_an_item_done_twice() -> None:
    same = parse(good().done(0, function_item(CALL)).end())
    assert verdict(same) == RELEASED
    assert codes(same) == ["repeated_item"]
    assert conflict(parse(good().done(0, function_item(CALL, name="other")).end(output=[]))) == "item_differs"


def test_no_output_index_at_all() -> None:
    script = (
        Script().created().add("response.output_item.added", item=function_item("", status="in_progress"))
    )
    script.add("response.function_call_arguments.delta", item_id="fc_1", delta=CALL)
    script.add("response.output_item.done", item=function_item(CALL)).end(output=[function_item(CALL)])
    response = parse(script)
    assert verdict(response) == RELEASED
    assert "missing_index" in codes(response)


# -- what must be there ------------------------------------------------------------------------------


def test_a_delta_for_no_call() -> None:
    script = Script().created().delta(0, CALL)
    response = parse(Script(script.events[:], next_number=2).end(output=[]))
    assert conflict(response) == "orphan_arguments"
    named = parse(Script(script.events[:], next_number=2).done(0, function_item(CALL)).end())
    assert verdict(named) == RELEASED
    assert codes(named) == ["delta_without_start"]


def test_a_delta_that_nothing_says_where_it_belongs() -> None:
    script = Script().created().add("response.function_call_arguments.delta", delta=CALL).end(output=[])
    assert conflict(parse(script)) == "orphan_arguments"


def test_a_delta_for_an_item_that_is_no_call() -> None:
    script = Script().created().added(0, message_item(status="in_progress")).delta(0, CALL, item_id="msg_1")
    response = parse(script.done(0, message_item("x")).end())
    assert (response.status, response.calls) == ("completed", ())
    assert codes(response) == ["misplaced_delta"]


def test_a_done_for_no_start() -> None:
    response = parse(Script().created().done(0, function_item(CALL)).end())
    assert verdict(response) == RELEASED
    assert codes(response) == ["item_without_start"]


def test_no_created() -> None:
    response = parse(Script().call(CALL).end())
    assert verdict(response) == RELEASED
    assert codes(response) == ["missing_start"]


def test_queued_is_a_start() -> None:
    script = Script().add("response.queued", response={"id": "resp_1", "status": "queued"})
    script.add("response.created", response={"id": "resp_1", "status": "in_progress"})
    assert codes(parse(script.call(CALL).end())) == []


def test_a_second_response_in_one_stream() -> None:
    script = good().created(id="resp_2").end(id="resp_2", output=[])
    assert conflict(parse(script)) == "response_restarted"
    other = parse(good().end(id="resp_2"))
    assert other.status == "completed"
    assert codes(other) == ["response_id_changed"]
    assert other.id == "resp_1"


def test_an_item_that_changes_its_type() -> None:
    for other in (
        message_item("x", item_id="fc_1"),
        {"id": "fc_1", "type": "custom_tool_call", "input": "{}"},
    ):
        assert conflict(parse(started().done(0, other).end())) == "item_type_changed"

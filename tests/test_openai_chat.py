"""Chat completions, identity: which call a fragment belongs to, and what shapes it may have."""

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
    tools,
    verdict,
    wire,
)

GO = ("call_1", "go", '{"n":1}', None)


# -- routing -----------------------------------------------------------------------------------------


def test_fragments_are_routed_by_their_index() -> None:
    response = parse(
        call("", "add", "a", 0),
        call("", "mul", "b", 1),
        tools(piece('{"x":', index=0)),
        tools(piece('{"y":2}', index=1), piece("1}", index=0)),
        finish(),
        DONE,
    )
    assert verdict(response) == [("a", "add", '{"x":1}', None), ("b", "mul", '{"y":2}', None)]
    assert response.anomalies == ()


@pytest.mark.parametrize("indices", [(1, 2), (3, 7), (-1, 0), (2**40, 2**41)])
def test_the_index_may_begin_anywhere_and_have_gaps(indices: tuple[int, int]) -> None:
    first, second = indices
    response = parse(
        call('{"n":', "go", "a", first),
        call("{}", "at", "b", second),
        tools(piece("1}", index=first)),
        finish(),
        DONE,
    )
    assert verdict(response) == [("a", "go", '{"n":1}', None), ("b", "at", "{}", None)]
    assert response.anomalies == ()


def test_calls_stand_in_the_order_of_their_indices() -> None:
    response = parse(call("{}", "late", "b", 1), call("{}", "early", "a", 0), finish(), DONE)
    assert [each.name for each in response.released] == ["early", "late"]


def test_without_index_the_id_joins_the_pieces() -> None:
    response = parse(
        call('{"n":', "go", "a", None),
        call("{}", "at", "b", None),
        tools(piece("1}", id="a")),
        finish(),
        DONE,
    )
    assert verdict(response) == [("a", "go", '{"n":1}', None), ("b", "at", "{}", None)]
    assert codes(response) == ["missing_index"]


def test_without_index_and_id_a_name_opens_a_call_and_text_goes_on() -> None:
    response = parse(
        call('{"n":', "go", "a", None),
        tools(piece("1}")),
        tools(piece("{", "at")),
        tools(piece("}")),
        finish(),
        DONE,
    )
    assert verdict(response) == [("a", "go", '{"n":1}', None), (None, "at", "{}", "no_call_id")]
    assert codes(response) == ["missing_index", "call_no_call_id"]


def test_without_anything_while_calls_take_turns_it_is_a_conflict() -> None:
    response = parse(
        call('{"n":', "go", "a", None),
        call("{}", "at", "b", None),
        tools(piece("1", id="a")),
        tools(piece("}")),
        finish(),
        DONE,
    )
    assert (response.status, response.released) == ("conflict", ())
    assert "ambiguous_fragment" in codes(response)


def test_a_known_id_decides_against_the_index() -> None:
    response = parse(call('{"n":', index=0), tools(piece("1}", id="call_1", index=1)), finish(), DONE)
    assert verdict(response) == [GO]
    assert codes(response) == ["tool_index_changed"]


def test_one_id_for_two_names_at_two_indices_is_a_conflict() -> None:
    response = parse(call("", "ping", index=0), call('{"n":1}', "go", index=1), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["call_id_reused"]


def test_a_used_index_with_a_new_id_and_name_is_a_new_call() -> None:
    response = parse(
        call("", "go", "a"),
        tools(piece('{"n":1}', index=0)),
        call("", "at", "b"),
        tools(piece("{}", index=0)),
        finish(),
        DONE,
    )
    assert verdict(response) == [("a", "go", '{"n":1}', None), ("b", "at", "{}", None)]
    assert codes(response) == ["index_reused"]
    assert len({each.wire_key for each in response.calls}) == 2


def test_the_older_call_of_a_reused_index_is_found_by_its_id() -> None:
    response = parse(
        call('{"n":', "go", "a"), call("{}", "at", "b"), tools(piece("1}", index=0, id="a")), finish(), DONE
    )
    assert verdict(response) == [("a", "go", '{"n":1}', None), ("b", "at", "{}", None)]
    assert codes(response) == ["index_reused"]


def test_a_late_fragment_for_an_old_index_is_appended() -> None:
    response = parse(
        call('{"n":', "go", "a", 0), call("{}", "at", "b", 1), tools(piece("1}", index=0)), finish(), DONE
    )
    assert verdict(response)[0] == ("a", "go", '{"n":1}', None)


def test_several_calls_in_one_delta() -> None:
    whole = [piece('{"n":1}', "go", index=at, id=f"c{at}") for at in range(3)]
    response = parse(tools(*whole, end="tool_calls"), DONE)
    assert verdict(response) == [(f"c{at}", "go", '{"n":1}', None) for at in range(3)]


# -- id and name -------------------------------------------------------------------------------------


@pytest.mark.parametrize("absent", ["", None, "null"])
def test_an_id_that_says_nothing_is_none(absent: str | None) -> None:
    later = {"index": 0, "id": absent, "function": {"name": absent, "arguments": "1}"}}
    response = parse(call('{"n":'), delta(tool_calls=[later]), finish(), DONE)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


@pytest.mark.parametrize("absent", ["", "null", None])
def test_a_call_that_never_gets_an_id_is_void(absent: str | None) -> None:
    response = parse(call(call_id=absent), finish(), DONE)
    assert response.status == "completed"
    assert verdict(response) == [(None, "go", '{"n":1}', "no_call_id")]


def test_an_id_can_be_generated_and_is_stable() -> None:
    data = wire(call(call_id=None), finish(), DONE)
    first = trigate.parse(data, PROTOCOL, ids="generate")
    again = trigate.parse([bytes([byte]) for byte in data], PROTOCOL, ids="generate")
    assert first == again
    (released,) = first.released
    assert released.call_id is not None
    assert released.call_id.startswith("tg_")


def test_generated_ids_of_equal_calls_differ() -> None:
    response = parse(
        call("{}", call_id=None, index=0), call("{}", call_id=None, index=1), finish(), DONE, ids="generate"
    )
    assert len({each.call_id for each in response.released}) == 2


def test_the_id_may_come_late() -> None:
    response = parse(call('{"n":', call_id=None), tools(piece("1}", id="call_1", index=0)), finish(), DONE)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


def test_the_id_may_come_a_chunk_before_the_name() -> None:
    response = parse(
        tools({"index": 0, "id": "call_1", "type": "function"}),
        tools(piece('{"n":', "go", index=0, id="call_1")),
        tools(piece("1}", index=0)),
        finish(),
        DONE,
    )
    assert verdict(response) == [GO]


def test_text_may_come_before_id_and_name() -> None:
    response = parse(
        tools(piece('{"n"', index=0)), tools(piece(":1}", "go", index=0, id="call_1")), finish(), DONE
    )
    assert verdict(response) == [GO]


def test_id_type_and_name_repeated_on_every_fragment_change_nothing() -> None:
    response = parse(*(call(part) for part in ["", '{"n"', ":", "1", "}", ""]), finish(), DONE)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


def test_an_id_made_up_for_each_fragment_is_not_a_call_of_its_own() -> None:
    """Old vLLM: the first id counts, for only a fragment with a name begins a call."""
    response = parse(
        call(""),
        tools(piece('{"n"', index=0, id="x2")),
        tools(piece(":1}", index=0, id="x3")),
        finish(),
        DONE,
    )
    assert verdict(response) == [GO]
    assert codes(response) == ["call_id_changed"]


def test_a_changed_id_behind_whole_arguments_is_another_call_without_a_name() -> None:
    response = parse(call('{"n":1}'), tools(piece('{"n":2}', index=0, id="x2")), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["index_reused", "call_without_name"]


def test_a_changed_id_and_then_another_name_is_a_conflict() -> None:
    response = parse(
        call("", "ping"),
        tools({"index": 0, "id": "x2"}),
        tools(piece('{"n":2}', "go", index=0)),
        finish(),
        DONE,
    )
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["call_id_changed", "name_changed"]


def test_a_name_in_pieces() -> None:
    response = parse(
        call("", "edit_ex"),
        tools(piece('{"n":', "isting_", index=0)),
        tools(piece("1}", "file", index=0)),
        finish(),
        DONE,
    )
    assert verdict(response) == [("call_1", "edit_existing_file", '{"n":1}', None)]


@pytest.mark.parametrize("later", ["", '{"n":2}'])
@pytest.mark.parametrize("first", ["{}", '{"n":1}', '{"n":1} ', '{"s":"😀"}'])
def test_another_name_behind_whole_arguments_is_another_call(first: str, later: str) -> None:
    """Two calls at one index without a second id: no text may go to the wrong one."""
    response = parse(call(first), tools(piece(later, "at", index=0)), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())


def test_so_it_is_behind_a_pair_that_the_wire_cut_in_half() -> None:
    data = wire(
        call('{"s":"@'), tools(piece('#"}', index=0)), tools(piece("", "at", index=0)), finish(), DONE
    )
    response = trigate.parse(data.replace(b"@", b"\\ud83d").replace(b"#", b"\\ude00"), PROTOCOL)
    assert (response.status, response.released) == ("conflict", ())


def test_a_call_without_a_name_is_a_conflict() -> None:
    response = parse(call(), call("{}", None, "b", 1), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["call_without_name"]


def test_text_that_belongs_to_no_call_is_a_conflict_and_no_call() -> None:
    response = parse(call("", "bash"), tools(piece('{"cmd":"x"}', "", index=1, id=None)), finish(), DONE)
    assert response.status == "conflict"
    assert [(each.name, each.arguments, each.problem) for each in response.calls] == [
        ("bash", "", "conflict")
    ]
    (anomaly,) = response.anomalies
    assert anomaly.code == "orphan_arguments"
    assert "cmd" in anomaly.detail


def test_text_without_any_call_is_a_conflict() -> None:
    response = parse(tools(piece('{"n":1}')), finish(), DONE)
    assert (response.status, response.calls) == ("conflict", ())


def test_two_different_calls_with_one_id_are_a_conflict() -> None:
    response = parse(call('{"n":1}', index=None), call('{"n":2}', index=None), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert "arguments_differ" in codes(response)


# -- shapes and bounds -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "member",
    [
        {"tool_calls": {}},
        {"tool_calls": [1]},
        {"tool_calls": [{"index": "0"}]},
        {"tool_calls": [{"index": 0, "id": 7}]},
        {"tool_calls": [{"index": 0, "function": {"name": 7}}]},
        {"tool_calls": [{"index": 0, "custom": {"input": {}}}]},
        {"function_call": "go"},
        {"content": 7},
        {"content": ["x"]},
        {"content": [{"type": "text", "text": 7}]},
        {"refusal": 7},
    ],
)
def test_a_member_of_the_wrong_type_is_a_fault(member: dict[str, Any]) -> None:
    response = parse(call(), delta(**member), finish(), DONE)
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("structure", "wrong_shape")
    assert response.error.offset == len(wire(call()))


def test_too_many_calls_is_a_limit() -> None:
    limits = trigate.Limits(max_calls=2)
    two = [call("{}", call_id=f"c{at}", index=at) for at in range(2)]
    assert len(parse(*two, finish(), DONE, limits=limits).released) == 2
    for third in (call("{}", call_id="c2", index=2), tools(piece("{}", index=2))):
        response = parse(*two, third, finish(), DONE, limits=limits)
        assert (response.status, response.released) == ("failed", ())
        assert response.error is not None
        assert (response.error.layer, response.error.code) == ("limit", "too_many_calls")


def test_waiting_text_is_bounded_too() -> None:
    limits = trigate.Limits(max_response_bytes=10_000)
    pieces = [tools(piece("x" * 2400, index=at)) for at in range(5)]
    assert parse(*pieces[:3], limits=limits).status == "truncated"
    response = parse(*pieces, limits=limits)
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("limit", "response_too_large")


@pytest.mark.parametrize(
    "broken", ["data: {\n\n", "data: nothing\n\n", "data: [1]\n\n", 'data: "x"\n\n', "data: 1\n\n"]
)
def test_undecodable_data_is_a_fault_and_never_skipped(broken: str) -> None:
    response = parse(call('{"n":1'), broken, tools(piece("}", index=0)), finish(), DONE)
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert response.error.layer in ("decode", "structure")


def test_nesting_that_nobody_can_decode_is_a_limit() -> None:
    deep = json.dumps(chunk(usage="@")).replace('"@"', '{"a":' * 100_000 + "1" + "}" * 100_000)
    response = parse(f"data: {deep}\n\n", call(), finish(), DONE)
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("limit", "depth_too_large")

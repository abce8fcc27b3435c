"""Chat completions, arguments: what a fragment adds to its call, and what the whole text is worth."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from openai_chat_streams import (
    DONE,
    PROTOCOL,
    call,
    codes,
    delta,
    finish,
    parse,
    piece,
    run,
    tools,
    verdict,
    wire,
)

GO = ("call_1", "go", '{"n":1}', None)


# -- arguments ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("empty", ["", None, " "])
def test_empty_arguments_stand_for_an_empty_object(empty: str | None) -> None:
    fragment = {"index": 0, "id": "call_1", "function": {"name": "go", "arguments": empty}}
    response = parse(tools(fragment), finish(), DONE)
    (released,) = response.released
    assert released.value() == {}
    assert released.flags == ("empty_arguments",)


@pytest.mark.parametrize(
    "last", [{}, {"function": {}}, {"function": None}, {"function": {"arguments": None}}]
)
def test_a_last_fragment_may_be_empty(last: dict[str, Any]) -> None:
    response = parse(call(), tools({"index": 0, "id": "", "type": "function"} | last), finish(), DONE)
    assert verdict(response) == [GO]
    assert response.anomalies == ()


@pytest.mark.parametrize("none", [[], None])
def test_no_tool_calls(none: list[Any] | None) -> None:
    response = parse(delta(content="hi", tool_calls=none, function_call=None), finish("stop"), DONE)
    assert (response.status, response.text, response.calls) == ("completed", "hi", ())


def test_arguments_as_an_object_keep_their_own_text() -> None:
    data = wire(call("@"), finish(), DONE).replace(
        b'"@"', b'{"n": 1e2, "big":25122920421210000010000, "s":"\\u00fc"}'
    )
    response = trigate.parse(data, PROTOCOL)
    (released,) = response.released
    assert released.arguments == '{"n": 1e2, "big":25122920421210000010000, "s":"\\u00fc"}'
    assert released.value() == {"n": 100.0, "big": 25122920421210000010000, "s": "ü"}
    assert released.flags == ("arguments_not_string",)


@pytest.mark.parametrize("note", ["", "\\ud83d"])
def test_a_repeated_member_of_an_object_is_seen(note: str) -> None:
    """Also where half a surrogate pair sends the chunk through the slow decoder."""
    data = wire(delta(content="@1", tool_calls=[piece("@2", "go", index=0, id="a")]), finish(), DONE)
    data = data.replace(b"@1", note.encode()).replace(b'"@2"', b'{"to":"alice","to":"bob"}')
    response = trigate.parse(data, PROTOCOL)
    assert verdict(response) == [("a", "go", '{"to":"alice","to":"bob"}', "duplicate_key")]


@pytest.mark.parametrize("value", ["[1]", "1", "true", '"[1]"', '"1"', '"null"'])
def test_arguments_that_are_no_object_are_malformed(value: str) -> None:
    data = wire(call("@"), finish(), DONE).replace(b'"@"', value.encode())
    response = trigate.parse(data, PROTOCOL)
    assert (response.status, response.released) == ("completed", ())
    assert [each.problem for each in response.calls] == ["malformed"]


def test_two_objects_are_two_values() -> None:
    response = parse(call({"n": 1}), tools(piece({"n": 2}, index=0)), finish(), DONE)
    assert [(each.problem, each.flags) for each in response.calls] == [
        ("malformed", ("arguments_not_string",))
    ]


def test_a_placeholder_before_the_arguments_is_dropped() -> None:
    items, response = run(
        [wire(call("{}"), tools(piece('{"n":', index=0)), tools(piece("1}", index=0)), finish(), DONE)]
    )
    assert verdict(response) == [GO]
    assert response.calls[0].flags == ("placeholder_dropped",)
    shown = [item.text for item in items if isinstance(item, trigate.ArgumentsDelta)]
    assert "".join(shown) == '{"n":1}'


@pytest.mark.parametrize("more", [[], [""], [" "], ["", "\n"]])
def test_an_empty_object_alone_is_the_arguments(more: list[str]) -> None:
    response = parse(call("{}"), *(tools(piece(part, index=0)) for part in more), finish(), DONE)
    (released,) = response.released
    assert (released.arguments, released.flags) == ("{}" + "".join(more), ())


@pytest.mark.parametrize(
    "ends", [(), (finish("length"), DONE), ('data: {"error":"x"}\n\n',), ("data: {\n\n",)]
)
def test_an_empty_object_is_kept_however_the_stream_ends(ends: tuple[Any, ...]) -> None:
    response = parse(call("{}"), *ends)
    assert [each.arguments for each in response.calls] == ["{}"]
    assert response.released == ()


def test_only_a_first_piece_can_be_a_placeholder() -> None:
    response = parse(
        call('{"n":1}'), tools(piece("{}", index=0)), tools(piece('{"n":2}', index=0)), finish(), DONE
    )
    assert [(each.arguments, each.problem) for each in response.calls] == [('{"n":1}{}{"n":2}', "malformed")]


def test_a_frame_that_repeats_everything_adds_nothing() -> None:
    response = parse(
        call(""), tools(piece('{"n":', index=0)), tools(piece("1}", index=0)), call(), finish(), DONE
    )
    assert verdict(response) == [GO]
    assert response.calls[0].flags == ("snapshot_repeated",)


def test_a_frame_that_repeats_id_and_name_with_other_arguments_is_a_conflict() -> None:
    response = parse(call('{"n":1}'), call('{"n":2}'), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["arguments_differ"]


def test_an_equal_piece_of_unfinished_text_is_a_piece() -> None:
    response = parse(call('{"n":'), call('{"n":'), tools(piece("1}}", index=0)), finish(), DONE)
    assert verdict(response) == [("call_1", "go", '{"n":{"n":1}}', None)]
    assert response.calls[0].flags == ()


def test_braces_at_the_borders_of_pieces_are_no_repeat() -> None:
    parts = ['{"code":"f(){}', '{", "n":1', "}"]
    response = parse(*(call(part) for part in parts), finish(), DONE)
    assert verdict(response) == [("call_1", "go", "".join(parts), None)]


def test_a_pair_that_the_wire_cut_in_half_is_one_character() -> None:
    data = wire(call('{"s":"@'), tools(piece('#"}', index=0)), finish(), DONE)
    response = trigate.parse(data.replace(b"@", b"\\ud83d").replace(b"#", b"\\ude00"), PROTOCOL)
    (released,) = response.released
    assert released.value() == {"s": "😀"}


def test_whole_text_is_never_judged_before_the_finish() -> None:
    parser = trigate.ResponseParser(PROTOCOL, release_on="call")
    items = parser.feed(wire(call('{"q":1}')))
    assert [type(item) for item in items] == [trigate.ToolCallStarted, trigate.ArgumentsDelta]
    assert parser.response.calls[0].state == "streaming"
    items = parser.feed(wire(tools(piece(',"limit":10}', index=0)), finish(), DONE))
    assert [item.call.problem for item in items if isinstance(item, trigate.ToolCallDone)] == ["malformed"]


def test_released_at_the_finish_if_asked_and_else_at_the_end() -> None:
    data = wire(call(), finish())
    early = trigate.ResponseParser(PROTOCOL, release_on="call")
    early.feed(data)
    assert [each.call_id for each in early.response.released] == ["call_1"]
    late = trigate.ResponseParser(PROTOCOL)
    late.feed(data)
    assert [each.state for each in late.response.calls] == ["done"]
    late.feed(DONE.encode())
    assert [each.call_id for each in late.response.released] == ["call_1"]


# -- other kinds of calls ----------------------------------------------------------------------------


def test_a_custom_call_is_free_text() -> None:
    first = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "sql", "input": "select '{"}}
    response = parse(tools(first), tools({"index": 0, "custom": {"input": "{'"}}), finish(), DONE)
    (released,) = response.released
    assert (released.kind, released.name, released.arguments) == ("custom", "sql", "select '{{'")


def test_an_equal_piece_of_a_custom_call_is_a_piece() -> None:
    part = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "say", "input": "{}"}}
    response = parse(tools(part), tools({"index": 0, "custom": {"input": "{}"}}), finish(), DONE)
    assert [each.arguments for each in response.released] == ["{}{}"]


def test_a_custom_call_that_repeats_id_name_and_text_is_a_conflict() -> None:
    """It is either the same frame twice or an equal piece, and free text has no grammar to tell."""
    part = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "say", "input": "ha"}}
    response = parse(tools(part), tools(part), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["ambiguous_repeat"]


def test_a_custom_call_that_gets_another_name_behind_text_is_a_conflict() -> None:
    first = {"index": 0, "id": "c", "type": "custom", "custom": {"name": "say", "input": "ha"}}
    response = parse(tools(first), tools({"index": 0, "custom": {"name": "do"}}), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())


def test_a_call_that_changes_its_kind_is_a_conflict() -> None:
    response = parse(call("{"), tools({"index": 0, "custom": {"input": "}"}}), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["call_type_changed"]


def test_a_builtin_function_is_a_call() -> None:
    fragment = piece('{"q":1}', "$web_search", index=0, id="c", type="builtin_function")
    assert verdict(parse(tools(fragment), finish(), DONE)) == [("c", "$web_search", '{"q":1}', None)]


def test_an_unknown_type_of_call_is_void() -> None:
    fragment = {"index": 0, "id": "c", "type": "browser", "browser": {"url": "x"}}
    response = parse(tools(fragment), finish(), DONE)
    assert verdict(response) == [("c", "browser", "", "unknown_type")]
    assert codes(response) == ["unknown_type", "call_unknown_type"]
    assert parse(tools(fragment), finish(), DONE, strict=True).status == "failed"


def test_the_deprecated_function_call_needs_no_id() -> None:
    response = parse(
        delta(function_call={"name": "go", "arguments": ""}),
        delta(function_call={"arguments": '{"n":'}),
        delta(function_call={"arguments": "1}"}),
        finish("function_call"),
        DONE,
    )
    assert (response.status, response.reason) == ("completed", "function_call")
    assert verdict(response) == [(None, "go", '{"n":1}', None)]


def test_the_deprecated_function_call_as_an_object() -> None:
    response = parse(
        delta(function_call={"name": "go", "arguments": {"n": 1}}), finish("function_call"), DONE
    )
    (released,) = response.released
    assert (released.arguments, released.flags) == ('{"n": 1}', ("arguments_not_string",))


def test_a_call_in_both_forms_is_a_conflict() -> None:
    response = parse(delta(function_call={"name": "go", "arguments": "{}"}), call("{}"), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert codes(response) == ["two_call_forms"]


def test_a_fragment_that_lost_its_index_may_belong_to_another_call() -> None:
    """Two numbered calls: a piece without a number completes neither of them."""
    heads = [call("", "now", "a", 0), call("", "rm", "b", 1)]
    lost = delta(tool_calls=[{"function": {"arguments": '{"n":1}'}}])
    response = parse(*heads, lost, finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())
    assert "ambiguous_fragment" in codes(response)

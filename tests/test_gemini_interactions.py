"""Interactions that go as they should, and how they end: steps, calls, statuses, the final list."""

from __future__ import annotations

import pytest

import trigate
from gemini_streams import (
    CREATED,
    DONE,
    INTERACTIONS,
    USAGE,
    Chunk,
    Told,
    agree,
    codes,
    completed,
    delta,
    events,
    function_step,
    parse,
    read,
    start,
    states,
    stopped,
    text_step,
    updated,
)
from trigate.protocols.gemini_interactions import GOES_ON, PROFILE, GeminiInteractions

GO = function_step(0, '{"a"', ":1}")


# -- the good way ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [(), (DONE,), (b"event: done\n" + DONE,)])
@pytest.mark.parametrize("protocol", [INTERACTIONS, "auto"])
def test_a_whole_turn(end: tuple[bytes, ...], protocol: str) -> None:
    summary = {"type": "text", "text": "hm"}
    told = [
        CREATED,
        updated("in_progress"),
        start(0, "thought"),
        delta(0, "thought_summary", content=summary),
        delta(0, "thought_signature", signature="c2ln"),
        stopped(0),
        *text_step(1, "Che", "cking"),
        *function_step(2, "", '{"city":', '"Zürich"}', call_id="f1", name="weather"),
        *function_step(3, call_id="f2", name="now"),
        completed(),
    ]
    response = agree(events(*told, *end), protocol)
    assert (response.protocol, response.status, response.reason) == (
        INTERACTIONS,
        "completed",
        "requires_action",
    )
    assert (response.text, response.reasoning, response.id, response.model) == ("Checking", "hm", "i1", "m")
    assert [(one.call_id, one.name, one.arguments, one.index) for one in response.released] == [
        ("f1", "weather", '{"city":"Zürich"}', 2),
        ("f2", "now", "{}", 3),
    ]
    assert response.usage == trigate.Usage(4, 3, 10, None, 3, USAGE)
    assert codes(response) == []
    assert response.to_message() == [
        {"type": "thought", "summary": [summary], "signature": "c2ln"},
        {"type": "model_output", "content": [{"type": "text", "text": "Checking"}]},
        {"type": "function_call", "id": "f1", "name": "weather", "arguments": {"city": "Zürich"}},
        {"type": "function_call", "id": "f2", "name": "now", "arguments": {}},
    ]


def test_items_in_order() -> None:
    parser = trigate.ResponseParser(INTERACTIONS)
    items = [item for told in (CREATED, *GO, completed()) for item in parser.feed(events(told))]
    assert [type(item).__name__ for item in items] == [
        "ToolCallStarted",
        "ArgumentsDelta",
        "ArgumentsDelta",
        "ToolCallDone",
        "UsageUpdate",
        "ResponseEnded",
    ]


def test_arguments_of_the_start() -> None:
    whole = read(CREATED, *function_step(0, arguments={"a": 1}), completed())
    assert [one.value() for one in whole.released] == [{"a": 1}]
    equal = read(CREATED, *function_step(0, '{ "a": 1 }', arguments={"a": 1}), completed())
    assert [one.arguments for one in equal.released] == ['{ "a": 1 }']
    none = read(CREATED, *function_step(0, arguments=None), completed())
    assert (none.released[0].value(), none.calls[0].flags) == ({}, ("empty_arguments",))
    other = read(CREATED, *function_step(0, '{"a":2}', arguments={"a": 1}), completed())
    assert (other.status, other.released) == ("conflict", ())
    true = read(CREATED, *function_step(0, '{"a":true}', arguments={"a": 1}), completed())
    assert true.status == "conflict"


def test_arguments_sent_as_an_object() -> None:
    told = [
        start(0, "function_call", id="f1", name="go", arguments={}),
        delta(0, "arguments_delta", arguments={"a": 1}),
    ]
    response = read(CREATED, *told, stopped(0), completed())
    assert (response.released[0].value(), response.calls[0].flags) == ({"a": 1}, ("arguments_not_string",))


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [(['{"a":'], "incomplete"), (['{"a":1}', '{"a":1}'], "malformed"), (['{"a":1,"a":2}'], "duplicate_key")],
)
def test_arguments_that_are_no_object(pieces: list[str], problem: str) -> None:
    response = read(CREATED, *function_step(0, *pieces), completed())
    assert (response.status, states(response)) == ("completed", [("go", "void", problem)])


def test_steps_that_interleave() -> None:
    one, two = function_step(0, '{"a"', ":1}"), function_step(1, '{"b"', ":2}", call_id="f2")
    response = read(CREATED, one[0], two[0], two[1], one[1], one[2], two[2], two[3], one[3], completed())
    assert [(call.call_id, call.arguments) for call in response.released] == [
        ("f1", '{"a":1}'),
        ("f2", '{"b":2}'),
    ]


def test_what_the_server_runs_is_not_for_the_client() -> None:
    told = [
        start(0, "google_search_call", id="s1", signature=""),
        delta(0, "google_search_call", arguments={"queries": ["q"]}),
        stopped(0),
        start(1, "google_search_result", call_id="s1"),
        delta(1, "google_search_result", result=[{"title": "t"}]),
        stopped(1),
        start(2, "mcp_server_tool_call", id="s2", name="look"),
        delta(2, "arguments_delta", arguments='{"x":1}'),
        stopped(2),
    ]
    response = read(CREATED, *told, completed("completed"))
    assert (response.status, response.calls) == ("completed", ())
    assert [(one.type, one.id, one.name) for one in response.server_calls] == [
        ("google_search_call", "s1", None),
        ("google_search_result", "s1", None),
        ("mcp_server_tool_call", "s2", "look"),
    ]
    assert response.to_message()[:2] == [
        {"type": "google_search_call", "id": "s1", "signature": "", "arguments": {"queries": ["q"]}},
        {"type": "google_search_result", "call_id": "s1", "result": [{"title": "t"}]},
    ]
    assert codes(response) == []


def test_content_that_is_not_text() -> None:
    first = {"type": "text", "text": "So: "}
    told = [
        start(0, "model_output", content=[first]),
        delta(0, "text", text="a"),
        delta(0, "text", text="b"),
        delta(0, "text_annotation_delta", annotations=[{"url": "u"}]),
        delta(0, "image", data="AA==", mime_type="image/png"),
        delta(0, "text", text="c"),
        stopped(0),
    ]
    response = read(CREATED, *told, completed("completed"))
    assert response.text == "So: abc"
    assert response.to_message() == [
        {
            "type": "model_output",
            "content": [
                {"type": "text", "text": "So: ab", "annotations": [{"url": "u"}]},
                {"type": "image", "data": "AA==", "mime_type": "image/png"},
                {"type": "text", "text": "c"},
            ],
        }
    ]
    assert codes(response) == []


# -- statuses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("incomplete", "incomplete"),
        ("requires_continuation", "incomplete"),
        ("idle", "incomplete"),
        ("failed", "failed"),
        ("budget_exceeded", "failed"),
        ("cancelled", "cancelled"),
        ("a_word_of_tomorrow", "failed"),
        ("in_progress", "failed"),
        ("queued", "failed"),
    ],
)
def test_other_ends(word: str, status: str) -> None:
    open_step = function_step(1, '{"b":', call_id="f2")[:2]
    response = read(CREATED, *GO, *open_step, completed(word))
    assert (response.status, response.reason) == (status, word)
    assert states(response) == [("go", "void", "response_not_completed"), ("go", "void", "incomplete")]
    assert (response.error is None) is (status == "incomplete")
    early = parse(events(CREATED, *GO, completed(word)), INTERACTIONS, release_on="call")
    assert early.released == ()


def test_completed_asks_for_nothing_to_be_run() -> None:
    assert read(CREATED, *text_step(0, "x"), completed("completed")).status == "completed"
    response = read(CREATED, *GO, completed("completed"))
    assert (response.status, states(response)) == ("completed", [("go", "void", "not_requested")])


def test_action_without_a_call_is_inconsistent() -> None:
    response = read(CREATED, *text_step(0, "x"), completed())
    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("structure", "missing_call")


def test_a_call_that_was_never_stopped_is_incomplete() -> None:
    response = read(CREATED, *GO, *function_step(1, '{"b":2}', call_id="f2")[:-1], completed())
    assert states(response) == [("go", "released", None), ("go", "void", "incomplete")]
    assert codes(response) == ["cut_call_in_completed_response"]


@pytest.mark.parametrize("end", [b"", DONE])
def test_a_status_update_ends_where_the_stream_does(end: bytes) -> None:
    response = read(CREATED, *GO, updated("requires_action", usage=USAGE), end)
    assert (response.status, response.reason, len(response.released)) == ("completed", "requires_action", 1)
    assert response.usage is not None
    assert response.usage.total_tokens == 10
    cut = read(CREATED, *GO, updated("incomplete"), end)
    assert (cut.status, cut.reason, cut.released) == ("incomplete", "incomplete", ())


def test_a_cut_behind_a_status_update_loses_the_stream() -> None:
    data = events(CREATED, *GO, updated("requires_action"), completed())
    end = len(events(CREATED, *GO, updated("requires_action")))
    for length in range(end + 1, len(data) - 1):
        response = parse(data[:length], INTERACTIONS)
        assert (response.status, response.released) == ("truncated", ())


@pytest.mark.parametrize("end", [b"", DONE])
@pytest.mark.parametrize(
    "statuses", [[], ["in_progress"], ["queued", None], ["requires_action", "in_progress"]]
)
def test_no_status_is_a_lost_stream(end: bytes, statuses: list[str | None]) -> None:
    response = read(CREATED, *GO, *[updated(status) for status in statuses], end)
    assert (response.status, response.reason, response.released) == ("truncated", None, ())


def test_the_status_of_the_last_event_counts() -> None:
    response = read(CREATED, *GO, updated("requires_action"), completed("failed"))
    assert (response.status, response.released) == ("failed", ())
    response = read(CREATED, *GO, updated("requires_action"), completed(None))
    assert (response.status, len(response.released)) == ("completed", 1)
    response = read(CREATED, *GO, completed(None))
    assert response.error is not None
    assert (response.status, response.error.code) == ("failed", "missing_status")


@pytest.mark.parametrize("word", ["incomplete", "failed", "requires_continuation", "budget_exceeded"])
def test_what_was_cut_does_not_become_a_turn_that_asks_to_run(word: str) -> None:
    response = read(CREATED, *GO, updated(word), completed())
    assert (response.status, response.released) == ("conflict", ())


def test_a_step_behind_a_status_makes_it_void() -> None:
    response = read(CREATED, *GO, updated("requires_action"), *text_step(1, "x"))
    assert (response.status, response.released, codes(response)) == ("truncated", (), ["step_after_status"])


def test_released_early() -> None:
    """Not at step.stop, which may be that of a limit, but when action is required."""
    parser = trigate.ResponseParser(INTERACTIONS, release_on="call")
    parser.feed(events(CREATED, *GO))
    assert parser.response.released == ()
    parser.feed(events(updated("requires_action")))
    assert len(parser.response.released) == 1


def test_the_profile_knows_every_status() -> None:
    known = {*PROFILE.asks_to_run, *PROFILE.ends_well, *PROFILE.ends_otherwise, *GOES_ON}
    assert known == {
        "queued",
        "in_progress",
        "requires_action",
        "completed",
        "incomplete",
        "failed",
        "cancelled",
        "budget_exceeded",
        "idle",
        "requires_continuation",
    }
    assert GeminiInteractions.profile is PROFILE


# -- the final list ----------------------------------------------------------------------------------------


def final(*steps: Chunk) -> Told:
    return completed(steps=list(steps))


CALL = {"type": "function_call", "id": "f1", "name": "go", "arguments": {"a": 1}}


def test_the_final_list_agrees() -> None:
    response = read(CREATED, *GO, final({"type": "user_input"}, CALL))
    assert (response.status, len(response.released), codes(response)) == ("completed", 1, [])


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ([CALL | {"arguments": {"a": 2}}], "arguments_differ"),
        ([CALL | {"arguments": {}}], "arguments_differ"),
        ([CALL | {"name": "other"}], "name_changed"),
        ([{"type": "thought"}], "call_missing_in_final_output"),
        ([CALL | {"id": "f2"}], "call_missing_in_final_output"),
    ],
)
def test_the_final_list_contradicts(steps: list[Chunk], code: str) -> None:
    response = read(CREATED, *GO, final(*steps))
    assert (response.status, response.released) == ("conflict", ())
    assert response.error is not None
    assert response.error.code == code


def test_a_call_of_the_final_list_alone_is_not_run() -> None:
    response = read(CREATED, *GO, final(CALL | {"id": "old"}, CALL))
    assert [one.call_id for one in response.calls] == ["f1"]
    assert codes(response) == ["item_without_start"]

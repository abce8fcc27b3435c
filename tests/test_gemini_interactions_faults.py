"""Interactions that deviate, contradict themselves or fail, and what goes back after each."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from gemini_streams import (
    CREATED,
    DONE,
    INTERACTIONS,
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
from trigate.protocols.gemini_interactions import GeminiInteractions

GO = function_step(0, '{"a"', ":1}")


# -- deviations ----------------------------------------------------------------------------------------


def test_an_event_twice_is_dropped() -> None:
    numbered = [(kind, members | {"event_id": f"e{at}"}) for at, (kind, members) in enumerate(GO)]
    told = [CREATED, *(event for event in numbered for _ in range(2)), completed()]
    response = read(*told)
    assert [one.arguments for one in response.released] == ['{"a":1}']
    assert codes(response) == ["repeated_event"] * len(GO)
    again = read(CREATED, *numbered, *numbered[:2], completed())
    assert len(again.released) == 1


def test_an_event_id_with_other_content_hides_nothing() -> None:
    same = [(kind, members | {"event_id": "e"}) for kind, members in GO]
    response = read(CREATED, *same, completed())
    assert (response.status, response.released) == ("conflict", ())
    assert response.error is not None
    assert response.error.code == "event_id_reused"
    assert response.calls[0].arguments == '{"a":1}'


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ([delta(0, "arguments_delta", arguments="{}")], "orphan_arguments"),
        ([*GO, delta(0, "arguments_delta", arguments="{}")], "delta_after_close"),
        ([*text_step(1, "x"), *GO, delta(1, "arguments_delta", arguments="{}")], "orphan_arguments"),
        ([*GO, delta(None, "arguments_delta", arguments="{}")], "orphan_arguments"),
        ([*GO, *function_step(1, "{}", call_id="f1")], "call_id_reused"),
        ([*GO, ("interaction.created", {"interaction": {"id": "i2"}})], "response_restarted"),
    ],
)
def test_contradictions(told: list[Told], code: str) -> None:
    response = read(CREATED, *told, completed())
    assert (response.status, response.released) == ("conflict", ())
    assert response.error is not None
    assert response.error.code == code


@pytest.mark.parametrize(
    ("told", "noted"),
    [
        ([GO[0], *GO], ["repeated_item"]),
        ([*GO, stopped(0)], ["repeated_stop"]),
        ([*GO, stopped(7)], ["stop_without_start"]),
        ([*GO, updated("in_progress", interaction_id="i2")], ["response_id_changed"]),
        ([*GO, *text_step(1, "x"), delta(1, "text", text="y")], ["delta_after_close"]),
        ([*GO, delta(5, "text", text="x")], ["delta_without_start"]),
        ([*GO, delta(5, "thought_summary", content={"type": "text", "text": "x"})], ["delta_without_start"]),
        ([*GO, delta(5, "image", data="")], ["delta_without_start"]),
        ([*GO, ("interaction.paused", {})], ["unknown_type"]),
        ([*GO, start(1, "hologram"), stopped(1)], ["unknown_type"]),
        ([*GO, start(1, "model_output"), delta(1, "hologram"), stopped(1)], ["unknown_type"]),
        (
            [
                start(None, *("model_output",)),
                *[delta(None, "text", text="x"), stopped(None)],
                *function_step(4, "{}"),
            ],
            ["missing_index", "missing_index"],
        ),
    ],
)
def test_deviations_that_are_tolerated(told: list[Told], noted: list[str]) -> None:
    response = read(CREATED, *told, completed())
    assert (response.status, len(response.released)) == ("completed", 1)
    assert codes(response) == noted


def test_text_without_a_step_is_seen() -> None:
    response = read(
        CREATED,
        delta(0, "text", text="a"),
        delta(1, "thought_summary", content={"type": "text", "text": "b"}),
        completed("completed"),
    )
    assert (response.text, response.reasoning) == ("a", "b")


def test_an_index_with_a_second_step() -> None:
    response = read(CREATED, *GO, *function_step(0, '{"b":2}', call_id="f2"), completed())
    assert [(one.call_id, one.arguments) for one in response.released] == [
        ("f1", '{"a":1}'),
        ("f2", '{"b":2}'),
    ]
    assert codes(response) == ["index_reused"]
    cut = read(CREATED, *GO[:-1], *function_step(0, '{"b":2}', call_id="f2"), completed())
    assert (cut.status, cut.released) == ("conflict", ())
    assert "ambiguous_fragment" in codes(cut)


def test_what_is_not_understood_spoils_its_call() -> None:
    response = read(CREATED, *GO[:-1], delta(0, "arguments_patch", patch="}"), GO[-1], completed())
    assert states(response) == [("go", "void", "unknown_type")]
    assert "unknown_type" in codes(response)


def test_an_event_that_is_not_understood_spoils_its_call() -> None:
    event = ("step.patch", {"index": 0, "patch": "}"})
    response = read(CREATED, *GO[:-1], event, GO[-1], completed())
    assert states(response) == [("go", "void", "unknown_type")]
    after = read(CREATED, *GO, event, ("step.patch", {"index": "0"}), completed())
    assert states(after) == [("go", "released", None)]


def test_strict() -> None:
    response = parse(events(CREATED, ("interaction.paused", {})), INTERACTIONS, strict=True)
    assert response.status == "failed"


def test_calls_need_an_id_and_a_name() -> None:
    nameless = read(CREATED, *function_step(0, "{}", name=""), completed())
    assert states(nameless) == [("", "void", "no_name")]
    data = events(CREATED, *function_step(0, "{}", call_id=None), completed())
    assert states(agree(data, INTERACTIONS)) == [("go", "void", "no_call_id")]
    made = parse(data, INTERACTIONS, ids="generate").released
    assert [str(one.call_id)[:3] for one in made] == ["tg_"]


def test_names_of_events() -> None:
    nameless = agree(events(CREATED, *GO, completed(), names=False), INTERACTIONS)
    assert (len(nameless.released), codes(nameless)) == (1, ["event_name_missing"])
    wrong = events(CREATED, *GO, completed()).replace(b"event: step.stop", b"event: step.delta")
    assert codes(agree(wrong, INTERACTIONS)) == ["event_name_differs"]
    bare = events(CREATED, *GO, completed()).replace(b'"event_type":"step.stop",', b"")
    assert len(agree(bare, INTERACTIONS).released) == 1
    assert codes(read(*GO, completed())) == ["missing_start"]


def test_a_name_that_was_cut_inside_a_call_spoils_it() -> None:
    """Where names were right, one that no event has was cut, and a piece may have gone with it."""
    cut = events(CREATED, *GO, completed()).replace(b"event: step.stop", b"event: stepevent: step.stop")
    response = agree(cut, INTERACTIONS)
    assert states(response) == [("go", "void", "incomplete")]


@pytest.mark.parametrize(
    "event",
    [
        ("step.start", {"index": "0", "step": {}}),
        ("step.start", {"index": 0}),
        ("step.start", {"index": 0, "step": {"type": "function_call", "id": 1}}),
        ("step.delta", {"index": 0, "delta": {"type": "text", "text": 1}}),
        ("step.delta", {"index": 0}),
        ("interaction.completed", {"interaction": {"status": 1}}),
        ("interaction.completed", {}),
    ],
)
def test_a_member_of_the_wrong_type_fails_the_response(event: Told) -> None:
    response = read(CREATED, *GO, event, completed())
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert response.error.layer == "structure"
    assert response.error.offset == len(events(CREATED, *GO))


def test_what_a_response_keeps_is_bounded() -> None:
    told = [*GO, start(1, "model_output"), delta(1, "image", data="x" * 2000), completed()]
    response = read(CREATED, *told, limits=trigate.Limits(max_response_bytes=1000))
    assert response.error is not None
    assert (response.status, response.error.limit) == ("failed", "max_response_bytes")


# -- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "event",
    [
        ("error", {"error": {"code": "overloaded", "message": "later"}}),
        b'data: {"error":{"code":"overloaded","message":"later"}}\n\n',
        b'event: error\ndata: {"code":"overloaded","message":"later"}\n\n',
        b'event: error\ndata: {"event_type":"step.stop","error":{"code":"overloaded","message":"later"}}\n\n',
    ],
)
def test_errors(event: Told | bytes) -> None:
    response = read(CREATED, *GO, updated("requires_action"), event, completed())
    assert (response.status, response.reason, response.released) == ("failed", None, ())
    assert response.error is not None
    assert (response.error.layer, response.error.code, response.error.message) == (
        "provider",
        "overloaded",
        "later",
    )
    assert codes(response) == ["event_after_end"]


def test_an_error_in_plain_text() -> None:
    response = read(CREATED, *GO, b"event: error\ndata: upstream is gone\n\n")
    assert response.error is not None
    assert (response.status, response.error.message) == ("failed", "upstream is gone")


@pytest.mark.parametrize(
    "members", [{"error": {"code": "c", "message": "m"}}, {"errors": [{"code": "c", "message": "m"}]}]
)
def test_the_error_of_a_failed_interaction(members: Chunk) -> None:
    response = read(CREATED, *GO, completed("failed", **members))
    assert response.error is not None
    assert (response.reason, response.error.layer, response.error.code) == ("failed", "provider", "c")


@pytest.mark.parametrize(
    "late",
    [
        delta(0, "text", text="x"),
        completed("failed"),
        ("error", {"error": {"message": "m"}}),
        b"event: error\ndata: m\n\n",
    ],
)
def test_nothing_changes_after_the_end(late: Told | bytes) -> None:
    response = read(CREATED, *GO, completed(), late)
    assert (response.status, len(response.released)) == ("completed", 1)
    assert codes(response) == ["event_after_end"]
    drained = read(CREATED, *GO, completed(), DONE, b"data: [DONE]\n\n", b"data: no json\n\n")
    assert codes(drained) == ["event_after_end"]


# -- what goes back --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "keeps"), [("requires_action", True), ("requires_continuation", True), ("incomplete", False)]
)
def test_calls_that_nothing_may_answer_do_not_go_back(word: str, keeps: bool) -> None:
    response = read(CREATED, *GO, *text_step(1, "x"), completed(word))
    assert [step["type"] for step in response.to_message()] == ["function_call", "model_output"][not keeps :]


def test_the_token_of_a_continuation_is_told() -> None:
    parser = trigate.ResponseParser(INTERACTIONS)
    told = [
        updated("in_progress", continuation_token="a"),
        completed("requires_continuation", continuation_token="b"),
    ]
    items = parser.feed(events(CREATED, *told))
    assert [(item.type, item.data) for item in items if isinstance(item, trigate.OtherEvent)] == [
        ("continuation_token", '"a"'),
        ("continuation_token", '"b"'),
    ]


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("ok", "ok"),
        ({"c": 20}, {"c": 20}),
        ([{"type": "text", "text": "x"}],) * 2,
        (None, ""),
        (5, "5"),
        (True, "true"),
    ],
)
def test_answers(content: Any, result: Any) -> None:
    response = read(CREATED, *GO, completed())
    wanted = {"type": "function_result", "call_id": "f1", "name": "go", "result": result}
    assert response.tool_result_message(response.calls[0], content) == wanted
    assert response.tool_result_message(response.calls[0], content, is_error=True) == wanted | {
        "is_error": True
    }


def test_what_cannot_be_answered() -> None:
    response = read(CREATED, *function_step(0, "{}", call_id=None), completed())
    with pytest.raises(ValueError, match="no call_id"):
        response.tool_result_message(response.calls[0], "x")
    good = read(CREATED, *GO, completed())
    with pytest.raises(TypeError, match="bytes"):
        good.tool_result_message(good.calls[0], b"x")


@pytest.mark.parametrize(
    ("value", "is_ours"),
    [
        ({"event_type": "interaction.created"}, True),
        ({"event_type": "step.start"}, True),
        ({"event_type": 1}, False),
        ({"event_type": "message"}, False),
        ({"type": "step.start"}, False),
    ],
)
def test_recognises(value: dict[str, Any], is_ours: bool) -> None:
    assert GeminiInteractions.recognises(trigate.ServerSentEvent(), value) is is_ours

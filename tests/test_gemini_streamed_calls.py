"""Calls whose arguments Gemini streams: which parts belong to a call, where it ends, what contradicts it."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from gemini_streams import agree, array, call, chunk, codes, parse, partial, sse, states, stop

GO = call("go", {"a": 1})
OPEN = call("write", willContinue=True)
PIECES = [
    partial(("$.title", "stringValue", "Big ", True)),
    partial(("$.title", "stringValue", "Red", True), ("$.n", "numberValue", 2)),
    partial(("$.title", "stringValue", "")),
]
ITEMS = partial(("$.items[0].ok", "boolValue", True), ("$.items[1].ok", "nullValue", None))
WRITTEN = {"title": "Big Red", "n": 2, "items": [{"ok": True}, {"ok": None}]}


@pytest.mark.parametrize(
    "end",
    [
        [ITEMS, {"functionCall": {}}],
        [{"functionCall": ITEMS["functionCall"] | {"willContinue": False}}],
        [partial(*[("$.items[0].ok", "boolValue", True), ("$.items[1].ok", "nullValue", None)], more=False)],
        [ITEMS, {"functionCall": {"willContinue": True}}, {"functionCall": {"args": {}}}],
    ],
)
@pytest.mark.parametrize("is_one_chunk", [True, False])
def test_streamed_arguments(end: list[dict[str, Any]], is_one_chunk: bool) -> None:
    parts = [OPEN, *PIECES, *end]
    chunks = [chunk(*parts)] if is_one_chunk else [chunk(part) for part in parts]
    for data in (sse([*chunks, stop()]), array([*chunks, stop()])):
        response = agree(data)
        assert states(response) == [("write", "released", None)]
        assert response.released[0].value() == WRITTEN
        assert response.calls[0].arguments.startswith('{"title":"Big Red","n":2,"items":[')
        assert response.to_message()["parts"] == [*parts, {"text": ""}]
        assert codes(response) == []


def test_streamed_calls_one_after_another_and_among_whole_ones() -> None:
    parts = [GO, OPEN, {"functionCall": {}}, OPEN, partial(("$.a", "stringValue", "x"), more=False), GO]
    response = agree(sse([chunk(part) for part in parts] + [stop()]))
    assert [(one.name, one.arguments) for one in response.released] == [
        ("go", '{"a":1}'),
        ("write", ""),
        ("write", '{"a":"x"}'),
        ("go", '{"a":1}'),
    ]


def test_text_between_the_pieces_of_a_call() -> None:
    parts = [OPEN, {"text": "x"}, *PIECES, {"text": "y"}, {"functionCall": {}}]
    response = agree(sse([chunk(part) for part in parts] + [stop()]))
    assert response.text == "xy"
    assert response.released[0].value() == {"title": "Big Red", "n": 2}


def test_an_id_goes_on_with_its_call() -> None:
    parts = [
        call("write", willContinue=True, id="f1"),
        partial(("$.a", "numberValue", 1), id="f1"),
        partial(("$.b", "numberValue", 2), id="f1", name="write"),
        {"functionCall": {"id": "f1"}},
    ]
    response = agree(sse([chunk(part) for part in parts] + [stop()]))
    assert [(one.call_id, one.value()) for one in response.released] == [("f1", {"a": 1, "b": 2})]
    late = agree(sse([chunk(OPEN), chunk(partial(("$.a", "numberValue", 1), more=False, id="f9")), stop()]))
    assert [one.call_id for one in late.released] == ["f9"]


@pytest.mark.parametrize("seen", [1, 2, 3, 4])
def test_an_open_call_at_the_end_is_incomplete(seen: int) -> None:
    parts = [OPEN, *PIECES][:seen]
    response = agree(sse([chunk(GO), *[chunk(part) for part in parts], stop()]))
    assert response.status == "completed"
    assert states(response) == [("go", "released", None), ("write", "void", "incomplete")]
    assert codes(response) == ["cut_call_in_completed_response"]
    assert response.calls[1].arguments == ""


def test_a_call_that_ends_inside_a_string_is_incomplete() -> None:
    parts = [OPEN, PIECES[0], {"functionCall": {}}]
    response = agree(sse([chunk(*parts), stop()]))
    assert states(response) == [("write", "void", "incomplete")]
    assert response.calls[0].arguments == ""


def test_a_path_that_cannot_be_read_spoils_its_call_alone() -> None:
    parts = [GO, OPEN, partial(("$..x", "stringValue", "x")), {"functionCall": {}}]
    response = agree(sse([chunk(*parts), stop()]))
    assert states(response) == [("go", "released", None), ("write", "void", "malformed")]
    assert codes(response) == ["call_malformed"]


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([OPEN, GO], "call_not_closed"),
        ([OPEN, OPEN, {"functionCall": {}}], "call_not_closed"),
        (
            [call("write", willContinue=True, id="f1"), partial(("$.a", "numberValue", 1), id="f2")],
            "call_not_closed",
        ),
        ([call("write", willContinue=True, id="f1"), call("other", id="f1")], "name_changed"),
        ([GO, partial(("$.b", "numberValue", 2))], "orphan_arguments"),
        ([GO, partial(("$.b", "numberValue", 2), more=False)], "orphan_arguments"),
        ([GO, {"functionCall": {"willContinue": True}}], "orphan_arguments"),
        ([OPEN, PIECES[2], PIECES[2]], "arguments_differ"),
        ([OPEN, partial(("$.a", "numberValue", 1), args={"b": 2})], "arguments_differ"),
        ([OPEN, ITEMS, {"functionCall": {"args": {"b": 2}}}], "arguments_differ"),
        ([call("go", {"a": 1}, willContinue=True), {"functionCall": {"args": {"a": 2}}}], "arguments_differ"),
    ],
)
def test_pieces_that_contradict_each_other(parts: list[dict[str, Any]], code: str) -> None:
    response = agree(sse([*[chunk(part) for part in parts], stop()]))
    assert (response.status, response.released) == ("conflict", ())
    assert response.error is not None
    assert response.error.code == code


def test_whole_arguments_of_a_call_that_goes_on() -> None:
    whole = call("go", {"a": 1}, willContinue=True)
    ends: list[dict[str, Any]] = [{"functionCall": {}}, {"functionCall": {"args": {"a": 1}}}]
    for end in ends:
        response = agree(sse([chunk(whole), chunk(end), stop()]))
        assert [one.value() for one in response.released] == [{"a": 1}]


def test_the_end_of_no_call() -> None:
    response = agree(sse([chunk(GO), chunk({"functionCall": {}}), stop()]))
    assert states(response) == [("go", "released", None)]
    assert codes(response) == ["empty_function_call"]


def test_depth_and_size_of_streamed_arguments_are_bounded() -> None:
    deep = [OPEN, partial(("$" + ".a" * 5, "numberValue", 1)), {"functionCall": {}}]
    data = sse([chunk(*deep), stop()])
    assert parse(data, limits=trigate.Limits(max_depth=5)).status == "completed"
    response = parse(data, limits=trigate.Limits(max_depth=4))
    assert response.error is not None
    assert (response.status, response.error.limit) == ("failed", "max_depth")
    large = [OPEN, partial(("$.a", "stringValue", "x" * 100)), {"functionCall": {}}]
    data = sse([chunk(*large), stop()])
    assert parse(data, limits=trigate.Limits(max_arguments_bytes=108)).status == "completed"
    response = parse(data, limits=trigate.Limits(max_arguments_bytes=107))
    assert response.error is not None
    assert (response.status, response.error.limit) == ("failed", "max_arguments_bytes")

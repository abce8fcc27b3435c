"""Rows of the Chat reference, read against it: errors without a name, late words of the upstream, two attempts."""

from __future__ import annotations

from typing import Any

import pytest

import trigate
from openai_chat_streams import DONE, call, chunk, codes, finish, parse, piece, text, tools

ERRORS: list[dict[str, Any]] = [
    {"message": "boom", "code": "c"},
    {"type": "server_error", "message": "boom", "code": "c"},
    {"object": "error", "message": "boom", "code": "c"},
    {"error": {"message": "boom", "code": "c"}},
]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_in_any_shape(error: dict[str, Any]) -> None:
    response = parse(call(), error, finish(), DONE)
    assert response.error is not None
    assert (response.status, response.error.code, response.released) == ("failed", "c", ())


def test_keep_alives_are_no_errors() -> None:
    response = parse(call(), {"type": "ping", "message": "still here"}, finish(), DONE)
    assert (response.status, codes(response)) == ("completed", [])


@pytest.mark.parametrize(
    ("word", "status"), [("length", "incomplete"), ("ERROR", "failed"), ("stop", "completed")]
)
def test_the_upstream_s_own_word_behind_the_finish(word: str, status: str) -> None:
    late = chunk({"index": 0, "delta": {}, "native_finish_reason": word})
    response = parse(call(), finish("stop"), late, DONE)
    assert (response.status, len(response.released)) == (status, status == "completed")
    assert ("finish_laundered" in codes(response)) is (status != "completed")


@pytest.mark.parametrize("index", [0, None])
def test_two_attempts_at_one_turn_never_both_run(index: int | None) -> None:
    again = {"id": "chatcmpl-2"}
    response = parse(
        call(index=index),
        text("") | again,
        call(call_id="call_2", index=index) | again,
        finish() | again,
        DONE,
    )
    assert response.error is not None
    assert (response.status, response.error.code) == ("conflict", "response_restarted")
    assert response.released == ()


def test_an_id_for_each_chunk_is_only_noted() -> None:
    ids = [{"id": f"made-up-{number}"} for number in range(4)]
    response = parse(
        call("") | ids[0],
        tools(piece('{"n":1}', index=0)) | ids[1],
        call(call_id="call_2", index=1) | ids[2],
        finish() | ids[3],
        DONE,
    )
    assert [each.call_id for each in response.released] == ["call_1", "call_2"]
    assert codes(response) == ["response_id_changed"]


def test_a_fragment_of_two_kinds() -> None:
    both = piece('{"n":1}', "go", index=0, id="call_1", custom={"name": "go", "input": "rm"})
    response = parse(tools(both), finish(), DONE)
    assert (response.status, response.released) == ("conflict", ())


def test_two_choices_of_one_chunk_without_an_index() -> None:
    choices = [{"delta": call(call_id=name)["choices"][0]["delta"]} for name in ("a", "b")]
    response = parse(chunk(*choices), finish(), DONE)
    assert response.error is not None
    assert (response.error.code, response.released) == ("choice_repeated", ())


def test_made_up_ids_are_those_of_one_response() -> None:
    def made(**members: Any) -> list[str | None]:
        response = parse(call(call_id=None) | members, finish() | members, DONE, ids="generate")
        return [each.call_id for each in response.released]

    assert made() == made()
    assert made() != made(id="chatcmpl-2")
    assert made(id="", created=1) != made(id="", created=2)


@pytest.mark.parametrize("first", ['data: {"type":"keepalive"}\n\n', "event: ping\ndata: {}\n\n"])
def test_auto_waits_behind_keep_alives(first: str) -> None:
    data = (
        first.encode()
        + b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    )
    response = trigate.parse(data + DONE.encode(), "auto")
    assert (response.protocol, response.status, response.text) == ("openai-chat", "completed", "Hi")

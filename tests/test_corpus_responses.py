"""Recorded Responses streams: what trigate makes of them is what their index says, however they are cut.

The index lists calls of functions and custom tools; other items that the client runs (apply_patch) stand
under other_calls, and come as calls of kind "builtin" here.
"""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from msgspec.structs import replace

import trigate
from recorded import corpus_entries, corpus_stream, needs_corpus
from streams import PROTOCOL, every_two_cut, run, typical_cuts

pytestmark = needs_corpus

ENTRIES = corpus_entries(PROTOCOL)
KINDS = {"function": "function_call", "custom": "custom_tool_call"}
BY_CLIENT = {
    "apply_patch_call": "apply_patch",
    "local_shell_call": "local_shell",
    "computer_call": "computer",
}

entry_of = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"].rpartition("/")[2])


def outcome(response: trigate.Response) -> str:
    """In the index's words."""
    return "incomplete(max_tokens)" if response.reason == "max_output_tokens" else response.status


def check(response: trigate.Response, entry: dict[str, Any]) -> None:
    text_calls = [call for call in response.calls if call.kind != "builtin"]
    assert [(call.call_id, call.name, call.arguments, KINDS[call.kind]) for call in text_calls] == [
        (call["id"], call["name"], call["arguments"], call["kind"]) for call in entry["tool_calls"]
    ]
    assert len(response.text) == entry["text_len"]
    assert hashlib.sha256(response.text.encode()).hexdigest() == entry["text_sha256"]
    assert len(response.reasoning) == entry["reasoning_len"]
    assert len(response.refusal) == entry["refusal_len"]
    assert outcome(response) == entry["outcome"]
    assert response.reason == entry["finish"]
    assert response.released == (response.calls if response.status == "completed" else ())
    assert response.clean_end
    assert response.anomalies == ()


def check_others(response: trigate.Response, entry: dict[str, Any]) -> None:
    """Other items: those of the client as builtin calls, those of the provider as server calls."""
    builtin = [(call.name, call.call_id) for call in response.calls if call.kind == "builtin"]
    others = entry["other_calls"]
    assert builtin == [
        (BY_CLIENT[other["type"]], other["call_id"]) for other in others if other["type"] in BY_CLIENT
    ]
    # In which order they ended, the index does not say.
    assert sorted((call.type, str(call.id)) for call in response.server_calls) == sorted(
        (other["type"], other["id"]) for other in others if other["type"] not in BY_CLIENT
    )


def test_the_corpus_is_whole() -> None:
    assert len(ENTRIES) == 38
    for entry in ENTRIES:
        assert hashlib.sha256(corpus_stream(entry["file"])).hexdigest() == entry["sha256"]


@entry_of
def test_every_kind_of_cut(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    whole = trigate.parse(data, PROTOCOL)
    check(whole, entry)
    check_others(whole, entry)
    for chunks in typical_cuts(data):
        assert run(chunks)[1] == whole


@pytest.mark.parametrize("entry", ENTRIES[:6], ids=lambda entry: entry["file"].rpartition("/")[2])
def test_every_two_cut_of_the_smallest(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    whole = trigate.parse(data, PROTOCOL)
    check(whole, entry)
    for chunks in every_two_cut(data):
        assert run(chunks)[1] == whole


@entry_of
def test_without_items_for_deltas_nothing_else_changes(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    assert trigate.parse(data, PROTOCOL, deltas=False) == trigate.parse(data, PROTOCOL)


@entry_of
def test_items_carry_the_same_text_as_the_response(entry: dict[str, Any]) -> None:
    items, response = run([corpus_stream(entry["file"])])
    assert "".join(item.text for item in items if isinstance(item, trigate.TextDelta)) == response.text
    assert (
        "".join(item.text for item in items if isinstance(item, trigate.ReasoningDelta)) == response.reasoning
    )
    for call in response.calls:
        pieces = [
            item.text
            for item in items
            if isinstance(item, trigate.ArgumentsDelta) and item.call.wire_key == call.wire_key
        ]
        assert "".join(pieces) == call.arguments


@entry_of
def test_released_early_are_the_same_calls(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    early = trigate.parse(data, PROTOCOL, release_on="call")
    # Only the moment at which each call was released differs.
    assert replace(early, decisions=()) == replace(trigate.parse(data, PROTOCOL), decisions=())
    items, _ = run([data], release_on="call")
    done = [item.call for item in items if isinstance(item, trigate.ToolCallDone)]
    assert tuple(done) == early.released


@entry_of
def test_auto_finds_the_protocol(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    assert trigate.parse(data) == trigate.parse(data, PROTOCOL)

"""Recorded and described Messages streams give what their index and cases say, at every cut.

Where the index and the design differ, the design counts: a `pause_turn` is incomplete (the index: completed),
and the last event of a recording that lacks its blank line is no event (the index reads it).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

import trigate
from anthropic_streams import PROTOCOL, codes, parse, run
from recorded import cases, corpus_entries, corpus_stream, needs_cases, needs_corpus
from streams import Chunks, every_two_cut, of_size, typical_cuts

ENTRIES = [*corpus_entries(PROTOCOL), *corpus_entries("anthropic-complete")]
CASES = cases(PROTOCOL)
SMALL = [entry for entry in ENTRIES if entry["bytes"] <= 8 * 1024]
STATUSES = {"complete": "completed", "failed": "failed", "conflict": "conflict"}


def name_of(entry: dict[str, Any]) -> str:
    return str(entry["file"]).rpartition("/")[2] if "file" in entry else f"{entry['n']}-{entry['kind']}"


entry_of = pytest.mark.parametrize("entry", ENTRIES, ids=name_of)


def value_of(text: str) -> Any:
    """Arguments by value: an empty text stands for {}, and one that was cut is itself."""
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def expected_end(entry: dict[str, Any]) -> tuple[str, str | None]:
    if entry["unterminated_tail"]:
        return "truncated", None
    status = "completed" if entry["outcome"] == "completed" else "incomplete"
    return ("incomplete" if entry["finish"] == "pause_turn" else status), entry["finish"]


def check(response: trigate.Response, entry: dict[str, Any]) -> None:
    assert (response.status, response.reason) == expected_end(entry)
    assert [(call.call_id, call.name) for call in response.calls] == [
        (call["id"], call["name"]) for call in entry["tool_calls"]
    ]
    for call, wanted in zip(response.calls, entry["tool_calls"], strict=True):
        assert value_of(call.arguments) == value_of(wanted["arguments"])
        if not wanted.get("arguments_from_start"):
            assert call.arguments == wanted["arguments"]
        assert (call.state == "released") is (response.status == "completed")
    assert len(response.text) == entry["text_len"]
    assert hashlib.sha256(response.text.encode()).hexdigest() == entry["text_sha256"]
    assert len(response.reasoning) == entry["reasoning_len"]
    assert response.clean_end is (not entry["unterminated_tail"])
    assert codes(response) == (["block_without_stop"] if entry["unterminated_tail"] else [])


def check_others(response: trigate.Response, entry: dict[str, Any]) -> None:
    others = entry["other_calls"]
    assert [(call.type, call.id) for call in response.server_calls] == [
        (other["type"], other["id"]) for other in others
    ]
    for call, other in zip(response.server_calls, others, strict=True):
        if "arguments" in other:
            assert call.name == other["name"]
            assert json.loads(call.raw)["input"] == json.loads(other["arguments"])


@needs_corpus
def test_there_are_recordings() -> None:
    assert len(ENTRIES) == 40
    assert len(SMALL) >= 25


@needs_corpus
@entry_of
def test_recorded(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    first = parse(data)
    check(first, entry)
    check_others(first, entry)
    for chunks in typical_cuts(data):
        assert parse(chunks) == first


@needs_corpus
@entry_of
def test_deltas_say_the_same_as_the_response(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    items, response = run(of_size(data, 64))
    assert "".join(item.text for item in items if isinstance(item, trigate.TextDelta)) == response.text
    told = "".join(item.text for item in items if isinstance(item, trigate.ReasoningDelta))
    assert told == response.reasoning
    for call in response.calls:
        pieces = [
            item.text
            for item in items
            if isinstance(item, trigate.ArgumentsDelta) and item.call.wire_key == call.wire_key
        ]
        assert "".join(pieces) == call.arguments
    assert parse(data, deltas=False) == response


@needs_corpus
@entry_of
def test_auto_finds_the_protocol(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    assert trigate.parse(data) == parse(data)


@needs_corpus
@entry_of
def test_released_early_are_the_same_calls(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    early = parse(data, release_on="call")
    assert early.released == parse(data).released
    items, _ = run([data], release_on="call")
    done = tuple(item.call for item in items if isinstance(item, trigate.ToolCallDone))
    assert done == early.calls


@needs_corpus
@entry_of
def test_the_message_has_every_block(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    message = parse(data).to_message()
    assert message["role"] == "assistant"
    starts = [
        json.loads(line[5:])["content_block"]
        for line in data.decode().splitlines()
        if line.startswith("data:") and '"content_block_start"' in line
    ]
    wanted = [start["type"] for start in starts]
    if entry["unterminated_tail"]:
        wanted.remove("tool_use")  # it was cut
    if wanted:
        assert [block["type"] for block in message["content"]] == wanted
    for block, start in zip(message["content"], starts, strict=False):
        if block["type"] == "thinking":
            assert f'"signature":"{block["signature"]}"'.encode() in data
        elif block["type"] == "redacted_thinking":
            assert block == start
        elif block["type"] == "tool_use":
            assert block | {"input": {}} == start | {"input": {}}


# -- cut short ---------------------------------------------------------------------------------------


def is_over(data: bytes) -> bool:
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(data)
    return parser.response.status != "in_progress"


def end_of(data: bytes) -> int:
    """The shortest prefix that ends the response."""
    low, high = 0, len(data) + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_over(data[:middle]) else (middle + 1, high)
    return low


@needs_corpus
@pytest.mark.parametrize("entry", SMALL, ids=name_of)
def test_no_prefix_releases_anything(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    end = end_of(data)
    assert end > len(data) - 40
    for length in range(min(end, len(data))):
        response = parse(data[:length])
        assert response.status == "truncated"
        assert response.released == ()


@needs_corpus
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry not in SMALL], ids=name_of)
def test_no_prefix_of_events_releases_anything(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    parser = trigate.ResponseParser(PROTOCOL)
    for chunk in of_size(data[: end_of(data) - 1], 977):
        parser.feed(chunk)
        assert parser.response.released == ()
    assert parser.finish().status == "truncated"


@needs_corpus
@pytest.mark.parametrize("entry", [entry for entry in SMALL if entry["tool_calls"]], ids=name_of)
def test_a_lost_or_repeated_event_makes_no_other_call(entry: dict[str, Any]) -> None:
    """What the wire cannot show is a lost or repeated piece of arguments: they are not counted."""
    data = corpus_stream(entry["file"]).replace(b"\r\n", b"\n")
    events = [event + b"\n\n" for event in data.split(b"\n\n") if event.strip()]
    good = {(call.call_id, call.name, call.arguments) for call in parse(data).calls}
    for place, event in enumerate(events):
        if b'"partial_json"' in event and b'"partial_json":""' not in event:
            continue
        for changed in ([*events[:place], *events[place + 1 :]], [*events[:place], event, *events[place:]]):
            released = {(call.call_id, call.name, call.arguments) for call in parse(changed).released}
            assert released <= good


# -- cases -------------------------------------------------------------------------------------------


def chunks_of(case: dict[str, Any]) -> Chunks:
    return [chunk.encode("latin-1") for chunk in case["chunks"]]


def cuts_of(case: dict[str, Any]) -> Iterator[Chunks]:
    data = b"".join(chunks_of(case))
    yield chunks_of(case)
    yield from typical_cuts(data)
    yield from every_two_cut(data)


def check_case(response: trigate.Response, expect: dict[str, Any]) -> None:
    if expect["outcome"] == "truncated":
        assert (response.status, response.reason) == ("incomplete", expect["finish"])
    else:
        assert response.status == STATUSES[expect["outcome"]]
    assert response.text == expect["text"]
    assert [(call.call_id, call.name, call.arguments) for call in response.calls] == [
        (call["id"], call["name"], call["arguments"]) for call in expect["calls"]
    ]
    for call, wanted in zip(response.calls, expect["calls"], strict=True):
        assert (call.state == "released") is wanted["executable"]
        if isinstance(call, trigate.ReleasedCall):
            assert call.value() == wanted["value"]
            assert list(call.flags) == wanted.get("flags", [])
        else:
            assert call.problem == wanted["status"]


def test_there_are_cases() -> None:
    assert [case["n"] for case in CASES] in ([20, 22, 63, 64, 66, 68, 69], [])


@needs_cases
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_case(case: dict[str, Any]) -> None:
    first = parse(chunks_of(case))
    expect = case["expect"]
    check_case(first, expect)
    if "error" in expect:
        assert first.error is not None
        assert first.error.layer == "provider"
        assert {"type": first.error.type, "message": first.error.message} == expect["error"]
    else:
        assert first.reason == expect["finish"]
    tools = [call for call in first.server_calls if call.name]
    assert [(call.id, call.name, json.loads(call.raw)["input"]) for call in tools] == [
        (call["id"], call["name"], json.loads(call["arguments"])) for call in expect.get("server_calls", ())
    ]
    results = [call.type for call in first.server_calls if not call.name]
    assert results == expect.get("other_blocks", [])
    for chunks in cuts_of(case):
        assert parse(chunks) == first

"""Recorded and described streams of Ollama, Cohere and Bedrock Converse: what their index and cases say.

At every cut. Of these streams the index and the design nowhere differ.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

import trigate
from recorded import cases, corpus_entries, corpus_stream, needs_cases, needs_corpus
from streams import Chunks, every_two_cut, of_size, typical_cuts

#: The index's word for each protocol, and how many recordings there are.
NAMES = {"ollama": "ollama-chat", "cohere-v2": "cohere-chat", "bedrock-converse": "bedrock-converse"}
COUNTS = {"ollama": 5, "cohere-v2": 6, "bedrock-converse": 5}
ENTRIES = [entry for name in NAMES for entry in corpus_entries(name)]
SMALL = [entry for entry in ENTRIES if entry["bytes"] <= 8 * 1024]
CASES = cases("ollama-ndjson")
STATUSES = {"complete": "completed", "failed": "failed"}


def name_of(entry: dict[str, Any]) -> str:
    return str(entry["file"]).rpartition("/")[2]


entry_of = pytest.mark.parametrize("entry", ENTRIES, ids=name_of)


def parse(data: bytes | Chunks, entry: dict[str, Any], **options: Any) -> trigate.Response:
    return trigate.parse(data, NAMES[entry["protocol"]], **options)


@needs_corpus
def test_there_are_recordings() -> None:
    found = [entry["protocol"] for entry in ENTRIES]
    assert {name: found.count(name) for name in NAMES} == COUNTS
    assert len(SMALL) == 10


# -- recordings --------------------------------------------------------------------------------------


def check(response: trigate.Response, entry: dict[str, Any]) -> None:
    completed = entry["outcome"] == "completed"
    assert response.status == ("completed" if completed else "incomplete")
    assert (response.reason, response.clean_end, response.error) == (entry["finish"], True, None)
    assert [(call.call_id, call.name, call.arguments) for call in response.calls] == [
        (call["id"], call["name"], call["arguments"]) for call in entry["tool_calls"]
    ]
    assert response.calls == (response.released if completed else response.calls)
    for call, wanted in zip(response.released, entry["tool_calls"], strict=True):
        assert call.value() == json.loads(wanted["arguments"] or "{}")
    assert len(response.text) == entry["text_len"]
    assert hashlib.sha256(response.text.encode()).hexdigest() == entry["text_sha256"]
    assert len(response.reasoning) == entry["reasoning_len"]
    assert response.anomalies == ()
    assert response.usage is not None
    assert response.usage.output_tokens


def check_others(response: trigate.Response, entry: dict[str, Any]) -> None:
    ran = [call for call in response.server_calls if call.name]
    assert [(call.type, call.id, call.name) for call in ran] == [
        (other["type"], other["id"], other["name"]) for other in entry["other_calls"]
    ]
    for call, other in zip(ran, entry["other_calls"], strict=True):
        assert json.loads(call.raw)["input"] == json.loads(other["arguments"])


@needs_corpus
@entry_of
def test_recorded(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    first = parse(data, entry)
    check(first, entry)
    check_others(first, entry)
    for chunks in typical_cuts(data):
        assert parse(chunks, entry) == first


@needs_corpus
@entry_of
def test_auto_finds_the_protocol(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    found = trigate.parse(data)
    assert (found.protocol, found) == (NAMES[entry["protocol"]], parse(data, entry))


@needs_corpus
@entry_of
def test_items_say_the_same_as_the_response(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    parser = trigate.ResponseParser(NAMES[entry["protocol"]])
    items = [item for chunk in of_size(data, 64) for item in parser.feed(chunk)]
    response = parser.finish()
    assert "".join(item.text for item in items if isinstance(item, trigate.TextDelta)) == response.text
    told = [item.text for item in items if isinstance(item, trigate.ReasoningDelta)]
    assert "".join(told) == response.reasoning
    for call in response.calls:
        pieces = [
            item.text
            for item in items
            if isinstance(item, trigate.ArgumentsDelta) and item.call.wire_key == call.wire_key
        ]
        assert "".join(pieces) == call.arguments
    assert parse(data, entry, deltas=False) == response


@needs_corpus
@entry_of
def test_released_early_are_the_same_calls(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    assert parse(data, entry, release_on="call").released == parse(data, entry).released


@needs_corpus
@entry_of
def test_the_message_holds_all_that_came(entry: dict[str, Any]) -> None:
    response = parse(corpus_stream(entry["file"]), entry)
    message = response.to_message()
    assert message["role"] == "assistant"
    told = json.dumps(message, ensure_ascii=False)
    for call in response.released:
        assert json.dumps(call.name) in told
        assert call.call_id is None or json.dumps(call.call_id) in told
    texts = json.dumps(response.text, ensure_ascii=False)
    if entry["protocol"] != "bedrock-converse":
        assert texts[1:-1] in told
        return
    blocks = [block for block in message["content"] if "text" in block]
    assert "".join(block["text"] for block in blocks) == response.text
    reasoning = [block["reasoningContent"] for block in message["content"] if "reasoningContent" in block]
    assert "".join(block["reasoningText"]["text"] for block in reasoning) == response.reasoning


# -- cut short ---------------------------------------------------------------------------------------


def ends_of(data: bytes, entry: dict[str, Any]) -> list[int]:
    """The lengths at which the response may be over: after its last event. A Bedrock message has two."""
    if entry["protocol"] == "bedrock-converse":
        messages = trigate.EventStreamDecoder().feed(data)
        assert [message.event for message in messages[-2:]] == ["messageStop", "metadata"]
        return [messages[-2].end or 0, len(data)]
    marks = {"ollama": b'"done":true', "cohere-v2": b'"message-end","delta"'}
    tail = data.index(marks[entry["protocol"]])
    separator = b"\n" if entry["protocol"] == "ollama" else b"\n\n"
    return list(range(data.index(separator, tail) + len(separator), len(data) + 1))


@needs_corpus
@pytest.mark.parametrize("entry", SMALL, ids=name_of)
def test_no_prefix_releases_anything(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    whole = parse(data, entry)
    ends = ends_of(data, entry)
    assert ends
    for length in range(len(data)):
        response = parse(data[:length], entry)
        if length in ends:
            assert (response.status, response.calls) == (whole.status, whole.calls)
        elif length > ends[0] and whole.status != "completed":
            # A limit was reached: that much is known, whatever was cut behind it.
            assert (response.status, response.released) == (whole.status, ())
        else:
            assert (response.status, response.released) == ("truncated", ())


@needs_corpus
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry not in SMALL], ids=name_of)
def test_no_prefix_of_large_chunks_releases_anything(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    parser = trigate.ResponseParser(NAMES[entry["protocol"]])
    for chunk in of_size(data[: ends_of(data, entry)[0] - 1], 977):
        parser.feed(chunk)
        assert parser.response.released == ()
    assert parser.finish().status == "truncated"


# -- cases -------------------------------------------------------------------------------------------


def cuts_of(case: dict[str, Any]) -> Iterator[Chunks]:
    given = [chunk.encode("latin-1") for chunk in case["chunks"]]
    data = b"".join(given)
    yield given
    yield from typical_cuts(data)
    yield from every_two_cut(data)


def test_there_are_cases() -> None:
    assert [case["n"] for case in CASES] in ([83, 85], [])


@needs_cases
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['n']}-{case['kind']}")
def test_case(case: dict[str, Any]) -> None:
    expect = case["expect"]
    for chunks in cuts_of(case):
        response = trigate.parse(chunks, "ollama-chat")
        assert (response.status, response.text) == (STATUSES[expect["outcome"]], expect["text"])
        assert [(call.call_id, call.name, json.loads(call.arguments)) for call in response.calls] == [
            (call["id"], call["name"], json.loads(call["arguments"])) for call in expect["calls"]
        ]
        for call, wanted in zip(response.calls, expect["calls"], strict=True):
            assert isinstance(call, trigate.ReleasedCall) is wanted["executable"]
            assert isinstance(call, trigate.ReleasedCall)
            assert call.value() == wanted["value"]
        if "error" in expect:
            assert response.error is not None
            assert (response.error.layer, response.error.message) == ("provider", expect["error"]["message"])
        else:
            assert response.reason == expect["finish"]

"""Recorded and described Gemini streams: trigate makes of them what their index and cases say, at every cut.

Where the index and the design differ, the design counts: one interaction.completed of the recordings holds
status incomplete. The event's name says only that the stream is over; the status is what the interaction came
to. So it is incomplete here, while the index, which goes by the event, calls it completed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

import trigate
from gemini_streams import GEMINI, INTERACTIONS, array, codes, parse
from recorded import cases, corpus_entries, corpus_stream, needs_cases, needs_corpus
from streams import Chunks, every_two_cut, of_size, typical_cuts

ENTRIES = [*corpus_entries(GEMINI), *corpus_entries(INTERACTIONS)]
CHUNKED = [entry for entry in ENTRIES if entry["protocol"] == GEMINI]
SMALL = [entry for entry in ENTRIES if entry["bytes"] <= 8 * 1024]
CASES = cases(GEMINI)


def name_of(entry: dict[str, Any]) -> str:
    return str(entry["file"]).rpartition("/")[2] if "file" in entry else f"{entry['n']}-{entry['kind']}"


entry_of = pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
chunked_of = pytest.mark.parametrize("entry", CHUNKED, ids=name_of)


def data_of(entry: dict[str, Any]) -> bytes:
    return corpus_stream(entry["file"])


def chunks_in(data: bytes) -> list[dict[str, Any]]:
    lines = data.decode().replace("\r\n", "\n").split("\n")
    return [json.loads(line[5:]) for line in lines if line.startswith("data:") and "[DONE]" not in line]


def value_of(text: str) -> Any:
    return json.loads(text or "{}")


def expected_status(entry: dict[str, Any]) -> str:
    return "incomplete" if entry["finish"] == "incomplete" else str(entry["outcome"])


def check(response: trigate.Response, entry: dict[str, Any]) -> None:
    assert (response.status, response.reason) == (expected_status(entry), entry["finish"])
    assert [(call.call_id, call.name) for call in response.calls] == [
        (call["id"], call["name"]) for call in entry["tool_calls"]
    ]
    for call, wanted in zip(response.calls, entry["tool_calls"], strict=True):
        assert value_of(call.arguments) == value_of(wanted["arguments"])
        assert isinstance(call, trigate.ReleasedCall)
        assert call.value() == value_of(wanted["arguments"])
    assert len(response.text) == entry["text_len"]
    assert hashlib.sha256(response.text.encode()).hexdigest() == entry["text_sha256"]
    assert len(response.reasoning) == entry["reasoning_len"]
    told = iter([(call.type, call.id) for call in response.server_calls])
    assert all((other["type"], other["id"]) in told for other in entry["other_calls"])
    assert response.usage is not None
    assert response.usage.total_tokens
    assert response.clean_end
    assert codes(response) == []


@needs_corpus
def test_there_are_recordings() -> None:
    assert [len(corpus_entries(protocol)) for protocol in (GEMINI, INTERACTIONS)] == [11, 4]
    assert len(SMALL) == 11


@needs_corpus
@entry_of
def test_recorded(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    first = parse(data, entry["protocol"])
    check(first, entry)
    for chunks in typical_cuts(data):
        assert parse(chunks, entry["protocol"]) == first


@needs_corpus
@chunked_of
def test_recorded_as_an_array(entry: dict[str, Any]) -> None:
    """The same chunks without alt=sse: one pretty-printed array. Only spaces inside of arguments differ."""
    data = array(chunks_in(data_of(entry)))
    first = parse(data)
    check(first, entry)
    for chunks in typical_cuts(data):
        assert parse(chunks) == first
    assert trigate.parse(data) == first


@needs_corpus
@entry_of
def test_auto_finds_the_protocol(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    assert trigate.parse(data) == parse(data, entry["protocol"])


@needs_corpus
@entry_of
def test_released_early_are_the_same_calls(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    early = parse(data, entry["protocol"], release_on="call")
    assert early.released == parse(data, entry["protocol"]).released


@needs_corpus
@chunked_of
def test_the_message_is_every_part_unaltered(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    wanted = [
        part
        for chunk in chunks_in(data)
        for candidate in chunk["candidates"]
        for part in candidate.get("content", {}).get("parts", [])
    ]
    assert parse(data).to_message() == {"role": "model", "parts": wanted}


@needs_corpus
@pytest.mark.parametrize("entry", corpus_entries(INTERACTIONS), ids=name_of)
def test_the_steps_are_assembled(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    response = parse(data, INTERACTIONS)
    steps = response.to_message()
    told = chunks_in(data)
    assert [step["type"] for step in steps] == [
        event["step"]["type"] for event in told if event["event_type"] == "step.start"
    ]
    text = "".join(
        block["text"] for step in steps if step["type"] == "model_output" for block in step["content"]
    )
    assert text == response.text
    deltas = [event["delta"] for event in told if event["event_type"] == "step.delta"]
    signatures = [delta["signature"] for delta in deltas if delta["type"] == "thought_signature"]
    assert [step["signature"] for step in steps if step["type"] == "thought"] == signatures
    for step in steps:
        if step["type"] == "function_call":
            assert step["arguments"] == {"location": "San Francisco"}


# -- cut short ---------------------------------------------------------------------------------------


def end_of(data: bytes, protocol: str) -> int:
    """The shortest prefix that is not truncated: the last finishReason, or the terminal event, is whole."""
    low, high = 0, len(data)
    while low < high:
        middle = (low + high) // 2
        is_over = parse(data[:middle], protocol).status != "truncated"
        low, high = (low, middle) if is_over else (middle + 1, high)
    return low


@needs_corpus
@pytest.mark.parametrize("entry", SMALL, ids=name_of)
def test_no_prefix_releases_anything(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    protocol = entry["protocol"]
    end = end_of(data, protocol)
    assert end > len(data) - 40
    for length in range(end):
        response = parse(data[:length], protocol)
        assert response.status == "truncated"
        assert response.released == ()
        assert response.error is not None
        assert response.error.offset == length


@needs_corpus
@chunked_of
def test_no_prefix_of_an_array_releases_anything(entry: dict[str, Any]) -> None:
    """The closing bracket is the end: without it even the finishReason does not count."""
    data = array(chunks_in(data_of(entry)))
    end = data.rindex(b"]")
    step = 1 if len(data) <= 8 * 1024 else 97
    for length in [*range(0, end, step), *range(end - 60, end + 1)]:
        response = parse(data[:length])
        assert response.status == "truncated"
        assert response.released == ()
    assert parse(data[: end + 1]).status == expected_status(entry)


@needs_corpus
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry not in SMALL], ids=name_of)
def test_no_prefix_of_a_long_stream_releases_anything(entry: dict[str, Any]) -> None:
    data = data_of(entry)
    end = end_of(data, entry["protocol"])
    assert end > len(data) - 40
    parser = trigate.ResponseParser(entry["protocol"])
    for chunk in of_size(data[: end - 1], 977):
        parser.feed(chunk)
        assert parser.response.released == ()
    assert parser.finish().status == "truncated"


@needs_corpus
@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry["tool_calls"]], ids=name_of)
def test_a_lost_or_repeated_event_makes_no_other_call(entry: dict[str, Any]) -> None:
    """What the wire cannot show: a value or a piece of a string that is lost, a piece that comes twice, and a
    whole part that comes twice (two calls without ids are two calls)."""
    data = data_of(entry).replace(b"\r\n", b"\n")
    told = [event + b"\n\n" for event in data.split(b"\n\n") if event.strip()]
    good = [(call.call_id, call.name, call.arguments) for call in parse(data, entry["protocol"]).calls]
    for place, event in enumerate(told):
        lost = parse([*told[:place], *told[place + 1 :]], entry["protocol"])
        twice = parse([*told[:place], event, *told[place:]], entry["protocol"])
        is_silent = b"partialArgs" in event or b"arguments_delta" in event
        for response, can_hide in (
            (lost, is_silent),
            (twice, is_silent and b'"willContinue":true}]' in event),
        ):
            if not can_hide:
                for call in response.released:
                    assert (call.call_id, call.name, call.arguments) in good


# -- cases -------------------------------------------------------------------------------------------


def cuts_of(case: dict[str, Any]) -> Iterator[Chunks]:
    given = [chunk.encode("latin-1") for chunk in case["chunks"]]
    yield given
    yield from typical_cuts(b"".join(given))
    yield from every_two_cut(b"".join(given))


def test_there_are_cases() -> None:
    assert [case["n"] for case in CASES] in ([80], [])


@needs_cases
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_case(case: dict[str, Any]) -> None:
    expect = case["expect"]
    first = parse(next(cuts_of(case)))
    assert (first.status, first.reason, first.text) == ("completed", expect["finish"], expect["text"])
    assert len(first.calls) == len(expect["calls"])
    for call, wanted in zip(first.calls, expect["calls"], strict=True):
        assert (call.call_id, call.name) == (wanted["id"], wanted["name"])
        if wanted.get("arguments_compare") == "json":
            assert value_of(call.arguments) == value_of(wanted["arguments"])
        else:
            assert call.arguments == wanted["arguments"]
        assert (call.state == "released") is wanted["executable"]
        assert isinstance(call, trigate.ReleasedCall)
        assert call.value() == wanted["value"]
    for chunks in cuts_of(case):
        assert parse(chunks) == first
    made_up = [call.call_id for call in parse(next(cuts_of(case)), ids="generate").released]
    assert len(set(made_up)) == len(expect["calls"])
    assert all(call_id and call_id.startswith("tg_") for call_id in made_up)

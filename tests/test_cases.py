"""Described faults of real products, in small: each case gives what it expects, at every cut.

The cases' README says how their words map to trigate's; `alternatives` hold what an option changes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

import trigate
from recorded import cases, needs_cases
from streams import PROTOCOL, Chunks, bytewise, every_two_cut, of_size

pytestmark = needs_cases

RESPONSES = cases("openai-responses")
SSE = cases("sse")
STATUSES = {"complete": "completed", "failed": "failed", "conflict": "conflict"}
#: A case whose `expect` is what the lenient reader gives; its alternative is what the default gives.
LENIENT = {79: "unterminated_last_event"}


def name_of(case: dict[str, Any]) -> str:
    return f"{case['n']}-{case['kind']}"


def chunks_of(case: dict[str, Any]) -> Chunks:
    if case["encoding"] == "base64":
        return [base64.b64decode(chunk) for chunk in case["chunks"]]
    return [chunk.encode("latin-1") for chunk in case["chunks"]]


def cuts_of(case: dict[str, Any]) -> Iterator[Chunks]:
    given = chunks_of(case)
    data = b"".join(given)
    yield given
    yield [data]
    yield bytewise(data)
    yield from every_two_cut(data)


# -- openai-responses --------------------------------------------------------------------------------


def expected_status(expect: dict[str, Any]) -> str:
    if expect["outcome"] == "truncated":
        return "incomplete" if expect["finish"] else "truncated"
    return STATUSES[expect["outcome"]]


def check_response(response: trigate.Response, expect: dict[str, Any]) -> None:
    assert response.status == expected_status(expect)
    assert response.reason == expect["finish"]
    assert response.text == expect["text"]
    assert [call.call_id for call in response.calls] == [call["id"] for call in expect["calls"]]
    for call, wanted in zip(response.calls, expect["calls"], strict=True):
        check_call(call, wanted)


def check_call(call: trigate.ToolCall, wanted: dict[str, Any]) -> None:
    assert (call.name, call.arguments) == (wanted["name"], wanted["arguments"])
    assert (call.state == "released") is wanted["executable"]
    if isinstance(call, trigate.ReleasedCall):
        assert wanted["executable"]
        assert call.value() == wanted["value"]
    else:
        problems = {"complete": "response_not_completed"}
        assert call.problem == problems.get(wanted["status"], wanted["status"])


def test_there_are_cases() -> None:
    assert [case["n"] for case in RESPONSES] == [70, 72, 73, 75, 76, 79]
    assert [case["n"] for case in SSE] == [1, 2, 4, 6, 7, 8, 10, 12, 13]


@pytest.mark.parametrize("case", RESPONSES, ids=name_of)
def test_responses(case: dict[str, Any]) -> None:
    lenient = {LENIENT[case["n"]]} if case["n"] in LENIENT else set()
    first = trigate.parse(chunks_of(case), PROTOCOL, lenient=lenient)
    check_response(first, case["expect"])
    for chunks in cuts_of(case):
        assert trigate.parse(chunks, PROTOCOL, lenient=lenient) == first


@pytest.mark.parametrize("case", [case for case in RESPONSES if case["n"] in LENIENT], ids=name_of)
def test_the_default_is_the_strict_alternative(case: dict[str, Any]) -> None:
    (alternative,) = case["expect"]["alternatives"]
    assert alternative["when"] == "strict SSE mode"
    data = b"".join(chunks_of(case))
    for chunks in cuts_of(case):
        response = trigate.parse(chunks, PROTOCOL)
        assert response.status == alternative["outcome"]
        assert response.released == ()
        assert response.error is not None
        assert (response.error.code, response.error.offset) == ("truncated_in_line", len(data))


def test_a_tolerated_last_event_is_said() -> None:
    (case,) = (case for case in RESPONSES if case["n"] == 79)
    response = trigate.parse(chunks_of(case), PROTOCOL, lenient={"unterminated_last_event"})
    assert "last_event_unterminated" in case["expect"]["flags"]
    assert [anomaly.code for anomaly in response.anomalies] == ["unterminated_last_event"]


def test_a_last_event_cut_inside_its_json_is_no_event_for_anybody() -> None:
    (case,) = (case for case in RESPONSES if case["n"] == 79)
    data = b"".join(chunks_of(case))
    for length in range(data.rindex(b'"type":"response.completed"'), len(data)):
        response = trigate.parse(data[:length], PROTOCOL, lenient={"unterminated_last_event"})
        assert response.status == "truncated"
        assert response.released == ()


# -- sse ---------------------------------------------------------------------------------------------


def read_sse(chunks: Chunks) -> tuple[list[trigate.ServerSentEvent], trigate.SSEDecoder, trigate.Leftover]:
    decoder = trigate.SSEDecoder(errors="strict")
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events, decoder, decoder.finish()


@pytest.mark.parametrize("case", SSE, ids=name_of)
def test_sse(case: dict[str, Any]) -> None:
    expect = case["expect"]
    for chunks in cuts_of(case):
        events, decoder, left = read_sse(chunks)
        assert [{"event": event.event, "data": event.data, "id": event.id} for event in events] == expect[
            "events"
        ]
        assert decoder.reconnection_time == expect["retry"]
        pending = None if left.data is None else {"event": left.event, "data": left.data}
        assert pending == expect["pending_at_eof"]
        assert bool(left) is (pending is not None)


@pytest.mark.parametrize("case", [case for case in SSE if "scale" in case], ids=name_of)
def test_sse_at_scale_is_linear_work(case: dict[str, Any]) -> None:
    """The core counts the bytes that it looks at or copies: no more of them because the chunks are small."""
    scale = case["scale"]

    def work_of(times: int) -> tuple[int, int]:
        data = f"{scale['prefix']}{scale['unit'] * times}{scale['suffix']}".encode()
        decoder = trigate.SSEDecoder(limits=trigate.Limits(max_event_bytes=64 << 20))
        events = [event for chunk in of_size(data, scale["chunk_size"]) for event in decoder.feed(chunk)]
        assert len(events) == scale["expect"]["events"]
        assert len(events[0].data) == len(scale["unit"]) * times
        return decoder._work, len(data)

    full, full_size = work_of(scale["times"])
    half, half_size = work_of(scale["times"] // 2)
    assert full_size == len(scale["prefix"]) + scale["expect"]["data_length"] + len(scale["suffix"])
    assert full <= 8 * full_size
    assert full / half <= 1.02 * full_size / half_size


def test_a_whole_turn_with_one_long_argument_is_linear_work() -> None:
    """One call of 1 MiB, dripped, costs the core no more than a few times what it costs whole."""
    text = json.dumps({"text": "x" * (1 << 20)})
    item = {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "n", "arguments": text}
    event = {"type": "response.output_item.done", "output_index": 0, "item": item}
    data = f"data: {json.dumps(event)}\n\n".encode()
    whole, dripped = trigate.SSEDecoder(), trigate.SSEDecoder()
    assert len(whole.feed(data)) == 1
    assert sum(len(dripped.feed(chunk)) for chunk in bytewise(data)) == 1
    assert dripped._work <= 4 * whole._work

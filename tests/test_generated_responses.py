"""Generated Responses streams: every call, every text and nothing else is found; spoilt ones never lie."""

from __future__ import annotations

import json

from hypothesis import HealthCheck, given, settings

import trigate
from stream_strategies import Made, spoilt, turns
from streams import PROTOCOL, codes, run

some = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

#: What a right stream may show all the same: an empty final list is tolerated and said.
HARMLESS = {"empty_final_output", "usage_without_content"}


@some
@given(turns())
def test_a_right_stream_gives_what_it_says(made: Made) -> None:
    response = trigate.parse(made.data, PROTOCOL)
    assert response.status == "completed"
    assert [(call.call_id, call.kind, call.name, call.arguments) for call in response.calls] == made.calls
    assert response.released == response.calls
    assert response.text == made.text
    assert response.reasoning == made.reasoning
    assert len(response.server_calls) == made.server_items
    assert set(codes(response)) <= HARMLESS
    assert response.error is None
    assert response.usage is not None
    assert response.usage.total_tokens == 7
    assert response.clean_end


@some
@given(turns())
def test_values_are_those_of_the_json_module(made: Made) -> None:
    for call in trigate.parse(made.data, PROTOCOL).released:
        if call.kind != "custom":
            assert call.value() == json.loads(call.arguments)


@settings(some, max_examples=400)
@given(spoilt(bits=False))
def test_a_spoilt_stream_releases_nothing_that_was_not_sent(spoilt_one: tuple[Made, bytes]) -> None:
    """Lost, repeated, swapped and cut events may cost a call. They never change one."""
    made, data = spoilt_one
    response = trigate.parse(data, PROTOCOL)
    assert not response.released or response.status == "completed" == made.status
    for call in response.released:
        assert (call.call_id, call.kind, call.name, call.arguments) in made.calls
    assert len({call.call_id for call in response.released}) == len(response.released)


@settings(some, max_examples=200)
@given(spoilt(bits=True))
def test_a_released_call_has_one_json_object(spoilt_one: tuple[Made, bytes]) -> None:
    _, data = spoilt_one
    response = trigate.parse(data, PROTOCOL)
    for call in response.released:
        assert call.call_id
        assert call.name
        if call.kind != "custom":
            assert isinstance(call.value(), dict)
    assert response.status != "in_progress"
    assert (response.error is None) == (response.status in ("completed", "incomplete"))


@settings(some, max_examples=100)
@given(turns())
def test_items_tell_the_same_story(made: Made) -> None:
    items, response = run([made.data])
    assert [type(item) for item in items].count(trigate.ResponseEnded) == 1
    assert isinstance(items[-1], trigate.ResponseEnded)
    started = [item.call.wire_key for item in items if isinstance(item, trigate.ToolCallStarted)]
    done = [item.call for item in items if isinstance(item, trigate.ToolCallDone)]
    assert (
        sorted(started)
        == sorted(call.wire_key for call in done)
        == sorted(call.wire_key for call in response.calls)
    )
    assert all(type(call) is trigate.ToolCall and call.state == "done" for call in done)
    seen: dict[int, str] = {}
    for item in items:
        if isinstance(item, trigate.TextDelta):
            seen[item.index] = seen.get(item.index, "") + item.text
    sent = {
        event["output_index"]: "".join(part["text"] for part in event["item"]["content"])
        for event in made.events
        if event["type"] == "response.output_item.done" and event["item"]["type"] == "message"
    }
    # In which order parts of one item came is the stream's own choice; the test of right streams checks it.
    assert {index: sorted(text) for index, text in seen.items()} == {
        index: sorted(text) for index, text in sent.items() if text
    }

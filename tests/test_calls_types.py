"""The type is the gate: only the parser makes a ReleasedCall, and only a ReleasedCall yields a value."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, TypedDict

import msgspec
import pytest

import trigate
from streams import PROTOCOL, Script, function_item, run
from trigate import calls


class Weather(msgspec.Struct):
    city: str
    days: int = 1


@dataclasses.dataclass
class WeatherData:
    city: str
    days: int = 1


class WeatherDict(TypedDict):
    city: str


TEXT = '{"city":"Zürich","days":3}'


def released(text: str = TEXT) -> trigate.ReleasedCall:
    (call,) = Script().created().call(text, name="weather").end().parse().released
    return call


# -- who makes what ----------------------------------------------------------------------------------


def test_a_released_call_cannot_be_made_by_hand() -> None:
    call = released()
    with pytest.raises(TypeError, match="parser alone"):
        trigate.ReleasedCall(call.wire_key, index=0, kind="function")
    with pytest.raises(TypeError, match="parser alone"):
        type("Mine", (trigate.ToolCall,), {})((0,), index=0, kind="function")


def test_only_a_done_call_can_be_released() -> None:
    for script in (
        Script().created().added(0, function_item("")),
        Script().created().call('{"a":1,"a":2}').end(),
    ):
        (draft,) = script.parse().calls
        with pytest.raises(RuntimeError, match="only a done call"):
            calls.release(draft)
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(Script().created().added(0, function_item("")).data())
    with pytest.raises(RuntimeError, match="streaming"):
        calls.release(parser.response.calls[0])


def test_a_draft_has_nothing_that_yields_a_value() -> None:
    (draft,) = Script().created().added(0, function_item("")).delta(0, TEXT).parse().calls
    assert draft.arguments == TEXT
    for name in ("value", "decode", "json", "__getitem__", "get"):
        assert not hasattr(draft, name)
    assert not isinstance(draft, trigate.ReleasedCall)


@pytest.mark.parametrize(
    "name", ["call_id", "name", "arguments", "kind", "state", "problem", "index", "wire_key", "flags"]
)
def test_a_call_is_read_only(name: str) -> None:
    call = released()
    with pytest.raises(AttributeError):
        setattr(call, name, "x")
    with pytest.raises(AttributeError):
        call.novel = 1  # type: ignore[attr-defined]


def test_equality_and_repr_show_the_state() -> None:
    call, twin = released(), released()
    assert call == twin
    assert hash(call) == hash(twin)
    assert call != released('{"city":"Bern"}')
    (draft,) = Script().created().added(0, function_item("")).delta(0, "{}").parse().calls
    assert draft != call
    assert draft != "x"
    assert repr(draft) == "<ToolCall go({}) call_id='call_1' state='void' problem='incomplete'>"
    assert repr(released("{}")) == "<ReleasedCall weather({}) call_id='call_1' state='released'>"


def test_match_patterns() -> None:
    match released("{}"):
        case trigate.ReleasedCall(call_id, "weather", arguments):
            assert (call_id, arguments) == ("call_1", "{}")
        case _:
            pytest.fail("no match")


# -- values ------------------------------------------------------------------------------------------


def test_each_value_is_a_new_one() -> None:
    call = released('{"list":[1],"inner":{}}')
    value = call.value()
    value["list"].append(2)
    value["inner"]["x"] = 1
    del value["list"]
    assert call.value() == {"list": [1], "inner": {}}


def test_decode_into_types() -> None:
    call = released()
    assert call.decode(Weather) == Weather("Zürich", 3)
    assert call.decode(WeatherData) == WeatherData("Zürich", 3)
    assert call.decode(WeatherDict) == {"city": "Zürich"}
    assert call.decode(dict[str, Any]) == {"city": "Zürich", "days": 3}
    assert released('{"city":"B"}').decode(Weather).days == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"city":"B","days":"3"}', "$.days"),
        ('{"city":"B","days":3.5}', "$.days"),
        ('{"city":"B","days":true}', "$.days"),
        ('{"city":5}', "$.city"),
        ('{"days":1}', "city"),
        ("", "city"),
    ],
)
@pytest.mark.parametrize("kind", [Weather, WeatherData])
def test_decode_does_not_coerce(text: str, says: str, kind: type[Any]) -> None:
    with pytest.raises(trigate.ModelError) as caught:
        released(text).decode(kind)
    assert (caught.value.layer, caught.value.code) == ("model", "invalid_arguments")
    assert says in caught.value.message
    assert "weather" in caught.value.message
    assert kind.__name__ in caught.value.message


def test_values_of_a_custom_call_are_refused() -> None:
    item = {"type": "custom_tool_call", "id": "x", "call_id": "c", "name": "py", "input": "{}"}
    (call,) = Script().created().whole(0, item).end().parse().released
    for act in (call.value, lambda: call.decode(dict)):
        with pytest.raises(TypeError, match="free text"):
            act()


# -- live calls and pictures of them -----------------------------------------------------------------


def test_a_started_call_is_live_and_a_response_is_a_picture() -> None:
    parser = trigate.ResponseParser(PROTOCOL)
    script = Script().created().added(0, function_item("", status="in_progress"))
    (started,) = parser.feed(script.data())
    assert isinstance(started, trigate.ToolCallStarted)
    before = parser.response
    rest = Script(next_number=2).delta(0, "{").delta(0, "}")
    (delta,) = parser.feed(rest.data())
    assert isinstance(delta, trigate.ArgumentsDelta)
    assert delta.call is started.call
    assert (delta.text, started.call.arguments) == ("{}", "{}")
    assert before.calls[0].arguments == ""
    (done,) = parser.feed(Script(next_number=4).done(0, function_item("{}")).data())
    assert isinstance(done, trigate.ToolCallDone)
    assert (done.call.state, started.call.state) == ("done", "done")
    parser.feed(Script(next_number=5).end(output=[function_item("{}")]).data())
    assert started.call.state == "released"
    assert type(started.call) is trigate.ToolCall
    assert (done.call.state, before.calls[0].state) == ("done", "streaming")
    assert type(parser.finish().calls[0]) is trigate.ReleasedCall


def test_items_within_one_feed_are_in_stream_order() -> None:
    items, _ = run(
        [Script().created().message("x").call("{}", index=1).end(usage={"total_tokens": 1}).data()]
    )
    assert [type(item).__name__ for item in items] == [
        "TextDelta",
        "ToolCallStarted",
        "ArgumentsDelta",
        "ToolCallDone",
        "UsageUpdate",
        "ResponseEnded",
    ]


# -- responses ---------------------------------------------------------------------------------------


def test_a_response_is_immutable() -> None:
    response = Script().created().call("{}").end().parse()
    for name in ("status", "calls", "text", "released", "error"):
        with pytest.raises(AttributeError):
            setattr(response, name, None)
    assert isinstance(response.calls, tuple)
    assert isinstance(response.released, tuple)
    assert isinstance(response.anomalies, tuple)
    assert response.text == response.texts[0] == ""


RAISED: list[tuple[Script, type[trigate.TrigateError], str, str]] = [
    (Script().created(), trigate.TransportError, "transport", "truncated_before_terminal"),
    (Script().created().end("response.incomplete"), trigate.IncompleteError, "provider", "incomplete"),
    (
        Script().created().end("response.incomplete", incomplete_details={"reason": "max_output_tokens"}),
        trigate.IncompleteError,
        "provider",
        "max_output_tokens",
    ),
    (
        Script().created().end("response.failed", error={"code": "server_error", "message": "m"}),
        trigate.ProviderError,
        "provider",
        "server_error",
    ),
    (Script().created().end("response.cancelled"), trigate.ProviderError, "provider", "cancelled"),
    (Script().created().delta(0, 5), trigate.StructureError, "structure", "wrong_shape"),
    (Script().created().delta(0, "{}").end(), trigate.StructureError, "structure", "orphan_arguments"),
]


@pytest.mark.parametrize(
    ("script", "kind", "layer", "code"), RAISED, ids=lambda part: part if isinstance(part, str) else ""
)
def test_raise_for_status(script: Script, kind: type[trigate.TrigateError], layer: str, code: str) -> None:
    response = script.parse()
    with pytest.raises(kind) as caught:
        response.raise_for_status()
    assert type(caught.value) is kind
    assert (caught.value.layer, caught.value.code) == (layer, code)
    assert caught.value.offset == (response.error.offset if response.error else None)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.code, again.message) == (kind, code, caught.value.message)


def test_raise_for_status_of_broken_bytes_and_limits() -> None:
    broken = trigate.parse(b"data: {\n\n", PROTOCOL)
    with pytest.raises(trigate.DecodeError) as decode:
        broken.raise_for_status()
    assert (decode.value.code, decode.value.offset) == ("invalid_json", 7)
    limited = Script().created().call("{}").end().parse(limits=trigate.Limits(max_arguments_bytes=1))
    with pytest.raises(trigate.LimitError) as limit:
        limited.raise_for_status()
    assert (limit.value.code, limit.value.limit) == ("arguments_too_large", "max_arguments_bytes")


def test_raise_for_status_of_a_completed_response_gives_it_back() -> None:
    response = Script().created().end().parse()
    assert response.raise_for_status() is response


def test_raise_for_status_while_it_still_streams() -> None:
    parser = trigate.ResponseParser(PROTOCOL)
    parser.feed(Script().created().data())
    with pytest.raises(trigate.IncompleteError, match="in_progress"):
        parser.response.raise_for_status()


def test_a_provider_s_type_goes_with_its_error() -> None:
    response = (
        Script().created().add("error", error={"type": "server_error", "code": "x", "message": "m"}).parse()
    )
    with pytest.raises(trigate.ProviderError) as caught:
        response.raise_for_status()
    assert (caught.value.type, caught.value.code, caught.value.message) == ("server_error", "x", "m")


def test_copies_of_calls() -> None:
    """A copy of a released call is one; there is no way from a draft to one."""
    call = released()
    assert copy.copy(call) == call
    (draft,) = Script().created().added(0, function_item("")).parse().calls
    assert type(copy.deepcopy(draft)) is trigate.ToolCall

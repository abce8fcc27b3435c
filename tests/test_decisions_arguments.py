"""Decisions about argument texts: what is one JSON object, what is not, what each leniency lets through."""

from __future__ import annotations

import bisect
import itertools
import json
import math
from typing import Any

import pytest

import trigate
from streams import PROTOCOL, Framing, Script, bytewise, codes, function_item, run, verdict

WORDS = ("control_characters", "duplicate_keys", "nan", "trailing_text")


def called(text: str, **options: Any) -> trigate.ToolCall:
    """The one call of a turn whose four copies all have this text."""
    response = Script().created().call(text, pieces=[text[:3], text[3:]]).end().parse(**options)
    (call,) = response.calls
    return call


def value_of(call: trigate.ToolCall) -> dict[str, Any]:
    assert isinstance(call, trigate.ReleasedCall), call
    return call.value()


# -- good ones ---------------------------------------------------------------------------------------

GOOD = [
    "{}",
    ' {"a": [1, 2.5, -0.0, 1e5, true, false, null, "x"]}\r\n\t',
    '{"größe":"北京 🌍","esc":"\\u00fc\\ud83c\\udf0d\\n\\/\\\\\\""}',
    '{"a":{"b":{"a":{"b":[[],{},[{}]]}}}}',
    '{"":0," ":1,"a":2}',
    '{"n":123456789012345678901234567890123456789}',
    '{"n":-9007199254740993,"m":9223372036854775808}',
    '{"n":0.1234567890123456789012345678901234567890}',
    '{"u":"\u2028\u2029\u0085\x7f"}',
]


@pytest.mark.parametrize("text", GOOD)
def test_one_object_is_released_with_its_exact_text(text: str) -> None:
    call = called(text)
    assert (call.state, call.problem, call.flags) == ("released", None, ())
    assert call.arguments == text
    assert value_of(call) == json.loads(text)


def test_big_integers_are_exact() -> None:
    assert value_of(called(f'{{"n":{10**300 + 7}}}')) == {"n": 10**300 + 7}


def test_a_number_too_large_for_a_float_is_what_the_json_module_makes_of_it() -> None:
    huge = called('{"n":1e400}')
    assert math.isinf(value_of(huge)["n"])
    assert huge.flags == ("number_out_of_range",)


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_empty_arguments_stand_for_no_arguments(text: str) -> None:
    call = called(text)
    assert (call.state, call.flags, call.arguments) == ("released", ("empty_arguments",), text)
    assert value_of(call) == {}


def test_null_and_absent_arguments_stand_for_no_arguments() -> None:
    for nothing in (None, ...):
        start = function_item(nothing, status="in_progress")
        response = Script().created().added(0, start).done(0, function_item(nothing)).end().parse()
        (call,) = response.released
        assert (call.flags, call.value()) == (("empty_arguments",), {})
        assert codes(response) == []


# -- arguments that are no string --------------------------------------------------------------------


def test_an_object_instead_of_a_string() -> None:
    value = {"a": [1, "ü"]}
    script = Script().created().added(0, function_item("", status="in_progress"))
    response = script.closed(0, value).done(0, function_item(value)).end().parse()
    (call,) = response.released
    assert call.flags == ("arguments_not_string",)
    assert (call.arguments, call.value()) == ('{"a":[1,"ü"]}', value)


def test_an_object_keeps_the_bytes_that_came() -> None:
    """Also where the event holds half a character, which takes another way through the decoder."""
    for name in ("go", "go\\ud800"):
        item = f'{{"type":"function_call","call_id":"c","name":"{name}","arguments":{{ "n" : 1.50 }}}}'
        data = Script().created().done(0, {"type": "HERE"}).end(output=[{"type": "HERE"}]).data()
        response = trigate.parse(data.replace(b'{"type":"HERE"}', item.encode()), PROTOCOL)
        assert [call.arguments for call in response.released] == ['{ "n" : 1.50 }']
        assert response.echo == (item.encode(),)


@pytest.mark.parametrize("value", [5, True, False, [], [{}], 1.5])
def test_other_values_instead_of_a_string(value: Any) -> None:
    script = Script().created().added(0, function_item("", status="in_progress"))
    response = script.done(0, function_item(value)).end().parse()
    assert (response.status, verdict(response)) == ("completed", [("call_1", "void", "malformed")])
    assert response.calls[0].arguments == json.dumps(value)


# -- bad ones ----------------------------------------------------------------------------------------

INCOMPLETE = [
    '{"a":1',
    "{",
    '{"a":"x',
    '{"a":"\\u00',
    '{"a":tr',
    '{"a":-',
    '{"a":1,',
    '{"a":[{"b":2}',
    '{"a"',
    '{"a":"\\',
]
MALFORMED = [
    "[1]",
    '"x"',
    "1",
    "true",
    "null ",
    "{'a':1}",
    '{"a":1,}',
    '{"a":01}',
    '{"a":1}}',
    "{a:1}",
    '{"a":"\\x"}',
    '{"a" 1}',
    '{"a":.5}',
    '{"a":+1}',
    '{"a":0x1}',
    '{"a":tru}',
    '\ufeff{"a":1}',
    '{"a":1}\u00a0',
    "// x\n{}",
    "x",
]
DEVIATIONS = {
    "control_characters": ['{"a":"x\ny"}', '{"a\t":1}', '{"a":"\x00"}', '{"a":"\x1f"}'],
    "nan": ['{"a":NaN}', '{"a":[Infinity]}', '{"a":-Infinity}'],
    "trailing_text": [
        '{"a":1} thanks',
        '{"a":1}```',
        '{"a":1},',
        '{"a":1}</tool_call>',
        '{"a":1}}',
        '{"a":1}\x00',
    ],
    "duplicate_keys": ['{"a":1,"a":2}', '{"b":{"a":1,"a":1}}', '{"b":[{"x":1,"\\u0078":2}]}'],
}
SEVERAL = [
    '{"a":1}{"a":2}',
    '{"a":1} {"a":2}',
    '{"a":1}\n[2]',
    '{"a":1}, {"a":2}',
    '{"a":1} 5',
    '{"a":1} "x"',
    '{"a":1} null',
    '{"a":1} {"a":',
    '{"a":1} and {"a":2}',
    '{"a":1} NaN',
]


@pytest.mark.parametrize("text", INCOMPLETE)
@pytest.mark.parametrize("lenient", [(), WORDS])
def test_a_text_that_ends_too_early(text: str, lenient: tuple[str, ...]) -> None:
    call = called(text, lenient=lenient)
    assert (call.state, call.problem, call.arguments) == ("void", "incomplete", text)


@pytest.mark.parametrize("text", [text for text in MALFORMED if text != '{"a":1}}'])
def test_a_text_that_is_no_object(text: str) -> None:
    for lenient in ((), WORDS):
        if text == '{"a":1}\u00a0' and lenient:
            continue
        call = called(text, lenient=lenient)
        assert (call.state, call.problem) == ("void", "malformed")


@pytest.mark.parametrize("text", SEVERAL)
def test_several_values_are_never_the_first_one(text: str) -> None:
    for lenient in ((), WORDS):
        call = called(text, lenient=lenient)
        assert (call.state, call.problem) == ("void", "malformed")


@pytest.mark.parametrize(
    ("word", "text"), [(word, text) for word, texts in DEVIATIONS.items() for text in texts]
)
def test_each_leniency_allows_its_own_deviation_alone(word: str, text: str) -> None:
    problem = "duplicate_key" if word == "duplicate_keys" else "malformed"
    for chosen in itertools.chain.from_iterable(itertools.combinations(WORDS, n) for n in range(5)):
        call = called(text, lenient=chosen)
        if word in chosen:
            assert (call.state, call.flags, call.arguments) == ("released", (word,), text)
        else:
            assert (call.state, call.problem) == ("void", problem)


def test_leniencies_combine() -> None:
    text = '{"a":"x\ny","a":NaN} bye'
    for count in range(5):
        for chosen in itertools.combinations(WORDS, count):
            assert (called(text, lenient=chosen).state == "released") is (len(chosen) == 4)
    call = called(text, lenient=WORDS)
    assert sorted(call.flags) == sorted(WORDS)
    assert math.isnan(value_of(call)["a"])


def test_of_duplicate_keys_the_last_one_counts() -> None:
    assert value_of(called('{"a":1,"b":0,"a":{"c":1,"c":2}}', lenient=["duplicate_keys"])) == {
        "a": {"c": 2},
        "b": 0,
    }


def test_the_deviation_of_a_void_call_is_told() -> None:
    response = Script().created().call('{"a":1,"a":2}').end().parse()
    assert codes(response) == ["call_duplicate_key"]
    assert "'a'" in response.anomalies[0].detail


# -- surrogates --------------------------------------------------------------------------------------


def test_a_lone_surrogate_escape_is_done_and_flagged() -> None:
    for text in ('{"a":"\\ud83d"}', '{"a":"\\ude00x"}', '{"\\ud800":1}', '{"a":"\\ud83d\\ud83d\\ude00"}'):
        call = called(text)
        assert (call.state, call.flags) == ("released", ("lone_surrogate",))
        assert value_of(call) == json.loads(text)
        both = called(text[:-1] + "} bye", lenient=["trailing_text"])
        assert (both.state, set(both.flags)) == ("released", {"lone_surrogate", "trailing_text"})


def test_a_pair_that_the_outer_json_cuts_apart() -> None:
    """\\ud83d ends one delta, \\ude00 begins the next; the copies have the character."""
    text = '{"a":"😀"}'
    pieces = ['{"a":"\ud83d', '\ude00"}']
    for last in (text, '{"a":"\ud83d\ude00"}'):
        data = Script().created().call(last, pieces=pieces).end().data(Framing(escaped=True))
        response = trigate.parse(data, PROTOCOL)
        assert verdict(response) == [("call_1", "released", None)]
        assert (response.calls[0].arguments, response.calls[0].flags) == (text, ())
        assert trigate.parse(bytewise(data), PROTOCOL) == response


def test_half_a_character_of_the_outer_json_that_stays_alone() -> None:
    text = '{"a":"\ud83d"}'
    data = Script().created().call(text, pieces=[text]).end().data(Framing(escaped=True))
    response = trigate.parse(data, PROTOCOL)
    assert verdict(response) == [("call_1", "void", "malformed")]


def test_halves_in_visible_text() -> None:
    script = Script().created().message("a\ud83d", "\ude00b\ud800", index=0).message("\udc00", index=1)
    response = trigate.parse(script.end().data(Framing(escaped=True)), PROTOCOL)
    assert response.status == "completed"
    assert response.text == "a😀b\ufffd\ufffd"
    assert codes(response) == []


# -- size and depth ----------------------------------------------------------------------------------


def nested(depth: int) -> str:
    return '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)


@pytest.mark.parametrize("depth", [1, 99, 100, 101, 102, 500, 1000, 1023, 1024])
def test_deep_arguments(depth: int) -> None:
    call = called(nested(depth))
    value: Any = value_of(call)
    for _ in range(depth - 1):
        value = value["a"]
    assert value == {}


def test_deep_arguments_have_unique_keys_too() -> None:
    text = '{"a":' * 500 + '{"x":1,"x":2}' + "}" * 500
    assert called(text).problem == "duplicate_key"
    assert called(text, lenient=["duplicate_keys"]).state == "released"


@pytest.mark.parametrize("lenient", [(), WORDS])
@pytest.mark.parametrize(
    "make", [nested, lambda depth: '{"c":"\x01","d":%s}' % ("[" * (depth - 1) + "]" * (depth - 1))]
)
def test_depth_past_its_limit(make: Any, lenient: tuple[str, ...]) -> None:
    limits = trigate.Limits(max_depth=20)
    response = Script().created().call(make(21)).end().parse(limits=limits, lenient=lenient)
    if make is nested or lenient:
        assert response.status == "failed"
        assert response.error is not None
        assert (response.error.code, response.error.limit) == ("depth_too_large", "max_depth")
    assert response.released == ()
    within = Script().created().call(make(20)).end().parse(limits=limits, lenient=lenient)
    assert within.status == "completed"


def test_an_integer_that_python_refuses() -> None:
    for lenient in ((), WORDS):
        assert called('{"a":%s}' % ("9" * 5000), lenient=lenient).problem == "malformed"
    assert called('{"a":%s}' % ("9" * 4300)).state == "released"


def test_an_argument_text_past_its_limit() -> None:
    text = '{"a":"北"}'
    size = len(text.encode())
    assert called(text, limits=trigate.Limits(max_arguments_bytes=size)).state == "released"
    response = Script().created().call(text).end().parse(limits=trigate.Limits(max_arguments_bytes=size - 1))
    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.code, response.error.limit) == ("arguments_too_large", "max_arguments_bytes")
    assert response.released == ()


def test_too_many_calls() -> None:
    script = Script().created()
    for index in range(3):
        script.call("{}", index=index, call_id=f"c{index}", item_id=f"f{index}")
    script.end()
    assert len(script.parse(limits=trigate.Limits(max_calls=3)).released) == 3
    response = script.parse(limits=trigate.Limits(max_calls=2))
    assert (response.status, response.released) == ("failed", ())
    assert response.error is not None
    assert (response.error.code, response.error.limit) == ("too_many_calls", "max_calls")
    items, _ = run([script.data()], limits=trigate.Limits(max_calls=2))
    assert [type(item) for item in items].index(trigate.ResponseEnded) == len(items) - 1


def test_a_response_past_its_limit() -> None:
    """Text, arguments and items count, at least as their UTF-8 bytes: n is good, n - 1 names the limit."""
    script = Script().created().message("北京", "x" * 50).end()
    kept = 56 + len(json.dumps(script.output[0], ensure_ascii=False, separators=(",", ":")).encode())

    def at(size: int) -> trigate.Response:
        return script.parse(limits=trigate.Limits(max_response_bytes=size))

    size = bisect.bisect_left(range(1, 100_000), True, key=lambda bound: at(bound).status == "completed") + 1
    assert kept <= size < 20 * kept
    assert at(size).text == "北京" + "x" * 50
    response = at(size - 1)
    assert response.status == "failed"
    assert response.error is not None
    assert (response.error.code, response.error.limit) == ("response_too_large", "max_response_bytes")


def test_anomalies_past_their_limit_are_counted() -> None:
    script = Script().created().call("{}").end()
    script.events += [script.events[-1]] * 10
    response = script.parse(limits=trigate.Limits(max_anomalies=4))
    assert codes(response) == ["event_after_end"] * 4 + ["anomalies_dropped"]
    assert response.anomalies[-1].detail.startswith("6 ")


# -- custom tools ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "print('hi')\n", '{"a":', "\x00\x1b[0m 🌍 \ud7ff", "[DONE]", "{}{}", "null"]
)
def test_custom_tools_take_any_text(text: str) -> None:
    item = {"id": "ct_1", "type": "custom_tool_call", "call_id": "c", "name": "py", "input": text}
    script = Script().created().added(0, item | {"input": ""})
    place = {"item_id": "ct_1", "output_index": 0}
    script.add("response.custom_tool_call_input.delta", **place, delta=text)
    script.add("response.custom_tool_call_input.done", **place, input=text)
    response = script.done(0, item).end().parse()
    (call,) = response.released
    assert (call.kind, call.name, call.call_id, call.arguments, call.flags) == ("custom", "py", "c", text, ())
    with pytest.raises(TypeError, match="free text"):
        call.value()


def test_copies_of_a_custom_input_must_agree_too() -> None:
    item = {"id": "ct_1", "type": "custom_tool_call", "call_id": "c", "name": "py", "input": "ls"}
    script = Script().created().added(0, item | {"input": ""}).done(0, item)
    response = script.end(output=[item | {"input": "rm -rf /"}]).parse()
    assert (response.status, verdict(response)) == ("conflict", [("c", "void", "conflict")])

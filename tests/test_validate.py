"""Is an argument text one strict JSON object? Held against the json module, told to be as strict."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from stream_strategies import json_objects, json_values
from trigate._core import Lane
from trigate.errors import LimitError
from trigate.validate import (
    LENIENCIES,
    Verdict,
    _decode_deep,
    check_leniencies,
    decode_object,
    judge_arguments,
)

some = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
WORDS = frozenset(LENIENCIES)


def judged(text: str, lenient: frozenset[str] = frozenset()) -> Verdict:
    return judge_arguments(Lane(text), lenient=lenient)


def no_constant(word: str) -> Any:
    raise ValueError(word)


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise KeyError("a repeated name")
    return dict(pairs)


def by_json_module(text: str) -> str | None:
    """What the json module, told to be strict, says: None for one good object, else the problem."""
    try:
        value = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique)
    except KeyError:
        return "duplicate_key"
    except (ValueError, RecursionError):
        return "broken"
    return None if isinstance(value, dict) else "broken"


#: Texts close to JSON: right ones with a few characters taken out, doubled or put in.
@st.composite
def near_json(draw: st.DrawFn) -> str:
    text = json.dumps(draw(json_values), ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        piece = draw(
            st.sampled_from(
                ["", "{", "}", "[", "]", '"', ",", ":", "\\", "\n", " ", "0", "-", "e", "NaN", "\x00"]
            )
        )
        text = text[:at] + piece + text[at + draw(st.integers(0, 1)) :]
    return text


@some
@given(json_objects, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_every_object_of_the_json_module_is_good(value: dict[str, Any], is_ascii: bool, indent: Any) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    assert judged(text) == Verdict()
    assert decode_object(text) == value


@settings(some, max_examples=1500)
@given(near_json())
@example('{"a":1}\ufeff')
@example('{"\\ud800":1}')
def test_what_is_good_is_what_the_json_module_takes(text: str) -> None:
    verdict = judged(text)
    if verdict.flags == ("empty_arguments",):
        assert text.strip(" \t\r\n") == ""
        assert decode_object(text) == {}
        return
    expected = by_json_module(text)
    assert (verdict.problem is None) == (expected is None)
    assert (verdict.problem == "duplicate_key") == (expected == "duplicate_key")
    if expected is None:
        assert decode_object(text) == json.loads(text)


@settings(some, max_examples=1000)
@given(near_json(), st.sets(st.sampled_from(sorted(LENIENCIES))))
def test_leniency_never_refuses_and_never_invents(text: str, words: set[str]) -> None:
    strict, lenient = judged(text), judged(text, frozenset(words))
    if strict.problem is None:
        assert lenient == strict
    if lenient.problem is None:
        assert set(lenient.flags) - {"lone_surrogate", "empty_arguments", "number_out_of_range"} <= words
        value = decode_object(text)
        assert isinstance(value, dict)
        start = text.lstrip(" \t\r\n")
        if start:
            first, _ = json.JSONDecoder(strict=False).raw_decode(start)
            assert repr(first) == repr(value)


@some
@given(json_objects, st.data())
def test_a_prefix_is_incomplete_or_empty_and_never_good(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    length = data.draw(st.integers(1, len(text) - 1))
    for lenient in (frozenset[str](), WORDS):
        assert judged(text[:length], lenient).problem == "incomplete"


@some
@given(json_objects, json_values)
def test_two_values_are_never_one(first: dict[str, Any], second: Any) -> None:
    for between in ("", " ", "\n", ", "):
        text = json.dumps(first) + between + json.dumps(second)
        for lenient in (frozenset[str](), WORDS):
            assert judged(text, lenient).problem == "malformed"


# -- the decoder without a stack ---------------------------------------------------------------------


@some
@given(json_values, st.sampled_from([(",", ":"), (" , ", "\t:\n")]), st.booleans())
def test_the_deep_decoder_equals_the_json_module(
    value: Any, separators: tuple[str, str], is_ascii: bool
) -> None:
    text = " " + json.dumps(value, separators=separators, ensure_ascii=is_ascii) + " "
    assert repr(_decode_deep(text, 0, dict)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text", ["1", "-0", "1E+5", '"x"', "true", "null", "[]", "{}", "[[],{}]", '{"a":[],"b":{}}']
)
def test_the_deep_decoder_on_small_texts(text: str) -> None:
    assert repr(_decode_deep(text, 0, dict)) == repr(json.loads(text))


def test_the_deep_decoder_takes_the_constants_of_a_lenient_text() -> None:
    value = _decode_deep('{"a":[NaN,-Infinity,Infinity]}', 0, dict)
    assert math.isnan(value["a"][0])
    assert value["a"][1:] == [-math.inf, math.inf]


@pytest.mark.parametrize("depth", [100, 1000, 20_000])
@pytest.mark.parametrize(("before", "after"), [('{"a":', "}"), ('{"b":1,"a":', ',"c":[]}'), ('{"a":[', "]}")])
def test_no_depth_is_too_deep_for_it(depth: int, before: str, after: str) -> None:
    text = before * depth + "{}" + after * depth
    assert judge_arguments(Lane(text, max_depth=3 * depth)) == Verdict()
    value: Any = decode_object(text)
    for _ in range(depth):
        value = value["a"]
        value = value[0] if isinstance(value, list) else value
    assert value == {}


# -- limits and words --------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2, 10, 1024])
def test_depth_n_is_good_and_n_plus_one_is_an_error(limit: int) -> None:
    def nested(depth: int) -> str:
        return '{"a":' * depth + "1" + "}" * depth

    for depth in (limit - 1 or 1, limit):
        assert judge_arguments(Lane(nested(depth), max_depth=limit)).problem is None
    for text in (nested(limit + 1), nested(limit + 1)[: 5 * (limit + 1)]):
        with pytest.raises(LimitError) as caught:
            judge_arguments(Lane(text, max_depth=limit))
        assert (caught.value.code, caught.value.limit) == ("depth_too_large", "max_depth")


def test_the_detail_says_where() -> None:
    assert judged('{"a":1} x').detail == "text follows the JSON object at byte 8"
    assert judged('{"ä":tru}').detail == "not JSON from byte 9 on"
    assert judged('{"a":[1').detail == "the text ends inside the JSON, 2 level(s) open"
    assert "'a'" in judged('{"a":1,"a":1}').detail


def test_leniencies_are_words_of_the_list() -> None:
    assert check_leniencies(["nan", "nan"]) == frozenset({"nan"})
    assert check_leniencies(()) == frozenset()
    with pytest.raises(ValueError, match="unknown leniency 'x'; the known ones are unterminated_last_event"):
        check_leniencies(["nan", "x"])
    with pytest.raises(TypeError, match="not the string"):
        check_leniencies("nan")


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"\\u0061":2}',
        '{"a":{"b":[{"\\n":1,"\\u000a":2}]}}',
        "{" + "".join(f'"n{n}":{n},' for n in range(200)) + '"n199":0}',
        '{"deep":' + '{"a":' * 40 + '{"b":1,"b":2}' + "}" * 40 + "}",
        '{"a":1,"b":{"a":1},"a":2}',
    ],
)
def test_a_repeated_name_is_found_however_it_is_written(text: str) -> None:
    assert judged(text).problem == "duplicate_key"
    assert judged(text, frozenset({"duplicate_keys"})) == Verdict(flags=("duplicate_keys",))


def test_many_names_and_many_levels_are_good() -> None:
    assert judged("{" + ",".join(f'"n{n}":"\\"n{n}\\":"' for n in range(200)) + "}") == Verdict()
    assert judged('{"a":' * 60 + "1" + "}" * 60) == Verdict()


numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@some
@given(numbers)
@example("-0")
@example("-0.0")
@example("1e400")
@example("18446744073709551616")
@example("9" * 400)
@example("2.2250738585072011e-308")
def test_a_number_is_what_the_json_module_reads(number: str) -> None:
    """The same type and the same bits, whichever decoder takes it."""
    assert repr(decode_object(f'{{"n":{number}}}')) == repr(json.loads(f'{{"n":{number}}}'))


@some
@given(near_json())
@example('{"a": 1, "b": 2, "a": 3}')
@example('{"a": "\\ud83d", "\\ud83d\\ude00": "\\u0000"}')
def test_a_value_is_what_the_json_module_reads(text: str) -> None:
    if judged(text).problem in (None, "duplicate_key") and text.strip():
        assert repr(decode_object(text)) == repr(json.loads(text))

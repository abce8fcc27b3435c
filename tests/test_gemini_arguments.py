"""Arguments that come value by value: where a value belongs, what they make, and what makes no object."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigate.errors import LimitError
from trigate.protocols.gemini_arguments import PartialArguments, parse_path
from trigate.protocols.gemini_wire import PartialArg


def arg(path: str | None, **members: Any) -> PartialArg:
    return msgspec.json.decode(json.dumps({"jsonPath": path} | members).encode(), type=PartialArg)


def gathered(*args: PartialArg, max_depth: int = 100) -> PartialArguments:
    values = PartialArguments(max_depth)
    for one in args:
        assert values.add(one, 0) is None
    return values


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("$.a", ("a",)),
        ("$.a.b[0].c", ("a", "b", 0, "c")),
        ("$[0]", (0,)),
        ("$.a[10][2]", ("a", 10, 2)),
        ("$['a b']", ("a b",)),
        ("$[\"a.b\"]['c']", ("a.b", "c")),
        (r"$['it\'s \"so\" \\']", ('it\'s "so" \\',)),
        ("$['\"']", ('"',)),
        (r'$["\u00e9\n"]', ("é\n",)),
        ("$['']", ("",)),
        ("$.größe-1", ("größe-1",)),
        ("$", None),
        ("", None),
        ("a", None),
        ("$.", None),
        ("$..a", None),
        ("$.a b", None),
        ("$.*", None),
        ("$[*]", None),
        ("$[-1]", None),
        ("$[01]", None),
        ("$[0", None),
        ("$['a]", None),
        (r"$['\x']", None),
        ("$[9999999999]", None),
    ],
)
def test_paths(path: str, segments: tuple[str | int, ...] | None) -> None:
    assert parse_path(path) == segments


def test_every_kind_of_value() -> None:
    values = gathered(
        arg("$.text", stringValue='a\n"ü\U0001f600'),
        arg("$.whole", numberValue=5),
        arg("$.yes", boolValue=True),
        arg("$.no", boolValue=False),
        arg("$.none", nullValue=None),
        arg("$.also", nullValue="NULL_VALUE"),
        arg("$.list[1]", numberValue=2),
        arg("$.list[0]", stringValue=""),
        arg("$.deep[0][0].a", boolValue=True),
    )
    assert values.problem() is None
    assert values.text() == (
        '{"text":"a\\n\\"ü\U0001f600","whole":5,"yes":true,"no":false,"none":null,"also":null,'
        '"list":["",2],"deep":[[{"a":true}]]}'
    )


@pytest.mark.parametrize(
    "digits", ["0.5", "1e3", "-0", "12345678901234567890", "1.0", "3.000000000000000000001"]
)
def test_numbers_keep_their_digits(digits: str) -> None:
    raw = b'{"jsonPath":"$.n","numberValue":%s}' % digits.encode()
    values = gathered(msgspec.json.decode(raw, type=PartialArg))
    assert values.text() == f'{{"n":{digits}}}'


def test_a_null_beside_a_value_says_nothing() -> None:
    raw = b'{"jsonPath":"$.a","stringValue":"x","numberValue":null,"boolValue":null,"nullValue":null}'
    assert gathered(msgspec.json.decode(raw, type=PartialArg)).text() == '{"a":"x"}'


def test_pieces_of_a_string_are_joined() -> None:
    values = gathered(
        arg("$.a", stringValue="Fresh", willContinue=True),
        arg("$.b", stringValue="other", willContinue=True),
        arg("$.a", stringValue=" red", willContinue=True),
        arg("$.b"),
        arg("$.a", stringValue=" apple", willContinue=False),
    )
    assert values.problem() is None
    assert values.text() == '{"a":"Fresh red apple","b":"other"}'


def test_halves_of_a_character_are_joined_and_a_lone_one_stays_an_escape() -> None:
    values = PartialArguments(100)
    for piece, more in (("\ud83d", True), ("\ude00", False)):
        assert values.add(PartialArg(jsonPath="$.a", stringValue=piece, willContinue=more), 0) is None
    assert values.add(PartialArg(jsonPath="$.b", stringValue="x\ud83d"), 0) is None
    assert values.text() == '{"a":"\U0001f600","b":"x\\ud83d"}'


def test_no_values_are_an_empty_object() -> None:
    assert gathered().text() == "{}"
    assert gathered().problem() is None


CONTRADICTIONS = [
    ([arg("$.a", stringValue="A"), arg("$.a", stringValue="B")], "goes on after its end"),
    ([arg("$.a", numberValue=1), arg("$.a", numberValue=1)], "goes on after its end"),
    ([arg("$.a", stringValue="A", willContinue=True), arg("$.a", numberValue=1)], "something else"),
    ([arg("$.a", stringValue="A"), arg("$.a.b", stringValue="B")], "members or elements"),
    ([arg("$.a", stringValue="A"), arg("$.a[0].b", stringValue="B")], "members or elements"),
    ([arg("$.a.b", stringValue="A"), arg("$.a", stringValue="B")], "members or elements"),
    ([arg("$.a.b", stringValue="A"), arg("$.a[0]", stringValue="B")], "members or elements"),
    ([arg("$.a[0]", stringValue="A"), arg("$.a.b", stringValue="B")], "members or elements"),
    ([arg("$[0]", stringValue="A")], "members or elements"),
]


@pytest.mark.parametrize(("args", "told"), CONTRADICTIONS)
def test_contradictions(args: list[PartialArg], told: str) -> None:
    values = gathered(*args[:-1])
    contradiction = values.add(args[-1], 0)
    assert contradiction is not None
    assert told in contradiction


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ([arg("$.a", stringValue="A", willContinue=True)], "incomplete"),
        ([arg("$.a[1]", stringValue="A")], "incomplete"),
        ([arg("$.a[0]", stringValue="A"), arg("$.a[2]", stringValue="C")], "incomplete"),
        ([arg("$.b.c[0][3]", stringValue="A")], "incomplete"),
        ([arg("$.*[*]", stringValue="A")], "malformed"),
        ([arg("$", stringValue="A")], "malformed"),
        ([arg(None, stringValue="A")], "malformed"),
        ([arg("$.a")], "malformed"),
        ([arg("$.a", stringValue="A", numberValue=1)], "malformed"),
        ([arg("$.a", boolValue=True, numberValue=1)], "malformed"),
        ([arg("$.a", numberValue=1, willContinue=True), arg("$.a")], "malformed"),
        ([arg("$.a", numberValue="NaN")], "malformed"),
        ([arg("$.a", numberValue="5")], "malformed"),
        ([arg("$.a", numberValue=[1])], "malformed"),
    ],
)
def test_what_makes_no_whole_object(args: list[PartialArg], problem: str) -> None:
    told = gathered(*args).problem()
    assert told is not None
    assert told[0] == problem


@pytest.mark.parametrize("depth", [1, 4, 5])
def test_depth(depth: int) -> None:
    path = "$" + ".a" * depth
    if depth <= 4:
        assert gathered(arg(path, numberValue=1), max_depth=4).text().count("{") == depth
        return
    with pytest.raises(LimitError) as caught:
        gathered(arg(path, numberValue=1), max_depth=4)
    assert (caught.value.code, caught.value.limit) == ("depth_too_large", "max_depth")


def test_depth_beyond_the_interpreters_own() -> None:
    values = gathered(arg("$" + ".a[0]" * 5000, numberValue=1), max_depth=20_000)
    assert values.problem() is None
    assert values.text() == '{"a":[' * 5000 + "1" + "]}" * 5000


NAMES = st.text(st.characters(codec="utf-8"), max_size=4)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(NAMES, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


def leaves(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield from leaves(child, f"{path}[{json.dumps(name)}]")
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from leaves(child, f"{path}[{place}]")
    else:
        yield path, value


def told(path: str, value: Any, chance: random.Random) -> list[PartialArg]:
    if isinstance(value, str):
        cut = chance.randint(0, len(value))
        return [arg(path, stringValue=value[:cut], willContinue=True), arg(path, stringValue=value[cut:])]
    kind = "nullValue" if value is None else "boolValue" if isinstance(value, bool) else "numberValue"
    return [arg(path, **{kind: value})]


@given(st.dictionaries(NAMES, JSON_VALUES, max_size=4), st.randoms(use_true_random=False))
def test_any_object_comes_back(wanted: dict[str, Any], chance: random.Random) -> None:
    """Whatever the order of its values, as long as the pieces of one string keep theirs."""
    lanes = [told(path, value, chance) for path, value in leaves(wanted)]
    values = PartialArguments(100)
    while lanes:
        lane = chance.choice(lanes)
        assert values.add(lane.pop(0), 0) is None
        lanes = [lane for lane in lanes if lane]
    assert values.problem() is None
    assert json.loads(values.text()) == wanted

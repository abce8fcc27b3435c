"""Which call, and what is asked: canonical JSON as RFC 8785 has it, digests that tell values apart, and keys."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trigate
from ledgers import response_of, stream_of
from trigate.ledger import Key, canonical, digest_of, key_of
from trigate.ledger.canonical import number_text
from trigate.ledger.key import kept, unkept

#: RFC 8785, appendix B: the bits of a double, and how it is written.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items())
def test_numbers_are_written_as_the_rfc_lists_them(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert number_text(number) == text


def test_the_example_of_the_rfc() -> None:
    given_text = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    assert canonical(given_text).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        r'"string":"€$\u000f\nA' + "'" + r'B\"\\\\\"/"}'
    )


def test_the_sorting_example_of_the_rfc() -> None:
    given_text = r"""{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }"""
    assert list(json.loads(canonical(given_text)).values()) == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]


# Doubles that are written with all digits of an integer, beyond those that are exact, are read as integers again.
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not 2**53 <= abs(x) < 1e21)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=20,
)


@given(VALUES)
def test_one_value_has_one_spelling_that_reads_as_the_same_value(value: Any) -> None:
    text = canonical(json.dumps(value, indent=1))
    assert json.loads(text) == value
    assert canonical(json.dumps(value, ensure_ascii=False)) == text
    assert canonical(text.decode()) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_s_text_is_that_number_and_the_shortest_one(number: float) -> None:
    text = number_text(number)
    assert float(text) == number
    digits = sum(letter.isdigit() for letter in text.partition("e")[0].strip("-0.").replace(".", ""))
    assert digits <= 17


@given(st.lists(st.integers(), min_size=2, max_size=2, unique=True), st.integers(0, 30))
def test_two_integers_never_share_a_spelling(pair: list[int], zeros: int) -> None:
    one, other = (canonical(str(number * 10**zeros)) for number in pair)
    assert one != other


NUMBER_TEXTS = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@given(NUMBER_TEXTS, NUMBER_TEXTS)
def test_numbers_that_a_tool_sees_differently_never_share_a_spelling(one: str, other: str) -> None:
    first, second = json.loads(one), json.loads(other)
    if first != second:
        assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("1.0", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("9007199254740991", "9007199254740991"),
        ("9007199254740992", "9007199254740992e0"),
        ("9007199254740993", "9007199254740993e0"),
        ("9007199254740993.0", "9007199254740992"),
        ("1152921504606846976", "1152921504606846976e0"),
        ("1152921504606847000", "1152921504606847000e0"),
        ("1e400", "1e+400"),
        ("-12.50E400", "-125e+399"),
        ("10e399", "1e+400"),
        ("1e500", "1e+500"),
        (r'"\ud800"', r'"\ud800"'),
        (r'"\\ud800"', r'"\\ud800"'),
        (r'"\ud83d\ude00"', '"\U0001f600"'),
        ("[]", "[]"),
        ("{}", "{}"),
        ('[[],{"b":{},"a":[]}]', '[[],{"a":[],"b":{}}]'),
    ],
)
def test_what_the_rfc_leaves_open(text: str, spelling: str) -> None:
    assert canonical(text) == spelling.encode()


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', "NaN", "[1,]", '{"a":1}x', "", "01", '"\n"', "[Infinity]"])
def test_what_is_not_strict_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"strict JSON|repeated"):
        canonical(text)


def test_deep_texts_are_no_trouble() -> None:
    text = "[" * 50_000 + "]" * 50_000
    assert canonical(text) == text.encode()


# -- digests ---------------------------------------------------------------------------------------


def test_a_digest_is_that_of_the_value_not_of_its_spelling() -> None:
    calls = response_of(
        '{"to":"Ann","amount":10}', '{ "amount": 10.0, "to": "\\u0041nn" }', '{"to":"Ann"}'
    ).released
    same, spelt_otherwise, other = map(digest_of, calls)
    assert same == spelt_otherwise == hashlib.sha256(b'{"amount":10,"to":"Ann"}').hexdigest()
    assert other != same


def test_empty_arguments_are_an_empty_object() -> None:
    digests = {digest_of(call) for call in response_of("", " ", "{}", "{ }").released}
    assert digests == {hashlib.sha256(b"{}").hexdigest()}


def test_what_a_leniency_let_through_is_taken_as_it_is() -> None:
    texts = ['{"a":NaN}', '{"a": NaN}', '{"a":1,"a":2}', '{"a":2}']
    response = trigate.parse(stream_of(*texts), "openai-responses", lenient={"nan", "duplicate_keys"})
    digests = [digest_of(call) for call in response.released]
    assert digests == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


# -- keys ------------------------------------------------------------------------------------------


def test_the_key_names_scope_response_call_and_tool() -> None:
    response = response_of("{}", "{}")
    keys = [key_of(call, response, "chat 7") for call in response.released]
    assert keys[0] == Key("chat 7", "resp_1", str(response.released[0].call_id), "transfer")
    assert len({key.id for key in keys}) == 2
    again = response_of("{}", "{}")
    assert [key_of(call, again, "chat 7").id for call in again.released] == [key.id for key in keys]


def test_another_response_is_another_key() -> None:
    one, other = response_of("{}"), response_of("{}", response_id="resp_2")
    assert one.released[0].call_id == other.released[0].call_id
    assert key_of(one.released[0], one, "s") != key_of(other.released[0], other, "s")


def ollama(*ids: str | None) -> trigate.Response:
    """A response without an id; a call for each of these ids."""
    calls = [
        ({} if name is None else {"id": name}) | {"function": {"name": "f", "arguments": {}}} for name in ids
    ]
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]
    return trigate.parse("".join(json.dumps(line) + "\n" for line in lines).encode(), "ollama-chat")


def test_a_call_without_an_id_is_named_by_its_place_and_a_response_by_the_caller() -> None:
    response = ollama(None, None)
    with pytest.raises(ValueError, match="response has no id"):
        key_of(response.released[0], response, "s")
    keys = [key_of(call, response, "s", response_id="turn 3") for call in response.released]
    assert [(key.response, key.call) for key in keys] == [("turn 3", "#0"), ("turn 3", "#1")]


def test_an_id_that_looks_like_a_place_is_not_taken_for_one() -> None:
    response = ollama(None, "#0")
    calls = [key_of(call, response, "s", response_id="1").call for call in response.released]
    assert calls == ["#0", "##0"]


def test_only_a_released_call_of_the_response_has_a_key() -> None:
    response, other = response_of("{}"), response_of('{"a":1}')
    with pytest.raises(ValueError, match="is no call of this response"):
        key_of(other.released[0], response, "s")
    cut = trigate.parse(response_stream_cut(), "openai-responses")
    with pytest.raises(TypeError, match="may not run"):
        key_of(cut.calls[0], cut, "s")  # type: ignore[arg-type]


def response_stream_cut() -> bytes:
    return stream_of('{"a":1}')[:-200]


def test_a_key_has_four_texts() -> None:
    with pytest.raises(ValueError, match="tool must not be empty"):
        Key("s", "r", "c", "")
    with pytest.raises(TypeError, match="scope must be a str"):
        Key(1, "r", "c", "t")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 200"):
        Key("s" * 201, "r", "c", "t")


@given(st.text(), st.text())
def test_any_text_is_kept_and_comes_back(one: str, other: str) -> None:
    assert unkept(kept(one)) == one
    assert "\0" not in kept(one)
    kept(one).encode()
    assert (kept(one) == kept(other)) == (one == other)


def test_parts_of_a_key_cannot_move_into_each_other() -> None:
    keys = [
        Key("a", "b\0c", "d", "e"),
        Key("a\0b", "c", "d", "e"),
        Key("a", "b", "c\0d", "e"),
        Key("a\\u0000b", "c", "d", "e"),
    ]
    assert len({key.id for key in keys}) == 4


def test_infinite_doubles_are_never_written() -> None:
    assert math.isinf(json.loads("1e400"))
    assert canonical("[1e400,-1e400]") == b"[1e+400,-1e+400]"

"""Is this argument text one strict JSON object? Judged once, when the protocol has closed it.

Rules
 - The C tracker is the authority on RFC 8259. What it refuses is refused, unless the caller named the
   one leniency that allows it.
 - Nothing is ever repaired. A text that ends too early is `incomplete`, one that cannot be right is `malformed`.
 - A text is not decoded to be judged, unless its names or its numbers call for it.
 - Integers stay exact; a decoded value is made anew at each call, so nobody can change another's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from json import decoder as _json_decoder
from typing import Any, Literal, TypeAlias

import msgspec

from trigate._core import JSONTracker, Lane
from trigate.text import has_halves

__all__ = ["LENIENCIES", "Verdict", "check_leniencies", "decode_object", "judge_arguments"]

Problem: TypeAlias = Literal["incomplete", "malformed", "duplicate_key"]
_Members: TypeAlias = Callable[[list[tuple[str, Any]]], dict[str, Any]]

#: Every word of `lenient=`, with what it lets through.
LENIENCIES = {
    "unterminated_last_event": "the last event counts although its blank line is missing",
    "utf8": "ill-formed UTF-8 is replaced with U+FFFD instead of failing the response",
    "control_characters": "raw control characters inside strings of arguments",
    "nan": "NaN, Infinity and -Infinity in arguments",
    "trailing_text": "text that is no JSON value after the arguments' object",
    "duplicate_keys": "a repeated member name in arguments; the last one counts",
}

# json recurses on the interpreter's stack; deeper texts take the decoder below, which does not.
_SAFE_DEPTH = 100
# Not in the type stubs, but part of json.decoder since it exists: (text, position, strict) -> (value, position).
_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(_json_decoder)["scanstring"]
_INFINITE = (float("inf"), float("-inf"))
_WHITE = re.compile(r"[ \t\n\r]*")
_WHITES = " \t\n\r"
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
# Takes a fifth of json's time. What it does not refuse it decodes to the same value.
_decode_plain = msgspec.json.Decoder(dict[str, Any]).decode
_REFUSED = (msgspec.MsgspecError, RecursionError, UnicodeEncodeError)
_CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Verdict(msgspec.Struct, frozen=True):
    """problem: None where the text is good. flags: what was remarkable about it. detail: for people."""

    problem: Problem | None = None
    flags: tuple[str, ...] = ()
    detail: str = ""


_GOOD = Verdict()


class _DuplicateKeyError(ValueError):
    pass


def check_leniencies(words: Iterable[str]) -> frozenset[str]:
    """The words as a set; ValueError names the known ones if one is unknown."""
    if isinstance(words, str):
        raise TypeError(f"lenient must be a collection of words, not the string {words!r}")
    chosen = frozenset(words)
    unknown = sorted(chosen - LENIENCIES.keys())
    if unknown:
        raise ValueError(f"unknown leniency {unknown[0]!r}; the known ones are {', '.join(LENIENCIES)}")
    return chosen


def judge_arguments(
    lane: Lane, *, lenient: frozenset[str] = frozenset(), may_have_halves: bool = True
) -> Verdict:
    """Judges a closed argument text. LimitError (depth_too_large) if it is nested deeper than the lane's max_depth.

    may_have_halves: False where the caller has looked, and no half of a surrogate pair stands in the text.
    Flags: `empty_arguments` (stands for {}), `lone_surrogate`, `number_out_of_range` (1e999 becomes infinite),
    and each leniency that was used.
    """
    text = lane.text
    if may_have_halves and has_halves(text):
        return Verdict("malformed", detail="half a surrogate pair stands outside an escape")
    state, depth, deepest, error_at, has_lone_surrogate, may_overflow = lane.json()
    if state == "empty":
        return Verdict(flags=("empty_arguments",))
    flags = ("lone_surrogate",) if has_lone_surrogate else ()
    if state == "closed":
        if text[_skip_white(text, 0)] != "{":
            return Verdict("malformed", flags, "the arguments are not a JSON object")
        if not may_overflow and lane.has_unique_names():
            return Verdict(flags=flags) if flags else _GOOD
        return _judge_members(text, deepest, flags, lenient, may_overflow)
    verdict = _judge_leniently(text, lane.max_depth, lenient) if lenient else None
    if verdict is not None:
        return verdict
    if state == "open":
        return Verdict("incomplete", flags, f"the text ends inside the JSON, {depth} level(s) open")
    if state == "trailing":
        return Verdict("malformed", flags, f"text follows the JSON object at byte {error_at}")
    return Verdict("malformed", flags, f"not JSON from byte {error_at} on")


def _judge_members(
    text: str, depth: int, flags: tuple[str, ...], lenient: frozenset[str], may_overflow: bool
) -> Verdict:
    """A valid object: are its member names unique, and can Python hold its numbers?"""
    try:
        value = _decode(text, depth, _unique_members)
    except _DuplicateKeyError as error:
        if "duplicate_keys" in lenient:
            return Verdict(flags=(*flags, "duplicate_keys"))
        return Verdict("duplicate_key", flags, f"the member name {error.args[0]!r} is repeated")
    except ValueError:
        return Verdict("malformed", flags, "an integer has more digits than Python converts")
    if may_overflow and any(each in _INFINITE for each in _scalars(value)):
        flags = (*flags, "number_out_of_range")
    return Verdict(flags=flags)


def _judge_leniently(text: str, max_depth: int, lenient: frozenset[str]) -> Verdict | None:
    """The verdict if the caller's leniencies make the text acceptable, None if they do not."""
    # The strict tracker stopped where the text broke; what follows is no deeper than allowed either.
    JSONTracker(strict=False, max_depth=max_depth).feed(text)
    used: list[str] = []
    remarkable: list[str] = []

    def constant(word: str) -> float:
        used.append("nan")
        return _CONSTANTS[word]

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        try:
            return _unique_members(pairs)
        except _DuplicateKeyError:
            used.append("duplicate_keys")
            return dict(pairs)

    def real(digits: str) -> float:
        value = float(digits)
        if value in _INFINITE:
            remarkable.append("number_out_of_range")
        return value

    decoder = json.JSONDecoder(
        strict=False, parse_constant=constant, parse_float=real, object_pairs_hook=members
    )
    try:
        value, end = decoder.raw_decode(text, _skip_white(text, 0))
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    rest = text[_skip_white(text, end) :]
    if rest:
        if _begins_value(rest):
            return None
        used.append("trailing_text")
    if _has_control(text):
        used.append("control_characters")
    if not set(used) <= lenient:
        return None
    if any(isinstance(each, str) and has_halves(each) for each in _scalars(value)):
        remarkable.append("lone_surrogate")
    return Verdict(flags=tuple(sorted({*used, *remarkable})))


def _scalars(value: Any) -> Iterator[Any]:
    """All names, strings, numbers and words in a decoded value."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            waiting += each
        else:
            yield each


def _begins_value(rest: str) -> bool:
    """Whether another JSON value may stand in the rest: two values are never one call."""
    if "{" in rest or "[" in rest:
        return True
    try:
        json.JSONDecoder(strict=False).raw_decode(rest.lstrip(" \t\n\r,"))
    except (ValueError, RecursionError):
        return False
    return True


def _has_control(text: str) -> bool:
    """Of a text that the lenient decoder took: what else but a control character can the strict one refuse?"""
    try:
        json.JSONDecoder().raw_decode(text, _skip_white(text, 0))
    except ValueError:
        return True
    return False


def decode_object(text: str) -> dict[str, Any]:
    """The value of a text that judge_arguments accepted: {} for an empty one, the first value otherwise."""
    try:
        fast: dict[str, Any] = _decode_plain(text)
    except _REFUSED:
        return _decode_object_slowly(text)
    return fast


def _decode_object_slowly(text: str) -> dict[str, Any]:
    """Of one that msgspec refuses: halves of surrogate pairs, huge numbers, deep nesting, a caller's leniency."""
    start = _skip_white(text, 0)
    if start == len(text):
        return {}
    value = _decode(text, 0, dict)
    assert isinstance(value, dict)
    return value


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise _DuplicateKeyError(name)
            seen.add(name)
    return members


# Made once: that takes longer than decoding a small text does.
_DECODERS: dict[_Members, json.JSONDecoder] = {
    dict: json.JSONDecoder(strict=False),
    _unique_members: json.JSONDecoder(strict=False, object_pairs_hook=_unique_members),
}


def _decode(text: str, depth: int, members: _Members) -> Any:
    start = _skip_white(text, 0)
    if depth <= _SAFE_DEPTH:
        try:
            return _DECODERS[members].raw_decode(text, start)[0]
        except RecursionError:
            pass
    return _decode_deep(text, start, members)


def _skip_white(text: str, position: int) -> int:
    if text[position : position + 1] not in _WHITES:
        return position
    match = _WHITE.match(text, position)
    return match.end() if match else position


def _decode_deep(text: str, position: int, members: _Members) -> Any:
    """Decodes a JSON text already known to be valid, with a list instead of the interpreter's stack."""
    stack: list[tuple[bool, list[Any]]] = []
    keys: list[str] = []
    while True:
        position = _skip_white(text, position)
        letter = text[position]
        if letter in "{[":
            stack.append((letter == "{", []))
            position = _skip_white(text, position + 1)
            if text[position] not in "}]":
                if letter == "{":
                    position = _take_key(text, position, keys)
                continue
            value: Any = None
        else:
            value, position = _scalar(text, position)
            if not stack:
                return value
            stack[-1][1].append((keys.pop(), value) if stack[-1][0] else value)
            position = _skip_white(text, position)
        while text[position] in "}]":
            is_object, gathered = stack.pop()
            value = members(gathered) if is_object else gathered
            position += 1
            if not stack:
                return value
            stack[-1][1].append((keys.pop(), value) if stack[-1][0] else value)
            position = _skip_white(text, position)
        position += 1  # the comma
        if stack[-1][0]:
            position = _take_key(text, _skip_white(text, position), keys)


def _take_key(text: str, position: int, keys: list[str]) -> int:
    name, position = _scan_string(text, position + 1, False)
    keys.append(name)
    return _skip_white(text, position) + 1


def _scalar(text: str, position: int) -> tuple[Any, int]:
    if text[position] == '"':
        return _scan_string(text, position + 1, False)
    for word, value in (_WORDS | _CONSTANTS).items():
        if text.startswith(word, position):
            return value, position + len(word)
    match = _NUMBER.match(text, position)
    if match is None:
        raise ValueError(f"not a JSON value at character {position}")
    number = match.group()
    return (float(number) if match.group(1) or match.group(2) else int(number)), match.end()

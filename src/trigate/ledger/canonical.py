"""The one spelling of a JSON text: RFC 8785, and a spelling for what that leaves out.

Rules
 - Members are sorted by the UTF-16 units of their names; strings have the shortest escapes; no white space; UTF-8.
 - A number with a fraction or an exponent is the double that a tool gets of it, written as ECMAScript writes it.
   So 1, 1.0 and 1e0 are one number, and 0 and -0 are one.
 - What RFC 8785 refuses has a spelling that no other value shares. An integer beyond 2**53 - 1 keeps all its digits,
   "e0" behind them; a number beyond all doubles keeps its exact digits; half a surrogate pair stays an escape.
 - What is not strict JSON, a repeated member name included, is a ValueError: nothing is guessed.
 - No recursion: a text may be as deep as it likes. The work is that of sorting the members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from json import decoder as _json_decoder
from json import encoder as _json_encoder
from typing import TypeAlias

from trigate._core import JSONTracker

__all__ = ["canonical", "number_text"]

#: The largest integer of which a double also holds the next one.
_EXACT = 2**53 - 1
_EXACT_DIGITS = 16
#: Text of a leaf, or what an array or an object holds.
_Node: TypeAlias = "str | list[_Node] | dict[str, _Node]"

_TOKEN = re.compile(r"[ \t\n\r:,]*(?:([\[\]{}\"])|(true|false|null)|(-?\d+)(\.\d+)?([eE][+-]?\d+)?)")
_HALF = re.compile("[\ud800-\udfff]")
# Not in the type stubs, but part of the json package since it exists.
_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(_json_decoder)["scanstring"]
_quote: Callable[[str], str] = vars(_json_encoder)["encode_basestring"]


def canonical(text: str) -> bytes:
    """A JSON text in its one spelling. ValueError where it is not strict JSON, or repeats a member name."""
    tracker = JSONTracker(strict=True, max_depth=len(text) + 1)
    tracker.feed(text)
    if tracker.finish() != "closed":
        raise ValueError("not one strict JSON value")
    return "".join(_write(_read(text))).encode("utf-8")


def _read(text: str) -> _Node:
    """The value of a text known to be JSON; its leaves are spelt already."""
    stack: list[list[_Node] | dict[str, _Node]] = []
    names: list[str | None] = []  # for each open object: the name that waits for its value
    position = 0
    while True:
        token = _TOKEN.match(text, position)
        assert token is not None
        position = token.end()
        sign = token.group(1)
        if sign == "{" or sign == "[":
            stack.append({} if sign == "{" else [])
            names.append(None)
            continue
        if sign == '"':
            string, position = _scan_string(text, position, True)
            if isinstance(stack[-1] if stack else None, dict) and names[-1] is None:
                names[-1] = string
                continue
            value: _Node = _string(string)
        elif sign is not None:
            value = stack.pop()
            names.pop()
        else:
            value = token.group(2) or _number(token)
        if not stack:
            return value
        _put(stack[-1], names, value)


def _put(parent: list[_Node] | dict[str, _Node], names: list[str | None], value: _Node) -> None:
    if isinstance(parent, list):
        parent.append(value)
        return
    name = names[-1]
    assert name is not None
    if name in parent:
        raise ValueError(f"the member name {name!r} is repeated")
    parent[name] = value
    names[-1] = None


def _write(node: _Node) -> Iterator[str]:
    stack: list[Iterator[tuple[str, _Node | None]]] = [iter([("", node)])]
    while stack:
        for text, child in stack[-1]:
            yield text
            if isinstance(child, str):
                yield child
            elif child is not None:
                stack.append(_parts(child))
                break
        else:
            stack.pop()


def _parts(node: list[_Node] | dict[str, _Node]) -> Iterator[tuple[str, _Node | None]]:
    """What stands before each child, and the child; at last what closes it."""
    if isinstance(node, list):
        for number, child in enumerate(node):
            yield ("," if number else "["), child
        yield ("]" if node else "[]"), None
        return
    for number, name in enumerate(sorted(node, key=_units)):
        yield f"{',' if number else '{'}{_string(name)}:", node[name]
    yield ("}" if node else "{}"), None


def _units(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def _string(value: str) -> str:
    quoted = _quote(value)
    return quoted if quoted.isascii() else _HALF.sub(lambda half: f"\\u{ord(half.group()):04x}", quoted)


def _number(token: re.Match[str]) -> str:
    whole, fraction, exponent = token.group(3, 4, 5)
    if fraction is None and exponent is None:
        if len(whole) <= _EXACT_DIGITS + 1 and abs(int(whole)) <= _EXACT:
            return "0" if whole == "-0" else whole
        return f"{whole}e0"
    number = float(f"{whole}{fraction or ''}{exponent or ''}")
    if number in (float("inf"), float("-inf")):
        return _huge(whole, fraction or ".", int((exponent or "e0")[1:]))
    return number_text(number)


def _huge(whole: str, fraction: str, exponent: int) -> str:
    """Exact digits without zeros at their ends, and the exponent: no double is ever written so."""
    sign = "-" if whole[0] == "-" else ""
    digits = whole.lstrip("-") + fraction[1:]
    exponent -= len(fraction) - 1
    kept = digits.rstrip("0")
    return f"{sign}{kept.lstrip('0')}e+{exponent + len(digits) - len(kept)}"


def number_text(number: float) -> str:
    """A finite double as ECMAScript's Number::toString writes it, which RFC 8785 prescribes."""
    if number == 0:
        return "0"
    sign, digits_read, exponent = Decimal(repr(number)).as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, digits_read))
    exponent += len(digits) - len(digits := digits.rstrip("0") or "0")
    count = len(digits)
    point = count + exponent  # where the decimal point stands, counted from the first digit
    minus = "-" if sign else ""
    if count <= point <= 21:
        return minus + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{minus}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"

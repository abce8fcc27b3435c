"""What a parser remembers between two events, as plain values: to see a memory that an unread event has left stale.

Rules
 - All objects of the package are followed from the interpreter and its turn on, whatever they are called.
 - HARMLESS says which memories may differ, and why that can never show.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import trigate
from trigate._core import Lane, Lanes

__all__ = ["HARMLESS", "stale"]

#: Per protocol the paths of memories that may differ, places in lists and dicts left out.
HARMLESS: dict[str, dict[str, str]] = {
    "openai-responses": {
        "._copies._text._repeats._lane": "whose copy is looked for: another one is read as a whole, to the same end",
        "._copies._text._repeats._member": "its name",
        "._copies._text._repeats._written": "how that text was written last: a copy of it",
        "._copies._text._repeats._size": "how long it was then",
    },
    "ollama-chat": {
        "._records": "records are counted to tell two of them apart, and those with calls are all read",
        "._seen[][].record": "the same number",
    },
    "openai-chat": {
        "._choices[].calls._last": "it counts only where calls have no index, and there nothing is taken unread",
    },
}


def _names(value: Any) -> Iterable[str]:
    names = set(getattr(value, "__dict__", ()))
    for base in type(value).__mro__:
        names |= set(getattr(base, "__slots__", ()))
    return sorted(names)


def _follow(value: Any, path: str, found: dict[str, Any], seen: dict[int, str]) -> None:
    if isinstance(value, Lane):
        found[path] = value.text
    elif isinstance(value, str | bytes | int | float | None):
        found[path] = value
    elif id(value) in seen:
        found[path] = ("the one at", seen[id(value)])
    elif isinstance(value, dict):
        seen[id(value)] = path
        for place, (key, inner) in enumerate(value.items()):
            _follow(key, f"{path}[{place}]", found, seen)
            _follow(inner, f"{path}[{place}]", found, seen)
    elif isinstance(value, list | tuple):
        seen[id(value)] = path
        for place, inner in enumerate(value):
            _follow(inner, f"{path}[{place}]", found, seen)
    elif isinstance(value, set | frozenset):
        found[path] = sorted(map(repr, value))
    elif type(value).__module__.startswith("trigate.") and not isinstance(value, type | Lanes):
        seen[id(value)] = path
        for name in _names(value):
            if hasattr(value, name):
                _follow(getattr(value, name), f"{path}.{name}", found, seen)


def _remembered(parser: trigate.ResponseParser) -> dict[str, Any]:
    found: dict[str, Any] = {}
    _follow(parser._interpreter, "", found, {})
    return found


def stale(
    protocol: str, fast: trigate.ResponseParser, slow: trigate.ResponseParser
) -> dict[str, tuple[Any, Any]]:
    """Where the two remember different things, but for what is harmless, and for what is read late."""
    assert fast.response == slow.response
    told, due = _remembered(fast), _remembered(slow)
    harmless = HARMLESS.get(protocol, {})
    return {
        path: (told.get(path), due.get(path))
        for path in told.keys() | due.keys()
        if told.get(path) != due.get(path) and re.sub(r"\[\d+\]", "[]", path) not in harmless
    }

"""JSON put together from values that stay the text that they came as: no number in them is ever converted."""

from __future__ import annotations

import json

from trigate._core import JSONTracker

__all__ = ["array_of", "is_object", "object_of", "word_of"]


def object_of(members: dict[str, bytes]) -> bytes:
    """The object of these members, each value as it is."""
    told = (json.dumps(name).encode() + b": " + value for name, value in members.items())
    return b"{" + b", ".join(told) + b"}"


def array_of(values: list[bytes]) -> bytes:
    return b"[" + b", ".join(values) + b"]"


def word_of(members: dict[str, bytes], name: str) -> str | None:
    """A member that is a string, and not an empty one."""
    value = members.get(name, b"")
    return (json.loads(value) or None) if value[:1] == b'"' else None


def is_object(text: str) -> bool:
    """Whether this is the text of a JSON object, however deep: `max_depth` was judged before."""
    if text.lstrip(" \t\r\n")[:1] != "{":
        return False
    tracker = JSONTracker(max_depth=2**31)
    try:
        tracker.feed(text)
    except UnicodeEncodeError:
        return False
    return tracker.finish() == "closed"

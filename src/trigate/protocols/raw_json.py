"""JSON put together from values that stay the text that they came as: no number in them is ever converted."""

from __future__ import annotations

import json
from json.encoder import encode_basestring_ascii
from typing import Any

import msgspec

from trigate._core import JSONTracker

__all__ = ["array_of", "is_object", "json_of", "object_of", "word_of"]


_decode_string = msgspec.json.Decoder(str).decode


def json_of(value: Any) -> bytes:
    """The JSON text of a value, as json.dumps writes it; for what is mostly asked, without its detours."""
    if type(value) is str:
        return encode_basestring_ascii(value).encode()
    return b"%d" % value if type(value) is int else json.dumps(value).encode()


def object_of(members: dict[str, bytes]) -> bytes:
    """The object of these members, each value as it is."""
    parts: list[bytes] = []  # joined once: a long text is copied once
    for name, value in members.items():
        parts += (b", ", json_of(name), b": ", value)
    parts[:1] = [b"{"]
    parts.append(b"}")
    return b"".join(parts)


def array_of(values: list[bytes]) -> bytes:
    return b"[" + b", ".join(values) + b"]"


def word_of(members: dict[str, bytes], name: str) -> str | None:
    """A member that is a string, and not an empty one."""
    value = members.get(name, b"")
    if value[:1] != b'"':
        return None
    try:
        return _decode_string(value) or None
    except msgspec.DecodeError:  # half a surrogate pair
        return json.loads(value) or None


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

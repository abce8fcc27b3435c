"""What the answers of all protocols share: which calls can be answered, and how a result becomes text.

Rules
 - A call without an id cannot be answered where results go back by it: ValueError.
 - Bytes are never guessed to be text: TypeError.
 - Nothing that came over the wire makes the assistant's message fail.
"""

from __future__ import annotations

import json
from typing import Any

from trigate.calls import ToolCall

__all__ = ["answered_id", "as_text", "kept", "refuse_bytes"]


def answered_id(call: ToolCall) -> str:
    """The id that the result must carry."""
    if call.call_id is None:
        raise ValueError(f"the call of {call.name!r} has no call_id, so it cannot be answered")
    return call.call_id


def kept(raw: bytes) -> Any:
    """A part of the turn as it came. An integer of more digits than Python converts stays its digits, as text."""
    return json.loads(raw, parse_int=_integer)


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


def refuse_bytes(content: Any) -> None:
    if isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError("content must be text or JSON values, not bytes: decode it first")


def as_text(content: Any) -> str:
    """Text as it is, None as an empty one, other JSON values as their JSON text."""
    refuse_bytes(content)
    if isinstance(content, str):
        return content
    return "" if content is None else json.dumps(content, ensure_ascii=False)

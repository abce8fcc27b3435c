"""The JSON of Cohere's events, as far as it matters here: shapes for decoding, and usage.

Source: docs/protocols/cohere-chat.md. Members that are not named here are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.errors import StructureError
from trigate.framing import Frame
from trigate.protocols.shapes import EMPTY, FIXED, TEXT, Place, shapes
from trigate.protocols.wire import count_of, decode, usual
from trigate.response import Usage

__all__ = [
    "SHAPES",
    "Call",
    "Delta",
    "Event",
    "Head",
    "Message",
    "Start",
    "citation_of",
    "event_of",
    "usage_of",
]


def _delta(kind: str, **message: Place) -> dict[str, Place]:
    return {"type": f"{kind}-delta", "index": FIXED, "delta": {"message": message}}


SHAPES = shapes(
    _delta("content", content={"text": TEXT, "thinking": EMPTY}),
    _delta("content", content={"text": EMPTY, "thinking": TEXT}),
    _delta("tool-plan", tool_plan=TEXT),
    _delta("tool-call", tool_calls={"function": {"arguments": TEXT}}),
)


class Head(msgspec.Struct):
    type: str | None = None
    error: Any = None
    message: Any = None


class Start(Head):
    """message-start: its empty lists are of other types than the same members later."""

    id: str | None = None


class Content(msgspec.Struct):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None


class Function(msgspec.Struct):
    name: str | None = None
    arguments: Any = msgspec.UNSET


class Call(msgspec.Struct):
    id: str | None = None
    type: str | None = None
    function: Function | None = None

    @property
    def name(self) -> str | None:
        return self.function.name if self.function is not None else None

    @property
    def has_arguments(self) -> bool:
        return self.function is not None and self.function.arguments is not msgspec.UNSET

    def piece(self, data: bytes, event: Frame) -> tuple[str, bool]:
        """The argument text that it brings, and whether it came as a string: an object is its JSON text."""
        value = self.function.arguments if self.function is not None else None
        if value is None or value is msgspec.UNSET or isinstance(value, str):
            return value or "", True
        return _descend(
            data, ("delta", "message", "tool_calls", "function", "arguments"), event
        ).decode(), False


class Message(msgspec.Struct):
    content: Content | None = None
    tool_plan: str | None = None
    tool_calls: Call | None = None


class Delta(msgspec.Struct):
    message: Message | None = None
    finish_reason: str | None = None
    error: Any = None
    usage: Any = None


class Event(Head):
    index: int | None = None
    id: str | None = None
    delta: Delta | None = None

    @property
    def content(self) -> Content:
        return (self._message and self._message.content) or Content()

    @property
    def plan(self) -> str:
        return (self._message and self._message.tool_plan) or ""

    @property
    def call(self) -> Call:
        return (self._message and self._message.tool_calls) or Call()

    @property
    def _message(self) -> Message | None:
        return self.delta.message if self.delta is not None else None


def event_of(head: Head, data: bytes, event: Frame) -> Event:
    return usual(head, data, Event) or decode(data, Event, event)


class Nested(msgspec.Struct):
    """The way to an object inside: the same shape at each level."""

    delta: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    citations: msgspec.Raw = msgspec.Raw()
    tool_calls: msgspec.Raw = msgspec.Raw()
    function: msgspec.Raw = msgspec.Raw()
    arguments: msgspec.Raw = msgspec.Raw()


def _descend(data: bytes, members: tuple[str, ...], event: Frame) -> bytes:
    """The object at the end of these members, as it came. StructureError if it is none."""
    part = msgspec.Raw(data)
    for member in members:
        part = getattr(decode(part, Nested, event), member)
    decode(part, Nested, event)
    return bytes(part)


def citation_of(data: bytes, event: Frame) -> bytes:
    """The citation of a citation-start, as it came; b"" for another shape, on which nothing depends."""
    try:
        return _descend(data, ("delta", "message", "citations"), event)
    except StructureError:
        return b""


def usage_of(raw: dict[str, Any]) -> Usage:
    """`tokens` is what was processed; `billed_units` stands in where it is missing."""

    def number(source: Any, name: str) -> int | None:
        value = source.get(name) if isinstance(source, dict) else None
        if isinstance(value, float) and value.is_integer():
            return int(value)  # the provider's own types say "number"
        return count_of(source, name)

    tokens = raw.get("tokens") or raw.get("billed_units")
    return Usage(
        input_tokens=number(tokens, "input_tokens"),
        output_tokens=number(tokens, "output_tokens"),
        cached_tokens=number(raw, "cached_tokens"),
        reasoning_tokens=number(tokens, "reasoning_tokens"),
        raw=raw,
    )

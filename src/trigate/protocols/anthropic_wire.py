"""The JSON of Messages events, as far as it matters here: shapes for decoding, texts, and usage.

Source: docs/protocols/anthropic-messages.md. Members that are not named here are ignored; those whose type
matters only in some cases are read as anything, and checked where they are used.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.errors import StructureError
from trigate.framing import Frame
from trigate.protocols.shapes import FIXED, TEXT, Place, shapes
from trigate.protocols.wire import attempt, count_of, decode
from trigate.response import Usage

__all__ = [
    "SHAPES",
    "USUAL",
    "BlockEvent",
    "BlockHead",
    "BlockStart",
    "Completion",
    "Delta",
    "DeltaEvent",
    "FirstText",
    "Head",
    "Message",
    "MessageChange",
    "MessageDelta",
    "MessageStart",
    "ToolUse",
    "UnknownEvent",
    "block_delta_of",
    "message_delta_of",
    "message_of",
    "partial_json",
    "text_of",
    "usage_of",
]


def _delta(kind: str, member: str) -> dict[str, Place]:
    return {"type": "content_block_delta", "index": FIXED, "delta": {"type": kind, member: TEXT}}


SHAPES = shapes(
    _delta("text_delta", "text"),
    _delta("thinking_delta", "thinking"),
    _delta("input_json_delta", "partial_json"),
)


class Head(msgspec.Struct):
    type: str | None = None
    error: Any = None


class Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    content: list[msgspec.Raw] | None = None
    stop_reason: str | None = None
    usage: Any = None


class MessageStart(Head, kw_only=True):
    message: Message


class AnyMessageStart(msgspec.Struct):
    message: msgspec.Raw = msgspec.Raw()


class BlockEvent(Head, kw_only=True):
    index: int


class BlockStart(Head, kw_only=True):
    index: int
    content_block: msgspec.Raw = msgspec.Raw()


class BlockMembers(msgspec.Struct):
    """What matters of a block of any known type."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    toolset_name: Any = None
    input: msgspec.Raw = msgspec.Raw()
    text: Any = None
    thinking: Any = None


class BlockHead(msgspec.Struct):
    type: str = ""


class FirstText(msgspec.Struct):
    text: Any = None
    thinking: Any = None


class ToolUse(msgspec.Struct):
    id: str | None = None
    name: str | None = None
    toolset_name: Any = None
    input: msgspec.Raw = msgspec.Raw()


class Delta(msgspec.Struct):
    type: str = ""
    text: Any = None
    partial_json: Any = msgspec.UNSET
    thinking: Any = None
    signature: Any = None
    citation: msgspec.Raw = msgspec.Raw()
    content: Any = None
    encrypted_content: Any = None

    @property
    def is_empty(self) -> bool:
        """Whether it adds nothing."""
        texts = (self.text, self.thinking, self.signature, self.content, self.encrypted_content)
        return not any(texts) and self.partial_json in ("", None, msgspec.UNSET) and not bytes(self.citation)


class DeltaEvent(Head, kw_only=True):
    index: int
    delta: Delta


class AnyDeltaEvent(msgspec.Struct):
    index: int
    delta: msgspec.Raw = msgspec.Raw()


class MessageChange(msgspec.Struct):
    stop_reason: str | msgspec.UnsetType | None = msgspec.UNSET
    stop_details: Any = None
    container: Any = None


class MessageDelta(Head, kw_only=True):
    delta: MessageChange
    usage: Any = None
    context_management: Any = None
    input_transformations: Any = None


class AnyMessageDelta(msgspec.Struct):
    delta: msgspec.Raw = msgspec.Raw()
    usage: Any = None
    context_management: Any = None
    input_transformations: Any = None


class UnknownEvent(msgspec.Struct):
    index: Any = None
    delta: Any = None


class Completion(Head):
    """An event of the older text completions."""

    id: str | None = None
    model: str | None = None
    completion: Any = None
    stop_reason: str | None = None


#: The usual form of each of these events.
USUAL: dict[str, type[Head]] = {
    "message_start": MessageStart,
    "content_block_start": BlockStart,
    "content_block_delta": DeltaEvent,
    "content_block_stop": BlockEvent,
    "message_delta": MessageDelta,
    "message_stop": Head,
    "completion": Completion,
}


def message_of(head: Head, data: bytes, event: Frame) -> Message:
    """The message that a message_start holds."""
    if isinstance(head, MessageStart):
        return head.message
    told = attempt(data, MessageStart)
    if told is not None:
        return told.message
    return decode(decode(data, AnyMessageStart, event).message, Message, event)


def message_delta_of(head: Head, data: bytes, event: Frame) -> MessageDelta:
    """A message_delta; one without a delta changes nothing."""
    told = head if isinstance(head, MessageDelta) else attempt(data, MessageDelta)
    if told is not None:
        return told
    found = decode(data, AnyMessageDelta, event)
    return MessageDelta(
        delta=decode(found.delta, MessageChange, event) if found.delta else MessageChange(),
        usage=found.usage,
        context_management=found.context_management,
        input_transformations=found.input_transformations,
    )


def block_delta_of(head: Head, data: bytes, event: Frame) -> DeltaEvent:
    told = head if isinstance(head, DeltaEvent) else attempt(data, DeltaEvent)
    if told is not None:
        return told
    found = decode(data, AnyDeltaEvent, event)
    return DeltaEvent(index=found.index, delta=decode(found.delta, Delta, event))


def text_of(value: Any, member: str, event: Frame) -> str:
    """A text member: "" where it is null or absent. StructureError (wrong_shape) for what is no string."""
    if value is None or isinstance(value, str):
        return value or ""
    raise StructureError(
        f"the event at byte {event.start} has an unexpected member: "
        f"{member} is a {type(value).__name__}, expected a string",
        code="wrong_shape",
        offset=event.start,
    )


def partial_json(delta: Delta, event: Frame) -> str:
    """The piece of an input_json_delta: null is an empty one, but if it is missing, text was lost."""
    if delta.partial_json is msgspec.UNSET:
        raise StructureError(
            f"the input_json_delta in the event at byte {event.start} has no partial_json",
            code="missing_member",
            offset=event.start,
        )
    return text_of(delta.partial_json, "partial_json", event)


def usage_of(raw: dict[str, Any]) -> Usage:
    """The counts of all usage objects so far. As on the wire, input_tokens is without what was cached."""
    read, written, cached = map(raw.get, ("input_tokens", "output_tokens", "cache_read_input_tokens"))
    details = raw.get("output_tokens_details")
    return Usage(
        input_tokens=read if type(read) is int else None,
        output_tokens=written if type(written) is int else None,
        cached_tokens=cached if type(cached) is int else None,
        reasoning_tokens=None if details is None else count_of(details, "thinking_tokens"),
        raw=raw,
    )

"""The JSON of ConverseStream events, as far as it matters here: shapes for decoding, usage, and errors.

Source: docs/protocols/bedrock-converse.md. Members not named here are ignored, among them the padding `p`.
"""
# ruff: noqa: N815 - members are spelled as the wire spells them

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from trigate.errors import StructureError
from trigate.framing import Frame
from trigate.protocols.shapes import FIXED, IGNORED, TEXT, Place, shapes
from trigate.protocols.wire import as_json_text, attempt, count_of, decode, is_given
from trigate.response import ErrorInfo, Usage

__all__ = [
    "CLIENT_TOOLS",
    "SERVER_TOOL",
    "SHAPES",
    "AnyBlockDelta",
    "AnyObject",
    "BlockEvent",
    "BlockStart",
    "Delta",
    "Image",
    "MessageStop",
    "Metadata",
    "Reasoning",
    "ResultPart",
    "ToolInput",
    "ToolUse",
    "block_delta_of",
    "failure_of",
    "input_of",
    "usage_of",
]

#: The `type` of a toolUse, absent for the client's.
CLIENT_TOOLS = (None, "tool_use")
SERVER_TOOL = "server_tool_use"


def _delta(**delta: Place) -> dict[str, Place]:
    return {"contentBlockIndex": FIXED, "delta": delta, "p": IGNORED}


SHAPES = shapes(_delta(text=TEXT), _delta(reasoningContent={"text": TEXT}), _delta(toolUse={"input": TEXT}))


class BlockEvent(msgspec.Struct):
    contentBlockIndex: int


class AnyObject(msgspec.Struct):
    """To see that it is an object at all."""


class BlockStart(BlockEvent):
    start: msgspec.Raw = msgspec.Raw()


class ToolUse(msgspec.Struct):
    toolUseId: str | None = None
    name: str | None = None
    type: str | None = None


class Delta(msgspec.Struct):
    """One of the members is given; where none is, what came is not known."""

    toolUse: msgspec.Raw = msgspec.Raw()
    text: str | None = None
    reasoningContent: msgspec.Raw = msgspec.Raw()
    citation: msgspec.Raw = msgspec.Raw()
    toolResult: list[msgspec.Raw] | None = None
    image: msgspec.Raw = msgspec.Raw()

    @property
    def kinds(self) -> list[str]:
        """The members that are given."""
        found: list[str] = []
        if self.toolUse and is_given(self.toolUse):
            found.append("toolUse")
        if self.reasoningContent and is_given(self.reasoningContent):
            found.append("reasoningContent")
        if self.citation and is_given(self.citation):
            found.append("citation")
        if self.image and is_given(self.image):
            found.append("image")
        if self.text is not None:
            found.append("text")
        if self.toolResult is not None:
            found.append("toolResult")
        return found


class BlockDelta(BlockEvent, kw_only=True):
    delta: Delta


class AnyBlockDelta(BlockEvent):
    delta: msgspec.Raw = msgspec.Raw()


class ToolInput(msgspec.Struct):
    input: msgspec.Raw = msgspec.Raw()


class Reasoning(msgspec.Struct):
    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None


class ResultPart(msgspec.Struct):
    text: str | None = None


class ImageSource(msgspec.Struct):
    bytes: str | None = None


class Image(msgspec.Struct):
    source: ImageSource | None = None


class MessageStop(msgspec.Struct):
    stopReason: str | None = None
    additionalModelResponseFields: Any = None


class Metadata(msgspec.Struct):
    usage: Any = None
    trace: Any = None


def block_delta_of(data: bytes, event: Frame) -> BlockDelta:
    usual = attempt(data, BlockDelta)
    if usual is not None:
        return usual
    found = decode(data, AnyBlockDelta, event)
    return BlockDelta(contentBlockIndex=found.contentBlockIndex, delta=decode(found.delta, Delta, event))


def input_of(delta: Delta, event: Frame) -> tuple[str, bool]:
    """The piece of a toolUse delta, and whether it came as a string. If it is missing, text was lost."""
    raw = decode(delta.toolUse, ToolInput, event).input
    if not bytes(raw):
        said = f"the toolUse delta in the event at byte {event.start} has no input"
        raise StructureError(said, code="missing_member", offset=event.start)
    piece, is_text = as_json_text(raw)
    if not is_text:
        decode(raw, AnyObject, event)
    return piece or "", is_text


def usage_of(raw: dict[str, Any]) -> Usage:
    """input_tokens leaves out what came from a cache, as the wire does."""
    return Usage(
        input_tokens=count_of(raw, "inputTokens"),
        output_tokens=count_of(raw, "outputTokens"),
        total_tokens=count_of(raw, "totalTokens"),
        cached_tokens=count_of(raw, "cacheReadInputTokens"),
        raw=raw,
    )


def failure_of(event: Frame) -> ErrorInfo:
    """An exception (its payload says what) or an error (its headers do), in the provider's own words."""
    word = event.event.partition(":")[2] or "exception"
    headers: Mapping[str, Any] = getattr(event, "headers", {})
    value = _fields(event.data_bytes)
    said = [value.get(member) for member in ("message", "Message", "originalMessage")]
    said.append(headers.get(":error-message"))
    message = next((text for text in said if isinstance(text, str) and text), f"the stream ended with {word}")
    return ErrorInfo("provider", word, word, message, event.start, value)


def _fields(data: bytes) -> dict[str, Any]:
    """The payload, whatever it is: it ends the response anyway."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    return {"message": data.decode("utf-8", "replace")} if data else {}

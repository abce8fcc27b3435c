"""What a parser yields while a response arrives, in stream order. All immutable, all with match patterns.

`index` is the wire's own position: output index (Responses), block index (Messages), choice (Chat).
Consecutive pieces of one text within one feed come as one item, so a delta's borders say nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from trigate.calls import ToolCall

if TYPE_CHECKING:
    from trigate.response import Response, Usage

__all__ = [
    "ArgumentsDelta",
    "Item",
    "OtherEvent",
    "ReasoningDelta",
    "RefusalDelta",
    "ResponseEnded",
    "TextDelta",
    "ToolCallDone",
    "ToolCallStarted",
    "UsageUpdate",
]


class TextDelta(msgspec.Struct, frozen=True):
    """A piece of the assistant's visible text."""

    text: str
    index: int


class ReasoningDelta(msgspec.Struct, frozen=True):
    """A piece of reasoning or of its summary."""

    text: str
    index: int


class RefusalDelta(msgspec.Struct, frozen=True):
    """A piece of the text in which the model refuses."""

    text: str
    index: int


class ToolCallStarted(msgspec.Struct, frozen=True):
    """A tool call has begun. `call` is live: it fills while the stream goes on, and is never a ReleasedCall."""

    call: ToolCall


class ArgumentsDelta(msgspec.Struct, frozen=True):
    """A piece of a call's argument text: for display alone."""

    call: ToolCall
    text: str


class ToolCallDone(msgspec.Struct, frozen=True):
    """The protocol closed the call: `call.state` is done, void, or with release_on="call" released."""

    call: ToolCall


class UsageUpdate(msgspec.Struct, frozen=True):
    """The provider's count of tokens so far."""

    usage: Usage


class OtherEvent(msgspec.Struct, frozen=True):
    """An event that carries no text and no call: progress of server tools, annotations, unknown types.

    type: the wire's name. data: the event's data, unchanged.
    """

    type: str
    data: str


class ResponseEnded(msgspec.Struct, frozen=True):
    """The response is over, well or not: see `response.status`."""

    response: Response


Item: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | RefusalDelta
    | ToolCallStarted
    | ArgumentsDelta
    | ToolCallDone
    | UsageUpdate
    | OtherEvent
    | ResponseEnded
)

"""What a parser yields while a response arrives, in stream order. All immutable, all with match patterns.

`index` is the wire's own position: output index (Responses), block index (Messages), choice (Chat).
Consecutive pieces of one text within one feed come as one item, so a delta's borders say nothing.
`start` and `end` are the byte range of the events that an item came from, or None for an item made by hand; what
only the end of the input made known stands at the bytes that told it. They take no part in equality, hash, repr
and patterns.
"""

from __future__ import annotations

from typing import TypeAlias

from trigate._core import (
    ArgumentsDelta,
    OtherEvent,
    ReasoningDelta,
    RefusalDelta,
    ResponseEnded,
    TextDelta,
    ToolCallDone,
    ToolCallStarted,
    UsageUpdate,
)

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

"""The JSON of Interactions events, as far as it matters here: shapes for decoding, usage, and failures.

Source: docs/protocols/gemini-interactions.md. Members that are not named here are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.framing import Frame
from trigate.protocols.shapes import FIXED, TEXT, Place, shapes
from trigate.protocols.wire import count_of, decode, error_info, usual
from trigate.response import ErrorInfo, Usage

__all__ = [
    "SHAPES",
    "USUAL",
    "Delta",
    "Head",
    "Interaction",
    "Step",
    "StepEvent",
    "failure_of",
    "interaction_of",
    "status_of",
    "step_of",
    "usage_of",
]

_NOTHING = msgspec.Raw()


def _delta(kind: str, **members: Place) -> dict[str, Place]:
    return {"event_type": "step.delta", "index": FIXED, "delta": {"type": kind, **members}}


SHAPES = shapes(_delta("text", text=TEXT), _delta("arguments_delta", arguments=TEXT))


class Head(msgspec.Struct):
    event_type: str | None = None
    event_id: str | None = None
    error: msgspec.Raw = _NOTHING


class InteractionEvent(Head):
    interaction: msgspec.Raw = _NOTHING
    interaction_id: str | None = None
    status: str | None = None
    continuation_token: msgspec.Raw = _NOTHING
    usage: msgspec.Raw = _NOTHING


class Interaction(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    status: str | None = None
    steps: list[msgspec.Raw] | None = None
    usage: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    errors: msgspec.Raw = _NOTHING
    continuation_token: msgspec.Raw = _NOTHING


class Snapshot(Head, kw_only=True):
    """An event that tells of the interaction as a whole, in its usual form."""

    interaction: Interaction
    interaction_id: str | None = None
    status: str | None = None


class StepEvent(Head):
    index: int | None = None
    step: msgspec.Raw = _NOTHING
    delta: msgspec.Raw = _NOTHING


class Step(msgspec.Struct):
    type: str = ""
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = _NOTHING


class Delta(msgspec.Struct):
    type: str = ""
    text: str | None = None
    arguments: msgspec.Raw = _NOTHING
    content: msgspec.Raw = _NOTHING


#: The usual form of each of these events.
USUAL: dict[str, type[Head]] = {
    "interaction.created": Snapshot,
    "interaction.completed": Snapshot,
    "interaction.status_update": InteractionEvent,
    "step.start": StepEvent,
    "step.delta": StepEvent,
    "step.stop": StepEvent,
}


def interaction_of(head: Head, data: bytes, event: Frame) -> Interaction:
    message = usual(head, data, Snapshot)
    if message is not None:
        return message.interaction
    return decode(decode(data, InteractionEvent, event).interaction, Interaction, event)


def status_of(head: Head, data: bytes, event: Frame) -> InteractionEvent:
    return usual(head, data, InteractionEvent) or decode(data, InteractionEvent, event)


def step_of(head: Head, data: bytes, event: Frame) -> StepEvent:
    return usual(head, data, StepEvent) or decode(data, StepEvent, event)


def usage_of(raw: Any) -> Usage:
    if not isinstance(raw, dict):
        return Usage()

    return Usage(
        input_tokens=count_of(raw, "total_input_tokens"),
        output_tokens=count_of(raw, "total_output_tokens"),
        total_tokens=count_of(raw, "total_tokens"),
        cached_tokens=count_of(raw, "total_cached_tokens"),
        reasoning_tokens=count_of(raw, "total_thought_tokens"),
        raw=raw,
    )


def failure_of(word: str, error: Any, offset: int | None) -> ErrorInfo:
    """The provider's error of an interaction that failed; its status where it gave none."""
    if isinstance(error, list):
        error = error[0] if error else None
    if error:
        return error_info(error, offset)
    message = f"the interaction ended as {word} without an error object"
    return ErrorInfo("provider", word, word, message, offset)

"""The JSON of Responses events, as far as it matters here: shapes for decoding, usage, and the reason of an end.

Source: docs/protocols.md, "openai-responses". Members that are not named here are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.framing import Frame
from trigate.protocols.wire import count_of, error_info
from trigate.response import ErrorInfo, Status, Usage

#: The statuses of an item that confirm it (None: the server sends none).
COMPLETED_ITEM = ("completed", None)


class Head(msgspec.Struct):
    type: str | None = None
    sequence_number: Any = None
    error: Any = None


class Place(msgspec.Struct):
    output_index: int | None = None
    item_id: str | None = None
    content_index: int | None = None
    summary_index: int | None = None


class Piece(Place):
    delta: str | None = None


class Text(Place):
    text: str | None = None
    refusal: str | None = None
    part: msgspec.Raw = msgspec.Raw()


class Arguments(Place):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()


class ItemEvent(msgspec.Struct):
    item: msgspec.Raw = msgspec.Raw()
    output_index: int | None = None


class Item(msgspec.Struct):
    type: str = ""
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: Any = None
    arguments: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()
    execution: str | None = None
    caller: Any = None
    environment: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether its status confirms the item. A program's call stays in progress until its result is there."""
        if self.status == "in_progress":
            return isinstance(self.caller, dict) and self.caller.get("type") == "program"
        return self.status in COMPLETED_ITEM


class Content(msgspec.Struct):
    content: list[msgspec.Raw] | None = None
    summary: list[msgspec.Raw] | None = None


class Part(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class Snapshot(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    status: str | None = None
    error: Any = None
    incomplete_details: Any = None
    output: list[msgspec.Raw] | None = None
    usage: Any = None


class ResponseEvent(msgspec.Struct):
    response: msgspec.Raw = msgspec.Raw()


def usage_of(raw: Any) -> Usage:
    if not isinstance(raw, dict):
        return Usage()

    return Usage(
        input_tokens=count_of(raw, "input_tokens"),
        output_tokens=count_of(raw, "output_tokens"),
        total_tokens=count_of(raw, "total_tokens"),
        cached_tokens=count_of(raw.get("input_tokens_details"), "cached_tokens"),
        reasoning_tokens=count_of(raw.get("output_tokens_details"), "reasoning_tokens"),
        raw=raw,
    )


def why(status: Status, shot: Snapshot, kind: str, event: Frame) -> tuple[str | None, ErrorInfo | None]:
    """The wire's word for the end, and the provider's error where there is one."""
    if status == "incomplete":
        details = shot.incomplete_details
        reason = details.get("reason") if isinstance(details, dict) else None
        return (reason if isinstance(reason, str) else None), None
    if status == "completed":
        return "completed", None
    if shot.error:
        error = error_info(shot.error, event.start)
        return str(error.code), error
    message = f"the response ended as {shot.status or status} ({kind}) without an error object"
    word = shot.status or status
    return word, ErrorInfo("provider", word, word, message, event.start)

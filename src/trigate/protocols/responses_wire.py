"""The JSON of Responses events, as far as it matters here: shapes for decoding, usage, and the reason of an end.

Source: docs/protocols.md, "openai-responses". Members that are not named here are ignored.

Rules
 - What an event usually is has a shape that takes it in one step. Another form of it is taken step by step, so that
   a value may be of any type where a server is known to send one, and a wrong one is named.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.framing import Frame
from trigate.protocols.wire import attempt, count_of, decode, error_info
from trigate.response import ErrorInfo, Status, Usage

#: The statuses of an item that confirm it (None: the server sends none).
COMPLETED_ITEM = ("completed", None)


class Head(msgspec.Struct):
    type: str | None = None
    sequence_number: Any = None
    error: Any = None


class Place(Head):
    output_index: int | None = None
    item_id: str | None = None
    content_index: int | None = None
    summary_index: int | None = None


class Piece(Place):
    delta: str | None = None


class Part(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class Text(Place):
    text: str | None = None
    refusal: str | None = None


class PartEvent(Text, kw_only=True):
    part: Part


class AnyPartEvent(Text):
    part: msgspec.Raw = msgspec.Raw()


class Arguments(Place):
    name: str | None = None
    arguments: str | None = None
    input: str | None = None


class AnyArguments(Place):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()


class ItemMembers(msgspec.Struct):
    type: str = ""
    id: str | None = None
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    namespace: Any = None
    execution: str | None = None
    caller: Any = None
    environment: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether its status confirms the item. A program's call stays in progress until its result is there."""
        if self.status == "in_progress":
            return isinstance(self.caller, dict) and self.caller.get("type") == "program"
        return self.status in COMPLETED_ITEM


class Item(ItemMembers):
    arguments: str | None = None
    input: str | None = None
    content: list[Part] | None = None
    summary: list[Part] | None = None


class AnyItem(ItemMembers):
    arguments: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()


class Content(msgspec.Struct):
    content: list[msgspec.Raw] | None = None
    summary: list[msgspec.Raw] | None = None


class ItemAdded(Head, kw_only=True):
    item: Item
    output_index: int | None = None


class ItemEvent(Head):
    item: msgspec.Raw = msgspec.Raw()
    output_index: int | None = None


class ItemRead(Head, kw_only=True):
    """An item event that was read already. It is not for decoding. raw: the item as it came."""

    item: Item
    raw: bytes
    output_index: int | None


class Snapshot(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    status: str | None = None
    error: Any = None
    incomplete_details: Any = None
    output: list[msgspec.Raw] | None = None
    usage: Any = None


class ResponseEvent(Head, kw_only=True):
    response: Snapshot


class AnyResponseEvent(Head):
    response: msgspec.Raw = msgspec.Raw()


def item_added_of(head: Head, data: bytes, event: Frame) -> tuple[int | None, Item | AnyItem]:
    """The output index of an item that begins, and the item."""
    message = head if isinstance(head, ItemAdded) else attempt(data, ItemAdded)
    if message is not None:
        return message.output_index, message.item
    other = decode(data, ItemEvent, event)
    return other.output_index, item_of(other.item, event)


def item_done_of(head: Head, data: bytes, event: Frame) -> tuple[int | None, Item | AnyItem, bytes]:
    """The output index of an item that is done, the item, and how it came."""
    if isinstance(head, ItemRead):
        return head.output_index, head.item, head.raw
    message = head if isinstance(head, ItemEvent) else decode(data, ItemEvent, event)
    return message.output_index, item_of(message.item, event), bytes(message.item)


def arguments_of(head: Head, data: bytes, event: Frame) -> Arguments | AnyArguments:
    if isinstance(head, Arguments):
        return head
    return attempt(data, Arguments) or decode(data, AnyArguments, event)


def item_of(raw: msgspec.Raw | bytes, event: Frame) -> Item | AnyItem:
    return attempt(raw, Item) or decode(raw, AnyItem, event)


def parts_of(item: Item | AnyItem, raw: bytes, event: Frame) -> tuple[list[Part], list[Part]]:
    """The parts of the item's content, and of its summary."""
    if isinstance(item, Item):
        return item.content or [], item.summary or []
    whole = decode(raw, Content, event)
    content = [decode(part, Part, event) for part in whole.content or ()]
    return content, [decode(part, Part, event) for part in whole.summary or ()]


def snapshot_of(head: Head, data: bytes, event: Frame) -> Snapshot | None:
    """The response in an event; None if there is none."""
    message = head if isinstance(head, ResponseEvent) else attempt(data, ResponseEvent)
    if message is not None:
        return message.response
    raw = decode(data, AnyResponseEvent, event).response
    return decode(raw, Snapshot, event) if raw else None


def usage_of(raw: Any) -> Usage:
    if not isinstance(raw, dict):
        return Usage()
    read, written, total = map(raw.get, ("input_tokens", "output_tokens", "total_tokens"))
    return Usage(
        input_tokens=read if type(read) is int else None,
        output_tokens=written if type(written) is int else None,
        total_tokens=total if type(total) is int else None,
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

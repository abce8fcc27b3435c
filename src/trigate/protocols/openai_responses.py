"""OpenAI Responses and its compatible servers: docs/protocols.md, "openai-responses".

Rules
 - Fragments are routed by output_index; item_id is a check, because gateways rewrite it. Results go back by call_id.
 - The arguments come up to four times (pieces, arguments.done, the item, the final list): they must be equal as text.
 - A call is whole when its item is done with status completed (or none), and may run when the response is
   completed and the final list does not deny it.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols.profile import Profile
from trigate.protocols.responses_items import (
    CLIENT_ITEMS,
    SERVER_ITEMS,
    builtin_arguments,
    to_message,
    tool_result_message,
)
from trigate.protocols.responses_shapes import SHAPES
from trigate.protocols.responses_slots import Slot, Slots, client_kind
from trigate.protocols.responses_text import LANES, ResponsesText
from trigate.protocols.responses_wire import (
    Arguments,
    Head,
    Item,
    ItemEvent,
    Piece,
    Place,
    ResponseEvent,
    Snapshot,
    usage_of,
    why,
)
from trigate.protocols.wire import as_json_text, decode, error_info, fields_of, says_error
from trigate.response import Response, ServerCall, Status
from trigate.turn import Turn

__all__ = ["OpenAIResponses"]

PROFILE = Profile(
    closes_arguments=("response.function_call_arguments.done", "response.custom_tool_call_input.done"),
    completes_call=("response.output_item.done with item status completed, or none",),
    asks_to_run=("response.completed",),
    ends_well=(),
    ends_otherwise={
        "response.incomplete": "incomplete",
        "response.failed": "failed",
        "response.cancelled": "cancelled",
        "response.canceled": "cancelled",
        "response.done": "failed",  # a gateway's alias: its status may say worse, but never completed
    },
    unknown_end="failed",
    terminal=("the end event itself", "error"),
    noise=("keepalive", "ping", "[DONE]"),
)
ENDS = frozenset(PROFILE.asks_to_run) | PROFILE.ends_otherwise.keys()
#: The member that repeats the whole argument text in the event that closes it.
CLOSES_ARGUMENTS = dict(zip(PROFILE.closes_arguments, ("arguments", "input"), strict=True))
STATUSES: dict[str, Status] = {
    "completed": "completed",
    "incomplete": "incomplete",
    "failed": "failed",
    "cancelled": "cancelled",
    "canceled": "cancelled",
}
NEVER_DROPPED = PROFILE.ends_otherwise.keys() | {"error"}
PIECES = {
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
}
#: Known events that carry neither text nor calls of the client; shown as OtherEvent.
PROGRESS = (
    "response.output_text.annotation.",
    "response.shell_call_command.",
    "response.shell_call_output_content.",
    "response.apply_patch_call_operation_diff.",
    "response.mcp_call_arguments.",
    "response.mcp_call.",
    "response.mcp_list_tools.",
    "response.web_search_call.",
    "response.file_search_call.",
    "response.code_interpreter_call.",
    "response.code_interpreter_call_code.",
    "response.image_generation_call.",
    "response.compaction.",
    "response.reasoning_part.",
    "response.reasoning_summary_part.",
    "response.audio.",
    "response.steer.",
    "response.content_part.added",
)


class OpenAIResponses:
    """Reads the events of one response into a Turn."""

    name: ClassVar[str] = "openai-responses"
    framings: ClassVar[tuple[Framing, ...]] = ("sse",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._slots = Slots(turn)
        self._has_begun = False
        self._has_sentinel = False
        self._failed_by_event = False
        self._text = ResponsesText(turn, self._slots.locate)

    @staticmethod
    def to_message(response: Response) -> Any:
        return to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        kind = value.get("type")
        return isinstance(kind, str) and kind.startswith("response.")

    # -- one event ---------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        data = event.data_bytes.strip()
        if not data:
            return
        if data == b"[DONE]":
            self._has_sentinel = True
            return
        turn = self._turn
        if self._has_sentinel:
            turn.anomaly("event_after_end", event.start, "after the sentinel [DONE]", once=True)
            return
        if event.event == "error" and data[:1] not in b"{[":
            if turn.is_ended:
                self._after_end(event, "error")
            else:
                self._fail(event, data.decode())
            return
        head = decode(data, Head, event)
        kind = head.type or ("" if event.event == "message" else event.event)
        if turn.is_ended:
            self._after_end(event, kind)
            return
        if event.event == "error" or (
            not kind.startswith(PROGRESS) and says_error(kind, head.error, data, event)
        ):
            kind = "error"  # whichever of them says so: after an error nothing may run
        if self._is_repeated(head.sequence_number, kind, event.start):
            if kind == "response.created":
                self._snapshot(kind, data, event)  # a retry counts from 0 again, but is another response
        elif kind == "error":
            self._fail(event, fields_of(data, event))
        elif kind not in PROFILE.noise:
            self._note_begin(kind, event.start)
            self._dispatch(kind, data, event)

    def _dispatch(self, kind: str, data: bytes, event: Frame) -> None:
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(self, kind, data, event)
        elif kind in LANES:
            (self._text.piece if kind.endswith(".delta") else self._text.done)(kind, data, event)
        elif kind == "response.content_part.done":
            self._text.part_done(data, event)
        elif kind in ENDS:
            self._end(kind, data, event)
        else:
            if not kind.startswith(PROGRESS):
                self._turn.unknown(f"event type {kind!r}", event.start)
            self._turn.other(kind, event.data)

    def _is_repeated(self, number: Any, kind: str, offset: int | None) -> bool:
        """Counts sequence numbers; True for an event that was taken before."""
        if not isinstance(number, int) or isinstance(number, bool):
            return False
        lanes = self._turn.lanes
        last = lanes.sequence
        if last is not None and number <= last:
            self._turn.anomaly("repeated_event", offset, f"{kind} number {number}, the last was {last}")
            return kind not in NEVER_DROPPED
        lanes.sequence = number
        if last is not None and number > last + 1:
            detail = f"number {number} follows {last}"
            cut = self._slots.open_calls()
            if cut:
                self._turn.conflict("sequence_gap", offset, detail + " inside a call's arguments", *cut)
            else:
                self._turn.anomaly("sequence_gap", offset, detail)
        return False

    def _note_begin(self, kind: str, offset: int | None) -> None:
        if self._has_begun:
            return
        self._has_begun = True
        if kind not in ("response.created", "response.queued"):
            self._turn.anomaly("missing_start", offset, f"the first event is {kind!r}")

    def _after_end(self, event: Frame, kind: str) -> None:
        if kind in PROFILE.noise:
            return
        if self._failed_by_event and kind == "response.failed":
            self._failed_by_event = False  # the snapshot that goes with the error event before it
            return
        self._turn.anomaly("event_after_end", event.start, f"{kind or 'an event'} after the terminal event")

    def _fail(self, event: Frame, value: Any) -> None:
        self._failed_by_event = True
        error = error_info(value, event.start)
        self._turn.end("failed", str(error.code), error=error, offset=event.start)

    # -- items -------------------------------------------------------------------------------------

    def _snapshot(self, kind: str, data: bytes, event: Frame) -> None:
        raw = decode(data, ResponseEvent, event).response
        if not raw:
            return
        shot = decode(raw, Snapshot, event)
        if kind == "response.created" and self._turn.id and shot.id and shot.id != self._turn.id:
            self._turn.conflict("response_restarted", event.start, f"{self._turn.id} became {shot.id}")
        self._take_identity(shot, event.start)

    def _take_identity(self, shot: Snapshot, offset: int | None) -> None:
        turn = self._turn
        if shot.id and turn.id and shot.id != turn.id:
            turn.anomaly("response_id_changed", offset, f"{turn.id} became {shot.id}", once=True)
        turn.id = turn.id or shot.id or None
        turn.model = turn.model or shot.model or None

    def _item_added(self, kind: str, data: bytes, event: Frame) -> None:
        message = decode(data, ItemEvent, event)
        item = decode(message.item, Item, event)
        index = self._slots.index_of(message.output_index, event.start)
        old = self._slots.at(index)
        if old is not None:
            same = old.type == item.type and (old.item_id, old.call and old.call.call_id) == (
                item.id,
                old.call and (item.call_id or None),
            )
            if same:
                self._turn.anomaly("repeated_item", event.start, f"item {item.id} was added twice")
                return
            self._turn.anomaly("index_reused", event.start, f"output_index {index} has a second item")
        self._slots.open(index, item, event)

    # -- arguments ---------------------------------------------------------------------------------

    def _arguments_delta(self, kind: str, data: bytes, event: Frame) -> None:
        piece = decode(data, Piece, event)
        slot = self._slots.find(piece, event) or self._slots.orphan(PIECES[kind], piece, event)
        if slot is None:
            return
        if slot.call is None:
            self._turn.anomaly("misplaced_delta", event.start, f"{kind} for an item of type {slot.type!r}")
        elif slot.is_closed:
            self._turn.conflict(
                "delta_after_close", event.start, "arguments go on after their end", slot.call
            )
        elif slot.has_rival and not piece.item_id:
            detail = f"output_index {slot.index} alone, while two of its items are open"
            self._turn.conflict("ambiguous_fragment", event.start, detail, slot.call)
        elif piece.delta:
            self._turn.add_arguments(slot.call, piece.delta, event.start)
            self._turn.follow_arguments(slot.call, piece.delta)

    def _arguments_done(self, kind: str, data: bytes, event: Frame) -> None:
        message = decode(data, Arguments, event)
        item_type = "custom_tool_call" if CLOSES_ARGUMENTS[kind] == "input" else "function_call"
        slot = self._slots.find(message, event) or self._slots.orphan(item_type, message, event)
        if slot is None:
            return
        if slot.call is None:
            self._turn.anomaly("misplaced_done", event.start, f"{kind} for an item of type {slot.type!r}")
            return
        self._turn.identify(slot.call, None, message.name, event.start)
        self._confirm(slot, getattr(message, CLOSES_ARGUMENTS[kind]), event, kind)
        slot.is_closed = True

    def _confirm(self, slot: Slot, raw: msgspec.Raw, event: Frame, copy: str) -> None:
        """One of the copies of the arguments: equal to what came before, or the first to come."""
        call = slot.call
        assert call is not None
        text, is_string = as_json_text(raw)
        if text is None:
            if call.arguments:
                self._turn.anomaly("arguments_missing", event.start, f"{copy} does not repeat the arguments")
            return
        if not is_string:
            self._turn.flag(call, "arguments_not_string")
        if text and slot.is_empty:
            detail = f"{copy} has arguments where an earlier copy had none"
            self._turn.conflict("arguments_differ", event.start, detail, call)
            return
        slot.is_empty = not (text or call.arguments)
        if text or slot.is_closed or call.arguments:
            self._turn.confirm_arguments(call, text, event.start, copy)

    def _item_done(self, kind: str, data: bytes, event: Frame) -> None:
        message = decode(data, ItemEvent, event)
        item = decode(message.item, Item, event)
        place = Place(output_index=message.output_index, item_id=item.id)
        slot = self._slots.find(place, event) if self._slots.all else None
        if slot is None:
            self._turn.anomaly("item_without_start", event.start, f"{item.type} {item.id}")
            slot = self._slots.open(self._slots.index_of(message.output_index, event.start), item, event)
        self._close(slot, item, bytes(message.item), event, kind)

    def _close(self, slot: Slot, item: Item, raw: bytes, event: Frame, copy: str) -> None:
        if slot.is_done:
            if slot.raw == raw:
                self._turn.anomaly("repeated_item", event.start, f"item {item.id} was done twice")
                return
            detail = f"item {item.id} was done twice, with different content"
            if slot.call is not None:
                self._turn.conflict("item_differs", event.start, detail, slot.call)
            else:
                self._turn.anomaly("item_differs", event.start, detail)
            return
        if not self._turn.keep(len(raw), event.start):
            return
        if slot.type != item.type and (slot.call is not None or client_kind(item) is not None):
            self._turn.conflict(
                "item_type_changed",
                event.start,
                f"{slot.type!r} became {item.type!r}",
                *([slot.call] if slot.call is not None else []),
            )
            return
        self._slots.finish(slot, raw)
        kind = client_kind(item)
        if kind is None:
            self._close_other(slot, item, event)
            return
        if slot.call is None:
            self._slots.open_call(slot, kind, item, event)
        self._close_call(slot, item, event, copy)

    def _close_call(self, slot: Slot, item: Item, event: Frame, copy: str) -> None:
        call, turn = slot.call, self._turn
        assert call is not None
        self._slots.identify(slot, item, event.start)
        known = CLIENT_ITEMS.get(item.type)
        if known is None or known.payload:
            text = builtin_arguments(item.type, slot.raw, event)
            turn.confirm_arguments(call, text, event.start, copy)
        else:
            self._confirm(slot, item.input if call.kind == "custom" else item.arguments, event, copy)
            if slot.first not in ("", "{}", call.arguments):
                detail = "the item began with other arguments than it ended with"
                turn.conflict("arguments_differ", event.start, detail, call)
        slot.is_closed = True
        if known is None:
            turn.void_call(call, "unknown_type", event.start, f"an item of type {item.type!r} with a call_id")
        elif not item.is_whole:
            turn.void_call(call, "incomplete", event.start, f"its item ended as {item.status!r}")
        else:
            turn.close_call(call, event.start)

    def _close_other(self, slot: Slot, item: Item, event: Frame) -> None:
        if slot.call is not None:
            detail = f"the item of {slot.call.call_id} says at its end that the provider runs it"
            self._turn.void_call(slot.call, "not_for_client", event.start, detail)
        if item.type in ("message", "reasoning"):
            self._text.item(slot.index, slot.raw, event)
            return
        if item.type not in SERVER_ITEMS and item.type not in CLIENT_ITEMS:
            self._turn.unknown(f"item type {item.type!r}", event.start)
        self._turn.server_call(ServerCall(item.type, item.id, item.name, item.status, slot.raw.decode()))
        self._turn.other(item.type, slot.raw.decode())

    # -- the end -----------------------------------------------------------------------------------

    def _end(self, kind: str, data: bytes, event: Frame) -> None:
        raw = decode(data, ResponseEvent, event).response
        if not raw:
            raise StructureError(
                f"{kind} at byte {event.start} has no response", code="missing_response", offset=event.start
            )
        shot = decode(raw, Snapshot, event)
        self._take_identity(shot, event.start)
        status = PROFILE.status_of(kind)
        said = STATUSES.get(shot.status, "failed") if shot.status is not None else status
        if said != status or (shot.status is not None and shot.status not in STATUSES):
            self._turn.anomaly("status_differs", event.start, f"{kind} says status {shot.status!r}")
            if status == "completed" or (said != "completed" and kind == "response.done"):
                status = said
        if status == "completed" and shot.status is None:
            self._turn.anomaly("missing_status", event.start, f"{kind} has a response without a status")
        if status == "completed" and shot.error:
            self._turn.anomaly("status_differs", event.start, f"{kind} holds an error")
            status = "failed"
        if status == "completed" and shot.incomplete_details:
            self._turn.anomaly("status_differs", event.start, f"{kind} holds incomplete_details")
            status = "incomplete"
        self._compare_final(shot.output or [], status, event)
        if self._turn.is_ended:
            return
        if shot.usage:
            usage = usage_of(shot.usage)
            self._turn.count(usage)
            if usage.output_tokens and not self._slots.all:
                self._turn.anomaly("usage_without_content", event.start, f"{usage.output_tokens} tokens")
        self._turn.echo = tuple(bytes(item) for item in shot.output) if shot.output else self._done_items()
        reason, error = why(status, shot, kind, event)
        self._turn.end(status, reason, error=error, offset=event.start)

    def finish(self, left: Leftover) -> None:
        """The input is over without a terminal event: what is done can still be shown."""
        self._turn.echo = self._done_items()

    def _done_items(self) -> tuple[bytes, ...]:
        done = sorted((slot for slot in self._slots.all if slot.raw), key=lambda slot: slot.index)
        return tuple(slot.raw for slot in done)

    def _compare_final(self, output: list[msgspec.Raw], status: Status, event: Frame) -> None:
        """The final list against the streamed items. An empty list says nothing; any other must hold every call."""
        turn = self._turn
        if status == "completed":
            self._slots.check_indices(event.start)
        if not output and self._slots.all and status == "completed":
            turn.anomaly("empty_final_output", event.start, "the final list of items is empty")
        match = self._slots.matcher()
        order: list[int] = []
        for position, raw in enumerate(output):
            item = decode(raw, Item, event)
            slot = match(item, position)
            if slot is None:
                turn.anomaly(
                    "item_without_start", event.start, f"{item.type} {item.id} in the final list alone"
                )
                slot = self._slots.open(self._slots.next_index(), item, event)
            elif not slot.is_done and status == "completed":
                turn.anomaly("item_done_missing", event.start, f"{slot.type} at output_index {slot.index}")
            slot.is_confirmed = True
            order.append(slot.index)
            self._confirm_item(slot, item, bytes(raw), event)
        if order != sorted(order):
            turn.anomaly("final_order_differs", event.start, "the final list has another order")
        for slot in self._slots.all:
            if output and slot.call is not None and not slot.is_confirmed:
                self._miss(slot.call, status, event)
            elif not slot.is_done and status == "completed":
                turn.anomaly("item_done_missing", event.start, f"{slot.type} at output_index {slot.index}")
            if slot.call is not None and not slot.call.call_id and not slot.call.name:
                turn.conflict("orphan_arguments", event.start, "arguments that belong to no item", slot.call)

    def _miss(self, call: ToolCall, status: Status, event: Frame) -> None:
        """A call that the final list leaves out: of a completed response, that denies it."""
        if call.problem == "repeated":
            return
        detail = f"{call.name} {call.call_id} is not in the final list"
        if status == "completed":
            self._turn.conflict("call_missing_in_final_output", event.start, detail, call)
        else:
            self._turn.anomaly("call_missing_in_final_output", event.start, detail)

    def _confirm_item(self, slot: Slot, item: Item, raw: bytes, event: Frame) -> None:
        if not slot.is_done:
            self._close(slot, item, raw, event, "the final list")
            return
        if slot.call is None or client_kind(item) is None:
            if item.type in ("message", "reasoning"):
                self._text.item(slot.index, raw, event)
            return
        self._slots.identify(slot, item, event.start)
        known = CLIENT_ITEMS.get(item.type)
        if known is None or known.payload:
            if builtin_arguments(item.type, raw, event) != slot.call.arguments:
                self._turn.conflict("item_differs", event.start, f"{item.type} in the final list", slot.call)
        else:
            copy = item.input if slot.call.kind == "custom" else item.arguments
            self._confirm(slot, copy, event, "the final list")
        if not item.is_whole:
            self._turn.void_call(slot.call, "incomplete", event.start, f"the final list says {item.status!r}")


_HANDLERS: dict[str, Any] = {
    "response.created": OpenAIResponses._snapshot,
    "response.queued": OpenAIResponses._snapshot,
    "response.in_progress": OpenAIResponses._snapshot,
    "response.output_item.added": OpenAIResponses._item_added,
    "response.output_item.done": OpenAIResponses._item_done,
    **dict.fromkeys(PIECES, OpenAIResponses._arguments_delta),
    **dict.fromkeys(CLOSES_ARGUMENTS, OpenAIResponses._arguments_done),
}

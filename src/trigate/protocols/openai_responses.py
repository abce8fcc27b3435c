"""OpenAI Responses and its compatible servers: docs/protocols.md, "openai-responses".

Rules
 - Fragments are routed by output_index; item_id is a check, because gateways rewrite it. Results go back by call_id.
 - The arguments come up to four times (pieces, arguments.done, the item, the final list): they must be equal as text.
 - A call is whole when its item is done with status completed (or none), and may run when the response is
   completed and the final list does not deny it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols.profile import Profile
from trigate.protocols.responses_copies import Copies
from trigate.protocols.responses_items import (
    to_message,
    tool_result_message,
)
from trigate.protocols.responses_repeats import LEAST, Repeats
from trigate.protocols.responses_shapes import SHAPES
from trigate.protocols.responses_slots import Slots
from trigate.protocols.responses_text import LANES, ResponsesText
from trigate.protocols.responses_wire import (
    Arguments,
    Head,
    ItemAdded,
    ItemEvent,
    PartEvent,
    Piece,
    Place,
    ResponseEvent,
    Snapshot,
    Text,
    arguments_of,
    item_added_of,
    item_done_of,
    snapshot_of,
    usage_of,
    why,
)
from trigate.protocols.wire import REFUSED, decode, decoder, error_info, fields_of, says_error
from trigate.response import Response, Status
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
#: An end or an error that comes twice does no harm: only the first is taken.
MAY_LACK_NUMBER = ENDS | {"error"}
PIECES = {
    "response.function_call_arguments.delta": "function_call",
    "response.custom_tool_call_input.delta": "custom_tool_call",
}
#: The member that repeats the whole argument text, by the event of a piece.
COPIES = dict(zip(PIECES, CLOSES_ARGUMENTS.values(), strict=True))
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
        self._repeats = Repeats()
        self._text = ResponsesText(turn, self._slots, self._repeats)
        self._copies = Copies(turn, self._slots, self._text)

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
        data = event.data_bytes
        name = event.event
        decode_usual, handler = _USUAL.get(name) or (_PROGRESS if name.startswith(PROGRESS) else _OTHER)
        turn = self._turn
        if not (self._has_sentinel or turn.is_ended):
            read = _REPEATING.get(name) if len(data) >= LEAST else None
            head = read(self, data) if read is not None else None
            try:
                head = head or decode_usual(data)
            except REFUSED:
                pass
            else:
                if head.type == name and not head.error:
                    number = head.sequence_number
                    last = turn.lanes.sequence
                    if handler is not None and type(number) is int and (last is None or number == last + 1):
                        turn.lanes.sequence = number
                        if not self._has_begun:
                            self._note_begin(name, event.start)
                        handler(self, name, head, data, event)
                        return
                    if not name.endswith("error"):
                        self._take(name, head, data, event)
                        return
        self._take_odd(data.strip(), event)

    def _take_odd(self, data: bytes, event: Frame) -> None:
        """An event that may be anything: its name and its type are not one, or it tells of an error."""
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
        self._take(kind, head, data, event)

    def _take(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        handler = _HANDLERS.get(kind)
        if self._is_repeated(head.sequence_number, kind, event):
            if kind == "response.created":
                self._snapshot(
                    kind, head, data, event
                )  # a retry counts from 0 again, but is another response
        elif handler is not None:
            if not self._has_begun:
                self._note_begin(kind, event.start)
            handler(self, kind, head, data, event)
        elif kind == "error":
            self._fail(event, fields_of(data, event))
        elif kind not in PROFILE.noise:
            if not self._has_begun:
                self._note_begin(kind, event.start)
            if not kind.startswith(PROGRESS):
                self._turn.unknown(f"event type {kind!r}", event.start)
            self._turn.other(kind, event.data)

    def _progress(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        self._turn.other(kind, event.data)

    def _is_repeated(self, number: Any, kind: str, event: Frame) -> bool:
        """Counts sequence numbers; True for an event that was taken before."""
        if type(number) is not int:
            if kind not in PROFILE.noise and kind not in MAY_LACK_NUMBER:
                self._turn.numbering.lack(kind, event.start)
            return False
        lanes = self._turn.lanes
        last = lanes.sequence
        if last is not None and number <= last:
            detail = f"{kind} number {number}, the last was {last}"
            self._turn.anomaly("repeated_event", event.start, detail)
            return kind not in NEVER_DROPPED
        lanes.sequence = number
        if last is not None and number != last + 1:
            detail = f"number {number} follows {last}"
            cut = self._slots.open_calls()
            if cut:
                self._turn.conflict("sequence_gap", event.start, detail + " inside a call's arguments", *cut)
            else:
                self._turn.anomaly("sequence_gap", event.start, detail)
        return False

    def _note_begin(self, kind: str, offset: int | None) -> None:
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

    def _snapshot(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        shot = snapshot_of(head, data, event)
        if shot is None:
            return
        if kind == "response.created" and self._turn.id and shot.id and shot.id != self._turn.id:
            self._turn.conflict("response_restarted", event.start, f"{self._turn.id} became {shot.id}")
        self._take_identity(shot, event.start)

    def _take_identity(self, shot: Snapshot, offset: int | None) -> None:
        turn = self._turn
        if shot.id and turn.id and shot.id != turn.id:
            turn.anomaly("response_id_changed", offset, f"{turn.id} became {shot.id}", once=True)
        turn.id = turn.id or shot.id or None
        turn.model = turn.model or shot.model or None

    def _item_added(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        told, item = item_added_of(head, data, event)
        index = self._slots.index_of(told, event.start)
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

    # -- text --------------------------------------------------------------------------------------

    def _text_piece(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        self._text.piece(kind, head, data, event)

    def _text_done(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        self._text.done(kind, head, data, event)

    def _part_done(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        self._text.part_done(head, data, event)

    # -- arguments ---------------------------------------------------------------------------------

    def _arguments_delta(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        piece = head if isinstance(head, Piece) else decode(data, Piece, event)
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
            self._repeats.expect(slot.call._lane, COPIES[kind])

    def _arguments_done(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        message = arguments_of(head, data, event)
        item_type = "custom_tool_call" if CLOSES_ARGUMENTS[kind] == "input" else "function_call"
        slot = self._slots.find(message, event) or self._slots.orphan(item_type, message, event)
        if slot is None:
            return
        if slot.call is None:
            self._turn.anomaly("misplaced_done", event.start, f"{kind} for an item of type {slot.type!r}")
            return
        self._turn.identify(slot.call, None, message.name, event.start)
        self._copies.confirm(slot, getattr(message, CLOSES_ARGUMENTS[kind]), event, kind)
        slot.is_closed = True

    def _item_done(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        told, item, raw = item_done_of(head, data, event)
        place = Place(output_index=told, item_id=item.id)
        slot = self._slots.find(place, event) if self._slots.all else None
        if slot is None:
            self._turn.anomaly("item_without_start", event.start, f"{item.type} {item.id}")
            slot = self._slots.open(self._slots.index_of(told, event.start), item, event)
        self._copies.close(slot, item, raw, event, kind)

    # -- the end -----------------------------------------------------------------------------------

    def _end(self, kind: str, head: Head, data: bytes, event: Frame) -> None:
        shot = snapshot_of(head, data, event)
        if shot is None:
            raise StructureError(
                f"{kind} at byte {event.start} has no response", code="missing_response", offset=event.start
            )
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
        output = self._copies.compare_final(shot.output or [], status, event)
        if self._turn.is_ended:
            return
        if shot.usage:
            usage = usage_of(shot.usage)
            self._turn.count(usage)
            if usage.output_tokens and not self._slots.all:
                self._turn.anomaly("usage_without_content", event.start, f"{usage.output_tokens} tokens")
        self._turn.echo = output or self._done_items()
        reason, error = why(status, shot, kind, event)
        self._turn.end(status, reason, error=error, offset=event.start)

    def finish(self, left: Leftover) -> None:
        """The input is over without a terminal event: what is done can still be shown."""
        self._turn.echo = self._done_items()

    def _done_items(self) -> tuple[bytes, ...]:
        done = sorted((slot for slot in self._slots.all if slot.raw), key=lambda slot: slot.index)
        return tuple(slot.raw for slot in done)


_Handler: TypeAlias = Callable[[OpenAIResponses, str, Any, bytes, Frame], None]
_HANDLERS: dict[str, _Handler] = {
    "response.created": OpenAIResponses._snapshot,
    "response.queued": OpenAIResponses._snapshot,
    "response.in_progress": OpenAIResponses._snapshot,
    "response.output_item.added": OpenAIResponses._item_added,
    "response.output_item.done": OpenAIResponses._item_done,
    **dict.fromkeys(PIECES, OpenAIResponses._arguments_delta),
    **dict.fromkeys(CLOSES_ARGUMENTS, OpenAIResponses._arguments_done),
    **{
        kind: OpenAIResponses._text_piece if kind.endswith(".delta") else OpenAIResponses._text_done
        for kind in LANES
    },
    "response.content_part.done": OpenAIResponses._part_done,
    **dict.fromkeys(ENDS, OpenAIResponses._end),
}
#: How an event is read that repeats what is there already, often in full.
_REPEATING: dict[str, Callable[[OpenAIResponses, bytes], Head | None]] = {
    **dict.fromkeys(CLOSES_ARGUMENTS, lambda self, data: self._repeats.read(data, Arguments)),
    **{kind: lambda self, data: self._repeats.read(data, Text) for kind in LANES if kind.endswith(".done")},
    "response.content_part.done": lambda self, data: self._repeats.read(data, PartEvent),
    "response.output_item.done": lambda self, data: self._repeats.read_item(data),
    **dict.fromkeys(ENDS, lambda self, data: self._repeats.read_end(data, self._slots.kept())),
}
_SHAPES: dict[str, type[Head]] = {
    "response.created": ResponseEvent,
    "response.queued": ResponseEvent,
    "response.in_progress": ResponseEvent,
    "response.output_item.added": ItemAdded,
    "response.output_item.done": ItemEvent,
    **dict.fromkeys(PIECES, Piece),
    **dict.fromkeys(CLOSES_ARGUMENTS, Arguments),
    **{kind: Piece if kind.endswith(".delta") else Text for kind in LANES},
    "response.content_part.done": PartEvent,
    **dict.fromkeys(ENDS, ResponseEvent),
}
_Usual: TypeAlias = tuple[Callable[[bytes], Head], _Handler | None]
#: By the name that comes before an event: what decodes its usual form, and what takes it.
_USUAL: dict[str, _Usual] = {name: (decoder(shape), _HANDLERS[name]) for name, shape in _SHAPES.items()}
_PROGRESS: _Usual = (decoder(Head), OpenAIResponses._progress)
_OTHER: _Usual = (decoder(Head), None)

"""Cohere's chat, version 2: docs/protocols/cohere-chat.md.

Rules
 - `type` inside the JSON is the authority, the event's name a check. The index routes a call's pieces, and
   content and calls count apart; results go back by the call's id.
 - tool-call-end closes the arguments and proves no more: nobody says whether a limit closes the last call,
   too. Calls may run when message-end says TOOL_CALL, and not before, whatever the release policy.
 - No copy of the arguments is ever repeated, so no event is skipped: one that cannot be read fails the
   response, and a piece that belongs to no open call is a contradiction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import StructureError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols import cohere_answers
from trigate.protocols.cohere_chat_wire import (
    SHAPES,
    Call,
    Event,
    Head,
    Start,
    citation_of,
    event_of,
    usage_of,
)
from trigate.protocols.event_names import EventNames
from trigate.protocols.pieces import add_piece
from trigate.protocols.profile import Profile
from trigate.protocols.raw_json import array_of, json_of, object_of
from trigate.protocols.wire import attempt, decode, error_info, fields_of, says_error, usual
from trigate.response import ErrorInfo, Response
from trigate.turn import TextPart, Turn

__all__ = ["CohereChat"]

PROFILE = Profile(
    closes_arguments=("tool-call-end",),
    completes_call=("message-end with finish_reason TOOL_CALL",),
    asks_to_run=("TOOL_CALL",),
    ends_well=("COMPLETE", "STOP_SEQUENCE"),
    ends_otherwise={"MAX_TOKENS": "incomplete", "ERROR": "failed", "TIMEOUT": "failed"},
    unknown_end="failed",
    terminal=("message-end", "error"),
    noise=("content-end", "citation-end", "[DONE]"),
)
#: The members of a piece of content.
KINDS = ("text", "thinking")
#: Problems that void a call while its pieces still come.
_STILL_OPEN = ("unknown_type", "conflict")


class CohereChat:
    """Reads the events of one message into a Turn."""

    name: ClassVar[str] = "cohere-chat"
    framings: ClassVar[tuple[Framing, ...]] = ("sse",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._has_begun = False
        self._names = EventNames(turn, _NAMES)
        self._has_sentinel = False
        self._content: dict[tuple[int, str], TextPart] = {}  # by index and kind, in the order of arrival
        self._plan: TextPart | None = None
        self._citations: list[bytes] = []
        self._calls: dict[int, ToolCall] = {}  # the newest one at each index

    @staticmethod
    def to_message(response: Response) -> Any:
        return cohere_answers.to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return cohere_answers.tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        kind = value.get("type")
        return isinstance(kind, str) and kind in _HANDLERS

    # -- one event ---------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        data = event.data_bytes.strip()
        name = event.event
        handler = _HANDLERS.get(name)
        head = attempt(data, _USUAL.get(name, Head)) if handler is not None else None
        is_over = self._has_sentinel or self._turn.is_ended
        if handler is None or head is None or is_over or head.type != name or head.error:
            self._take_odd(data, event)
        else:
            self._take(handler, name, head, data, event)

    def _take_odd(self, data: bytes, event: Frame) -> None:
        """An event that may be anything: its name and its type are not one, or it tells of an error."""
        turn = self._turn
        if not data:
            return
        if data == b"[DONE]":
            self._has_sentinel = True
            return
        if self._has_sentinel or turn.is_ended:
            where = "the sentinel [DONE]" if self._has_sentinel else "the end"
            turn.anomaly("event_after_end", event.start, f"an event after {where}", once=True)
            return
        if event.event == "error" and data[:1] not in b"{[":
            self._fail(error_info(data.decode(), event.start))
            return
        head = decode(data, Head, event)
        kind = head.type or ("" if event.event == "message" else event.event)
        is_said = says_error(kind, head.error, data, event)
        if event.event == "error" or is_said or (not kind and head.message):
            self._fail(error_info(fields_of(data, event), event.start))
            return
        handler = _HANDLERS.get(kind)
        if handler is not None:
            self._take(handler, kind, head, data, event)
        else:
            self._names.check(kind, event, self._open_calls)
            self._unknown_event(kind, data, event)

    def _take(self, handler: _Handler, kind: str, head: Head, data: bytes, event: Frame) -> None:
        self._names.check(kind, event, self._open_calls)
        if not self._has_begun and kind != "message-start":
            self._turn.anomaly("missing_start", event.start, f"the first event is {kind!r}")
        handler(self, head, data, event)
        self._has_begun = True

    def _open_calls(self) -> Iterator[ToolCall]:
        return (call for call in self._calls.values() if call.state == "streaming")

    def _unknown_event(self, kind: str, data: bytes, event: Frame) -> None:
        turn = self._turn
        turn.unknown(f"event type {kind!r}", event.start)
        turn.other(kind, event.data)
        value = fields_of(data, event)
        index = value.get("index") if isinstance(value, dict) else None
        for call in list(self._open_calls()):
            if index is None or index == call.index:
                # It may bring a piece of the arguments: the rest of them must not run.
                detail = f"an event of type {kind!r} came while it was open"
                turn.void_call(call, "unknown_type", event.start, detail)

    def _message_start(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        told = (usual(head, data, Start) or decode(data, Start, event)).id or None
        if not self._has_begun:
            turn.id = told
        elif told == turn.id and not (self._content or self._plan or self._calls):
            turn.anomaly("repeated_event", event.start, f"message {told} began twice")
        else:
            turn.conflict("response_restarted", event.start, f"message {turn.id} became {told}")

    # -- text --------------------------------------------------------------------------------------

    def _content_start(self, head: Head, data: bytes, event: Frame) -> None:
        message = event_of(head, data, event)
        kind = message.content.type
        if kind is not None and kind not in KINDS:
            self._turn.unknown(f"content type {kind!r}", event.start)
            self._turn.other("content-start", event.data)
            return
        if kind is not None:
            self._part(message.index or 0, kind)
        self._add_content(message, event)

    def _content_delta(self, head: Head, data: bytes, event: Frame) -> None:
        message = event_of(head, data, event)
        index = message.index or 0
        if not any((index, kind) in self._content for kind in KINDS):
            self._turn.anomaly("delta_without_start", event.start, f"content {index}", once=True)
        self._add_content(message, event)

    def _add_content(self, message: Event, event: Frame) -> None:
        """The member says what it is, for no action depends on it."""
        turn = self._turn
        index = message.index or 0
        for kind in KINDS:
            piece = getattr(message.content, kind)
            if piece:
                part = self._part(index, kind)
                (turn.add_text if kind == "text" else turn.add_reasoning)(part, piece, index, event.start)
                (turn.follow_text if kind == "text" else turn.follow_reasoning)(part, piece, index)

    def _part(self, index: int, kind: str) -> TextPart:
        part = self._content.get((index, kind))
        if part is None:
            opener = self._turn.open_text if kind == "text" else self._turn.open_reasoning
            part = self._content[index, kind] = opener()
        return part

    def _tool_plan(self, head: Head, data: bytes, event: Frame) -> None:
        piece = event_of(head, data, event).plan
        if piece:
            if self._plan is None:
                self._plan = self._turn.open_reasoning()
            self._turn.add_reasoning(self._plan, piece, 0, event.start)
            self._turn.follow_reasoning(self._plan, piece, 0)

    def _citation(self, head: Head, data: bytes, event: Frame) -> None:
        citation = citation_of(data, event)
        self._turn.other("citation-start", event.data)
        if citation and self._turn.keep(len(citation), event.start):
            self._citations.append(citation)

    def _noise(self, head: Head, data: bytes, event: Frame) -> None:
        """An end that says nothing of its own."""

    def _debug(self, head: Head, data: bytes, event: Frame) -> None:
        self._turn.other("debug", event.data)

    # -- calls -------------------------------------------------------------------------------------

    def _call_start(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = event_of(head, data, event)
        index = _index_of(message, "tool-call-start", event)
        told = message.call
        piece, is_text = told.piece(data, event)
        if not is_text and "".join(piece.split()) == "{}":
            piece = ""  # a stand-in: the pieces follow, or there are none
        old = self._calls.get(index)
        if old is not None and self._is_refused(old, told, piece, event):
            return
        if old is None and index != max(self._calls, default=-1) + 1:
            turn.anomaly("index_gap", event.start, f"call {index} follows {max(self._calls, default=None)}")
        call = turn.open_call((index,), index=index, kind="function", offset=event.start)
        if turn.is_ended:
            return
        self._calls[index] = call
        turn.identify(call, told.id, told.name, event.start)
        turn.announce(call)
        if piece:
            add_piece(turn, call, piece, is_text, event.start)
        if told.type not in (None, "function"):
            turn.unknown(f"type of tool call {told.type!r}", event.start)
            turn.void_call(call, "unknown_type", event.start, f"call {index} is a {told.type!r}")

    def _is_refused(self, old: ToolCall, told: Call, piece: str, event: Frame) -> bool:
        """Whether a second start at one index opens no call of its own."""
        turn = self._turn
        detail = f"index {old.index} is used again"
        if old.state != "streaming":
            turn.anomaly("index_reused", event.start, detail)
            return False
        if (old.call_id, old.name, old.arguments) == (told.id, told.name, piece):
            turn.anomaly("repeated_event", event.start, f"call {old.index} began twice")
        else:
            # What follows could belong to either.
            turn.conflict("index_reused", event.start, detail, old)
        return True

    def _call_delta(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = event_of(head, data, event)
        index = _index_of(message, "tool-call-delta", event)
        told = message.call
        if not told.has_arguments:
            raise _missing("tool-call-delta", "arguments", event)
        piece, is_text = told.piece(data, event)
        call = self._calls.get(index)
        if call is None:
            turn.anomaly("delta_without_start", event.start, f"call {index}", once=True)
            if piece:
                detail = f"arguments for call {index}, which never began"
                turn.conflict("orphan_arguments", event.start, detail)
            return
        turn.identify(call, told.id, told.name, event.start)
        if not piece:
            return
        if call.state != "streaming" and call.problem not in _STILL_OPEN:
            detail = f"arguments of call {index} go on after their end"
            turn.conflict("delta_after_close", event.start, detail, call)
        else:
            add_piece(turn, call, piece, is_text, event.start)
            turn.follow_arguments(call, piece)

    def _call_end(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        index = _index_of(event_of(head, data, event), "tool-call-end", event)
        call = self._calls.get(index)
        if call is None:
            turn.anomaly("stop_without_start", event.start, f"call {index} never began")
        elif call.state == "streaming":
            turn.close_call(call, event.start, is_proven=False)
        elif call.problem not in _STILL_OPEN:
            turn.anomaly("repeated_stop", event.start, f"call {index} ended before")

    # -- the end -----------------------------------------------------------------------------------

    def _message_end(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = event_of(head, data, event)
        if message.id and turn.id and message.id != turn.id:
            turn.anomaly("response_id_changed", event.start, f"{turn.id} became {message.id}")
        turn.id = turn.id or message.id or None
        delta = message.delta
        word = (delta.finish_reason or None) if delta is not None else None
        if delta is not None and isinstance(delta.usage, dict):
            self._count(delta.usage, event)
        status = "failed" if word is None else PROFILE.status_of(word)
        error: ErrorInfo | None = None
        if delta is not None and delta.error:
            status = "failed"
            error = _provider_error(word or "error", delta.error, data, event)
        elif word is None:
            said = f"the message-end at byte {event.start} has no finish_reason"
            error = ErrorInfo("structure", "structure", "missing_finish_reason", said, event.start)
        elif status == "failed":
            error = _provider_error(word, f"the message ended as {word!r}", data, event)
        elif word in PROFILE.asks_to_run and not turn.calls:
            status = "failed"
            said = f"the message ended as {word!r}, but has no call, in the event at byte {event.start}"
            error = ErrorInfo("structure", "structure", "missing_call", said, event.start)
        self._note_open_calls(event)
        self._close_message()
        turn.end(status, word, error=error, offset=event.start, runs=word in PROFILE.asks_to_run)

    def _note_open_calls(self, event: Frame) -> None:
        """The message stopped inside these calls: they are cut."""
        for call in self._turn.calls:
            if call.state == "streaming":
                self._turn.anomaly("call_without_end", event.start, f"call {call.index} has no tool-call-end")

    def _count(self, raw: dict[str, Any], event: Frame) -> None:
        usage = usage_of(raw)
        self._turn.count(usage)
        if usage.output_tokens and not (self._content or self._plan or self._turn.calls):
            detail = f"{usage.output_tokens} tokens, and nothing came"
            self._turn.anomaly("usage_without_content", event.start, detail)

    def _fail(self, error: ErrorInfo) -> None:
        self._close_message()
        self._turn.end("failed", None, error=error, offset=error.offset)

    def _close_message(self) -> None:
        """What the assistant's message needs beside the calls."""
        parts = [
            object_of({"type": json_of(kind), kind: part.quoted()})
            for (_, kind), part in self._content.items()
            if part.lane
        ]
        members = {
            "content": array_of(parts),
            "citations": array_of(self._citations),
        }
        if self._plan is not None:
            members["tool_plan"] = self._plan.quoted()
        self._turn.echo = (object_of(members),)

    def finish(self, left: Leftover) -> None:
        """The input is over without a terminal event: what is whole can still be shown."""
        self._close_message()


def _index_of(message: Event, kind: str, event: Frame) -> int:
    if message.index is None:
        raise _missing(kind, "index", event)
    return message.index


def _missing(kind: str, member: str, event: Frame) -> StructureError:
    return StructureError(
        f"the {kind} at byte {event.start} has no {member}", code="missing_member", offset=event.start
    )


def _provider_error(word: str, said: Any, data: bytes, event: Frame) -> ErrorInfo:
    message = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return ErrorInfo("provider", word, word, message, event.start, fields_of(data, event))


_Handler = Callable[[CohereChat, Head, bytes, Frame], None]
_HANDLERS: dict[str, _Handler] = {
    "message-start": CohereChat._message_start,
    "content-start": CohereChat._content_start,
    "content-delta": CohereChat._content_delta,
    "content-end": CohereChat._noise,
    "tool-plan-delta": CohereChat._tool_plan,
    "tool-call-start": CohereChat._call_start,
    "tool-call-delta": CohereChat._call_delta,
    "tool-call-end": CohereChat._call_end,
    "citation-start": CohereChat._citation,
    "citation-end": CohereChat._noise,
    "message-end": CohereChat._message_end,
    "debug": CohereChat._debug,
}
#: The usual form of an event; of the others nothing but the type matters.
_USUAL: dict[str, type[Head]] = {
    "message-start": Start,
    "content-start": Event,
    "content-delta": Event,
    "tool-plan-delta": Event,
    "tool-call-start": Event,
    "tool-call-delta": Event,
    "tool-call-end": Event,
    "message-end": Event,
}
_NAMES = (*_HANDLERS, *PROFILE.noise, "error")

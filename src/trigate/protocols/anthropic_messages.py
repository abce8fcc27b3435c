"""Anthropic Messages and its compatible servers: docs/protocols/anthropic-messages.md.

Rules
 - The block index routes; `type` inside the JSON is the authority, the event's name a check. Results go back
   by the block's id.
 - content_block_stop closes the arguments and proves no more: a reply that a limit cut closes its last block,
   too. A closed call is proven when generation goes on behind it, and may run when the message stopped for
   tool_use.
 - No copy of the arguments is ever repeated, so what does not fit where it came is never dropped in silence:
   a piece of arguments that belongs to no open tool is a contradiction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.framing import Frame, Framing
from trigate.items import ReasoningDelta, TextDelta
from trigate.leftover import Leftover
from trigate.protocols import anthropic_answers
from trigate.protocols.anthropic_blocks import FITS, PLAIN, Block, Blocks, differs, start_of
from trigate.protocols.anthropic_profile import PROFILE
from trigate.protocols.anthropic_wire import (
    SHAPES,
    USUAL,
    BlockEvent,
    BlockHead,
    BlockStart,
    Completion,
    Delta,
    DeltaEvent,
    Head,
    Message,
    UnknownEvent,
    block_delta_of,
    message_delta_of,
    message_of,
    partial_json,
    text_of,
    usage_of,
)
from trigate.protocols.event_names import EventNames
from trigate.protocols.profile import Profile
from trigate.protocols.wire import REFUSED, decode, decoder, error_info, fields_of, members_of, says_error
from trigate.response import ErrorInfo, Response
from trigate.turn import Turn

__all__ = ["AnthropicMessages"]


class AnthropicMessages:
    """Reads the events of one message into a Turn."""

    name: ClassVar[str] = "anthropic-messages"
    framings: ClassVar[tuple[Framing, ...]] = ("sse",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._blocks = Blocks(turn)
        self._message: Message | None = None
        self._stop_reason: str | None = None
        self._has_stop_reason = False  # a message_delta gave one
        self._was_cut = False  # one of them said that the reply is not whole
        self._is_completion = False
        self._has_begun = False
        self._names = EventNames(turn, _NAMES)
        self._has_sentinel = False
        self._has_fallback = False
        self._usage: dict[str, Any] = {}

    @staticmethod
    def to_message(response: Response) -> Any:
        return anthropic_answers.to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return anthropic_answers.tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first event belongs to this protocol (for `auto`)."""
        kind = value.get("type")
        return isinstance(kind, str) and kind in _HANDLERS

    # -- one event ---------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        data = event.data_bytes
        name = event.event
        usual = _USUAL.get(name)
        if usual is not None and not (self._has_sentinel or self._turn.is_ended):
            decode_usual, handler = usual
            try:
                head = decode_usual(data)
            except REFUSED:
                pass
            else:
                if head.type == name and not head.error:
                    if not self._has_begun:
                        self._names.note_right()
                        self._begin(name, event)
                    handler(self, head, data, event)
                    return
        self._take_odd(data.strip(), event)

    def _take_odd(self, data: bytes, event: Frame) -> None:
        """An event that may be anything: its name and its type are not one, or it tells of an error."""
        if not data:
            return
        if data == b"[DONE]":
            self._has_sentinel = True
            return
        if data == _PING and not self._has_sentinel and event.event == "ping":
            return
        if self._has_sentinel:
            self._turn.anomaly("event_after_end", event.start, "after the sentinel [DONE]", once=True)
            return
        if event.event == "error" and data[:1] not in b"{[":
            self._fail(event, data.decode())
            return
        head = decode(data, Head, event)
        kind = head.type or ("" if event.event == "message" else event.event)
        if kind == "ping":
            return
        if self._turn.is_ended:
            self._turn.anomaly("event_after_end", event.start, f"{kind or 'an event'} after the end")
        elif event.event == "error" or says_error(kind, head.error, data, event):
            # Whichever of the two says so: after an error nothing may run.
            self._fail(event, fields_of(data, event))
        else:
            self._names.check(kind, event, self._open_calls)
            handler = _HANDLERS.get(kind)
            if handler is None:
                self._unknown_event(kind, data, event)
                return
            if not self._has_begun:
                self._begin(kind, event)
            handler(self, head, data, event)

    def _fail(self, event: Frame, value: Any) -> None:
        if self._turn.is_ended:
            self._turn.anomaly("event_after_end", event.start, "error after the end")
        else:
            self.fail(error_info(value, event.start))

    def fail(self, error: ErrorInfo) -> None:
        """The provider gave up, in the stream or in the framing around it."""
        self._close_message()
        self._turn.end("failed", self._stop_reason, error=error, offset=error.offset)

    def _open_calls(self) -> Iterator[ToolCall]:
        return (block.call for block in self._blocks.all if block.call is not None and block.takes_arguments)

    def _begin(self, kind: str, event: Frame) -> None:
        if kind not in ("message_start", "completion"):
            self._turn.anomaly("missing_start", event.start, f"the first event is {kind!r}")
        self._has_begun = True

    def _unknown_event(self, kind: str, data: bytes, event: Frame) -> None:
        self._turn.unknown(f"event type {kind!r}", event.start)
        self._turn.other(kind, event.data)
        message = decode(data, UnknownEvent, event)
        block = self._blocks.at(message.index) if isinstance(message.index, int) else None
        if block is not None and message.delta is not None:
            self._distrust(block, event, f"an event of type {kind!r} holds a delta for it")

    def _distrust(self, block: Block, event: Frame, detail: str) -> None:
        """Something not understood came for an open call: its text may lack a piece, so it must not run."""
        if block.call is not None and block.takes_arguments:
            self._turn.void_call(block.call, "unknown_type", event.start, detail)

    # -- the message -------------------------------------------------------------------------------

    def _message_start(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = message_of(head, data, event)
        old = self._message
        if old is not None:
            is_equal = message.id and message.id == old.id and message.content == old.content
            if is_equal and len(self._blocks.all) == len(message.content or ()):
                turn.anomaly("repeated_event", event.start, f"message {message.id} began twice")
            else:
                turn.conflict("response_restarted", event.start, f"message {old.id} became {message.id}")
            return
        self._message = message
        turn.id = message.id or None
        turn.model = message.model or None
        for index, raw in enumerate(message.content or ()):
            # A message that ran on without the model (a program's next call) comes whole.
            block = self._open(index, bytes(raw), event)
            if turn.is_ended:
                return
            self._stop(block, event)
        if message.content:
            self._stop_reason = message.stop_reason
        self._count(message.usage)
        message.usage = None  # counted, and not looked at again

    def _message_delta(self, head: Head, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = message_delta_of(head, data, event)
        change = message.delta
        if change.stop_reason is not msgspec.UNSET:
            self._take_stop_reason(change.stop_reason or None, event)
        if (
            change.stop_details
            or change.container
            or message.context_management
            or message.input_transformations
        ):
            turn.other("message_delta", event.data)
        self._count(message.usage)

    def _take_stop_reason(self, word: str | None, event: Frame) -> None:
        """The last one counts. But a message that was cut, refused or paused does not come to ask for it."""
        turn = self._turn
        if self._has_stop_reason and word != self._stop_reason:
            detail = f"{self._stop_reason!r} became {word!r}"
            if word in PROFILE.asks_to_run and self._was_cut:
                turn.conflict("reason_changed", event.start, detail)
            else:
                turn.anomaly("reason_changed", event.start, detail)
        self._stop_reason = word
        if word is None:
            return
        self._has_stop_reason = True
        self._was_cut = self._was_cut or PROFILE.status_of(word) != "completed"
        for block in self._blocks.all:
            if not block.is_stopped:
                self._leave_open(block, event)
        if word in PROFILE.asks_to_run and not self._has_fallback:
            turn.prove_calls(event.start)

    def _leave_open(self, block: Block, event: Frame) -> None:
        """The message stopped inside this block: nothing may be added any more."""
        block.is_stopped = block.is_cut = True
        detail = f"block {block.index} ({block.type}) has no content_block_stop"
        if block.call is not None:
            self._turn.void_call(block.call, "incomplete", event.start, detail)
        self._turn.anomaly("block_without_stop", event.start, detail)

    def _count(self, usage: Any) -> None:
        """Counts are cumulative: a later one replaces an earlier one, null says nothing."""
        if isinstance(usage, dict):
            told = usage
            if None in usage.values():
                told = {name: value for name, value in usage.items() if value is not None}
            self._usage = self._usage | told if self._usage else told
            self._turn.count(usage_of(self._usage))

    def _message_stop(self, head: Head, data: bytes, event: Frame) -> None:
        word = self._stop_reason
        status = "failed" if word is None else PROFILE.status_of(word)
        error: ErrorInfo | None = None
        if word is None:
            said = f"the message stopped without a stop_reason, in the event at byte {event.start}"
            error = ErrorInfo("structure", "structure", "missing_stop_reason", said, event.start)
        elif status == "failed":
            error = ErrorInfo(
                "provider", word, word, f"the message stopped for {word!r}, which is not known", event.start
            )
        elif word in PROFILE.asks_to_run and all(block.call is None for block in self._blocks.all):
            status = "failed"
            said = f"the message stopped for {word!r}, but has no call, in the event at byte {event.start}"
            error = ErrorInfo("structure", "structure", "missing_call", said, event.start)
        if not self._blocks.all and usage_of(self._usage).output_tokens:
            self._turn.anomaly("usage_without_content", event.start, "tokens were counted, but nothing came")
        self._close_message()
        runs = word in PROFILE.asks_to_run
        self._turn.end(status, word, error=error, offset=event.start, runs=runs)

    def _close_message(self) -> None:
        self._turn.echo = self._blocks.to_echo()

    def finish(self, left: Leftover) -> None:
        """The input is over without a terminal event: what is whole can still be shown."""
        self._close_message()

    # -- blocks ------------------------------------------------------------------------------------

    def _block_start(self, head: Head, data: bytes, event: Frame) -> None:
        message = head if isinstance(head, BlockStart) else decode(data, BlockStart, event)
        raw = bytes(message.content_block)
        old = self._blocks.at(message.index)
        if old is not None and self._is_refused(old, raw, event):
            return
        if not self._has_stop_reason:
            self._stop_reason = None  # message_start told it of what it held, not of what follows
        self._open(message.index, raw, event)

    def _is_refused(self, old: Block, raw: bytes, event: Frame) -> bool:
        """Whether a second start at one index opens no block of its own."""
        detail = f"index {old.index} is used again"
        is_equal = members_of(raw, event) == old.members
        if is_equal and not old.is_stopped and not old.has_pieces:
            self._turn.anomaly("repeated_event", event.start, f"block {old.index} began twice")
            return True
        if old.takes_arguments:
            # What follows could belong to either.
            self._turn.conflict("index_reused", event.start, detail, *([old.call] if old.call else []))
            return True
        self._turn.anomaly("index_reused", event.start, detail)
        return False

    def _open(self, index: int, raw: bytes, event: Frame) -> Block:
        turn = self._turn
        start = start_of(raw)
        block_type = (start[0] or decode(raw, BlockHead, event)).type
        if block_type == "fallback":
            self._has_fallback = True  # another model goes on: that proves nothing about what came before
        elif not self._has_fallback:
            turn.prove_calls(event.start)
        block = self._blocks.open(index, block_type, start, raw, event)
        if self._has_stop_reason:
            detail = f"block {index} ({block.type}) begins after the stop_reason"
            if block.call is not None:
                turn.conflict("block_after_stop_reason", event.start, detail, block.call)
            else:
                turn.anomaly("block_after_stop_reason", event.start, detail)
        return block

    def _block_delta(self, head: Head, data: bytes, event: Frame) -> None:
        message = head if isinstance(head, DeltaEvent) else block_delta_of(head, data, event)
        delta = message.delta
        block = self._blocks.at(message.index) or self._implied(message.index, delta, event)
        if block is None:
            return
        fitting = FITS.get(delta.type)
        if fitting is None or not block.is_known:
            self._unknown_delta(block, delta.type, event)
        elif block.type not in fitting:
            self._misplaced(block, delta, event)
        elif delta.type == "input_json_delta":
            self._arguments(block, delta, event)
        else:
            if block.is_stopped:
                self._turn.anomaly(
                    "delta_after_close", event.start, f"block {block.index} ({block.type})", once=True
                )
            self._add(block, delta, event)

    def _implied(self, index: int, delta: Delta, event: Frame) -> Block | None:
        """A delta without a start. Text opens its block; arguments of nobody are a contradiction."""
        detail = f"{delta.type} for index {index}"
        self._turn.anomaly("delta_without_start", event.start, detail, once=True)
        if delta.type in ("text_delta", "thinking_delta"):
            block_type = FITS[delta.type][0]
            return self._blocks.open_implied(index, block_type, event)
        if delta.type not in FITS:
            self._turn.unknown(f"delta type {delta.type!r}", event.start)
            self._turn.other("content_block_delta", event.data)
        elif delta.type == "input_json_delta" and partial_json(delta, event):
            self._turn.conflict(
                "orphan_arguments", event.start, f"arguments for index {index}, which never began"
            )
        return None

    def _unknown_delta(self, block: Block, delta_type: str, event: Frame) -> None:
        if delta_type not in FITS:
            self._turn.unknown(f"delta type {delta_type!r}", event.start)
            self._distrust(block, event, f"a delta of type {delta_type!r} came for it")
        if not block.is_known:
            block.is_altered = True
        self._turn.other("content_block_delta", event.data)

    def _misplaced(self, block: Block, delta: Delta, event: Frame) -> None:
        """A delta that does not fit its block. Gateways send empty ones; another may lack elsewhere."""
        detail = f"{delta.type} for block {block.index} ({block.type})"
        if block.call is not None and not delta.is_empty:
            self._turn.conflict("misplaced_delta", event.start, detail, block.call)
        elif delta.type == "input_json_delta" and partial_json(delta, event):
            self._turn.conflict("misplaced_delta", event.start, detail)
        else:
            self._turn.anomaly("misplaced_delta", event.start, detail, once=True)

    def _arguments(self, block: Block, delta: Delta, event: Frame) -> None:
        turn = self._turn
        piece = delta.partial_json
        if type(piece) is not str:
            piece = partial_json(delta, event)
        block.is_told = True
        if not piece:
            return
        if block.is_stopped:
            detail = f"arguments of block {block.index} ({block.type}) go on after their end"
            turn.conflict("delta_after_close", event.start, detail, *([block.call] if block.call else []))
        elif block.call is not None:
            turn.add_arguments(block.call, piece, event.start)
            turn.follow_arguments(block.call, piece)
        else:
            assert block.input is not None
            turn.add_unshown(block.input, piece, event.start)
            turn.follow_unshown(block.input, piece)

    def _add(self, block: Block, delta: Delta, event: Frame) -> None:
        """Everything but arguments."""
        turn = self._turn
        offset = event.start
        if delta.type in ("text_delta", "thinking_delta"):
            assert block.part is not None
            is_text = block.type == "text"
            piece = text_of(delta.text if is_text else delta.thinking, block.type, event)
            turn.take_piece(block.part, TextDelta if is_text else ReasoningDelta, piece, block.index, offset)
        elif delta.type == "citations_delta":
            citation = bytes(delta.citation)
            if citation not in (b"", b"null") and turn.keep(len(citation), offset):
                block.cite(citation)
                turn.other("citations_delta", event.data)
        else:
            members = ("signature",) if delta.type == "signature_delta" else ("content", "encrypted_content")
            for member in members:
                piece = text_of(getattr(delta, member), member, event)
                if piece and turn.keep(len(piece), offset):
                    block.gather(member, piece)

    def _block_stop(self, head: Head, data: bytes, event: Frame) -> None:
        index = (head if isinstance(head, BlockEvent) else decode(data, BlockEvent, event)).index
        block = self._blocks.at(index)
        if block is None:
            self._turn.anomaly("stop_without_start", event.start, f"index {index} never began")
        elif block.is_stopped:
            why = "was given up at the stop_reason" if block.is_cut else "was stopped before"
            self._turn.anomaly("repeated_stop", event.start, f"block {index} {why}")
        else:
            self._stop(block, event)

    def _stop(self, block: Block, event: Frame) -> None:
        block.is_stopped = True
        if block.call is not None:
            self._close_call(block, block.call, event)
        elif block.type not in PLAIN:
            shown = block.as_server_call()
            if block.is_known:
                self._turn.server_call(shown)
            self._turn.other(block.type, shown.raw)

    def _close_call(self, block: Block, call: ToolCall, event: Frame) -> None:
        """The arguments are the pieces; without any, the `input` of the start, which else is a stand-in.

        A stand-in is empty. One that is not, and is another object than the pieces, leaves open which of them
        is meant: neither may run.
        """
        turn = self._turn
        told = block.start_input
        if told is not None and not call.arguments.strip():
            turn.add_arguments(call, told, event.start)
        elif told is not None and differs(told, call.arguments):
            detail = f"the start of block {block.index} has another input than its deltas"
            turn.conflict("arguments_differ", event.start, detail, call)
        elif not block.is_told:
            turn.void_call(
                call, "incomplete", event.start, f"block {block.index} has neither input nor a delta"
            )
        turn.close_call(call, event.start, is_proven=False)

    # -- text completions --------------------------------------------------------------------------

    def _completion(self, head: Head, data: bytes, event: Frame) -> None:
        """An event of the older text completions: text alone, and the last one says why it stopped."""
        if self._message is not None or (self._blocks.all and not self._is_completion):
            self._unknown_event("completion", data, event)
            return
        self._is_completion = True
        turn = self._turn
        message = head if isinstance(head, Completion) else decode(data, Completion, event)
        turn.id = turn.id or message.id or None
        turn.model = turn.model or message.model or None
        delta = Delta(type="text_delta", text=message.completion)
        block = self._blocks.at(0) or self._blocks.open_implied(0, "text", event)
        self._add(block, delta, event)
        if message.stop_reason:
            self._stop_reason = message.stop_reason
            self._message_stop(head, data, event)


_Handler = Callable[[AnthropicMessages, Head, bytes, Frame], None]
_HANDLERS: dict[str, _Handler] = {
    "message_start": AnthropicMessages._message_start,
    "content_block_start": AnthropicMessages._block_start,
    "content_block_delta": AnthropicMessages._block_delta,
    "content_block_stop": AnthropicMessages._block_stop,
    "message_delta": AnthropicMessages._message_delta,
    "message_stop": AnthropicMessages._message_stop,
    "completion": AnthropicMessages._completion,
}
_NAMES = (*_HANDLERS, *PROFILE.noise)
#: By an event's name: what decodes its usual form, and what takes it.
_USUAL: dict[str, tuple[Callable[[bytes], Head], _Handler]] = {
    name: (decoder(USUAL[name]), handler) for name, handler in _HANDLERS.items()
}
#: What a ping nearly always is.
_PING = b'{"type": "ping"}'

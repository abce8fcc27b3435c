"""Amazon Bedrock's ConverseStream: docs/protocols/bedrock-converse.md.

Rules
 - The message's event type says what it is, contentBlockIndex routes. Results go back by toolUseId.
 - contentBlockStop closes the arguments and proves no more: nobody says whether a limit closes the last
   block, too. A closed call is proven when generation goes on behind it, and may run when the message stopped
   for tool_use.
 - messageStop says how the message ended, but is not the end: metadata follows, or the end of the input.
   Until then an exception takes everything back.
 - No copy of the arguments is ever repeated: a piece of arguments that belongs to no open tool is a
   contradiction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from trigate._core import Shapes
from trigate.calls import ToolCall
from trigate.errors import DecodeError
from trigate.framing import Frame, Framing
from trigate.leftover import Leftover
from trigate.protocols import bedrock_answers
from trigate.protocols.bedrock_converse_blocks import Block, Kind, kind_of, member_of
from trigate.protocols.bedrock_converse_wire import (
    CLIENT_TOOLS,
    SHAPES,
    AnyBlockDelta,
    AnyObject,
    BlockEvent,
    BlockStart,
    Delta,
    Image,
    MessageStop,
    Metadata,
    Reasoning,
    ResultPart,
    ToolUse,
    block_delta_of,
    failure_of,
    input_of,
    usage_of,
)
from trigate.protocols.pieces import add_piece
from trigate.protocols.profile import Profile
from trigate.protocols.wire import decode, is_given, members_of
from trigate.response import ErrorInfo, Response
from trigate.turn import Turn

__all__ = ["BedrockConverse"]

PROFILE = Profile(
    closes_arguments=("contentBlockStop",),
    completes_call=("the next content block", "messageStop with stopReason tool_use"),
    asks_to_run=("tool_use",),
    ends_well=("end_turn", "stop_sequence"),
    ends_otherwise={
        "max_tokens": "incomplete",
        "model_context_window_exceeded": "incomplete",
        "guardrail_intervened": "incomplete",
        "content_filtered": "incomplete",
        "malformed_tool_use": "failed",
        "malformed_model_output": "failed",
    },
    unknown_end="failed",
    terminal=("after messageStop: metadata or the end of the input", "an exception or error message"),
    noise=("initial-response",),
)
#: What each delta makes of a block that has no start of its own.
KIND_OF: dict[str, Kind] = {
    "text": "text",
    "citation": "text",
    "reasoningContent": "reasoning",
    "toolResult": "toolResult",
    "image": "image",
}
#: Members of a start that tell nothing.
_EMPTY = (b'""', b"{}")


class BedrockConverse:
    """Reads the messages of one stream into a Turn."""

    name: ClassVar[str] = "bedrock-converse"
    framings: ClassVar[tuple[Framing, ...]] = ("eventstream",)
    requires_call_id: ClassVar[bool] = True
    profile: ClassVar[Profile] = PROFILE
    shapes: ClassVar[Shapes | None] = SHAPES

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._blocks: dict[int, Block] = {}  # the newest one at each index
        self._all: list[Block] = []
        self._stop_reason: str | None = None
        self._has_begun = False
        self._has_metadata = False

    @staticmethod
    def to_message(response: Response) -> Any:
        return bedrock_answers.to_message(response)

    @staticmethod
    def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> Any:
        return bedrock_answers.tool_result_message(response, call, content, is_error)

    @staticmethod
    def recognises(event: Frame, value: dict[str, Any]) -> bool:
        """Whether a first message belongs to this protocol (for `auto`)."""
        return event.event in _HANDLERS and event.event != "metadata"

    # -- one message -------------------------------------------------------------------------------

    def event(self, event: Frame) -> None:
        turn = self._turn
        kind = event.event
        if kind in PROFILE.noise:
            return
        if turn.is_ended:
            turn.anomaly("event_after_end", event.start, f"{kind} after the end")
            return
        if kind.startswith(("exception:", "error:")):
            error = failure_of(event)
            self._close_message()
            turn.end("failed", self._stop_reason, error=error, offset=event.start)
            return
        handler = _HANDLERS.get(kind)
        if handler is None:
            self._unknown_event(kind, event)
            return
        if not self._has_begun and kind != "messageStart":
            turn.anomaly("missing_start", event.start, f"the first event is {kind!r}")
        handler(self, self._text_of(event), event)
        self._has_begun = True

    def _text_of(self, event: Frame) -> bytes:
        """The payload. The framing has no say in its encoding, so that is checked here."""
        data = event.data_bytes.strip()
        if data.isascii():
            return data
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if "utf8" in self._turn.options.lenient:
                return data.decode("utf-8", "replace").encode()
            said = f"the event at byte {event.start} is not UTF-8 from byte {error.start} of its payload on"
            raise DecodeError(said, code="invalid_utf8", offset=event.start) from None
        return data

    def _unknown_event(self, kind: str, event: Frame) -> None:
        turn = self._turn
        turn.unknown(f"event type {kind!r}", event.start)
        turn.other(kind, event.data)
        try:
            index = msgspec.json.decode(event.data_bytes, type=BlockEvent).contentBlockIndex
        except (msgspec.DecodeError, RecursionError):
            return
        block = self._blocks.get(index)
        if block is not None:
            self._distrust(block, event, f"an event of type {kind!r} came for it")

    def _distrust(self, block: Block, event: Frame, detail: str) -> None:
        """Something not understood came for a block: it may lack a piece, so its call must not run."""
        block.is_altered = True
        if block.call is not None and not block.is_stopped:
            self._turn.void_call(block.call, "unknown_type", event.start, detail)

    def _message_start(self, data: bytes, event: Frame) -> None:
        decode(data, AnyObject, event)
        if not self._has_begun:
            return
        if self._all or self._stop_reason is not None:
            self._turn.conflict("response_restarted", event.start, "a second messageStart")
        else:
            self._turn.anomaly("repeated_event", event.start, "a second messageStart")

    # -- blocks ------------------------------------------------------------------------------------

    def _block_start(self, data: bytes, event: Frame) -> None:
        message = decode(data, BlockStart, event)
        raw = message.start if is_given(message.start) else msgspec.Raw(b"{}")
        decode(raw, AnyObject, event)
        told = {name: value for name, value in members_of(bytes(raw), event).items() if value != b"null"}
        kind = kind_of(told, event)
        member = member_of(kind)
        start: dict[str, bytes] = {}
        if member is not None:
            decode(msgspec.Raw(told[member]), AnyObject, event)
            start = members_of(told[member], event)
        old = self._blocks.get(message.contentBlockIndex)
        if old is not None and self._is_refused(old, kind, start, event):
            return
        block = self._open(message.contentBlockIndex, kind, start, event)
        block.is_started = True
        self._turn.keep(len(data), event.start)
        if kind == "unknown":
            self._turn.unknown(f"block start {next(iter(told))!r}", event.start)
            self._turn.other("contentBlockStart", event.data)
        elif kind == "tool":
            self._begin_call(block, decode(msgspec.Raw(told["toolUse"]), ToolUse, event), event)
        elif kind == "empty" and any(value not in _EMPTY for value in told.values()):
            delta = decode(raw, Delta, event)
            self._add(block, delta, delta.kinds, event)

    def _is_refused(self, old: Block, kind: Kind, start: dict[str, bytes], event: Frame) -> bool:
        """Whether a second start at one index opens no block of its own."""
        turn = self._turn
        detail = f"index {old.index} is used again"
        if old.is_stopped:
            turn.anomaly("index_reused", event.start, detail)
            return False
        if (kind, start) == (old.kind, old.start) and old.is_started and not old.has_pieces:
            turn.anomaly("repeated_event", event.start, f"block {old.index} began twice")
        elif old.is_started and (old.kind in ("tool", "server") or kind == "tool"):
            # What follows could belong to either.
            turn.conflict("index_reused", event.start, detail, *([old.call] if old.call else []))
        else:
            turn.anomaly("index_reused", event.start, detail)
            return False
        return True

    def _open(self, index: int, kind: Kind, start: dict[str, bytes], event: Frame) -> Block:
        turn = self._turn
        if self._stop_reason is not None:
            detail = f"block {index} begins after messageStop"
            if kind == "tool":
                turn.conflict("block_after_stop_reason", event.start, detail)
            else:
                turn.anomaly("block_after_stop_reason", event.start, detail)
        else:
            turn.prove_calls(event.start)
        # Indices may have gaps: Nova leaves out the numbers of blocks that stayed empty.
        block = self._blocks[index] = Block(index, kind, start)
        self._all.append(block)
        return block

    def _begin_call(self, block: Block, tool: ToolUse, event: Frame) -> None:
        turn = self._turn
        block.call = turn.open_call((block.index,), index=block.index, kind="function", offset=event.start)
        if turn.is_ended:
            return
        turn.identify(block.call, tool.toolUseId, tool.name, event.start)
        turn.announce(block.call)
        if tool.type not in CLIENT_TOOLS:
            turn.unknown(f"type of tool use {tool.type!r}", event.start)
            self._distrust(block, event, f"block {block.index} is a tool use of type {tool.type!r}")

    def _block_delta(self, data: bytes, event: Frame) -> None:
        message = block_delta_of(data, event)
        delta = message.delta
        index = message.contentBlockIndex
        block = self._blocks.get(index)
        kinds = delta.kinds
        if not kinds:
            self._unknown_delta(block, bytes(decode(data, AnyBlockDelta, event).delta), event)
        elif "toolUse" in kinds:
            self._arguments(index, block, delta, event)
        if any(kind in KIND_OF for kind in kinds):
            self._add(block or self._imply(index, kinds, event), delta, kinds, event)

    def _imply(self, index: int, kinds: list[str], event: Frame) -> Block:
        """A delta without a start: that is how text, reasoning and citations come."""
        kind = next(KIND_OF[kind] for kind in kinds if kind in KIND_OF)
        block = self._open(index, kind, {}, event)
        if not block.is_plain:
            self._turn.anomaly("delta_without_start", event.start, f"{kind} for index {index}", once=True)
            block.is_altered = True
        return block

    def _unknown_delta(self, block: Block | None, raw: bytes, event: Frame) -> None:
        names = [name for name, value in members_of(raw, event).items() if value != b"null"]
        if not names:
            self._turn.anomaly("empty_delta", event.start, "a delta without members", once=True)
            if block is not None and block.call is not None:
                self._distrust(block, event, "a delta without members came for it")
            return
        self._turn.unknown(f"delta {names[0]!r}", event.start)
        self._turn.other("contentBlockDelta", event.data)
        if block is not None:
            self._distrust(block, event, f"a delta {names[0]!r} came for it")

    def _arguments(self, index: int, block: Block | None, delta: Delta, event: Frame) -> None:
        turn = self._turn
        piece, is_text = input_of(delta, event)
        detail = f"arguments for block {index}"
        if block is None:
            turn.anomaly("delta_without_start", event.start, f"toolUse for index {index}", once=True)
            if piece:
                turn.conflict("orphan_arguments", event.start, f"{detail}, which never began")
        elif block.kind not in ("tool", "server"):
            if piece:
                turn.conflict("misplaced_delta", event.start, f"{detail}, which is {block.kind}")
            else:
                turn.anomaly("misplaced_delta", event.start, f"{detail}, which is {block.kind}", once=True)
        elif not piece:
            return
        elif block.is_stopped or self._stop_reason is not None:
            calls = [block.call] if block.call else []
            turn.conflict("delta_after_close", event.start, f"{detail} after its end", *calls)
        elif block.call is not None:
            add_piece(turn, block.call, piece, is_text, event.start)
            turn.follow_arguments(block.call, piece)
        else:
            turn.add_unshown(block.input, piece, event.start)
            if is_text:
                turn.follow_unshown(block.input, piece)

    def _add(self, block: Block, delta: Delta, kinds: list[str], event: Frame) -> None:
        """Everything but arguments."""
        turn = self._turn
        for kind in kinds:
            if kind not in KIND_OF:
                continue
            if block.kind == "empty":
                block.kind = KIND_OF[kind]
            if block.kind != KIND_OF[kind]:
                self._misplaced(block, kind, delta.text == "", event)
                if not block.is_plain or KIND_OF[kind] not in ("text", "reasoning"):
                    continue
            elif block.is_stopped or block.is_cut:
                detail = f"block {block.index} ({block.kind})"
                turn.anomaly("delta_after_close", event.start, detail, once=True)
            _ADDERS[kind](self, block, delta, event)

    def _misplaced(self, block: Block, kind: str, is_empty: bool, event: Frame) -> None:
        """A delta that does not fit its block. Between sorts of text that is only odd."""
        detail = f"{kind} for block {block.index} ({block.kind})"
        if block.call is not None and not is_empty:
            self._turn.conflict("misplaced_delta", event.start, detail, block.call)
        else:
            self._turn.anomaly("misplaced_delta", event.start, detail, once=True)
        if not block.is_plain and not is_empty:
            block.is_altered = True

    def _add_text(self, block: Block, delta: Delta, event: Frame) -> None:
        turn, piece = self._turn, delta.text or ""
        if block.part is None:
            block.part = turn.open_text()
        turn.add_text(block.part, piece, block.index, event.start)
        turn.follow_text(block.part, piece, block.index)

    def _add_citation(self, block: Block, delta: Delta, event: Frame) -> None:
        citation = bytes(delta.citation)
        self._turn.other("contentBlockDelta", event.data)
        if self._turn.keep(len(citation), event.start):
            block.citations.append(citation)

    def _add_reasoning(self, block: Block, delta: Delta, event: Frame) -> None:
        turn = self._turn
        told = decode(delta.reasoningContent, Reasoning, event)
        if told.text is not None:
            if block.reasoning is None:
                block.reasoning = turn.open_reasoning()
            turn.add_reasoning(block.reasoning, told.text, block.index, event.start)
            turn.follow_reasoning(block.reasoning, told.text, block.index)
        for member in ("signature", "redactedContent"):
            piece = getattr(told, member)
            if piece and turn.keep(len(piece), event.start):
                block.gather(member, piece)

    def _add_result(self, block: Block, delta: Delta, event: Frame) -> None:
        for raw in delta.toolResult or ():
            text = decode(raw, ResultPart, event).text
            part = bytes(raw)
            if self._turn.keep(len(part), event.start):
                block.add_result(text if members_of(part, event).keys() == {"text"} else None, part)

    def _add_image(self, block: Block, delta: Delta, event: Frame) -> None:
        source = decode(delta.image, Image, event).source
        self._turn.other("contentBlockDelta", event.data)
        if source is not None and source.bytes and self._turn.keep(len(source.bytes), event.start):
            block.gather("bytes", source.bytes)

    def _block_stop(self, data: bytes, event: Frame) -> None:
        turn = self._turn
        index = decode(data, BlockEvent, event).contentBlockIndex
        block = self._blocks.get(index)
        if block is None:
            turn.anomaly("stop_without_start", event.start, f"index {index} never began")
        elif block.is_stopped or self._stop_reason is not None:
            turn.anomaly("repeated_stop", event.start, f"block {index} or its message stopped before")
        else:
            block.is_stopped = True
            if block.call is not None:
                turn.close_call(block.call, event.start, is_proven=False)
            elif block.kind in ("server", "toolResult"):
                shown = block.as_server_call()
                turn.server_call(shown)
                turn.other(shown.type, shown.raw)

    # -- the end -----------------------------------------------------------------------------------

    def _message_stop(self, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = decode(data, MessageStop, event)
        word = message.stopReason or None
        if self._stop_reason is not None:
            if word == self._stop_reason:
                turn.anomaly("repeated_event", event.start, "a second messageStop")
            else:
                turn.conflict("reason_changed", event.start, f"{self._stop_reason!r} became {word!r}")
            return
        if word is None:
            said = f"the messageStop at byte {event.start} has no stopReason"
            self._close_message()
            error = ErrorInfo("structure", "structure", "missing_stop_reason", said, event.start)
            turn.end("failed", None, error=error, offset=event.start)
            return
        self._stop_reason = word
        if message.additionalModelResponseFields:
            turn.other("messageStop", event.data)
        for block in self._all:
            if not block.is_stopped:
                self._leave_open(block, event)
        if word in PROFILE.asks_to_run:
            turn.prove_calls(event.start)

    def _leave_open(self, block: Block, event: Frame) -> None:
        """The message stopped inside this block: a call in it is cut."""
        block.is_cut = True
        detail = f"block {block.index} ({block.kind}) has no contentBlockStop"
        if block.call is not None:
            self._turn.void_call(block.call, "incomplete", event.start, detail)
        self._turn.anomaly("block_without_stop", event.start, detail)

    def _metadata(self, data: bytes, event: Frame) -> None:
        turn = self._turn
        message = decode(data, Metadata, event)
        self._has_metadata = True
        if message.trace:
            turn.other("metadata", event.data)
        if isinstance(message.usage, dict):
            usage = usage_of(message.usage)
            turn.count(usage)
            if usage.output_tokens and not self._all:
                detail = f"{usage.output_tokens} tokens, and nothing came"
                turn.anomaly("usage_without_content", event.start, detail)
        if self._stop_reason is None:
            turn.anomaly("metadata_before_stop", event.start, "metadata before messageStop")
        else:
            self._end(self._stop_reason, event.start)

    def _end(self, word: str, offset: int | None) -> None:
        status = PROFILE.status_of(word)
        error: ErrorInfo | None = None
        if status == "failed":
            error = ErrorInfo("provider", word, word, f"the message stopped for {word!r}", offset)
        elif word in PROFILE.asks_to_run and all(block.call is None for block in self._all):
            status = "failed"
            said = f"the message stopped for {word!r}, but has no call"
            error = ErrorInfo("structure", "structure", "missing_call", said, offset)
        self._close_message()
        self._turn.end(status, word, error=error, offset=offset, runs=word in PROFILE.asks_to_run)

    def _close_message(self) -> None:
        ordered = sorted(self._all, key=lambda block: block.index)
        self._turn.echo = tuple(text for block in ordered for text in block.to_json())

    def finish(self, left: Leftover) -> None:
        """The input is over. After messageStop only usage is missing, unless a cut event was an exception."""
        self._close_message()
        word = self._stop_reason
        if word is None or (left and PROFILE.status_of(word) == "completed"):
            return
        if not self._has_metadata:
            self._turn.is_end_clean = False
            self._turn.anomaly("missing_metadata", None, "the input ended without metadata")
        self._end(word, None)


_Handler = Callable[[BedrockConverse, bytes, Frame], None]
_HANDLERS: dict[str, _Handler] = {
    "messageStart": BedrockConverse._message_start,
    "contentBlockStart": BedrockConverse._block_start,
    "contentBlockDelta": BedrockConverse._block_delta,
    "contentBlockStop": BedrockConverse._block_stop,
    "messageStop": BedrockConverse._message_stop,
    "metadata": BedrockConverse._metadata,
}
_Adder = Callable[[BedrockConverse, Block, Delta, Frame], None]
_ADDERS: dict[str, _Adder] = {
    "text": BedrockConverse._add_text,
    "citation": BedrockConverse._add_citation,
    "reasoningContent": BedrockConverse._add_reasoning,
    "toolResult": BedrockConverse._add_result,
    "image": BedrockConverse._add_image,
}

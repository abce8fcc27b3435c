"""The content blocks of a Messages turn: what each gathers, and its JSON when it is whole.

Rules
 - The index routes. It may be used again by another block only when the old one takes no more arguments.
 - A block goes back to the provider as it came: its start's members, with what the deltas added. Signatures
   and redacted thinking are never touched, and the `input` of a tool is its own text, digit by digit.
 - What is not whole does not go back: open blocks (but for text), thinking without a signature, void calls.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TypeAlias

import msgspec

from trigate._core import Lane, ServerSentEvent
from trigate.calls import ToolCall
from trigate.errors import TrigateError
from trigate.framing import Frame
from trigate.protocols.anthropic_echo import KeptBlock, start_members
from trigate.protocols.anthropic_wire import BlockMembers, FirstText, ToolUse, text_of
from trigate.protocols.echo import Echo
from trigate.protocols.raw_json import is_object, json_of, object_of, word_of
from trigate.protocols.wire import as_json_text, attempt, decode, members_of
from trigate.response import ServerCall
from trigate.turn import TextPart, Turn
from trigate.validate import decode_object

__all__ = ["FITS", "KNOWN", "PLAIN", "SERVER_TOOLS", "Block", "Blocks", "Start", "differs", "start_of"]

#: A start that is longer tells of more than its type.
_SHORT = 64
# In one that is longer than this, the members that matter are looked for once alone.
_LONG = 2048
# One that is nested deeper is looked through at once: later there might be no stack left for it.
_DEEP = 64
_EMPTY = re.compile(r"[ \t\r\n]*(\{[ \t\r\n]*\}[ \t\r\n]*)?")

#: The tools that the provider runs itself: their arguments stream like those of the client's.
SERVER_TOOLS = ("server_tool_use", "mcp_tool_use")
#: The blocks that are not shown as server calls.
PLAIN = ("text", "thinking", "redacted_thinking", "tool_use")
#: Blocks whose type does not end in "_tool_result", which every result of a server tool does.
KNOWN = (*PLAIN, *SERVER_TOOLS, "container_upload", "mcp_tool_listing", "compaction", "fallback")
#: Each delta type, with the blocks that it fits.
FITS: dict[str, tuple[str, ...]] = {
    "text_delta": ("text",),
    "citations_delta": ("text",),
    "input_json_delta": ("tool_use", *SERVER_TOOLS),
    "thinking_delta": ("thinking",),
    "signature_delta": ("thinking",),
    "compaction_delta": ("compaction",),
}
_TYPES = {name: name for name in KNOWN}


#: The members that matter of a block's start, if they are of the usual types; and all of them, each value as the
#: bytes that came, if they are at hand.
Start: TypeAlias = tuple[BlockMembers | None, dict[str, bytes] | None]


class Block(msgspec.Struct, eq=False):
    """One content block: where it stands, what it is, and what came for it.

    start: that of the wire, as its JSON or as its members, each the bytes that came; maybe shared, so never changed.
    pieces: what deltas added to a member.
    """

    index: int
    type: str
    start: bytes | dict[str, bytes]
    is_known: bool
    is_told: bool  # the wire said what the arguments are, be it that there are none
    input: Lane | None = None  # of a tool that the provider runs
    call: ToolCall | None = None
    part: TextPart | None = None
    pieces: dict[str, list[str]] | None = None
    citations: list[bytes] | None = None
    start_input: str | None = None  # the text of the start's `input`, None for an empty one
    is_stopped: bool = False
    is_cut: bool = False  # the message stopped inside it
    is_altered: bool = False  # a delta came that only its unknown type explains

    @property
    def members(self) -> dict[str, bytes]:
        return start_members(self.start)

    @property
    def takes_arguments(self) -> bool:
        return not self.is_stopped and self.type in FITS["input_json_delta"]

    @property
    def has_pieces(self) -> bool:
        """Whether a delta added anything."""
        return bool(
            self.pieces
            or self.citations
            or self.input
            or self.part
            or (self.call is not None and self.call.arguments)
        )

    def gather(self, member: str, piece: str) -> None:
        if self.pieces is None:
            self.pieces = {}
        self.pieces.setdefault(member, []).append(piece)

    def cite(self, citation: bytes) -> None:
        if self.citations is None:
            self.citations = []
        self.citations.append(citation)

    def as_server_call(self) -> ServerCall:
        """For display: an input that is no JSON stands there as a string."""
        members = self._kept(None).whole_members()
        if self.type in SERVER_TOOLS:
            text = self._whole_input()
            members["input"] = text.encode() if is_object(text) else json_of(text)
        return ServerCall(
            type=self.type,
            id=word_of(members, "id") or word_of(members, "tool_use_id"),
            name=word_of(members, "name"),
            status=None,
            raw=object_of(members).decode(),
        )

    def kept(self) -> KeptBlock | None:
        """The block as the provider wants it back; None if it must not go back."""
        if self.type == "text":
            return self._kept(None) if self.part else None
        if not self.is_stopped or self.is_cut or self.is_altered:
            return None
        if self.call is not None:
            if self.call.state not in ("done", "released"):
                return None
            return self._kept(_object_text(self.call))
        if self.type in SERVER_TOOLS:
            text = self._whole_input()
            return self._kept(text) if is_object(text) else None
        if self.type == "thinking" and not (
            (self.pieces or {}).get("signature") or word_of(self.members, "signature")
        ):
            return None
        return self._kept(None)

    def _kept(self, told: str | None) -> KeptBlock:
        """The block as it is now. told: its arguments, if it has any."""
        text = None if self.part is None else self.part.text
        if self.citations is None and self.pieces is None:
            return KeptBlock(self.type, self.start, text, told)
        pieces = {member: "".join(pieces) for member, pieces in (self.pieces or {}).items()}
        return KeptBlock(self.type, self.start, text, told, tuple(self.citations or ()), pieces)

    def _whole_input(self) -> str:
        return (self.input.text if self.input is not None else "") or self.start_input or "{}"


class Blocks(msgspec.Struct, eq=False):
    """The blocks of one message, by index and in the order in which they began."""

    _turn: Turn
    _by_index: dict[int, Block] = {}
    _next: int = 0
    all: list[Block] = []

    def at(self, index: int) -> Block | None:
        """The newest block of that index."""
        return self._by_index.get(index)

    def open_implied(self, index: int, block_type: str, event: Frame) -> Block:
        """A block of text or thinking that had no start."""
        raw = json.dumps({"type": block_type, block_type: ""}).encode()
        return self.open(index, block_type, start_of(raw), raw, event)

    def open(self, index: int, block_type: str, start: Start, raw: bytes, event: Frame) -> Block:
        """A new block, whose start is `raw`. The caller has seen to it that the index is free, or may be used again."""
        turn = self._turn
        if index != self._next and index not in self._by_index:
            last = self._next - 1 if self._by_index else None
            turn.anomaly("index_gap", event.start, f"block {index} follows {last}")
        self._next = max(self._next, index + 1) if self._by_index else index + 1
        block = _made(index, block_type, start, raw, event)
        self._by_index[index] = block
        self.all.append(block)
        turn.keep(len(raw), event.start)
        if block.type in FITS["input_json_delta"]:
            self._begin_tool(block, start[0] or decode(raw, ToolUse, event), event)
        elif block.type in ("text", "thinking"):
            block.part = turn.open_text() if block.type == "text" else turn.open_reasoning()
            add = turn.add_text if block.type == "text" else turn.add_reasoning
            first = getattr(start[0] or decode(raw, FirstText, event), block.type)
            add(block.part, text_of(first, block.type, event), index, event.start)
        elif not block.is_known:
            turn.unknown(f"block type {block.type!r}", event.start)
        return block

    def _begin_tool(self, block: Block, tool: BlockMembers | ToolUse, event: Frame) -> None:
        turn = self._turn
        text, is_string = as_json_text(tool.input)
        if is_string and text:
            turn.anomaly("input_not_object", event.start, f"block {block.index} has its input as a string")
        if text is not None and text != "{}" and not _EMPTY.fullmatch(text):
            block.start_input = text
        if block.type != "tool_use":
            return
        block.call = turn.open_call((block.index,), index=block.index, kind="function", offset=event.start)
        if not turn.is_ended:
            turn.identify(block.call, tool.id, tool.name, event.start)
            if tool.toolset_name:
                turn.flag(block.call, "namespaced")
            turn.announce(block.call)

    def to_echo(self) -> Echo:
        """The content that goes back, in the order of the wire's positions."""
        ordered = self.all
        if len(ordered) > 1:
            ordered = sorted(ordered, key=lambda block: block.index)
        return Echo(tuple([kept for block in ordered if (kept := block.kept()) is not None]))


def _made(index: int, block_type: str, start: Start, raw: bytes, event: Frame) -> Block:
    usual, members = start
    if members is None and (usual is None or raw.count(b"{") + raw.count(b"[") > _DEEP):
        members = members_of(raw, event)
    is_known = block_type in _TYPES or block_type.endswith("_tool_result")
    is_told = "input" in members if members is not None else usual is not None and len(usual.input) > 0
    kept = raw if members is None else members
    lane = Lane() if block_type in SERVER_TOOLS else None
    return Block(index, _TYPES.get(block_type, block_type), kept, is_known, is_told, lane)


def start_of(raw: bytes) -> Start:
    """What a block's start tells, as far as it is of the usual types."""
    if len(raw) <= _SHORT:
        return _short_start(raw)
    if len(raw) <= _LONG:
        return attempt(raw, BlockMembers), None
    try:
        members = members_of(raw, ServerSentEvent())
    except TrigateError:
        return attempt(raw, BlockMembers), None  # said later, with its place
    told = object_of({name: members[name] for name in BlockMembers.__struct_fields__ if name in members})
    return attempt(told, BlockMembers), members


@lru_cache(maxsize=64)
def _short_start(raw: bytes) -> Start:
    """Nearly all blocks of text and thinking begin alike: that is kept once for all."""
    try:
        return attempt(raw, BlockMembers), members_of(raw, ServerSentEvent())
    except TrigateError:
        return attempt(raw, BlockMembers), None  # said later, with its place


def differs(told: str, joined: str) -> bool:
    """Whether two argument texts are different objects. That `joined` is one at all is judged elsewhere."""
    try:
        meant = json.loads(joined)
    except RecursionError:
        return True
    except ValueError:
        return False
    try:
        return json.dumps(json.loads(told), sort_keys=True) != json.dumps(meant, sort_keys=True)
    except (ValueError, RecursionError):
        return True


def _object_text(call: ToolCall) -> str:
    """The text of a call that is done, as JSON: it may be empty, or no JSON by the caller's leniency."""
    text = call.arguments
    return text if call._lane.json()[0] == "closed" else json.dumps(decode_object(text))

"""The content blocks of a ConverseStream turn: what each gathers, and its JSON when it is whole.

Rules
 - The index routes. Text, reasoning and citations have no start of their own; tools, results and images have.
 - A block goes back to the provider as it came. Signatures and redacted reasoning are never touched, and the
   input of a tool is its own text, digit by digit.
 - What is not whole does not go back: open blocks (but for text), and calls that nothing may answer.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Literal, TypeAlias

import msgspec

from trigate._core import Lane
from trigate.calls import ToolCall
from trigate.framing import Frame
from trigate.protocols.bedrock_converse_wire import SERVER_TOOL, ToolUse
from trigate.protocols.raw_json import array_of, is_object, json_of, object_of, word_of
from trigate.protocols.wire import decode
from trigate.response import ServerCall
from trigate.turn import TextPart
from trigate.validate import decode_object

__all__ = ["Block", "Kind", "kind_of", "member_of"]

#: What a block is: "empty" until a delta says it; "server" is a tool that the provider runs.
Kind: TypeAlias = Literal["empty", "text", "reasoning", "tool", "server", "toolResult", "image", "unknown"]


class Block:
    """One content block: where it stands, what it is, and what came for it.

    start: the members that its start gave, each value as the bytes that came. pieces: texts by member.
    citations, results: JSON values as they came; of a result, texts that follow each other are one.
    """

    __slots__ = (
        "call",
        "citations",
        "index",
        "input",
        "is_altered",
        "is_cut",
        "is_started",
        "is_stopped",
        "kind",
        "part",
        "pieces",
        "reasoning",
        "results",
        "start",
    )

    def __init__(self, index: int, kind: Kind, start: dict[str, bytes]) -> None:
        self.index = index
        self.kind: Kind = kind
        self.start = start
        self.call: ToolCall | None = None
        self.part: TextPart | None = None
        self.reasoning: TextPart | None = None
        self.pieces: dict[str, list[str]] = {}
        self.input = Lane()  # of a tool that the provider runs
        self.citations: list[bytes] = []
        self.results: list[bytes | list[str]] = []
        self.is_started = False  # by an event of its own
        self.is_stopped = False
        self.is_cut = False  # the message stopped inside it
        self.is_altered = False  # a delta came that is not understood

    @property
    def is_plain(self) -> bool:
        """Whether it shows text, of one sort or another: no action depends on it."""
        return self.kind in ("empty", "text", "reasoning")

    @property
    def has_pieces(self) -> bool:
        """Whether a delta added anything."""
        texts = (self.part, self.reasoning, self.input, self.call and self.call.arguments)
        return bool(self.pieces or self.citations or self.results or any(texts))

    def gather(self, member: str, piece: str) -> None:
        self.pieces.setdefault(member, []).append(piece)

    def gathered(self, member: str) -> str:
        return "".join(self.pieces.get(member, ()))

    def add_result(self, text: str | None, raw: bytes) -> None:
        """A part of a tool's result. text: where it is nothing but text."""
        last = self.results[-1] if self.results else None
        if text is None:
            self.results.append(raw)
        elif isinstance(last, list):
            last.append(text)
        else:
            self.results.append([text])

    # -- as JSON -----------------------------------------------------------------------------------

    def as_server_call(self) -> ServerCall:
        """For display: an input that is no JSON stands there as a string."""
        members = self._whole_result()
        if self.kind == "server":
            text = self.input.text or "{}"
            members = self.start | {"input": text.encode() if is_object(text) else json_of(text)}
        return ServerCall(
            type=word_of(self.start, "type") or self.kind,
            id=word_of(self.start, "toolUseId"),
            name=word_of(self.start, "name"),
            status=word_of(self.start, "status"),
            raw=object_of(members).decode(),
        )

    def to_json(self) -> list[bytes]:
        """The block as the provider wants it back: mostly one, none if it must not go back."""
        if self.is_plain:
            reasoning = self._reasoning_blocks() if self.is_stopped and not self.is_altered else []
            return reasoning + self._text_blocks()
        if not self.is_stopped or self.is_altered:
            return []
        match self.kind:
            case "tool":
                return self._tool_block()
            case "server":
                text = self.input.text or "{}"
                input_ = {"input": text.encode()} if is_object(text) else None
                return [] if input_ is None else [object_of({"toolUse": object_of(self.start | input_)})]
            case "toolResult":
                return [object_of({"toolResult": object_of(self._whole_result())})]
            case "image":
                blob = join_blobs(self.pieces.get("bytes", []))
                source = object_of({"bytes": json_of(blob)})
                return [object_of({"image": object_of(self.start | {"source": source})})] if blob else []
        return []

    def _whole_result(self) -> dict[str, bytes]:
        parts = [part if isinstance(part, bytes) else _text("".join(part)) for part in self.results]
        return self.start | {"content": array_of(parts)}

    def _text_blocks(self) -> list[bytes]:
        text = self.part.text if self.part is not None else ""
        texts = [_text(text)] if text else []
        if not self.citations:
            return texts
        cited = object_of({"content": array_of(texts), "citations": array_of(self.citations)})
        return [object_of({"citationsContent": cited})]

    def _reasoning_blocks(self) -> list[bytes]:
        found: list[bytes] = []
        members: dict[str, bytes] = {}
        if self.reasoning is not None or "signature" in self.pieces:
            members["text"] = self.reasoning.quoted() if self.reasoning is not None else b'""'
        if "signature" in self.pieces:
            members["signature"] = json_of(self.gathered("signature"))
        if members:
            found.append(object_of({"reasoningText": object_of(members)}))
        redacted = join_blobs(self.pieces.get("redactedContent", []))
        if redacted:
            found.append(object_of({"redactedContent": json_of(redacted)}))
        return [object_of({"reasoningContent": each}) for each in found]

    def _tool_block(self) -> list[bytes]:
        assert self.call is not None
        if self.call.state not in ("done", "released"):
            return []
        # The type of a client's tool is implied; the API's own model of a request does not know the word.
        members = {name: value for name, value in self.start.items() if name != "type"}
        text = self.call.arguments
        whole = text if self.call._lane.json()[0] == "closed" else json.dumps(decode_object(text))
        return [object_of({"toolUse": object_of(members | {"input": whole.encode()})})]


def join_blobs(pieces: list[str]) -> str | None:
    """Base64 pieces as one: unchanged where there is one. None if one of them is no base64."""
    if len(pieces) <= 1:
        return "".join(pieces)
    try:
        return base64.b64encode(b"".join(base64.b64decode(piece, validate=True) for piece in pieces)).decode()
    except (binascii.Error, ValueError):
        return None


def _text(text: str) -> bytes:
    return object_of({"text": json_of(text)})


def kind_of(told: dict[str, bytes], event: Frame) -> Kind:
    """What a block is by the members of its start: none for text, or by mistake an empty one of its own."""
    if "toolUse" in told:
        is_server = decode(msgspec.Raw(told["toolUse"]), ToolUse, event).type == SERVER_TOOL
        return "server" if is_server else "tool"
    if "toolResult" in told:
        return "toolResult"
    if "image" in told:
        return "image"
    return "empty" if told.keys() <= {"text", "reasoningContent"} else "unknown"


def member_of(kind: Kind) -> str | None:
    """The member of the start that holds a block of this kind."""
    return {"tool": "toolUse", "server": "toolUse", "toolResult": "toolResult", "image": "image"}.get(kind)

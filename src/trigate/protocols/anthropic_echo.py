"""What goes back of a Messages turn: its blocks, each as it was when the message stopped."""

from __future__ import annotations

import msgspec

from trigate._core import ServerSentEvent
from trigate.protocols.raw_json import array_of, json_of, object_of
from trigate.protocols.wire import members_of

__all__ = ["KeptBlock", "start_members"]


def start_members(start: bytes | dict[str, bytes]) -> dict[str, bytes]:
    """The members of a block's start, each value as the bytes that came."""
    return members_of(start, ServerSentEvent()) if isinstance(start, bytes) else start


class KeptBlock(msgspec.Struct, frozen=True):
    """One content block that is whole. start: that of the wire, as its JSON or as its members; maybe shared.

    text: what its deltas added up to, if it is one of text or thinking. input: the arguments of a tool, as JSON.
    citations: those that deltas added. pieces: what they added to other members.
    """

    type: str
    start: bytes | dict[str, bytes]
    text: str | None = None
    input: str | None = None
    citations: tuple[bytes, ...] = ()
    pieces: dict[str, str] | None = None

    def whole_members(self) -> dict[str, bytes]:
        """The start's members with what the deltas added."""
        members = dict(start_members(self.start))
        if self.text is not None:
            members[self.type] = json_of(self.text)
        if self.citations:
            before = members.get("citations", b"")
            held = before[1:-1].strip() if before[:1] == b"[" else b""
            members["citations"] = array_of([held, *self.citations] if held else list(self.citations))
        for member, piece in (self.pieces or {}).items():
            members[member] = json_of(piece)
        if self.input is not None:
            members["input"] = self.input.encode()
        return members

    def to_json(self) -> list[bytes]:
        return [object_of(self.whole_members())]

"""What the end of input left unfinished: told, never made into an event."""

from __future__ import annotations

import builtins
from typing import Literal

import msgspec

__all__ = ["Leftover"]


class Leftover(msgspec.Struct, frozen=True):
    """What the last event, record or message lacked. False in a test where nothing was left.

    where: None, "character" (inside a UTF-8 sequence), "line" (the last line has no end) or "event" (whole
    data, event or id lines without the blank line; of an event-stream, inside a message; of a JSON array, before
    its closing bracket). bytes: the raw bytes of the unended line, element or message. data: the data that the
    event would have had, or None without a data field (or in a message, which is checked as a whole alone).
    event: its type. start: offset of the unfinished block's first byte.
    """

    where: Literal["character", "line", "event"] | None = None
    bytes: builtins.bytes = b""
    data: str | None = None
    event: str = "message"
    start: int = 0

    def __bool__(self) -> bool:
        return self.where is not None

"""What goes back of a Gemini turn: its parts as JSON, written when they are asked for.

Rules
 - A turn has as many parts as it had pieces of text. Until somebody asks, plain ones are a text and the places of
   their ends; the text is the one that the response shows.
"""

from __future__ import annotations

import json
from array import array

import msgspec

__all__ = ["TextRun"]


class TextRun(msgspec.Struct, frozen=True):
    """Plain parts of one kind, one after the other. start, ends: bytes of `text` as UTF-8."""

    text: str
    start: int
    ends: array[int]
    is_thought: bool

    def to_json(self) -> list[bytes]:
        told = {"thought": True} if self.is_thought else {}
        data = self.text.encode()
        starts = [self.start, *self.ends]
        texts = (data[start:end].decode() for start, end in zip(starts, self.ends, strict=False))
        return [json.dumps({"text": text} | told).encode() for text in texts]

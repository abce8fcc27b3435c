"""What goes back of a Gemini turn: its parts as JSON, written when they are asked for.

Rules
 - A turn has as many parts as it had pieces of text. Until somebody asks, plain ones are a text and their
   sizes; the text is the one that the response shows.
"""

from __future__ import annotations

import json
from itertools import accumulate, pairwise

import msgspec

from trigate._core import Sizes

__all__ = ["TextRun"]


class TextRun(msgspec.Struct, frozen=True):
    """Plain parts of one kind, one after the other. start: a byte of `text` as UTF-8. sizes: theirs, packed."""

    text: str
    start: int
    sizes: bytes
    is_thought: bool

    def to_json(self) -> list[bytes]:
        told = {"thought": True} if self.is_thought else {}
        data = self.text.encode()
        ends = accumulate(Sizes.unpacked(self.sizes), initial=self.start)
        texts = (data[start:end].decode() for start, end in pairwise(ends))
        return [json.dumps({"text": text} | told).encode() for text in texts]

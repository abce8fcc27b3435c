"""Text that arrives in pieces, in JSON that may cut a character in half.

Rules
 - JSON writes a character beyond U+FFFF as two escapes. Two pieces may hold them: they are joined.
 - A half that stays alone is no character: in visible text it becomes U+FFFD.
"""

from __future__ import annotations

import re

__all__ = ["Pieces", "TextPart", "join_halves", "without_halves"]

# A short str costs fifty bytes more than its text: pieces are joined before their sum of that matters.
_JOIN_AT = 256

_HALVES = re.compile("[\ud800-\udfff]")


def join_halves(text: str) -> str:
    """Surrogate pairs become the characters that they name; lone halves stay."""
    if text.isascii() or not _HALVES.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def without_halves(text: str) -> str:
    """The same, with U+FFFD for lone halves."""
    return text if text.isascii() else _HALVES.sub("\ufffd", join_halves(text))


class Pieces:
    """A text that grows at its end: linear in all, and without the cost of a str for each small piece."""

    __slots__ = ("_blocks", "_recent")

    def __init__(self, text: str = "") -> None:
        self._blocks = [text] if text else []
        self._recent: list[str] = []

    def append(self, piece: str) -> None:
        self._recent.append(piece)
        if len(self._recent) >= _JOIN_AT:
            self._blocks.append("".join(self._recent))
            self._recent.clear()

    @property
    def text(self) -> str:
        if self._recent or len(self._blocks) > 1:
            self._blocks = ["".join((*self._blocks, *self._recent))]
            self._recent = []
        return self._blocks[0] if self._blocks else ""

    def __bool__(self) -> bool:
        return bool(self._blocks or self._recent)


class TextPart:
    """One visible text that arrives in pieces."""

    __slots__ = ("_half", "_pieces")

    def __init__(self) -> None:
        self._pieces = Pieces()
        self._half = ""

    def append(self, piece: str) -> str:
        """Adds a piece; returns what of it is whole characters."""
        if self._half or not piece.isascii():
            piece = self._whole(piece)
        if piece:
            self._pieces.append(piece)
        return piece

    def _whole(self, piece: str) -> str:
        whole = join_halves(self._half + piece)
        self._half = ""
        if whole and "\ud800" <= whole[-1] < "\udc00":
            self._half = whole[-1]
            whole = whole[:-1]
        return without_halves(whole)

    def close(self) -> None:
        """No piece follows: a half that still waits for its other one stays alone."""
        if self._half:
            self._pieces.append("\ufffd")
            self._half = ""

    @property
    def text(self) -> str:
        return self._pieces.text

    def is_equal(self, copy: str) -> bool:
        """Whether a later copy of the whole text says the same."""
        return self.text + ("\ufffd" if self._half else "") == without_halves(copy)

    def __bool__(self) -> bool:
        return bool(self._pieces or self._half)

"""Text that arrives in pieces, in JSON that may cut a character in half.

Rules
 - JSON writes a character beyond U+FFFF as two escapes. Two pieces may hold them: they are joined.
 - A half that stays alone is no character: in visible text it becomes U+FFFD.
"""

from __future__ import annotations

import re

__all__ = ["Pieces", "TextPart", "join_halves", "printable", "shown", "size_of", "without_halves"]

# A short str costs fifty bytes more than its text: pieces are joined before their sum of that matters.
_JOIN_AT = 256

_HALVES = re.compile("[\ud800-\udfff]")


def join_halves(text: str) -> str:
    """Surrogate pairs become the characters that they name; lone halves stay."""
    if text.isascii() or not _HALVES.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def size_of(text: str) -> int:
    """Its bytes as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def without_halves(text: str) -> str:
    """The same, with U+FFFD for lone halves."""
    return text if text.isascii() else _HALVES.sub("\ufffd", join_halves(text))


def printable(text: str) -> str:
    """The text with what is neither printable nor a space as escapes: halves cannot be encoded, controls do harm."""
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(letter: str) -> str:
    return letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")


def shown(text: str) -> str:
    """The text quoted, for a message to people: its begin alone where it is long."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


class Pieces:
    """A text that grows at its end: linear in all, and without the cost of a str for each small piece.

    One thread appends; any other may read meanwhile. So reading changes nothing that appending relies on: a piece
    that a reader made disappear would leave a shorter, perhaps valid text.
    """

    __slots__ = ("_count", "_pieces", "_recent", "_told")

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []
        self._recent = 0  # pieces at the end that are not joined yet
        self._count = 0  # appended in all
        self._told = (0, text)  # a text, and how many pieces at least are in it

    def append(self, piece: str) -> None:
        pieces = self._pieces
        pieces.append(piece)
        self._recent += 1
        if self._recent >= _JOIN_AT:
            pieces[-_JOIN_AT:] = ["".join(pieces[-_JOIN_AT:])]  # one step: no reader sees half of it
            self._recent = 0
        self._count += 1

    @property
    def text(self) -> str:
        count, text = self._told
        if count != self._count:
            count = self._count  # before the text: what comes in between is read again next time
            text = "".join(self._pieces)
            self._told = (count, text)
        return text

    def __bool__(self) -> bool:
        return bool(self._pieces)


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
        self._pieces = Pieces(self._pieces.text)

    @property
    def text(self) -> str:
        return self._pieces.text

    def is_equal(self, copy: str) -> bool:
        """Whether a later copy of the whole text says the same."""
        return self.text + ("\ufffd" if self._half else "") == without_halves(copy)

    def __bool__(self) -> bool:
        return bool(self._pieces or self._half)

"""Text that arrives in pieces, in JSON that may cut a character in half.

Rules
 - JSON writes a character beyond U+FFFF as two escapes. Two pieces may hold them: they are joined.
 - A half that stays alone is no character: in visible text it becomes U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from trigate._core import Lane

__all__ = [
    "TextPart",
    "Texts",
    "has_halves",
    "join_halves",
    "printable",
    "shortened",
    "shown",
    "size_of",
    "without_halves",
]

_HALVES = re.compile("[\ud800-\udfff]")


def has_halves(text: str) -> bool:
    """Whether halves of surrogate pairs stand in it."""
    return not text.isascii() and _HALVES.search(text) is not None


def join_halves(text: str) -> str:
    """Surrogate pairs become the characters that they name; lone halves stay."""
    if not has_halves(text):
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


def shortened(text: str, most: int) -> str:
    """The text; of a longer one so many characters, the last three of them dots."""
    return text if len(text) <= most else text[: most - 3] + "..."


def shown(text: str) -> str:
    """The text quoted, for a message to people: its begin alone where it is long."""
    return repr(shortened(text, 80))


class TextPart:
    """One visible text that arrives in pieces."""

    __slots__ = ("_half", "lane")

    def __init__(self) -> None:
        self.lane = Lane()
        self._half = ""

    @property
    def has_half(self) -> bool:
        """Whether half a character waits for its other one."""
        return self._half != ""

    def append(self, piece: str) -> str:
        """Adds a piece; returns what of it is whole characters."""
        if self._half or not piece.isascii():
            piece = self._whole(piece)
        if piece:
            self.lane.append(piece)
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
            self.lane.append("\ufffd")
            self._half = ""

    @property
    def text(self) -> str:
        return self.lane.text

    def quoted(self) -> bytes:
        """The text as a JSON string."""
        return self.lane.quoted()

    def is_equal(self, copy: str) -> bool:
        """Whether a later copy of the whole text says the same."""
        text = self.lane.text
        if text == copy and not self._half:
            return True  # so there are no halves in the copy either
        return text + ("\ufffd" if self._half else "") == without_halves(copy)

    def __bool__(self) -> bool:
        return bool(self.lane or self._half)


class Texts(msgspec.Struct, eq=False):
    """All that one response shows, part by part: its text by choice, its reasoning, its refusal."""

    _text: list[TextPart] | None = None  # of choice 0; a list is made for its first part
    _others: dict[int, list[TextPart]] | None = None
    _reasoning: list[TextPart] | None = None
    _refusal: list[TextPart] | None = None

    def open_text(self, choice: int) -> TextPart:
        if choice == 0:
            self._text = self._text or []
            return _opened(self._text)
        self._others = self._others or {}
        return _opened(self._others.setdefault(choice, []))

    def open_reasoning(self) -> TextPart:
        self._reasoning = self._reasoning or []
        return _opened(self._reasoning)

    def open_refusal(self) -> TextPart:
        self._refusal = self._refusal or []
        return _opened(self._refusal)

    def parts(self) -> Iterator[TextPart]:
        """All of them, of every kind and choice."""
        yield from self._text or ()
        for parts in (self._others or {}).values():
            yield from parts
        yield from self._reasoning or ()
        yield from self._refusal or ()

    def close(self) -> None:
        """No piece follows, of any of them."""
        for part in self.parts():
            if part._half:
                part.close()

    def told(self) -> tuple[tuple[str, ...], str, str]:
        """(texts, reasoning, refusal): of the first the text of each choice, up to the last that has any."""
        text = _joined(self._text) if self._text is not None else ""
        reasoning = _joined(self._reasoning) if self._reasoning is not None else ""
        refusal = _joined(self._refusal) if self._refusal is not None else ""
        if self._others is None:
            return (text,), reasoning, refusal
        others = [_joined(self._others.get(choice, ())) for choice in range(1, max(self._others) + 1)]
        return (text, *others), reasoning, refusal


def _opened(parts: list[TextPart]) -> TextPart:
    parts.append(TextPart())
    return parts[-1]


def _joined(parts: Sequence[TextPart]) -> str:
    if len(parts) == 1:
        return parts[0].lane.text
    return "".join([part.lane.text for part in parts])

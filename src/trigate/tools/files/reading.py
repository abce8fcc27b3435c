"""read_file: a file's lines, page by page, with the version that a later change must name.

Rules
 - Following `next` until `complete` gives the whole text, to the last character: no line is too long for it.
 - The version is that of the whole content, whatever part is shown.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from trigate.text import size_of
from trigate.tools.files.root import Root
from trigate.tools.problem import Finding, ToolError

__all__ = ["FilePart", "FilePath", "Place", "Reader"]


class Place(msgspec.Struct, frozen=True):
    """Where to go on: arguments of the next call. Lines and columns count from 1."""

    start_line: int
    start_column: int = 1


class FilePart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Some lines of a file.

    version: SHA-256 of the whole content. bytes, lines: of the whole file. start_line, end_line: what is shown;
    end_line is before start_line where that is nothing. complete: whether the file ends with what is shown; if not,
    `next` says how to go on.
    """

    path: str
    version: str
    bytes: int
    lines: int
    start_line: int
    end_line: int
    text: str
    complete: bool
    next: Place | None = None


FilePath = Annotated[
    str, msgspec.Meta(description="path of the file, relative to the root, divided by /", max_length=4096)
]
_Line = Annotated[int, msgspec.Meta(ge=1, description="first line to read, from 1")]
_Column = Annotated[int, msgspec.Meta(ge=1, description="first character of that line, from 1")]
_Count = Annotated[int, msgspec.Meta(ge=1, description="how many lines at most")]


class Reader:
    """page_bytes: how much text one call shows."""

    def __init__(self, root: Root, page_bytes: int) -> None:
        self._root = root
        self._page_bytes = page_bytes

    def read_file(
        self, path: FilePath, start_line: _Line = 1, start_column: _Column = 1, max_lines: _Count = 2000
    ) -> FilePart:
        """Reads lines of a text file. If `complete` is false, call again with what `next` says to go on."""
        with self._root.file(path) as opened:
            text, version = self._root.text(opened)
        lines = _lines(text)
        if start_line > max(1, len(lines)):
            found = Finding("$.start_line", f"1 to {max(1, len(lines))}", str(start_line))
            raise ToolError(f"{path} has {len(lines)} lines", code="invalid_arguments", findings=(found,))
        shown, end_line, following = self._page(lines, Place(start_line, start_column), max_lines)
        return FilePart(
            path=path,
            version=version,
            bytes=size_of(text),
            lines=len(lines),
            start_line=start_line,
            end_line=end_line,
            text=shown,
            complete=following is None,
            next=following,
        )

    def _page(self, lines: list[str], start: Place, max_lines: int) -> tuple[str, int, Place | None]:
        """What fits from there, the last line of it, and where to go on."""
        room = self._page_bytes
        taken: list[str] = []
        number, column = start.start_line, start.start_column
        while number <= len(lines) and number < start.start_line + max_lines:
            rest = lines[number - 1][column - 1 :]
            piece = _beginning(rest, room if taken else self._page_bytes)
            if len(piece) < len(rest) and taken:
                return "".join(taken), number - 1, Place(number, column)
            taken.append(piece)
            room -= size_of(piece)
            if len(piece) < len(rest):
                return "".join(taken), number, Place(number, column + len(piece))
            number, column = number + 1, 1
        return "".join(taken), number - 1, Place(number) if number <= len(lines) else None


def _lines(text: str) -> list[str]:
    """The lines with their ends; a line ends at LF alone, so that they join to the same text."""
    lines = [each + "\n" for each in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _beginning(text: str, room: int) -> str:
    """As many whole characters as fit into so many bytes."""
    if size_of(text) <= room:
        return text
    return text.encode()[: max(room, 0)].decode("utf-8", "ignore")

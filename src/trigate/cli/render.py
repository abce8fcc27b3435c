"""How results look: shortened, escaped, in columns; with colour and rich tables where a terminal has them.

Rules
 - A stream is hostile until shown otherwise. Control characters, marks that turn the direction of text, and invisible
   ones are written as escapes, so that nothing of it can drive a terminal or hide in it.
 - A pipe gets plain text, whole: no escape codes, nothing shortened (unless COLUMNS says how wide).
 - rich is imported here, when it is wanted, and never missed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

__all__ = ["Row", "Screen", "dump_json", "escape", "shorten"]

Row: TypeAlias = Sequence[str]

# C0, DEL, C1, soft hyphen, invisible and bidirectional marks, line and paragraph separators, byte order mark,
# interlinear marks, halves of surrogate pairs, tags. The joiners U+200C and U+200D stay: emoji and scripts need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_GAP = "  "
_MOST_PADDING = 40  # a column is never wider for the others' sake
_LEAST_WIDTH = 20
_LONGEST_VALUE = 1000
_STYLES = {
    "released": "bold green",
    "completed": "bold green",
    "done": "yellow",
    "streaming": "yellow",
    "incomplete": "bold yellow",
    "cancelled": "bold yellow",
    "void": "bold red",
    "truncated": "bold red",
    "failed": "bold red",
    "conflict": "bold red",
}


def escape(text: str) -> str:
    """The text with everything visible that could drive a terminal, or hide."""
    return _UNSAFE.sub(_escape_one, text)


def _escape_one(match: re.Match[str]) -> str:
    letter = match.group()
    code = ord(letter)
    if letter in _SHORT:
        return _SHORT[letter]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shorten(text: str, width: int | None) -> str:
    """The text escaped, in at most `width` cells of a terminal; None: whole."""
    if width is None:
        return escape(text)
    shown = escape(text[: width + 1])
    if _cells(shown) <= width and len(text) <= width + 1:
        return shown
    kept, used = [], 1  # one cell for the ellipsis
    for letter in shown:
        used += _cells(letter)
        if used > width:
            break
        kept.append(letter)
    return "".join(kept) + "…"


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_cell(letter) for letter in text)


def _cell(letter: str) -> int:
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") else 1


def dump_json(value: Any, *, indent: int | None = None) -> str:
    """`value` as JSON that a terminal can show: what `escape` escapes stands as \\u escapes, loss-free."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(value, ensure_ascii=not encoding.startswith("utf"), allow_nan=False, indent=indent)
    return _UNSAFE.sub(_escape_json, text)


def _escape_json(match: re.Match[str]) -> str:
    letter = match.group()
    if letter == "\n":  # the only one that stands outside strings: the dumper's own indentation
        return letter
    return json.dumps(letter)[1:-1] if letter != "\x7f" else "\\u007f"


class Screen:
    """Standard output: how wide, and whether it takes colour.

    width: cells of a line, None where nothing need be shortened. is_terminal: whether a person looks.
    """

    def __init__(self) -> None:
        out = sys.stdout
        self.is_terminal = out.isatty()
        self.width: int | None = None
        if self.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
            self.width = max(shutil.get_terminal_size().columns, _LEAST_WIDTH)
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._rich = self.is_terminal and not plain and _has_rich()
        if hasattr(out, "reconfigure"):
            out.reconfigure(errors="backslashreplace")

    def write(self, line: str) -> None:
        sys.stdout.write(line + "\n")

    def flush(self) -> None:
        sys.stdout.flush()

    def paint(self, text: str, style: str) -> str:
        """A piece of a line, in colour where there is any. `text` is escaped already."""
        if not self._rich:
            return text
        from rich.color import ColorSystem
        from rich.style import Style

        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)

    def table(self, head: Row, rows: Iterable[Row]) -> None:
        """Rows in columns; the last column takes what is left of the width."""
        limit = None if self.width is None else _MOST_PADDING
        cells = [[*(shorten(cell, limit) for cell in row[:-1]), shorten(row[-1], self.width)] for row in rows]
        if self._rich:
            self._rich_table(head, cells)
        else:
            self._plain_table(head, cells)

    def _plain_table(self, head: Row, rows: Sequence[Row]) -> None:
        widths = [min(max(map(_cells, column)), _MOST_PADDING) for column in zip(head, *rows, strict=True)]
        taken = sum(widths[:-1]) + len(_GAP) * (len(head) - 1)
        rest = None if self.width is None else max(self.width - taken, _LEAST_WIDTH)
        for row in (head, *rows):
            padded = [cell + " " * (width - _cells(cell)) for cell, width in zip(row, widths, strict=True)]
            self.write(_GAP.join([*padded[:-1], shorten(row[-1], rest)]).rstrip())

    def _rich_table(self, head: Row, rows: Sequence[Row]) -> None:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for name in head[:-1]:
            table.add_column(name, no_wrap=True, overflow="ellipsis")
        table.add_column(head[-1], no_wrap=True, overflow="ellipsis", ratio=1, min_width=_LEAST_WIDTH)
        for row in rows:
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
        Console(file=sys.stdout, width=self.width, highlight=False).print(table)

    def details(self, rows: Sequence[Row]) -> None:
        """Label and value, one pair a line; the terminal wraps long ones. A value that begins with a state has its colour."""
        column = max((_cells(label) for label, _ in rows), default=0)
        for label, value in rows:
            text = shorten(value, None if self.width is None else _LONGEST_VALUE)
            style = _STYLES.get(value.partition(":")[0])
            padded = label + " " * (column - _cells(label))
            self.write(self.paint(padded, "dim") + _GAP + (self.paint(text, style) if style else text))


def _has_rich() -> bool:
    try:
        import rich  # noqa: F401 - only asked whether it is there
    except ImportError:
        return False
    return True

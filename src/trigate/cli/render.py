"""How results look: shortened, escaped, in columns; with colour and rich tables where a terminal has them.

Rules
 - A stream is hostile until shown otherwise. Control characters, marks that turn the direction of text,
   and invisible ones are written as escapes, so that nothing of it can drive a terminal or hide in it.
 - A pipe gets plain text, whole: no escape codes, nothing shortened (unless COLUMNS says how wide).
 - rich is imported here, when it is wanted, and never missed.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, TypeAlias

__all__ = ["Row", "Screen", "complain", "dump_json", "escape", "shorten"]

Row: TypeAlias = Sequence[str]

# C0, DEL, C1, soft hyphen, invisible and bidirectional marks, line and paragraph separators, byte order
# mark, interlinear marks, halves of surrogate pairs, tags; fillers and variation selectors, in which whole texts
# have been hidden. The joiners U+200C and U+200D and the emoji's selectors U+FE0E and U+FE0F stay: emoji and scripts
# need them.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_GAP = "  "
_MOST_PADDING = 40  # a column is never wider for the others' sake
_LEAST_WIDTH = 20
_LEAST_COLUMN = 12
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
    "succeeded": "bold green",
    "claimed": "yellow",
    "unknown": "bold red",
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


def complain(verb: str, text: str) -> None:
    """One line on standard error, if there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"trigate {verb}: {escape(text)}\n")


class Screen:
    """Standard output: how wide, and whether it takes colour. It may be closed: then nothing is written.

    width: cells of a line, None where nothing need be shortened. is_terminal: whether a person looks.
    """

    def __init__(self) -> None:
        out = sys.stdout
        self.is_terminal = out is not None and out.isatty()
        self.width: int | None = None
        if self.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
            self.width = max(shutil.get_terminal_size().columns, _LEAST_WIDTH)
        plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self._rich = self.is_terminal and not plain and _has_rich()
        if isinstance(out, io.TextIOWrapper):
            out.reconfigure(errors="backslashreplace")

    def write(self, line: str) -> None:
        if sys.stdout is not None:
            sys.stdout.write(line + "\n")

    def flush(self) -> None:
        if sys.stdout is not None:
            sys.stdout.flush()

    def paint(self, text: str, style: str) -> str:
        """A piece of a line, in colour where there is any. `text` is escaped already."""
        if not self._rich:
            return text
        from rich.color import ColorSystem
        from rich.style import Style

        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)

    def table(self, head: Row, rows: Sequence[Row]) -> None:
        """Rows in columns, the last one with what is left of the width; on a narrow screen one block each."""
        gap = 3 if self._rich else len(_GAP)  # rich draws its columns with this many cells between them
        width = None if self.width is None else self.width - (2 if self._rich else 0)
        fitted = _fit(head, rows, width, gap)
        if fitted is None:
            self._blocks(head, rows)
            return
        if self._rich:
            self._rich_table(head, fitted)
            return
        columns = zip(head, *fitted, strict=True)
        widths = [min(max(map(_cells, column)), _MOST_PADDING) for column in columns]
        for row in (head, *fitted):
            padded = [cell + " " * (size - _cells(cell)) for cell, size in zip(row, widths, strict=True)]
            self.write(_GAP.join(padded).rstrip())

    def _rich_table(self, head: Row, rows: Sequence[Row]) -> None:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
        for name in head:
            table.add_column(name, no_wrap=True)
        for row in rows:
            table.add_row(*(Text(cell, style=_STYLES.get(cell, "")) for cell in row))
        Console(file=sys.stdout, width=self.width, highlight=False).print(table)

    def _blocks(self, head: Row, rows: Sequence[Row]) -> None:
        assert self.width is not None
        room = self.width - max(map(len, head)) - len(_GAP)
        for number, row in enumerate(rows):
            if number:
                self.write("")
            self.details([(name.lower(), shorten(cell, room)) for name, cell in zip(head, row, strict=True)])

    def details(self, rows: Sequence[Row]) -> None:
        """Label and value, one pair a line; the terminal wraps long ones.

        A value that begins with a state has its colour.
        """
        column = max((_cells(label) for label, _ in rows), default=0)
        for label, value in rows:
            text = shorten(value, None if self.width is None else _LONGEST_VALUE)
            style = _STYLES.get(value.partition(":")[0])
            padded = label + " " * (column - _cells(label))
            self.write(self.paint(padded, "dim") + _GAP + (self.paint(text, style) if style else text))


def _fit(head: Row, rows: Sequence[Row], width: int | None, gap: int) -> list[list[str]] | None:
    """The cells escaped, and short enough for lines of `width` cells; None where that cannot be.

    The last column has what the others leave. Where that is too little, the first two give way.
    """
    if width is None:
        return [[escape(cell) for cell in row] for row in rows]
    bounds = [_MOST_PADDING] * (len(head) - 1)
    fitted = [[shorten(cell, _MOST_PADDING) for cell in row[:-1]] for row in rows]
    sizes = [max(map(_cells, column)) for column in zip(head, *fitted, strict=False)]
    rest = width - sum(sizes) - gap * len(sizes)
    for column in (0, 1):
        given = max(min(_LEAST_WIDTH - rest, sizes[column] - _LEAST_COLUMN), 0)
        bounds[column] = min(bounds[column], sizes[column] - given)
        rest += given
    if rest < _LEAST_WIDTH:
        return None
    return [
        [*(shorten(cell, bound) for cell, bound in zip(row, bounds, strict=False)), shorten(row[-1], rest)]
        for row in rows
    ]


def _has_rich() -> bool:
    try:
        import rich  # noqa: F401 - only asked whether it is there
    except ImportError:
        return False
    return True

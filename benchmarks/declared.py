"""The shapes that a protocol declares, written for the C programs (c/declared.h).

Rules
 - They are the package's own: the module that declares them is run once more, with a list in the place of the
   core's object. What is measured in C is so what a parser has.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from unittest import mock

from trigate.protocols import interpreter, shapes

__all__ = ["declared", "write"]

_Row = tuple[tuple[str | None, ...], str, bytes]


def _rows_of(protocol: str) -> list[list[_Row]]:
    wanted = interpreter(protocol).shapes
    for module in list(sys.modules.values()):
        if wanted is not None and getattr(module, "SHAPES", None) is wanted:
            with mock.patch.object(shapes, "Shapes", list):
                rows = runpy.run_path(str(module.__file__))["SHAPES"]
            if isinstance(rows, list):  # others import what one declares
                return rows
    raise LookupError(f"no module declares the shapes of {protocol}")


def declared(protocol: str) -> str:
    """One line for each place; `shape` before those of each shape."""
    lines = []
    for shape in _rows_of(protocol):
        lines.append("shape")
        for path, role, literal in shape:
            lines.append("\t".join((role, literal.decode(), *(name or "" for name in path))))
    return "\n".join(lines) + "\n"


def write(protocol: str, folder: Path) -> Path:
    file = folder / f"{protocol}.shapes"
    file.write_text(declared(protocol), encoding="utf-8")
    return file

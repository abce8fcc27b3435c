"""The shapes that a protocol declares, written for the C programs (c/declared.h).

Rules
 - They are the package's own: the module that declares them is run once more, with a list in the place of the
   core's object. What is measured in C is so what a parser has.
"""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path
from unittest import mock

from trigate.protocols import shapes

__all__ = ["declared", "write"]

#: Where each protocol's SHAPES stand.
_MODULES = {
    "openai-responses": "responses_shapes",
    "openai-chat": "openai_chat_shapes",
    "anthropic-messages": "anthropic_wire",
    "gemini": "gemini_wire",
}


def declared(protocol: str) -> str:
    """One line for each place; `shape` before those of each shape."""
    file = importlib.import_module(f"trigate.protocols.{_MODULES[protocol]}").__file__
    with mock.patch.object(shapes, "Shapes", list):
        rows = runpy.run_path(str(file))["SHAPES"]
    lines = []
    for shape in rows:
        lines.append("shape")
        for path, role, literal in shape:
            lines.append("\t".join((role, literal.decode(), *(name or "" for name in path))))
    return "\n".join(lines) + "\n"


def write(protocol: str, folder: Path) -> Path:
    file = folder / f"{protocol}.shapes"
    file.write_text(declared(protocol), encoding="utf-8")
    return file

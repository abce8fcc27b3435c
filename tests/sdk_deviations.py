"""The tables of docs/compat in which an SDK's decoder departs from the standard: their rows, read and tried.

A row holds a body, what the SDK's decoder gives and what ours gives, as Python literals, and the clause.
An event is written (event, data, id, retry); an exception that ends the body by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Row", "check_rows", "rows"]

PAGES = Path(__file__).resolve().parent.parent / "docs" / "compat"


class Row(NamedTuple):
    body: bytes
    original: list[Any]
    ours: list[Any]
    clause: str


def rows(page: str) -> list[Row]:
    """The rows of a page's table "Where it departs from the standard"."""
    text = (PAGES / page).read_text(encoding="utf-8")
    section = text.partition("## Where it departs from the standard\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    literal = ast.literal_eval
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines]
    return [
        Row(literal(body), literal(original), literal(ours), clause) for body, original, ours, clause in cells
    ]


def check_rows(row: Row, original: Callable[[], Any], ours: Callable[[], Any]) -> None:
    """Both decoders give what the row says, whole and byte by byte."""
    for chunks in ([row.body], [row.body[at : at + 1] for at in range(len(row.body))]):
        assert _given(original(), chunks) == row.original
        assert _given(ours(), chunks) == row.ours
    assert row.original != row.ours
    assert row.clause


def _given(decoder: Any, chunks: list[bytes]) -> list[Any]:
    found: list[Any] = []
    try:
        for event in decoder.iter_bytes(iter(chunks)):
            found.append((event.event, event.data, event.id, event.retry))
    except Exception as error:
        found.append(type(error).__name__)
    return found

"""What programs write into pages: the text between two marks, and nothing else of the page."""

from __future__ import annotations

from pathlib import Path

__all__ = ["put"]


def put(page: Path, begin: str, end: str, text: str) -> None:
    """The text takes the place of what stood between the marks; a page without them is refused."""
    before, begun, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{page} has no place for this: {begin} ... {end}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")

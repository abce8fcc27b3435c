"""Makes the pages, the plots and the README's figures from the record of a run.

Rules
 - It measures nothing: the same record gives the same files.
 - A page of a group that the record has not is taken away: it would be of another run.
 - The README quotes whole runs alone.

usage: report.py FIGURES FOLDER [--readme README]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import marks
import plots
import tables
from book import Book

BEGIN, END = "<!-- figures: written by make bench-full -->", "<!-- end of figures -->"


def main() -> int:
    parser = argparse.ArgumentParser(description="Pages and plots from the record of a run.")
    parser.add_argument("figures", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--readme", type=Path, help="put the summary between its markers")
    options = parser.parse_args()
    book = Book.load(options.figures)
    options.folder.mkdir(parents=True, exist_ok=True)
    for group in tables.PAGES:
        for ending in ("md", "svg"):
            (options.folder / f"{group}.{ending}").unlink(missing_ok=True)
    for name, text in tables.pages(book).items():
        (options.folder / name).write_text(text, encoding="utf-8")
    plots.draw(book, options.folder)
    if options.readme is not None and tables.is_whole(book):
        marks.put(options.readme, BEGIN, END, tables.summary(book))
    print(tables.summary(book), tables.asked(book), f"written to {options.folder}", sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""search_files: where a text stands, in all files of a directory and below, in the order of their paths.

Rules
 - The query is plain text, not a pattern: no query takes longer than reading the files does.
 - It stops at a number of matches, files or bytes, and says where to go on. What could not be searched is told.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import closing
from typing import Annotated

import msgspec

from trigate.tools.context import Context
from trigate.tools.files.listing import Directory, entries_of
from trigate.tools.files.root import Root
from trigate.tools.problem import Finding, ToolError, spell

__all__ = ["Match", "Search", "SearchResult", "Skipped"]

_MAX_FILES = 2000
_MAX_BYTES = 64 * 1024 * 1024
_MAX_LEVELS = 32
_MAX_SKIPPED = 10
_AROUND = 100

_Query = Annotated[str, msgspec.Meta(min_length=1, max_length=1000, description="plain text within one line")]
_Start = Annotated[str, msgspec.Meta(description="go on at this file: what `next` of the last result said")]
_StartLine = Annotated[int, msgspec.Meta(ge=1, description="go on at this line of it")]


class Match(msgspec.Struct, frozen=True):
    """One line that holds the query. line: from 1. text: the line, or the part of it around the query."""

    path: str
    line: int
    text: str


class Skipped(msgspec.Struct, frozen=True):
    """A file that could not be searched."""

    path: str
    why: str


class Resume(msgspec.Struct, frozen=True):
    """Where to go on: arguments of the next call."""

    start_path: str
    start_line: int = 1


class SearchResult(msgspec.Struct, kw_only=True, omit_defaults=True):
    """matches: in the order of paths and lines. files: how many were searched. skipped: the first that could not be,
    of skipped_count. complete: whether all was searched; if not, `next` says how to go on."""

    matches: list[Match]
    files: int
    skipped: list[Skipped] = []
    skipped_count: int = 0
    complete: bool
    next: Resume | None = None


class Search:
    """max_matches: how many one call shows."""

    def __init__(self, root: Root, max_matches: int) -> None:
        self._root = root
        self._max_matches = max_matches

    def search_files(
        self,
        query: _Query,
        context: Context,
        directory: Directory = "",
        ignore_case: bool = True,
        start_path: _Start = "",
        start_line: _StartLine = 1,
    ) -> SearchResult:
        """Finds the lines that hold a text. If `complete` is false, call again with what `next` says to go on."""
        if "\n" in query or "\r" in query:
            finding = Finding("$.query", "text within one line", spell(query))
            raise ToolError("the query holds a line end", code="invalid_arguments", findings=(finding,))
        parts = self._root.parts(directory, "directory")
        start = self._root.parts(start_path, "start_path")
        if start[: len(parts)] != parts[: len(start)]:
            finding = Finding("$.start_path", f"a path in {directory}", spell(start_path))
            raise ToolError(
                "start_path is not in the directory", code="invalid_arguments", findings=(finding,)
            )
        run = _Run(self._root, re.compile(re.escape(query), re.IGNORECASE if ignore_case else 0), context)
        with (
            self._root.directory(parts) as descriptor,
            closing(run.walk(descriptor, parts, start[len(parts) :])) as files,
        ):
            for parent, path in files:
                if not run.take(parent, path, start_line if path == start else 1, self._max_matches):
                    break
        return run.result


class _Run:
    """One search while it goes on."""

    def __init__(self, root: Root, pattern: re.Pattern[str], context: Context) -> None:
        self.result = SearchResult(matches=[], files=0, complete=True)
        self._root = root
        self._pattern = pattern
        self._context = context
        self._bytes = 0

    def walk(
        self, descriptor: int, parts: tuple[str, ...], start: tuple[str, ...]
    ) -> Generator[tuple[int, tuple[str, ...]], None, None]:
        """Each file from `start` on: its open directory, and its path. In each directory the order is that of names."""
        found = [each for each in entries_of(self._root, descriptor, self._context) if each is not None]
        for entry in sorted(found, key=lambda each: each.name):
            if start and entry.name < start[0]:
                continue
            path = (*parts, entry.name)
            if entry.kind == "file":
                yield descriptor, path
                continue
            inner = start[1:] if start and entry.name == start[0] else ()
            try:
                if len(path) > _MAX_LEVELS:
                    raise ToolError(
                        f"directories are nested deeper than {_MAX_LEVELS} levels", code="too_large"
                    )
                with self._root.subdirectory(descriptor, entry.name, "/".join(path)) as opened:
                    yield from self.walk(opened, path, inner)
            except (ToolError, OSError) as error:
                self._skip("/".join(path), error)

    def take(self, parent: int, path: tuple[str, ...], start_line: int, max_matches: int) -> bool:
        """Searches one file; whether there is room for another."""
        self._context.check()
        shown = "/".join(path)
        if self.result.files + self.result.skipped_count >= _MAX_FILES or self._bytes >= _MAX_BYTES:
            return self._stop(Resume(shown, start_line))
        try:
            with self._root.file_in(parent, path[-1], shown) as opened:
                self._bytes += min(opened.status.st_size, self._root.max_bytes)
                text, _ = self._root.text(opened)
        except (ToolError, OSError) as error:
            self._skip(shown, error)
            return True
        self.result.files += 1
        if self._pattern.search(text) is None:
            return True
        for number, line in enumerate(text.split("\n"), 1):
            found = self._pattern.search(line) if number >= start_line else None
            if found is not None:
                if len(self.result.matches) == max_matches:
                    return self._stop(Resume(shown, number))
                self.result.matches.append(Match(shown, number, _around(line, found.start(), found.end())))
        return True

    def _skip(self, shown: str, error: ToolError | OSError) -> None:
        """What could not be searched; not what was called off."""
        if isinstance(error, ToolError) and error.code == "cancelled":
            raise error
        self.result.skipped_count += 1
        if len(self.result.skipped) < _MAX_SKIPPED:
            why = error.message if isinstance(error, ToolError) else "it cannot be read"
            self.result.skipped.append(Skipped(shown, why))

    def _stop(self, place: Resume) -> bool:
        self.result.complete = False
        self.result.next = place
        return False


def _around(line: str, start: int, end: int) -> str:
    """The line; of a long one what stands around the match."""
    first, last = max(0, start - _AROUND), min(len(line), end + _AROUND)
    return ("..." if first else "") + line[first:last].rstrip("\r") + ("..." if last < len(line) else "")

"""list_files: what one directory holds, in the order of names, a page at a time.

Rules
 - Only what the other tools can use is shown: files with an allowed suffix, and directories. Links, devices and the
   like are counted, not named.
 - A directory of any size costs the memory of one page.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from typing import Annotated

import msgspec

from trigate.text import has_halves
from trigate.tools.context import Context
from trigate.tools.files.root import Root

__all__ = ["Directory", "Entry", "Listing", "entries_of"]

Directory = Annotated[
    str,
    msgspec.Meta(
        description='path of a directory, relative to the root; "" for the root itself', max_length=4096
    ),
]
_After = Annotated[
    str, msgspec.Meta(description="only names behind this one: what `next` of the last page said")
]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One name. kind: "file" or "directory". bytes: of a file."""

    name: str
    kind: str
    bytes: int | None = None


class After(msgspec.Struct, frozen=True):
    """Where to go on: arguments of the next call."""

    after: str


class Page(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Some entries of a directory. left_out: how many names of the whole directory cannot be used with these tools."""

    directory: str
    entries: list[Entry]
    complete: bool
    next: After | None = None
    left_out: int = 0


class Listing:
    """page: how many entries one call shows."""

    def __init__(self, root: Root, page: int) -> None:
        self._root = root
        self._page = page

    def list_files(self, context: Context, directory: Directory = "", after: _After = "") -> Page:
        """Lists one directory. If `complete` is false, call again with what `next` says to go on."""
        left_out = 0

        def seen(descriptor: int) -> Iterator[Entry]:
            nonlocal left_out
            for entry in entries_of(self._root, descriptor, context):
                if entry is None:
                    left_out += 1
                elif entry.name > after:
                    yield entry

        with self._root.directory(self._root.parts(directory, "directory")) as descriptor:
            found = heapq.nsmallest(self._page + 1, seen(descriptor), key=lambda entry: entry.name)
        shown = found[: self._page]
        is_complete = len(found) == len(shown)
        following = None if is_complete else After(shown[-1].name)
        return Page(
            directory=directory, entries=shown, complete=is_complete, next=following, left_out=left_out
        )


def entries_of(root: Root, descriptor: int, context: Context) -> Iterator[Entry | None]:
    """What an open directory holds, in no order; None for each name that is left out."""
    with os.scandir(descriptor) as scan:
        for each in scan:
            context.check()
            yield _entry(root, each)


def _entry(root: Root, each: os.DirEntry[str]) -> Entry | None:
    if each.name.startswith(".") or has_halves(each.name):  # a name that is not UTF-8 could not be told
        return None
    try:
        if each.is_dir(follow_symlinks=False):
            return Entry(each.name, "directory")
        if each.is_file(follow_symlinks=False) and root.is_seen(each.name):
            return Entry(each.name, "file", each.stat(follow_symlinks=False).st_size)
    except FileNotFoundError:  # it went away meanwhile
        pass
    return None

"""Tools for the text files of one directory: list, search, read, and replace where that is allowed.

Rules
 - Nothing outside of the directory is seen or touched: see trigate.tools.files.root.
 - Every answer is bounded, and one that is not complete says how to go on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from trigate.tools.definition import Tool
from trigate.tools.files.listing import Listing
from trigate.tools.files.reading import Reader
from trigate.tools.files.replacing import Replacer
from trigate.tools.files.root import Root
from trigate.tools.files.searching import Search

__all__ = ["WRITE_PERMISSION", "file_tools"]

#: What a policy must have granted for replace_in_file.
WRITE_PERMISSION = "files.write"


def file_tools(
    root: str | os.PathLike[str],
    *,
    suffixes: Iterable[str] = (".md", ".txt"),
    max_bytes: int = 1024 * 1024,
    writable: bool = False,
    page_bytes: int = 32 * 1024,
) -> list[Tool]:
    """list_files, search_files and read_file for the directory; with writable=True also replace_in_file.

    suffixes: endings of the files that are seen. max_bytes: the largest file that is read or written. page_bytes: how
    much text one read_file shows. OSError where the directory cannot be opened; NotImplementedError on a system
    that cannot open relative to a directory, as Windows.
    """
    if page_bytes < 4:
        raise ValueError(f"page_bytes must hold a character, at least 4, not {page_bytes}")
    opened = Root(root, suffixes, max_bytes)
    # JSON may write one byte of text as six; what stands around the text is small.
    room = 6 * page_bytes + 16 * 1024
    tools = [
        Tool(function=Listing(opened, 500).list_files, read_only=True, max_result_bytes=1024 * 1024),
        Tool(function=Search(opened, 100).search_files, read_only=True, max_result_bytes=1024 * 1024),
        Tool(function=Reader(opened, page_bytes).read_file, read_only=True, max_result_bytes=room),
    ]
    if writable:
        replacer = Replacer(opened)
        tools.append(
            Tool(
                function=replacer.replace_in_file,
                permission=WRITE_PERMISSION,
                fresh=replacer.fresh,
                reconcile=replacer.reconcile,
            )
        )
    return tools

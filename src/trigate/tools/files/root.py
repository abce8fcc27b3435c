"""One directory that tools may look into, and the only place where their paths are opened.

Rules
 - A path is relative, its parts are divided by `/`, and `..` is no part. No name begins with a dot.
 - Each part is opened relative to the descriptor of the one before, and no symbolic link is followed, at no place.
   So there is no moment between a check and an open in which a link could be put there.
 - What was opened is looked at once more: only a regular file is read, and a device or a FIFO never makes wait.
 - An error of the system becomes a ToolError in words of the path that was asked for; the place of the root on this
   machine is never told.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from trigate.tools.arguments import fault
from trigate.tools.problem import ToolError

__all__ = ["Opened", "Root", "version_of"]

_MAX_PARTS = 64
_MAX_PATH = 4096
_BLOCK = 256 * 1024
#: How often a file is read anew that changes while it is read.
_ATTEMPTS = 3
_DIRECTORY_FIRST = "It is a directory: list_files shows what is in it."


class Opened(NamedTuple):
    """An open regular file: its descriptor, what the system says of it, and the path that was asked for."""

    descriptor: int
    status: os.stat_result
    shown: str


class Root:
    """A directory, held by its descriptor: if its name comes to lead elsewhere, the tools stay here.

    suffixes   the endings of the names of files that are seen (".md", ".txt"), in whatever case
    max_bytes  the largest file that is read
    """

    def __init__(self, path: str | os.PathLike[str], suffixes: Iterable[str], max_bytes: int) -> None:
        if os.open not in os.supports_dir_fd or not hasattr(os, "O_NOFOLLOW"):
            raise NotImplementedError(
                f"file tools open each part of a path relative to a directory: {sys.platform} cannot do that"
            )
        if isinstance(suffixes, str):
            raise TypeError("suffixes is a set of endings, not one str")
        self.suffixes = tuple(sorted({each.casefold() for each in suffixes}))
        if not self.suffixes or not all(each.startswith(".") and len(each) > 1 for each in self.suffixes):
            raise ValueError(f"suffixes are endings like '.md', at least one of them, not {self.suffixes!r}")
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise ValueError(f"max_bytes must be a positive integer, not {max_bytes!r}")
        self.max_bytes = max_bytes
        self._descriptor = os.open(path, _directory_flags() & ~os.O_NOFOLLOW)
        weakref.finalize(self, os.close, self._descriptor)

    # -- paths -------------------------------------------------------------------------------------

    def parts(self, path: str, member: str = "path") -> tuple[str, ...]:
        """The names that a path is made of; () for the root itself. ToolError says which rule it breaks.

        member: the argument's name, to be told to the model.
        """
        if path.startswith("/") or "\0" in path or len(path) > _MAX_PATH:
            _refuse(member, path)
        names = tuple(each for each in path.split("/") if each not in ("", "."))
        if ".." in names or len(names) > _MAX_PARTS:
            _refuse(member, path)
        if any(each.startswith(".") for each in names):
            raise ToolError("names that begin with a dot are not shown", code="permission_denied")
        return names

    def is_seen(self, name: str) -> bool:
        """Whether a file of that name is one of those that the tools see."""
        return not name.startswith(".") and name.casefold().endswith(self.suffixes)

    # -- opening -----------------------------------------------------------------------------------

    @contextmanager
    def directory(self, parts: tuple[str, ...]) -> Iterator[int]:
        """The descriptor of a directory in the root, open as long as the block lasts."""
        # Opened anew, not doubled: a double shares its place in the listing and its lock with every other one.
        descriptor = os.open(".", _directory_flags(), dir_fd=self._descriptor)
        try:
            for count, name in enumerate(parts, 1):
                inner = _open(name, _directory_flags(), descriptor, "/".join(parts[:count]))
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def subdirectory(self, parent: int, name: str, shown: str) -> Iterator[int]:
        """A directory within an open one."""
        descriptor = _open(name, _directory_flags(), parent, shown)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def file(self, path: str) -> Iterator[Opened]:
        """A regular file with an allowed suffix, open for reading as long as the block lasts."""
        with self.parent(path) as (parent, name), self.file_in(parent, name, path) as opened:
            yield opened

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """The open directory of a file, and the file's name in it."""
        parts = self.parts(path)
        if not parts:
            raise ToolError("the path names no file", code="invalid_arguments", next=_DIRECTORY_FIRST)
        with self.directory(parts[:-1]) as descriptor:
            yield descriptor, parts[-1]

    @contextmanager
    def file_in(self, parent: int, name: str, shown: str) -> Iterator[Opened]:
        """A regular file within an open directory. What is known to be none is not even opened."""
        _check(_status(name, parent, shown), shown)
        if not self.is_seen(name):
            raise ToolError(
                f"only files ending in {', '.join(self.suffixes)} can be used", code="permission_denied"
            )
        descriptor = _open(
            name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, parent, shown
        )
        try:
            status = os.fstat(descriptor)
            _check(status, shown)
            yield Opened(descriptor, status, shown)
        finally:
            os.close(descriptor)

    # -- reading -----------------------------------------------------------------------------------

    def read(self, opened: Opened) -> bytes:
        """All bytes of an open file, as they were at one time. ToolError `too_large` beyond max_bytes."""
        for _ in range(_ATTEMPTS):
            before = os.fstat(opened.descriptor)
            data = self._read_once(opened, before.st_size)
            after = os.fstat(opened.descriptor)
            if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
                return data
        raise ToolError(
            f"{opened.shown} is being written again and again", code="conflict", next="Wait, then try again."
        )

    def _read_once(self, opened: Opened, size: int) -> bytes:
        data = bytearray()
        while size <= self.max_bytes and len(data) <= self.max_bytes:
            block = os.pread(opened.descriptor, _BLOCK, len(data))
            if not block:
                return bytes(data)
            data += block
        raise ToolError(
            f"{opened.shown} has more than the {self.max_bytes} bytes that are read of one file",
            code="too_large",
            facts={"limit_bytes": self.max_bytes},
            next="It cannot be read with this tool: choose another file.",
        )

    def text(self, opened: Opened) -> tuple[str, str]:
        """The text of an open file, and its version. ToolError if it is not UTF-8, with the offset."""
        data = self.read(opened)
        try:
            return data.decode(), version_of(data)
        except UnicodeDecodeError as error:
            raise ToolError(
                f"{opened.shown} is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}",
                facts={"offset": error.start},
                next="It cannot be read as text: choose another file, or tell the user.",
            ) from None


def version_of(data: bytes) -> str:
    """The version of a content: its SHA-256, in hexadecimal digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def _directory_flags() -> int:
    return os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _open(name: str, flags: int, parent: int, shown: str) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except (OSError, ValueError) as error:
        _tell(error, name, parent, shown)


def _status(name: str, parent: int, shown: str) -> os.stat_result:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except (OSError, ValueError) as error:
        _tell(error, name, parent, shown)


def _check(status: os.stat_result, shown: str) -> None:
    """Only a regular file passes."""
    if stat.S_ISREG(status.st_mode):
        return
    if stat.S_ISLNK(status.st_mode):
        raise _is_link(shown)
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{shown} is a directory", code="invalid_arguments", next=_DIRECTORY_FIRST)
    raise ToolError(f"{shown} is no regular file", code="permission_denied")


def _is_link(shown: str) -> ToolError:
    return ToolError(f"{shown} is a symbolic link, and links are not followed", code="permission_denied")


def _tell(error: OSError | ValueError, name: str, parent: int, shown: str) -> NoReturn:
    """An error of the system in words of the path that was asked for."""
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        # Which of the three a link gives is the system's choice; looking again decides the words alone.
        status = _status_or_none(name, parent)
        if number != errno.ENOTDIR or (status is not None and stat.S_ISLNK(status.st_mode)):
            raise _is_link(shown) from None
        raise ToolError(f"{shown} is no directory", code="not_found") from None
    if number in (errno.ENOENT, errno.ENAMETOOLONG) or isinstance(error, ValueError):
        raise ToolError(f"{shown} does not exist", code="not_found") from None
    if number in (errno.EACCES, errno.EPERM, errno.ENXIO):
        raise ToolError(f"{shown} cannot be opened by this program", code="permission_denied") from None
    raise error


def _status_or_none(name: str, parent: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except (OSError, ValueError):
        return None


def _refuse(member: str, path: str) -> NoReturn:
    expected = "a path within the directory: relative, divided by /, without .."
    finding = fault([member], expected, path)
    raise ToolError("the path leads out of the directory", code="invalid_arguments", findings=(finding,))

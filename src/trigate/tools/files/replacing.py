"""replace_in_file: one text replaced by another, in the version that was read, whole or not at all.

Rules
 - The caller names the version that it read. Any other content is `stale_version`: nothing is changed.
 - The new content is written beside the file, brought to the disk, and renamed over it: a reader sees the old content
   or the new one, and a crash leaves one of them. What a crash may leave beside it begins with a dot and is not seen.
 - Two of these tools exclude each other by a lock on the directory, across processes. Another program does not know
   that lock: its change is seen until right before the rename, and lost if it comes between that look and the rename.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import msgspec

from trigate.tools.context import Context
from trigate.tools.definition import Reconciled
from trigate.tools.files.reading import FilePath
from trigate.tools.files.root import Opened, Root, version_of
from trigate.tools.problem import Finding, Problem, ToolError

__all__ = ["Replaced", "Replacer"]

_LOCK_SECONDS = 5.0
_LOCK_PAUSE = 0.02
#: How many places are tried, to find out whether a replacement is the one that happened.
_MAX_PLACES = 1000

_Old = Annotated[
    str, msgspec.Meta(min_length=1, description="the text to replace, exactly as it stands in the file")
]
_New = Annotated[str, msgspec.Meta(description="the text to put there")]
_Version = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", description="version, as read_file told it")]
_Times = Annotated[int, msgspec.Meta(ge=1, description="how often the old text stands in the file")]


class Replaced(msgspec.Struct, frozen=True):
    """What was done. version: of the new content."""

    path: str
    version: str
    bytes: int
    replaced: int


class Replacer:
    """Changes files of a root."""

    def __init__(self, root: Root) -> None:
        self._root = root

    def replace_in_file(
        self,
        path: FilePath,
        old: _Old,
        new: _New,
        expected_version: _Version,
        context: Context,
        count: _Times = 1,
    ) -> Replaced:
        """Replaces a text that stands exactly `count` times in a file, if it is still as it was read."""
        with (
            self._root.parent(path) as (parent, name),
            _locked(parent, context),
            self._root.file_in(parent, name, path) as opened,
        ):
            text = self._current(opened, expected_version)
            data = self._changed(text, old, new, count)
            if opened.status.st_nlink > 1:
                raise ToolError(f"{path} has a second name elsewhere", code="permission_denied")
            self._put(parent, name, opened, data, expected_version)
        return Replaced(path, version_of(data), len(data), count)

    def fresh(
        self,
        path: FilePath,
        old: _Old,
        new: _New,
        expected_version: _Version,
        context: Context,
        count: _Times = 1,
    ) -> Problem | None:
        """Whether the file is still in the version that was read."""
        del old, new, context, count
        try:
            with self._root.file(path) as opened:
                self._current(opened, expected_version)
        except ToolError as error:
            return error.problem
        return None

    def reconcile(
        self,
        path: FilePath,
        old: _Old,
        new: _New,
        expected_version: _Version,
        context: Context,
        count: _Times = 1,
    ) -> Reconciled:
        """Whether an earlier replacement happened: the content's version proves it, or it stays unknown.

        The expected version still there: it did not. A content that becomes the expected version when the new text is
        taken back: it did.
        """
        del context
        with self._root.file(path) as opened:
            text, version = self._root.text(opened)
        if version == expected_version:
            return Reconciled("not_run")
        if _came_from(text, old, new, count, expected_version):
            return Reconciled("succeeded", Replaced(path, version, len(text.encode()), count))
        return Reconciled("unknown")

    def _current(self, opened: Opened, expected_version: str) -> str:
        text, version = self._root.text(opened)
        if version != expected_version:
            raise _stale(opened.shown, version)
        return text

    def _changed(self, text: str, old: str, new: str, count: int) -> bytes:
        if old == new:
            finding = Finding("$.new", "another text than old", "the same text")
            raise ToolError("nothing would change", code="invalid_arguments", findings=(finding,))
        found = text.count(old)
        if found != count:
            finding = Finding(
                "$.old", f"text that stands in the file exactly {count} times", f"{found} times"
            )
            advice = (
                "Give more of the text around it, so that it is found once; or say the count."
                if found
                else "Copy the text exactly from what read_file shows."
            )
            raise ToolError(
                "the old text is not found as often as expected",
                code="invalid_arguments",
                findings=(finding,),
                next=advice,
            )
        data = text.replace(old, new).encode()
        if len(data) > self._root.max_bytes:
            limit = self._root.max_bytes
            raise ToolError(
                f"the file would have {len(data)} bytes, and {limit} are allowed",
                code="too_large",
                facts={"limit_bytes": limit},
            )
        return data

    def _put(self, parent: int, name: str, opened: Opened, data: bytes, expected_version: str) -> None:
        """The new content in place of the old one, if that is still there."""
        beside = f".trigate-{secrets.token_hex(8)}.tmp"
        try:
            _write(beside, parent, data, opened.status)
            with self._root.file_in(parent, name, opened.shown) as now:
                self._current(now, expected_version)
            os.rename(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException as error:
            with suppress(FileNotFoundError):
                os.unlink(beside, dir_fd=parent)
            if isinstance(error, OSError):
                why = os.strerror(error.errno or 0)
                raise ToolError(
                    f"{opened.shown} could not be written ({why}): nothing was changed"
                ) from error
            raise
        try:
            os.fsync(parent)
        except OSError as error:
            raise ToolError(
                f"{opened.shown} was replaced, but the disk did not confirm it", code="timeout_unknown"
            ) from error


def _write(name: str, parent: int, data: bytes, status: os.stat_result) -> None:
    """A new file with that content, the mode and where possible the owner of the old one, brought to the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        with suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, status.st_mode & 0o7777)
        os.fsync(descriptor)


@contextmanager
def _locked(directory: int, context: Context) -> Iterator[None]:
    """Excludes other replacements in that directory. The lock goes with the descriptor, also if the process dies."""
    import fcntl  # where Root could be made, it exists

    until = time.monotonic() + _LOCK_SECONDS
    while True:
        context.check()
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= until:
                raise ToolError(
                    "another writer is at work in this directory",
                    code="conflict",
                    next="Wait, then try again.",
                ) from None
            context.cancellation.wait(_LOCK_PAUSE)
    try:
        yield
    finally:
        fcntl.flock(directory, fcntl.LOCK_UN)


def _came_from(text: str, old: str, new: str, count: int, version: str) -> bool:
    """Whether taking `new` back gives the content of that version."""
    if not new or text.count(new) > _MAX_PLACES:
        return False
    if version_of(text.replace(new, old).encode()) == version:
        return True
    place = text.find(new) if count == 1 else -1
    while place >= 0:
        before = text[:place] + old + text[place + len(new) :]
        if before.count(old) == 1 and version_of(before.encode()) == version:
            return True
        place = text.find(new, place + 1)
    return False


def _stale(shown: str, version: str) -> ToolError:
    return ToolError(
        f"{shown} is not in the expected version any more", code="stale_version", facts={"version": version}
    )

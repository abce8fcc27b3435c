"""Where the bytes come from: a file or standard input, in chunks, with progress on a terminal.

Rules
 - What cannot be read is an InputError with a sentence that says what to do.
 - Standard input is read as it comes, so that a live stream can be piped through.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

__all__ = ["InputError", "chunks"]

_CHUNK = 64 * 1024
_MIB = 1024 * 1024
_LONG = 4 * _MIB


class InputError(Exception):
    """The input cannot be read; the message says what to do."""


def chunks(path: str, *, progress: bool) -> Iterator[bytes]:
    """The bytes of a file, or of standard input for "-"."""
    if path == "-":
        yield from _read_stdin(_Progress(None, progress))
        return
    try:
        with Path(path).open("rb", buffering=0) as file:
            bar = _Progress(_size(file), progress)
            try:
                while chunk := file.read(_CHUNK):
                    bar.add(len(chunk))
                    yield chunk
            finally:
                bar.clear()
    except FileNotFoundError:
        raise InputError(
            f"there is no file {path}; give a recorded stream, or - for standard input"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a directory; give one file that holds one recorded stream") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path}: {_reason(error)}; give a file that you may read") from None


def _read_stdin(bar: _Progress) -> Iterator[bytes]:
    if sys.stdin is None:
        raise InputError("standard input is closed; pipe a stream into it, or give a file")
    stdin = cast(io.BufferedReader, sys.stdin.buffer)
    try:
        waits = _is_blocking(stdin)
        while waits or select.select([stdin], [], []):
            if not (chunk := stdin.read1(_CHUNK)):
                break
            bar.add(len(chunk))
            yield chunk
    except OSError as error:
        raise InputError(f"cannot read standard input: {_reason(error)}; pipe a stream into it") from None
    finally:
        bar.clear()


def _is_blocking(stdin: io.BufferedReader) -> bool:
    """Whether a read waits for bytes. A shell's or another program's pipe may not: no bytes would look like the end."""
    try:
        return os.get_blocking(stdin.fileno())
    except (OSError, ValueError, AttributeError):  # no file of the system's, or a system without the question
        return True


def _reason(error: OSError | ValueError) -> str:
    words = getattr(error, "strerror", None) or str(error)
    return str(words)[:1].lower() + str(words)[1:]


def _size(file: IO[bytes]) -> int | None:
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class _Progress:
    """One line on standard error that is written over; nothing for short inputs, or off a terminal."""

    def __init__(self, total: int | None, wanted: bool) -> None:
        self._total = total
        self._done = 0
        self._shown = 0
        self._is_on = wanted and sys.stderr is not None and sys.stderr.isatty()

    def add(self, size: int) -> None:
        self._done += size
        if not self._is_on or max(self._done, self._total or 0) <= _LONG or self._done - self._shown < _MIB:
            return
        self._shown = self._done
        of_all = f" of {self._total // _MIB} ({100 * self._done // self._total} %)" if self._total else ""
        sys.stderr.write(f"\rread {self._done // _MIB}{of_all} MiB\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

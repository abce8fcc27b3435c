"""The notes that the assistant may read: those of the manifest, in exactly the versions that it names.

Rules
 - A name that is not in the manifest does not exist. A file that is not the version of the manifest is not read.
 - A version is the SHA-256 of the file's bytes.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Note", "Notebook", "WrongVersionError"]

_SNIPPET = 60


class WrongVersionError(Exception):
    """The file is not the version that the manifest names."""


@dataclass(frozen=True)
class Note:
    name: str
    version: str
    title: str
    text: str


class Notebook:
    """folder: holds manifest.json ({name: sha256}) and notes/<name>.md."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "notes"
        self._versions: dict[str, str] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

    @property
    def names(self) -> list[str]:
        return list(self._versions)

    def read(self, name: str) -> Note:
        """The note. KeyError for one that is not allowed, WrongVersionError for one that has changed."""
        version = self._versions[name]
        data = (self._folder / f"{name}.md").read_bytes()
        if hashlib.sha256(data).hexdigest() != version:
            raise WrongVersionError(name)
        text = data.decode("utf-8")
        return Note(name, version, text.partition("\n")[0].lstrip("# "), text)

    def search(self, query: str) -> list[tuple[Note, str]]:
        """Notes that hold a word of the query, the one with most words first, each with a line that shows it.

        A note that has changed, or is gone, is not found.
        """
        words = query.casefold().split()
        found = []
        for name in self._versions:
            try:
                note = self.read(name)
            except (WrongVersionError, OSError):
                continue
            text = note.text.casefold()
            count = sum(word in text for word in words)
            if count:
                found.append((-count, -sum(text.count(word) for word in words), name, note))
        return [(note, _line_with(note, words)) for *_, note in sorted(found, key=lambda each: each[:3])]


def _line_with(note: Note, words: list[str]) -> str:
    lines = [line.lstrip("-# ") for line in note.text.splitlines() if line.strip()]
    best = max(lines, key=lambda line: sum(word in line.casefold() for word in words))
    return best[:_SNIPPET]

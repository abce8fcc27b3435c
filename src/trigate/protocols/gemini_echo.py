"""What goes back of a Gemini turn: its parts as JSON, written when they are asked for.

Rules
 - A turn has as many parts as it had pieces of text. Until somebody asks, plain ones are a text and the places of
   their ends; the text is the one that the response shows.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any, SupportsIndex, overload

import msgspec

__all__ = ["Echo", "TextRun"]


class TextRun(msgspec.Struct, frozen=True):
    """Plain parts of one kind, one after the other. start, ends: bytes of `text` as UTF-8."""

    text: str
    start: int
    ends: array[int]
    is_thought: bool

    def to_json(self) -> list[bytes]:
        told = {"thought": True} if self.is_thought else {}
        data = self.text.encode()
        starts = [self.start, *self.ends]
        texts = (data[start:end].decode() for start, end in zip(starts, self.ends, strict=False))
        return [json.dumps({"text": text} | told).encode() for text in texts]


class Echo(Sequence[bytes]):
    """The JSON of each part, in order of arrival."""

    __slots__ = ("_parts", "_written")

    def __init__(self, parts: tuple[bytes | TextRun, ...] = ()) -> None:
        self._parts = parts
        self._written: tuple[bytes, ...] | None = None

    def _all(self) -> tuple[bytes, ...]:
        if self._written is None:
            told: list[bytes] = []
            for part in self._parts:
                told += part.to_json() if isinstance(part, TextRun) else [part]
            self._written = tuple(told)
        return self._written

    @overload
    def __getitem__(self, index: SupportsIndex) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Echo):
            return self._parts == other._parts or self._all() == other._all()
        return self._all() == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[type[Echo], tuple[tuple[bytes | TextRun, ...]]]:
        return (Echo, (self._parts,))

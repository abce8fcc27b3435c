"""What goes back of a turn, as JSON that is written when somebody asks for it: most responses are never sent back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, SupportsIndex, TypeAlias, overload

__all__ = ["Echo", "Unwritten"]


class Unwritten(Protocol):
    """What some parts of a turn are written from. Immutable, and equal if they write the same."""

    def to_json(self) -> list[bytes]:
        """The JSON of each."""


_Parts: TypeAlias = tuple[bytes | Unwritten, ...]


class Echo(Sequence[bytes]):
    """The JSON of each part, in order."""

    __slots__ = ("_parts", "_written")

    def __init__(self, parts: _Parts = ()) -> None:
        self._parts = parts
        self._written: tuple[bytes, ...] | None = None

    def _all(self) -> tuple[bytes, ...]:
        if self._written is None:
            told: list[bytes] = []
            for part in self._parts:
                told += [part] if isinstance(part, bytes) else part.to_json()
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

    def __reduce__(self) -> tuple[type[Echo], tuple[_Parts]]:
        return (Echo, (self._parts,))

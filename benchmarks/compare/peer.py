"""What a library must say to be measured beside the others.

Rules
 - A peer names its distribution, so that its version comes from what is installed.
 - `batches` takes chunks and gives batches of events, each with the attributes `event` and `data`.
 - `turns` has, for each protocol that the peer can read, a function from what `prepare` made of the chunks to a
   Result. What `prepare` does is not timed: it may not look into the chunks, unless the peer is a floor.
 - A floor does less than the task, on purpose: it shows what part of the task costs at least. Its result is not
   compared, and its figure is marked.
 - A module that cannot work here raises UnavailableError, or ImportError, when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from turns import Result

__all__ = ["Batches", "Peer", "Read", "UnavailableError"]

Batches = Callable[[list[bytes]], Iterator[Iterable[Any]]]
Read = Callable[[Any], Result]


class UnavailableError(Exception):
    """Why a peer cannot be measured on this machine."""


@dataclass(frozen=True)
class Peer:
    name: str
    distributions: tuple[str, ...]
    batches: Batches | None = None
    asks_for_text: bool = True
    turns: Mapping[str, Read] = field(default_factory=dict)
    prepare: Callable[[list[bytes]], Any] = list
    is_floor: bool = False

    @property
    def versions(self) -> str:
        """`0.4.3`, or `httpx-sse 0.4.3, orjson 3.13.0` where there are several."""
        if len(self.distributions) == 1:
            return version(self.distributions[0])
        return ", ".join(f"{name} {version(name)}" for name in self.distributions)

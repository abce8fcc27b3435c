"""httpx2: its own EventSource, over a response whose body is there already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from httpx2 import EventSource

from compare.canned import Canned
from compare.peer import Peer

__all__ = ["PEERS"]


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    yield EventSource(Canned(chunks))


PEERS = (Peer("httpx2", ("httpx2",), batches),)

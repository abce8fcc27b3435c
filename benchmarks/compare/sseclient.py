"""sseclient-py: SSEClient over an iterable of chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sseclient import SSEClient

from compare.peer import Peer

__all__ = ["PEERS"]


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    yield SSEClient(iter(chunks)).events()


PEERS = (Peer("sseclient-py", ("sseclient-py",), batches),)

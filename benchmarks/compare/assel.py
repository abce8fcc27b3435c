"""assel: Parser.receive_bytes, chunk by chunk.

Rules
 - Its line parser keeps the UTF-8 decoder in the class, so two parsers must not be used in turns; they are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from assel import Parser

from compare.peer import Peer

__all__ = ["PEERS"]


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    return map(Parser().receive_bytes, chunks)


PEERS = (Peer("assel", ("assel",), batches),)

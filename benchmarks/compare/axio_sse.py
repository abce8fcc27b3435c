"""axio-sse: Decoder.decode, chunk by chunk. It needs Python 3.12."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from compare.peer import Peer, UnavailableError

if sys.version_info < (3, 12):
    raise UnavailableError(
        f"needs Python 3.12 or newer; this is {sys.version_info.major}.{sys.version_info.minor}"
    )

from axio_sse import Decoder

__all__ = ["PEERS"]


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    decoder = Decoder()
    yield from map(decoder.decode, chunks)
    decoder.decode(final=True)


PEERS = (Peer("axio-sse", ("axio-sse",), batches),)

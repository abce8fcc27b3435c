"""httpx-sse: what its EventSource does with the chunks of a response, without the response.

Rules
 - Text decoder, line decoder, event decoder, in the order and with the settings of EventSource.iter_sse.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from typing import Any

from httpx_sse._decoders import SSEDecoder, SSELineDecoder

from compare.peer import Peer

__all__ = ["PEERS", "batches"]


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    text = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    lines = SSELineDecoder().decode
    decode = SSEDecoder().decode
    for chunk in chunks:
        yield [event for line in lines(text(chunk)) if (event := decode(line)) is not None]


PEERS = (Peer("httpx-sse", ("httpx-sse",), batches),)

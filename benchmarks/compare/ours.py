"""trigate itself, as its README shows it.

Rules
 - SSEDecoder's events are asked for their type and text in one row; in the other nobody looks at them.
 - ResponseParser's items are looked at one by one, and the released calls' values are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import trigate
from compare.peer import Peer
from turns import PROTOCOLS, Result

__all__ = ["OURS", "PEERS", "QUIET", "UNASKED"]

OURS = "trigate"
UNASKED = "trigate, text not asked for"
QUIET = "trigate, deltas=False"


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    decoder = trigate.SSEDecoder()
    yield from map(decoder.feed, chunks)
    decoder.finish()


def read(protocol: str, deltas: bool, chunks: list[bytes]) -> Result:
    parser = trigate.ResponseParser(protocol, deltas=deltas)
    feed = parser.feed
    for chunk in chunks:
        for _ in feed(chunk):
            pass
    response = parser.finish()
    calls = tuple(
        (call.call_id, call.name, call.value() if call.kind == "function" else call.arguments)
        for call in response.released
        if call.kind != "builtin"  # no function of the caller's: no other library gives it as a call
    )
    return Result(response.text, calls, response.reasoning, response.status)


def readers(deltas: bool) -> dict[str, Any]:
    return {protocol: partial(read, protocol, deltas) for protocol in PROTOCOLS}


PEERS = (
    Peer(OURS, ("trigate",), batches, turns=readers(True)),
    Peer(UNASKED, ("trigate",), batches, asks_for_text=False),
    Peer(QUIET, ("trigate",), turns=readers(False)),
)

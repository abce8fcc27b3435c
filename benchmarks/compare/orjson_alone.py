"""orjson.loads of each event's data, and nothing else: what any way that parses each event costs at least.

Rules
 - A floor: the payloads lie ready, without framing; no text is joined, no call is made.
"""

from __future__ import annotations

import orjson

import trigate
from compare.peer import Peer
from turns import PROTOCOLS, Result

__all__ = ["PEERS"]

NOTHING = Result("", ())


def payloads(chunks: list[bytes]) -> list[bytes]:
    decoder = trigate.SSEDecoder()
    data = [event.data_bytes for chunk in chunks for event in decoder.feed(chunk)]
    return [payload for payload in data if payload != b"[DONE]"]


def read(payloads: list[bytes]) -> Result:
    loads = orjson.loads
    for payload in payloads:
        loads(payload)
    return NOTHING


PEERS = (
    Peer(
        "orjson alone",
        ("orjson",),
        turns=dict.fromkeys(PROTOCOLS, read),
        prepare=payloads,
        is_floor=True,
    ),
)

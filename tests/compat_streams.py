"""Streams for the faces, and what every face is to make of them: what SSEDecoder makes of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cuts
from readings import events_of
from trigate import Leftover, SSEDecoder

#: An event as a face shows it: type, data, last event ID, reconnection time. None and "" are one in an ID.
Seen = tuple[str, str, str, str]

_VECTORS = json.loads((Path(__file__).parent / "vectors" / "sse.json").read_text(encoding="ascii"))
STREAMS: dict[str, bytes] = {vector["name"]: base64.b64decode(vector["input_b64"]) for vector in _VECTORS}
#: Up to this length a stream is cut at every place.
EVERY_PLACE = 40
#: So many bytes come one by one, and the rest at once.
ONE_BY_ONE = 300

EXAMPLE = (
    b": hello\n\nid: 1\nevent: greeting\ndata: gr\xc3\xbc\xc3\x9fe\ndata: 2\nretry: 500\n\r\ndata:{}\r\r"
    b"id\ndata: last\n\ndata: half"
)
EXAMPLE_SEEN: list[Seen] = [
    ("greeting", "grüße\n2", "1", "500"),
    ("message", "{}", "1", ""),
    ("message", "last", "", ""),
]


def seen(event: Any) -> Seen:
    return (event.event, event.data, event.id or "", "" if event.retry is None else str(event.retry))


def expected(stream: bytes) -> list[Seen]:
    return [seen(event) for event in events_of([stream])]


def left_of(stream: bytes) -> Leftover:
    decoder = SSEDecoder()
    decoder.feed(stream)
    return decoder.finish()


def chunkings(name: str) -> Iterator[list[bytes]]:
    """A stream whole, byte by byte, at random and, if it is short, cut at every place. No piece is empty."""
    stream = STREAMS[name]
    ways = [
        [stream],
        [*cuts.singly(stream[:ONE_BY_ONE]), stream[ONE_BY_ONE:]],
        *cuts.at_random(stream, name, 2),
    ]
    if len(stream) <= EVERY_PLACE:
        ways += cuts.in_two(stream)
    for way in ways:
        yield [piece for piece in way if piece]

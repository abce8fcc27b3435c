"""Random streams, each SDK's own decoder and ours: but for blocks without data, every event is the same, raw lines too.

So the tables of docs/compat hold all that there is to say: a leading byte order mark, odd times and a body that ends
with CR stand there.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from typing import Any

import pytest

import cuts
from trigate.compat.mcp import Reader
from trigate.compat.sdk_events import Decoder

LINES = (
    *(b"data: a", b"data:b", b"data", b"data:  x", b'data: {"k": 1}', b"data: \xe2\x80\xa8\xc2\x85\x0b\x0c"),
    *(b"event: e", b"event: message", b"event:message", b"event", b"id: 3", b"id: a\0b", b"retry: 7"),
    *(b": comment", b":", b"foo: 1", b"Data: x", b" data: y", b"data : z", b"\xef\xbb\xbfdata: m"),
)
ENDS = (b"\n", b"\r\n", b"\r")
STREAMS = 1000


def stream(chance: random.Random) -> bytes:
    """A few blocks; each keeps to one line end, or mixes them; some have no blank line."""
    made = bytearray(b":\n")
    for _ in range(chance.randint(1, 5)):
        ends = ENDS if chance.random() < 0.2 else (chance.choice(ENDS),)
        for line in chance.choices(LINES, k=chance.randint(0, 4)):
            made += line + chance.choice(ends)
        made += chance.choice(ends) if chance.random() < 0.9 else b""
    return bytes(made + b":\n")


def agree(read: Callable[[list[bytes]], list[Any]], read_ours: Callable[[list[bytes]], list[Any]]) -> None:
    """Both give the same events with data, whatever the stream and the cut; and there are many of them."""
    count = 0
    for seed in range(STREAMS):
        chance = random.Random(seed)
        data = stream(chance)
        chunks = cuts.at(data, sorted(chance.randint(0, len(data)) for _ in range(chance.randint(0, 6))))
        theirs, ours = ([event for event in reader(chunks) if event[1]] for reader in (read, read_ours))
        assert theirs == ours, (seed, chunks)
        count += len(ours)
    assert count > STREAMS


def reading(decoder: Callable[[], Any], *, has_raw: bool) -> Callable[[list[bytes]], list[Any]]:
    def read(chunks: list[bytes]) -> list[Any]:
        events = decoder().iter_bytes(iter(chunks))
        return [(e.event, e.data, e.id, e.retry, e.raw if has_raw else []) for e in events]

    return read


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_the_sdks(sdk: str) -> None:
    pytest.importorskip(sdk, reason=f"{sdk} is not installed: make sdk")
    original = importlib.import_module(f"{sdk}._streaming").SSEDecoder
    has_raw = sdk == "anthropic"
    agree(reading(original, has_raw=has_raw), reading(lambda: Decoder(keeps_raw=has_raw), has_raw=has_raw))


def test_mcp_s_reader() -> None:
    httpx2 = pytest.importorskip("httpx2")

    request = httpx2.Request("GET", "http://mcp.test")

    def read(chunks: list[bytes]) -> list[Any]:
        response = httpx2.Response(
            200, headers={"content-type": "text/event-stream"}, content=iter(chunks), request=request
        )
        return [(e.event, e.data, e.id, e.retry) for e in httpx2.EventSource(response)]

    def read_ours(chunks: list[bytes]) -> list[Any]:
        reader = Reader()
        return [(e.event, e.data, e.id, e.retry) for chunk in chunks for e in reader.feed(chunk)]

    agree(read, read_ours)

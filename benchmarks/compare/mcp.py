"""The MCP SDK's client: the event loop of its streamable HTTP reader, up to the JSON-RPC message.

Rules
 - The reader is httpx2's EventSource, asynchronous and with the SDK's own limit; nothing here waits, so the
   coroutine is driven by hand and no event loop is timed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from httpx2 import EventSource
from mcp.client.streamable_http import DEFAULT_MAX_SSE_EVENT_SIZE

from compare.canned import Canned
from compare.peer import Peer

__all__ = ["PEERS"]


async def read(chunks: list[bytes], events: list[Any]) -> None:
    async for event in EventSource(Canned(chunks), max_event_size=DEFAULT_MAX_SSE_EVENT_SIZE):
        events.append(event)


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    events: list[Any] = []
    try:
        read(chunks, events).send(None)
    except StopIteration:
        yield events


PEERS = (Peer("mcp", ("mcp",), batches),)

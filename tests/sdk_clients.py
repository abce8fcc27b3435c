"""Clients of the official SDKs over recorded bytes: no network, the body in odd chunks, and all that a caller sees.

Rules
 - What a caller sees is the events, the final object, and the exception, if one ends it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from recorded import corpus_entries, corpus_stream
from trigate.compat.shadow import Difference

httpx2 = pytest.importorskip("httpx2", reason="httpx2 is not installed: make sdk")

__all__ = [
    "ANTHROPIC",
    "OPENAI",
    "Make",
    "Seen",
    "aseen",
    "asked",
    "check_shadow_finds_nothing",
    "check_the_caller_sees_the_same",
    "check_the_caller_sees_the_same_asynchronously",
    "client_options",
    "odd_chunks",
    "seen",
]

Seen = list[Any]
#: A client that gets this body, whatever it asks.
Make = Callable[[bytes], Any]
#: The two ways to ask for a stream of each protocol: its events alone, and with them what they add up to.
OPENAI = {
    "openai-responses": ("responses.create", "responses.stream"),
    "openai-chat": ("chat.create", "chat.stream"),
}
ANTHROPIC = {"anthropic-messages": ("messages.create", "messages.stream")}
#: Longer recordings are asked for in the second way only, whose events hold those of the first.
LONG = 32 * 1024

_SIZES = (1, 2, 3, 7, 64, 200, 1000, 4096)
_MESSAGE: dict[str, Any] = {"model": "m", "messages": []}
_ASKS: dict[str, Callable[[Any], Any]] = {
    "responses.create": lambda client: client.responses.create(model="m", input="x", stream=True),
    "responses.stream": lambda client: client.responses.stream(model="m", input="x"),
    "chat.create": lambda client: client.chat.completions.create(**_MESSAGE, stream=True),
    "chat.stream": lambda client: client.chat.completions.stream(**_MESSAGE),
    "messages.create": lambda client: client.messages.create(**_MESSAGE, max_tokens=1, stream=True),
    "messages.stream": lambda client: client.messages.stream(**_MESSAGE, max_tokens=1),
}
_FINAL = {
    "responses.stream": "get_final_response",
    "chat.stream": "get_final_completion",
    "messages.stream": "get_final_message",
}


def asked(protocols: dict[str, tuple[str, str]], most: int | None = None) -> list[Any]:
    """Parameters (file, ask): recorded streams in each way to ask for them; the `most` smallest of each protocol."""
    return [
        pytest.param(entry["file"], ask, id=f"{ask}:{entry['file'].rpartition('/')[2]}")
        for protocol, asks in protocols.items()
        for entry in corpus_entries(protocol)[:most]
        for ask in (asks if entry["bytes"] <= LONG else asks[1:])
    ]


def odd_chunks(data: bytes) -> Iterator[bytes]:
    """Chunks of many sizes, so that lines, events and characters are cut."""
    sizes = itertools.cycle(_SIZES)
    at = 0
    while at < len(data):
        size = next(sizes)
        yield data[at : at + size]
        at += size


async def _each(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def client_options(data: bytes, *, is_async: bool = False) -> dict[str, Any]:
    """For the constructor of any client: whatever it asks, it gets this body."""

    def answer(_request: Any) -> Any:
        chunks = odd_chunks(data)
        content = _each(chunks) if is_async else chunks
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    kind = httpx2.AsyncClient if is_async else httpx2.Client
    http_client = kind(transport=httpx2.MockTransport(answer))
    return {"api_key": "none", "base_url": "http://sdk.test/v1", "max_retries": 0, "http_client": http_client}


def seen(client: Any, ask: str) -> Seen:
    """What a caller sees of one stream, in order; the client is closed."""
    found: Seen = []
    with client:
        try:
            with _ASKS[ask](client) as stream:
                found.extend(stream)
                if final := _FINAL.get(ask):
                    found.append(getattr(stream, final)())
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return found


async def aseen(client: Any, ask: str) -> Seen:
    """seen() for an asynchronous client."""
    found: Seen = []
    async with client:
        try:
            asked = _ASKS[ask](client)
            async with await asked if ask.endswith(".create") else asked as stream:
                found.extend([event async for event in stream])
                if final := _FINAL.get(ask):
                    found.append(await getattr(stream, final)())
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return found


def check_the_caller_sees_the_same(face: Any, make: Make, file: str, ask: str) -> None:
    data = corpus_stream(file)
    unpatched = seen(make(data), ask)
    with face.patch():
        patched = seen(make(data), ask)
    assert patched == unpatched != []


def check_the_caller_sees_the_same_asynchronously(face: Any, make: Make, file: str, ask: str) -> None:
    data = corpus_stream(file)
    unpatched = asyncio.run(aseen(make(data), ask))
    client = make(data)
    face.patch(client)
    assert asyncio.run(aseen(client, ask)) == unpatched


def check_shadow_finds_nothing(face: Any, make: Make, file: str, ask: str) -> None:
    found: list[Difference] = []
    data = corpus_stream(file)
    client = make(data)
    face.patch(client, shadow=found.append)
    assert seen(client, ask) == seen(make(data), ask)
    assert found == []

"""Event streams made from a seed, which know the events they must give.

Rules
 - The same seed gives the same bytes, on every machine.
 - Each stream is one shape of real traffic, and says which hot path it hits.
 - Only what every peer reads alike: no stream is there to make another decoder fail.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["NAMES", "Event", "Stream", "streams"]

#: (event type or "message", data, id, retry in ms or None)
Event = tuple[str, str, str, int | None]

_ENGLISH = (
    "the stream ends when its last event has been read and not a byte before so a parser must keep what it "
    "has half of a number is a number too which is why nobody may act on it"
)
_WORDS = _ENGLISH.split()
_CHINESE = (
    "数据流在最后一个事件读完之后才算结束所以解析器必须保留它已经收到的一半数字也是数字没有人可以据此行动"
)


@dataclass(frozen=True)
class Stream:
    """blocks: the bytes of one event each (with comments before it); expected: what they must give."""

    name: str
    hits: str
    blocks: tuple[bytes, ...]
    expected: tuple[Event, ...]

    @property
    def data(self) -> bytes:
        return b"".join(self.blocks)

    def chunks(self, size: int | None) -> list[bytes]:
        """Pieces of `size` bytes; None: one event each."""
        if size is None:
            return list(self.blocks)
        data = self.data
        return [data[start : start + size] for start in range(0, len(data), size)]


class _Writer:
    def __init__(self) -> None:
        self.blocks: list[bytes] = []
        self.expected: list[Event] = []

    def event(self, data: str, *, kind: str | None = None, before: str = "", end: str = "\n") -> None:
        lines = [] if kind is None else [f"event: {kind}"]
        lines += [f"data: {line}" for line in data.split("\n")]
        self.blocks.append((before + "".join(line + end for line in lines) + end).encode())
        self.expected.append((kind or "message", data, "", None))

    def stream(self, name: str, hits: str) -> Stream:
        return Stream(name, hits, tuple(self.blocks), tuple(self.expected))


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _letters(rng: random.Random, size: int) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=size))


def _piece(rng: random.Random) -> str:
    return " " + rng.choice(_WORDS)


def _responses(rng: random.Random, count: int) -> Stream:
    writer, item = _Writer(), "msg_" + _letters(rng, 50)
    for number in range(count):
        kind = "response.output_text.delta"
        delta = {
            "type": kind,
            "sequence_number": number,
            "item_id": item,
            "output_index": 0,
            "content_index": 0,
            "delta": _piece(rng),
            "logprobs": [],
            "obfuscation": _letters(rng, rng.randint(6, 16)),
        }
        writer.event(_dump(delta), kind=kind)
    return writer.stream("responses", "event and data lines, 300 bytes an event")


def _chat(rng: random.Random, count: int) -> Stream:
    writer = _Writer()
    head = {"id": "chatcmpl-" + _letters(rng, 29), "object": "chat.completion.chunk", "created": 1764583200}
    for _ in range(count):
        choice = {"index": 0, "delta": {"content": _piece(rng)}, "logprobs": None, "finish_reason": None}
        writer.event(_dump({**head, "model": "m", "choices": [choice]}))
    writer.event("[DONE]")
    return writer.stream("chat", "data lines alone, 200 bytes an event")


def _messages(rng: random.Random, count: int) -> Stream:
    writer = _Writer()
    for number in range(count):
        delta = {"type": "text_delta", "text": _piece(rng)}
        before = ": keep-alive\n\n" if number % 50 == 49 else ""
        data = _dump({"type": "content_block_delta", "index": 0, "delta": delta})
        writer.event(data, kind="content_block_delta", before=before)
    return writer.stream("messages", "short events, 130 bytes, comments between")


def _chinese(rng: random.Random, count: int) -> Stream:
    writer = _Writer()
    for number in range(count):
        start = rng.randrange(len(_CHINESE) - 4)
        kind = "response.output_text.delta"
        delta = {"type": kind, "sequence_number": number, "delta": _CHINESE[start : start + 3] + "🌦️"}
        writer.event(_dump(delta), kind=kind)
    return writer.stream("chinese", "text outside ASCII in every event")


def _crlf(rng: random.Random, count: int) -> Stream:
    writer = _Writer()
    for _ in range(count):
        part = {"candidates": [{"content": {"parts": [{"text": _piece(rng)}], "role": "model"}, "index": 0}]}
        writer.event(_dump(part), end="\r\n")
    return writer.stream("crlf", "lines that end with CR LF")


def _lines(rng: random.Random, count: int) -> Stream:
    writer = _Writer()
    for _ in range(count):
        writer.event("\n".join(" ".join(rng.choices(_WORDS, k=8)) for _ in range(6)))
    return writer.stream("lines", "six data lines an event, to be joined")


def _large(rng: random.Random, count: int) -> Stream:
    writer = _Writer()
    for _ in range(max(count // 500, 2)):
        text = " ".join(rng.choices(_WORDS, k=30_000))
        writer.event(_dump({"type": "response.completed", "text": text}), kind="response.completed")
    return writer.stream("large", "events of 150 KB, such as a final snapshot")


_MAKERS: tuple[Callable[[random.Random, int], Stream], ...] = (
    _responses,
    _chat,
    _messages,
    _chinese,
    _crlf,
    _lines,
    _large,
)

#: What `streams` makes, in its order.
NAMES = tuple(make.__name__.removeprefix("_") for make in _MAKERS)


def streams(seed: int = 20260801, count: int = 4000) -> list[Stream]:
    """All streams, about `count` events each."""
    return [make(random.Random(f"{seed} {make.__name__}"), count) for make in _MAKERS]

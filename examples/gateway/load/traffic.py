"""The streams of the load test: each is made from its number, so that whoever knows it knows what must arrive.

Rule: every stream differs from every other one, else bytes of one could pass for those of another.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

__all__ = ["Stream", "stream"]

_WORDS = [
    "the",
    "a",
    "of",
    "to",
    "in",
    "wind",
    "river",
    "stone",
    "light",
    "明天",
    "再",
    "说",
    "café",
    "night",
    "over",
    "under",
    "between",
    "and",
    "so",
    "then",
]


@dataclass(frozen=True)
class Stream:
    """protocol, path: what is asked for. events: the bytes of each event. call: (call_id, name, arguments) of its one
    call, which may run once the first `terminal` events are there."""

    protocol: str
    path: str
    events: list[bytes]
    call: tuple[str, str, str]
    terminal: int

    @property
    def body(self) -> bytes:
        return b"".join(self.events)


def stream(number: int, length: int) -> Stream:
    """The stream of that number, `length` pieces of text and a call in four; even ones speak chat, odd messages."""
    rng = random.Random(number)
    words = [f" {rng.choice(_WORDS)}" for _ in range(length)]
    arguments = json.dumps({"order": number, "amount": rng.randrange(10**6)})
    quarter = (len(arguments) + 3) // 4
    pieces = [arguments[at : at + quarter] for at in range(0, len(arguments), quarter)]
    make = _chat if number % 2 == 0 else _messages
    return make(number, words, (f"call_{number}", "pay", arguments), pieces)


def _chat(number: int, words: list[str], call: tuple[str, str, str], pieces: list[str]) -> Stream:
    head = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion.chunk",
        "created": 1785542400,
        "model": "load-chat",
    }

    def chunk(delta: object, finish: str | None = None) -> bytes:
        return _data({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    function = {"name": call[1], "arguments": ""}
    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": word}) for word in words]
    events.append(
        chunk({"tool_calls": [{"index": 0, "id": call[0], "type": "function", "function": function}]})
    )
    events += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces]
    events += [chunk({}, "tool_calls"), b"data: [DONE]\n\n"]
    return Stream("openai-chat", "/v1/chat/completions", events, call, len(events) - 1)


def _messages(number: int, words: list[str], call: tuple[str, str, str], pieces: list[str]) -> Stream:
    message = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "load-messages",
        "content": [],
    }
    usage = {"input_tokens": 10, "output_tokens": 1}

    def event(name: str, **members: object) -> bytes:
        return f"event: {name}\n".encode() + _data({"type": name, **members})

    def delta(index: int, **members: object) -> bytes:
        return event("content_block_delta", index=index, delta=members)

    block = {"type": "tool_use", "id": call[0], "name": call[1], "input": {}}
    events = [event("message_start", message={**message, "usage": usage})]
    events.append(event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
    events += [delta(0, type="text_delta", text=word) for word in words]
    events.append(event("content_block_stop", index=0))
    events.append(event("content_block_start", index=1, content_block=block))
    events += [delta(1, type="input_json_delta", partial_json=piece) for piece in pieces]
    events.append(event("content_block_stop", index=1))
    events.append(
        event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": len(words) + 9})
    )
    events.append(event("message_stop"))
    return Stream("anthropic-messages", "/v1/messages", events, call, len(events))


def _data(value: object) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()

"""Chat completion streams for the tests: chunks in, bytes out, with only what is special about a stream said.

Rules
 - A chunk is a dict, as it stands in `data:`; a str is written as it is: sentinels, comments, other lines.
 - Nothing here knows how trigate works inside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import trigate

Chunk: TypeAlias = "dict[str, Any] | str"

PROTOCOL = "openai-chat"
DONE = "data: [DONE]\n\n"

__all__ = [
    "DONE",
    "PROTOCOL",
    "call",
    "chunk",
    "codes",
    "delta",
    "finish",
    "parse",
    "piece",
    "run",
    "text",
    "tools",
    "usage",
    "verdict",
    "wire",
]


def wire(*chunks: Chunk) -> bytes:
    """The stream of these chunks; nothing is added at its end."""
    parts = [
        each if isinstance(each, str) else f"data: {json.dumps(each, ensure_ascii=False)}\n\n"
        for each in chunks
    ]
    return "".join(parts).encode()


def chunk(*choices: dict[str, Any], **members: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return head | {"choices": list(choices)} | members


def delta(choice: Any = 0, end: Any = None, **members: Any) -> dict[str, Any]:
    """A chunk with one delta, and a finish_reason if one is given."""
    return chunk({"index": choice, "delta": members, "finish_reason": end})


def text(piece: str, choice: int = 0) -> dict[str, Any]:
    return delta(choice, content=piece)


def finish(word: str | None = "tool_calls", choice: int = 0, **members: Any) -> dict[str, Any]:
    return chunk({"index": choice, "delta": {}, "finish_reason": word} | members)


def usage(**members: Any) -> dict[str, Any]:
    return chunk(usage={"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5} | members)


def piece(arguments: Any = None, name: Any = None, **members: Any) -> dict[str, Any]:
    """A fragment of a call; members that are ... are left out."""
    function = {"name": name, "arguments": arguments}
    return members | {"function": {key: value for key, value in function.items() if value is not None}}


def tools(*fragments: dict[str, Any], choice: int = 0, end: str | None = None) -> dict[str, Any]:
    return delta(choice, end, tool_calls=list(fragments))


def call(
    arguments: Any = '{"n":1}',
    name: str | None = "go",
    call_id: Any = "call_1",
    index: Any = 0,
    choice: int = 0,
) -> dict[str, Any]:
    """A chunk with a whole call; None for members that are to be left out."""
    place = {"index": index, "id": call_id, "type": "function"}
    members = {key: value for key, value in place.items() if value is not None}
    return tools(piece(arguments, name, **members), choice=choice)


def parse(*chunks: Chunk, **options: Any) -> trigate.Response:
    return trigate.parse(wire(*chunks), PROTOCOL, **options)


def run(chunks: Iterable[bytes], **options: Any) -> tuple[list[trigate.Item], trigate.Response]:
    """All items, and the final response."""
    parser = trigate.ResponseParser(PROTOCOL, **options)
    items = [item for each in chunks for item in parser.feed(each)]
    return items, parser.finish()


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


def verdict(response: trigate.Response) -> list[tuple[str | None, str, str, str | None]]:
    """Each call as (call_id, name, arguments, problem), the problem None for a released one."""
    assert all((call.problem is None) is (call.state == "released") for call in response.calls)
    return [(call.call_id, call.name, call.arguments, call.problem) for call in response.calls]

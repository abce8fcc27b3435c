"""A turn as OpenAI's Chat Completions API streams it, with the usage asked for.

Rules
 - Chunks as the API sends them: usage null in each but the last, obfuscation at the end.
 - A first chunk with the role, a chunk with the finish reason, one with the usage, then [DONE].
"""

from __future__ import annotations

import json
import random
from typing import Any

from turns.script import Script, letters

__all__ = ["write"]


def write(script: Script, rng: random.Random) -> list[bytes]:
    head = {
        "id": f"chatcmpl-{letters(rng, 29)}",
        "object": "chat.completion.chunk",
        "created": 1785542400,
        "model": "gpt-4.1-nano-2025-04-14",
        "service_tier": "default",
        "system_fingerprint": f"fp_{letters(rng, 10).lower()}",
    }

    def chunk(delta: dict[str, Any], finish: str | None = None, length: int = 0) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        padding = letters(rng, -length % 16)
        return _event({**head, "choices": [choice], "usage": None, "obfuscation": padding})

    blocks = [chunk({"role": "assistant", "content": "" if script.text else None, "refusal": None})]
    blocks += [chunk({"content": piece}, length=len(piece)) for piece in script.text]
    for index, call in enumerate(script.calls):
        function = {"name": call.name, "arguments": ""}
        start = {"index": index, "id": call.call_id, "type": "function", "function": function}
        blocks.append(chunk({"tool_calls": [start]}))
        for piece in call.pieces:
            fragment = {"index": index, "function": {"arguments": piece}}
            blocks.append(chunk({"tool_calls": [fragment]}, length=len(piece)))
    blocks.append(chunk({}, "tool_calls" if script.calls else "stop"))
    usage = _event({**head, "choices": [], "usage": _usage(script), "obfuscation": letters(rng, 12)})
    return [*blocks, usage, b"data: [DONE]\n\n"]


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def _usage(script: Script) -> dict[str, Any]:
    details = {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    }
    return {
        "prompt_tokens": 417,
        "completion_tokens": script.deltas,
        "total_tokens": 417 + script.deltas,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": details,
    }

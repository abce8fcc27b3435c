"""A turn as Gemini's streamGenerateContent sends it with alt=sse.

Rules
 - Lines end with CR LF, and JSON has a space after each colon, as the API writes it.
 - Token counts grow with every chunk; thoughts are parts marked so; the last chunk holds the finish reason.
 - A call comes whole, in one part: this protocol has no pieces of arguments.
"""

from __future__ import annotations

import json
import random
from typing import Any

from turns.script import Script, letters

__all__ = ["write"]


def write(script: Script, rng: random.Random) -> list[bytes]:
    name = letters(rng, 23)
    blocks: list[bytes] = []
    thoughts = tokens = 0

    def chunk(part: dict[str, Any], **more: str) -> None:
        usage = {
            "promptTokenCount": 71,
            "candidatesTokenCount": tokens,
            "totalTokenCount": 71 + tokens + thoughts,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 71}],
            "thoughtsTokenCount": thoughts,
            "serviceTier": "standard",
        }
        candidate = {"content": {"parts": [part], "role": "model"}, **more, "index": 0}
        value = {"candidates": [candidate], "usageMetadata": usage}
        tail = {"modelVersion": "gemini-3.5-flash", "responseId": name}
        data = json.dumps({**value, **tail}, ensure_ascii=False, separators=(",", ": "))
        blocks.append(f"data: {data}\r\n\r\n".encode())

    for piece in script.reasoning:
        thoughts += 1
        chunk({"text": piece, "thought": True})
    for piece in script.text:
        tokens += 1
        chunk({"text": piece})
    for number, call in enumerate(script.calls):
        tokens += len(call.pieces)
        function = {"name": call.name, "args": call.value, "id": call.call_id}
        signature = {} if number else {"thoughtSignature": letters(rng, 600)}
        chunk({"functionCall": function, **signature})
    chunk({"text": ""}, finishReason="STOP")
    return blocks

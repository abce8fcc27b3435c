"""A turn as Anthropic's Messages API streams it.

Rules
 - message_start, a ping after the first block begins, blocks with their deltas, message_delta, message_stop.
 - Each payload is padded with up to 15 spaces before its last brace, as the API does.
 - The first delta of a call's arguments is empty, and a thought ends with its signature, as the API sends them.
"""

from __future__ import annotations

import json
import random
from typing import Any

from turns.script import Script, letters

__all__ = ["write"]


def write(script: Script, rng: random.Random) -> list[bytes]:
    return _Writer(script, rng).run()


class _Writer:
    def __init__(self, script: Script, rng: random.Random) -> None:
        self.script = script
        self.rng = rng
        self.blocks: list[bytes] = []
        self.index = 0

    def run(self) -> list[bytes]:
        self.event("message_start", message=self.message())
        if self.script.reasoning:
            self.start({"type": "thinking", "thinking": "", "signature": ""})
            self.deltas("thinking_delta", "thinking", self.script.reasoning)
            self.deltas("signature_delta", "signature", (letters(self.rng, 400),))
            self.stop()
        if self.script.text:
            self.start({"type": "text", "text": ""})
            self.deltas("text_delta", "text", self.script.text)
            self.stop()
        for call in self.script.calls:
            caller = {"type": "direct"}
            self.start(
                {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}, "caller": caller}
            )
            self.deltas("input_json_delta", "partial_json", ("", *call.pieces))
            self.stop()
        reason = "tool_use" if self.script.calls else "end_turn"
        usage = {**self.usage(self.script.deltas)}
        self.event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=usage)
        self.event("message_stop")
        return self.blocks

    def event(self, kind: str, **members: Any) -> None:
        data = json.dumps({"type": kind, **members}, ensure_ascii=False, separators=(",", ":"))
        padded = data[:-1] + " " * self.rng.randrange(16) + "}"
        self.blocks.append(f"event: {kind}\ndata: {padded}\n\n".encode())

    def start(self, block: dict[str, Any]) -> None:
        self.event("content_block_start", index=self.index, content_block=block)
        if self.index == 0:
            self.blocks.append(b'event: ping\ndata: {"type": "ping"}\n\n')

    def deltas(self, kind: str, member: str, pieces: tuple[str, ...]) -> None:
        for piece in pieces:
            self.event("content_block_delta", index=self.index, delta={"type": kind, member: piece})

    def stop(self) -> None:
        self.event("content_block_stop", index=self.index)
        self.index += 1

    def message(self) -> dict[str, Any]:
        created = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
        usage = {
            **self.usage(4),
            "cache_creation": created,
            "service_tier": "standard",
            "inference_geo": "global",
        }
        return {
            "model": "claude-sonnet-4-6",
            "id": f"msg_01{letters(self.rng, 22)}",
            "type": "message",
            "role": "assistant",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }

    def usage(self, output: int) -> dict[str, Any]:
        return {
            "input_tokens": 721,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        }

"""A turn as OpenAI's Responses API streams it.

Rules
 - Every event of a real stream, in its order: created, in_progress, added, deltas, done, completed.
 - Members as the API sends them, obfuscation and logprobs too; the padding fills a delta up to 16 characters.
 - Lifecycle events carry the whole response object, and the last one the whole output again.
"""

from __future__ import annotations

import json
import random
from typing import Any

from turns.script import Script, Spoken, letters

__all__ = ["write"]

_TOOL = {
    "type": "function",
    "description": "Writes a file, and makes the folders that it needs",
    "name": "write_file",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where, from the root of the project"},
            "content": {"type": "string"},
            "mode": {"type": "integer"},
            "overwrite": {"type": "boolean"},
        },
        "required": ["path", "content", "mode", "overwrite"],
        "additionalProperties": False,
    },
    "strict": True,
}


def write(script: Script, rng: random.Random) -> list[bytes]:
    return _Writer(script, rng).run()


class _Writer:
    def __init__(self, script: Script, rng: random.Random) -> None:
        self.script = script
        self.rng = rng
        self.blocks: list[bytes] = []
        self.output: list[dict[str, Any]] = []
        self.stem = letters(rng, 40).lower()

    def run(self) -> list[bytes]:
        self.event("response.created", response=self.response("in_progress"))
        self.event("response.in_progress", response=self.response("in_progress"))
        if self.script.reasoning:
            self.reasoning("".join(self.script.reasoning))
        if self.script.text:
            self.message("".join(self.script.text))
        for call in self.script.calls:
            self.call(call)
        self.event("response.completed", response=self.response("completed"))
        return self.blocks

    def event(self, kind: str, **members: Any) -> None:
        value = {"type": kind, **members, "sequence_number": len(self.blocks)}
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        self.blocks.append(f"event: {kind}\ndata: {data}\n\n".encode())

    def padding(self, delta: str) -> str:
        return letters(self.rng, -len(delta) % 16)

    def item_id(self, prefix: str) -> str:
        return f"{prefix}_{self.stem}{letters(self.rng, 10).lower()}"

    def done(self, item: dict[str, Any]) -> None:
        self.event("response.output_item.done", item=item, output_index=len(self.output))
        self.output.append(item)

    def reasoning(self, text: str) -> None:
        item = {"id": self.item_id("rs"), "type": "reasoning", "summary": []}
        place = {"item_id": item["id"], "output_index": len(self.output), "summary_index": 0}
        self.event("response.output_item.added", item=item, output_index=len(self.output))
        part = {"type": "summary_text", "text": ""}
        self.event("response.reasoning_summary_part.added", **place, part=part)
        for delta in self.script.reasoning:
            members = {"delta": delta, "obfuscation": self.padding(delta)}
            self.event("response.reasoning_summary_text.delta", **place, **members)
        whole = {"type": "summary_text", "text": text}
        self.event("response.reasoning_summary_text.done", **place, text=text)
        self.event("response.reasoning_summary_part.done", **place, part=whole)
        self.done({**item, "summary": [whole]})

    def message(self, text: str) -> None:
        item = {
            "id": self.item_id("msg"),
            "type": "message",
            "status": "in_progress",
            "content": [],
            "role": "assistant",
        }
        index = len(self.output)
        place = {"content_index": 0, "item_id": item["id"], "output_index": index}
        self.event("response.output_item.added", item=item, output_index=index)
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
        self.event("response.content_part.added", **place, part=part)
        for delta in self.script.text:
            self.event(
                "response.output_text.delta",
                content_index=0,
                delta=delta,
                item_id=item["id"],
                logprobs=[],
                obfuscation=self.padding(delta),
                output_index=index,
            )
        whole = {**part, "text": text}
        self.event("response.output_text.done", **place, logprobs=[], text=text)
        self.event("response.content_part.done", **place, part=whole)
        self.done({**item, "status": "completed", "content": [whole]})

    def call(self, call: Spoken) -> None:
        item = {
            "id": self.item_id("fc"),
            "type": "function_call",
            "status": "in_progress",
            "arguments": "",
            "call_id": call.call_id,
            "name": call.name,
        }
        index = len(self.output)
        self.event("response.output_item.added", item=item, output_index=index)
        for delta in call.pieces:
            self.event(
                "response.function_call_arguments.delta",
                delta=delta,
                item_id=item["id"],
                obfuscation=self.padding(delta),
                output_index=index,
            )
        self.event(
            "response.function_call_arguments.done",
            arguments=call.arguments,
            item_id=item["id"],
            output_index=index,
        )
        self.done({**item, "status": "completed", "arguments": call.arguments})

    def response(self, status: str) -> dict[str, Any]:
        ended = status == "completed"
        return {
            "id": f"resp_{self.stem}",
            "object": "response",
            "created_at": 1785542400,
            "status": status,
            "background": False,
            "completed_at": 1785542460 if ended else None,
            "error": None,
            "frequency_penalty": 0.0,
            "incomplete_details": None,
            "instructions": "Work in small steps, and say what you do.",
            "max_output_tokens": None,
            "max_tool_calls": None,
            "model": "gpt-5.4-2026-03-05",
            "output": self.output if ended else [],
            "parallel_tool_calls": True,
            "presence_penalty": 0.0,
            "previous_response_id": None,
            "prompt_cache_key": None,
            "prompt_cache_retention": None,
            "reasoning": {"effort": "medium", "summary": "detailed"},
            "safety_identifier": None,
            "service_tier": "default" if ended else "auto",
            "store": False,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}, "verbosity": "medium"},
            "tool_choice": "auto",
            "tools": [_TOOL],
            "top_logprobs": 0,
            "top_p": 0.98,
            "truncation": "disabled",
            "usage": self.usage() if ended else None,
            "user": None,
            "metadata": {},
        }

    def usage(self) -> dict[str, Any]:
        thought = len(self.script.reasoning)
        return {
            "input_tokens": 467,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": self.script.deltas,
            "output_tokens_details": {"reasoning_tokens": thought},
            "total_tokens": 467 + self.script.deltas,
        }

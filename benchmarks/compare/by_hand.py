"""httpx-sse and orjson by hand: what a good engineer writes who needs one protocol and trusts the provider.

Rules
 - Each function reads what it needs and no more: it appends deltas to lists, joins them and reads arguments at the
   end. Nothing is validated, no fault is looked for, no limit is kept.
"""

from __future__ import annotations

from typing import Any

import orjson

from compare.httpx_sse import batches
from compare.peer import Peer
from turns import Result

__all__ = ["PEERS"]


def responses(chunks: list[bytes]) -> Result:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: dict[int, tuple[str, str, list[str]]] = {}
    status = None
    for batch in batches(chunks):
        for event in batch:
            kind, value = event.event, orjson.loads(event.data)
            if kind == "response.output_text.delta":
                texts.append(value["delta"])
            elif kind == "response.function_call_arguments.delta":
                calls[value["output_index"]][2].append(value["delta"])
            elif kind == "response.reasoning_summary_text.delta":
                thoughts.append(value["delta"])
            elif kind == "response.output_item.added" and value["item"]["type"] == "function_call":
                calls[value["output_index"]] = (value["item"]["call_id"], value["item"]["name"], [])
            elif kind in ("response.completed", "response.incomplete", "response.failed"):
                status = value["response"]["status"]
    made = tuple((call_id, name, arguments(pieces)) for call_id, name, pieces in calls.values())
    return Result("".join(texts), made, "".join(thoughts), status)


def chat(chunks: list[bytes]) -> Result:
    texts: list[str] = []
    calls: dict[int, tuple[str, str, list[str]]] = {}
    for batch in batches(chunks):
        for event in batch:
            if event.data == "[DONE]":
                continue
            for choice in orjson.loads(event.data).get("choices", ()):
                delta = choice["delta"]
                if content := delta.get("content"):
                    texts.append(content)
                for fragment in delta.get("tool_calls") or ():
                    index, function = fragment["index"], fragment["function"]
                    if index not in calls:
                        calls[index] = (fragment["id"], function["name"], [])
                    calls[index][2].append(function.get("arguments") or "")
    made = tuple((call_id, name, arguments(pieces)) for call_id, name, pieces in calls.values())
    return Result("".join(texts), made)


def messages(chunks: list[bytes]) -> Result:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: dict[int, tuple[str, str, list[str]]] = {}
    for batch in batches(chunks):
        for event in batch:
            value = orjson.loads(event.data)
            if event.event == "content_block_delta":
                delta = value["delta"]
                kind = delta["type"]
                if kind == "text_delta":
                    texts.append(delta["text"])
                elif kind == "input_json_delta":
                    # A server tool's block has pieces too, and is not for the client.
                    if value["index"] in calls:
                        calls[value["index"]][2].append(delta["partial_json"])
                elif kind == "thinking_delta":
                    thoughts.append(delta["thinking"])
            elif event.event == "content_block_start" and value["content_block"]["type"] == "tool_use":
                block = value["content_block"]
                calls[value["index"]] = (block["id"], block["name"], [])
    made = tuple((call_id, name, arguments(pieces)) for call_id, name, pieces in calls.values())
    return Result("".join(texts), made, "".join(thoughts))


def gemini(chunks: list[bytes]) -> Result:
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[tuple[str | None, str, Any]] = []
    for batch in batches(chunks):
        for event in batch:
            for candidate in orjson.loads(event.data).get("candidates", ()):
                for part in candidate.get("content", {}).get("parts", ()):
                    if "functionCall" in part:
                        call = part["functionCall"]
                        calls.append((call.get("id"), call["name"], call.get("args", {})))
                    elif "text" in part:
                        (thoughts if part.get("thought") else texts).append(part["text"])
    return Result("".join(texts), tuple(calls), "".join(thoughts))


def arguments(pieces: list[str]) -> Any:
    return orjson.loads("".join(pieces) or "{}")


PEERS = (
    Peer(
        "httpx-sse + orjson by hand",
        ("httpx-sse", "orjson"),
        turns={
            "openai-responses": responses,
            "openai-chat": chat,
            "anthropic-messages": messages,
            "gemini": gemini,
        },
    ),
)

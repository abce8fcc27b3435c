"""The plainest readings of what the server sent: whole lines, whole JSON; nothing shared with trigate.

They believe every word: whether a call may run is not asked here.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

__all__ = ["Told", "events", "streamed", "whole"]

#: name and argument text of each call, in order; and the text.
Told: TypeAlias = tuple[list[tuple[str, str]], str]


def events(stream: bytes) -> list[dict[str, Any]]:
    lines = [
        line[6:] for line in stream.split(b"\n") if line.startswith(b"data: ") and line != b"data: [DONE]"
    ]
    return [json.loads(line) for line in lines]


def streamed(stream: bytes) -> Told:
    """The deltas of any of the three APIs, joined."""
    calls: list[list[str]] = []
    text = ""
    for event in events(stream):
        for choice in event.get("choices", []):
            text += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls", []):
                if "name" in call["function"]:
                    calls.append([call["function"]["name"], ""])
                calls[call["index"]][1] += call["function"]["arguments"]
        begun = event.get("content_block") or event.get("item") or {}
        if event.get("type") in ("content_block_start", "response.output_item.added") and "name" in begun:
            calls.append([begun["name"], ""])
        delta = event.get("delta")
        if event.get("type") == "response.function_call_arguments.delta":
            calls[-1][1] += event["delta"]
        elif event.get("type") == "response.output_text.delta":
            text += event["delta"]
        elif isinstance(delta, dict):
            text += delta.get("text", "")
            if "partial_json" in delta:
                calls[-1][1] += delta["partial_json"]
    return [(name, arguments) for name, arguments in calls], text


def whole(body: dict[str, Any]) -> list[tuple[str, Any]]:
    """Name and parsed arguments of each call in a JSON body of any of the three APIs."""
    if "choices" in body:
        functions = [call["function"] for call in body["choices"][0]["message"].get("tool_calls", [])]
        return [(function["name"], json.loads(function["arguments"])) for function in functions]
    if "output" in body:
        items = [item for item in body["output"] if item["type"] == "function_call"]
        return [(item["name"], json.loads(item["arguments"])) for item in items]
    return [(block["name"], block["input"]) for block in body["content"] if block["type"] == "tool_use"]

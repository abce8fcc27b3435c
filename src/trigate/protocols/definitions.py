"""How each protocol is told which tools there are: one entry of a request's list of tools.

Rules
 - A custom tool (free text) is one only where the protocol has them; elsewhere it is a function whose one member is
   `input`, as its schema says.
 - Schemas go as they are. OpenAI's `strict` asks for closed schemas of its own kind, so it is said to be off: the
   arguments are checked on this side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

__all__ = ["DEFINERS", "Definition"]


class Definition(NamedTuple):
    """What a model is told of a tool. parameters: its JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Any]
    kind: Literal["function", "custom"] = "function"


def _function(tool: Definition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


def _responses(tool: Definition) -> dict[str, Any]:
    if tool.kind == "custom":
        return {"type": "custom", "name": tool.name, "description": tool.description}
    return {"type": "function", **_function(tool), "strict": False}


def _chat(tool: Definition) -> dict[str, Any]:
    if tool.kind == "custom":
        return {"type": "custom", "custom": {"name": tool.name, "description": tool.description}}
    return _plain_chat(tool)


def _plain_chat(tool: Definition) -> dict[str, Any]:
    return {"type": "function", "function": _function(tool)}


def _anthropic(tool: Definition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _gemini(tool: Definition) -> dict[str, Any]:
    declared = {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
    return {"functionDeclarations": [declared]}


def _interactions(tool: Definition) -> dict[str, Any]:
    return {"type": "function", **_function(tool)}


def _converse(tool: Definition) -> dict[str, Any]:
    specified: dict[str, Any] = {"name": tool.name, "inputSchema": {"json": tool.parameters}}
    if tool.description:  # an empty one is refused
        specified["description"] = tool.description
    return {"toolSpec": specified}


#: Protocol to what writes one entry. Of bedrock-converse the list is `toolConfig.tools`, elsewhere it is `tools`.
DEFINERS: dict[str, Callable[[Definition], dict[str, Any]]] = {
    "openai-responses": _responses,
    "openai-chat": _chat,
    "anthropic-messages": _anthropic,
    "gemini": _gemini,
    "gemini-interactions": _interactions,
    "ollama-chat": _plain_chat,
    "bedrock-converse": _converse,
    "bedrock-invoke": _anthropic,
    "cohere-chat": _plain_chat,
}

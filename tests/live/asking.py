"""What is asked of the server, in the words of each of its three APIs; and the answer, read in small pieces.

Rules
 - Temperature 0 and a fixed seed; the schemas leave the model little choice: it gives the same call again.
 - A small base model does not know when to stop: a stop string ends its turn after the call that is wanted.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["APIS", "PING", "TRANSFER", "WEATHER", "Api", "Ask", "answer", "pieces"]

Body: TypeAlias = dict[str, Any]
READ = 48


def _tool(name: str, description: str, **properties: Body) -> Body:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"name": name, "description": description, "parameters": schema | {"additionalProperties": False}}


TRANSFER = _tool(
    "transfer",
    "Sends money",
    to={"type": "string", "enum": ["Anna", "Bert"]},
    amount={"type": "integer", "minimum": 1000, "maximum": 9999},
)
WEATHER = _tool("weather", "Tells the weather", city={"type": "string", "enum": ["Berlin", "Rome"]})
PING = _tool("ping", "Says that you are here")


@dataclass(frozen=True, eq=False)
class Ask:
    """One user message; at most so many tokens; the turn ends before `stop`; with tools, it must call."""

    text: str
    max_tokens: int
    tools: tuple[Body, ...] = ()
    stop: str | None = None


@dataclass(frozen=True)
class Api:
    """One of the server's routes: the protocol its streams are in, and how it wants to be asked."""

    protocol: str
    path: str
    body: Callable[[Ask], Body]


def _chat(ask: Ask) -> Body:
    body: Body = {"messages": [{"role": "user", "content": ask.text}], "max_tokens": ask.max_tokens}
    if ask.tools:
        body |= {"tools": [{"type": "function", "function": tool} for tool in ask.tools]}
        body |= {"tool_choice": "required"}
    return body | ({"stop": [ask.stop]} if ask.stop else {})


def _responses(ask: Ask) -> Body:
    body: Body = {"input": ask.text, "max_output_tokens": ask.max_tokens}
    if ask.tools:
        body |= {"tools": [{"type": "function"} | tool for tool in ask.tools], "tool_choice": "required"}
    return body | ({"stop": [ask.stop]} if ask.stop else {})


def _messages(ask: Ask) -> Body:
    body: Body = {"messages": [{"role": "user", "content": ask.text}], "max_tokens": ask.max_tokens}
    if ask.tools:
        body |= {
            "tools": [
                {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
                for tool in ask.tools
            ],
            "tool_choice": {"type": "any"},
        }
    return body | ({"stop_sequences": [ask.stop]} if ask.stop else {})


APIS = (
    Api("openai-chat", "/v1/chat/completions", _chat),
    Api("openai-responses", "/v1/responses", _responses),
    Api("anthropic-messages", "/v1/messages", _messages),
)


def pieces(
    address: tuple[str, int], api: Api, ask: Ask, *, status: int = 200, **members: Any
) -> Iterator[bytes]:
    """The body of the answer as the network gives it, READ bytes at most at a time.

    Whoever leaves early closes the connection. `members` are added to the request.
    """
    body = {"model": "any", "stream": True, "temperature": 0, "seed": 1} | api.body(ask) | members
    connection = http.client.HTTPConnection(*address, timeout=120)
    try:
        connection.request("POST", api.path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == status
        while piece := response.read1(READ):
            yield piece
    finally:
        connection.close()


def answer(address: tuple[str, int], api: Api, ask: Ask) -> Body:
    """The same turn without a stream: one JSON body."""
    body: Body = json.loads(b"".join(pieces(address, api, ask, stream=False)))
    return body

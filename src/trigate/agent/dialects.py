"""How each API is asked: its path, its headers, and a conversation in its own shape.

Rules
 - A turn goes back as it came, opaque parts included, followed by one answer for each of its calls.
 - Sources: the providers' references, gathered in docs/protocols.md ("What goes back").
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from trigate.runner import TurnResult
from trigate.tools import Toolset

__all__ = ["DIALECTS", "Dialect"]


class Dialect(ABC):
    """One API. protocol: how its stream is read. key_variable: the environment's name for its key."""

    protocol: str
    base_url: str
    path: str
    key_variable: str

    @abstractmethod
    def headers(self, key: str | None) -> dict[str, str]:
        """Headers of a request; without a key none that needs one."""

    @abstractmethod
    def body(
        self, model: str, instructions: str, items: list[Any], toolset: Toolset, output_tokens: int
    ) -> dict[str, Any]:
        """The body of a request. items: the conversation so far."""

    def begin(self, question: str) -> list[Any]:
        """The conversation's beginning."""
        return [{"role": "user", "content": question}]

    def answered(self, turn: TurnResult) -> list[Any]:
        """What one turn adds to the conversation: the model's part, and the answers to its calls."""
        return [turn.response.to_message(), *turn.messages()]


class _OpenAI(Dialect):
    """What OpenAI's APIs share."""

    base_url = "https://api.openai.com/v1"
    key_variable = "OPENAI_API_KEY"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}


class OpenAIResponses(_OpenAI):
    """Stateless: nothing is stored at the provider, so reasoning comes back encrypted and is sent again."""

    protocol = "openai-responses"
    path = "/responses"

    def body(
        self, model: str, instructions: str, items: list[Any], toolset: Toolset, output_tokens: int
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "stream": True, "store": False, "input": items}
        body |= {"include": ["reasoning.encrypted_content"], "max_output_tokens": output_tokens}
        if instructions:
            body["instructions"] = instructions
        return _with_tools(body, toolset.tools_for(self.protocol))

    def answered(self, turn: TurnResult) -> list[Any]:
        return [*turn.response.to_message(), *turn.messages()]


class OpenAIChat(_OpenAI):
    """Chat Completions, and every server that speaks them."""

    protocol = "openai-chat"
    path = "/chat/completions"

    def body(
        self, model: str, instructions: str, items: list[Any], toolset: Toolset, output_tokens: int
    ) -> dict[str, Any]:
        system = [{"role": "system", "content": instructions}] if instructions else []
        body: dict[str, Any] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
        body |= {"messages": [*system, *items], "max_tokens": output_tokens}
        return _with_tools(body, toolset.tools_for(self.protocol))


class AnthropicMessages(Dialect):
    """Messages: all answers of a turn stand in one user message."""

    protocol = "anthropic-messages"
    base_url = "https://api.anthropic.com/v1"
    path = "/messages"
    key_variable = "ANTHROPIC_API_KEY"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def body(
        self, model: str, instructions: str, items: list[Any], toolset: Toolset, output_tokens: int
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "stream": True,
            "max_tokens": output_tokens,
            "messages": items,
        }
        if instructions:
            body["system"] = instructions
        return _with_tools(body, toolset.tools_for(self.protocol))

    def answered(self, turn: TurnResult) -> list[Any]:
        blocks = [block for message in turn.messages() for block in message["content"]]
        return [turn.response.to_message(), {"role": "user", "content": blocks}]


def _with_tools(body: dict[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {**body, "tools": tools} if tools else body


#: By protocol.
DIALECTS: dict[str, Dialect] = {
    each.protocol: each for each in (OpenAIResponses(), OpenAIChat(), AnthropicMessages())
}

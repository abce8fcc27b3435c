"""pydantic-ai: a real agent whose tools note what they are run with."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider
from seen import Call, Cell, Seen, serve

_HOW = "`Agent({}, tools=...).run_stream_events()`, a real agent; a call runs if the agent ran the tool"
HOW = {
    "openai-responses": _HOW.format("OpenAIResponsesModel"),
    "openai-chat": _HOW.format("OpenAIChatModel"),
    "anthropic-messages": _HOW.format("AnthropicModel"),
    "gemini": _HOW.format("GoogleModel"),
}
ANY_OBJECT = {"type": "object", "additionalProperties": True}


def model(cell: Cell) -> Model:
    if cell.protocol == "gemini":
        return GoogleModel("gemini-3-pro", provider=GoogleProvider(api_key="none", base_url=cell.url))
    if cell.protocol == "anthropic-messages":
        return AnthropicModel("m", provider=AnthropicProvider(api_key="none", base_url=cell.url))
    provider = OpenAIProvider(api_key="none", base_url=cell.url)
    kind = OpenAIResponsesModel if cell.protocol == "openai-responses" else OpenAIChatModel
    return kind("m", provider=provider)


def tool(name: str, ran: list[tuple[str, Any]]) -> Tool[Any]:
    def note(**arguments: Any) -> str:
        ran.append((name, arguments))
        return "done"

    return Tool.from_schema(note, name=name, description="A tool.", json_schema=ANY_OBJECT)


async def run(cell: Cell, seen: Seen) -> None:
    ran: list[tuple[str, Any]] = []
    agent = Agent(model(cell), tools=[tool(name, ran) for name in cell.names])
    try:
        async with agent.run_stream_events("Hi") as events:
            async for event in events:
                if event.event_kind == "agent_run_result":
                    seen.finish = str(event.result.response.finish_reason)
    except Exception:
        # After a tool ran, or was refused, the agent asks the model again, and the loopback says no to that.
        if not ran and cell.server.requests < 2:
            raise
    for name, arguments in sorted(ran, key=lambda each: each[0]):  # they ran side by side
        seen.calls.append(Call(None, name, arguments, "runs"))
    if not ran and cell.server.requests > 1:
        seen.calls.append(Call(None, None, None, "marked", "the agent told the model to try again"))


def ask(cell: Cell, seen: Seen) -> None:
    asyncio.run(run(cell, seen))


if __name__ == "__main__":
    serve(ask, ("pydantic-ai-slim", "openai", "anthropic", "google-genai"), HOW)

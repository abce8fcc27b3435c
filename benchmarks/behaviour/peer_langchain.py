"""langchain-core with its provider packages: chunks added up, and what the sum says of its tool calls."""

from __future__ import annotations

from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from seen import Call, Cell, Seen, serve

_HOW = (
    "`{}.stream()`, the chunks added up; a call of `.tool_calls` runs (agents run all of them), "
    "one of `.invalid_tool_calls` is marked"
)
HOW = {
    "openai-responses": _HOW.format("ChatOpenAI(use_responses_api=True)"),
    "openai-chat": _HOW.format("ChatOpenAI"),
    "anthropic-messages": _HOW.format("ChatAnthropic"),
    "gemini": _HOW.format("ChatGoogleGenerativeAI"),
}


def model(cell: Cell) -> BaseChatModel:
    shared: dict[str, Any] = {
        "model": "m",
        "api_key": "none",
        "base_url": cell.url,
        "max_retries": 0,
        "timeout": 10,
    }
    if cell.protocol == "gemini":
        return ChatGoogleGenerativeAI(**shared)
    if cell.protocol == "anthropic-messages":
        return ChatAnthropic(**shared)
    return ChatOpenAI(**shared, use_responses_api=cell.protocol == "openai-responses")


def ask(cell: Cell, seen: Seen) -> None:
    total: AIMessageChunk | None = None
    for chunk in model(cell).stream("Hi"):
        total = chunk if total is None else total + chunk
    if not isinstance(total, AIMessage):
        return
    told = total.response_metadata
    seen.finish = told.get("finish_reason") or told.get("stop_reason") or told.get("status")
    for call in total.tool_calls:
        seen.calls.append(Call(call["id"], call["name"], call["args"], "runs"))
    for bad in total.invalid_tool_calls:
        seen.calls.append(Call(bad["id"], bad["name"], bad["args"], "marked", "invalid_tool_calls"))


if __name__ == "__main__":
    packages = ("langchain-core", "langchain-openai", "langchain-anthropic", "langchain-google-genai")
    serve(ask, packages, HOW)

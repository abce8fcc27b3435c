"""litellm: completion(stream=True) put together by stream_chunk_builder, and responses(stream=True)."""

from __future__ import annotations

from typing import Any

import litellm
from seen import Call, Cell, Seen, fate_of_text, serve

_HOW = (
    "`litellm.completion(model='{}/...', stream=True)`, then `stream_chunk_builder(chunks)`; a call of "
    "`message.tool_calls` runs if `json.loads` reads it, as in litellm's guide"
)
HOW = {
    "openai-responses": "`litellm.responses(stream=True)`; a call of the `response` in `response.completed` "
    "runs if its `status` is `completed` or absent and `json.loads` reads it",
    "openai-chat": _HOW.format("openai"),
    "anthropic-messages": _HOW.format("anthropic"),
    "gemini": _HOW.format("gemini"),
}
MODELS = {
    "openai-chat": "openai/gpt-5-mini",
    "anthropic-messages": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-pro",
}


def responses(options: dict[str, Any], seen: Seen) -> None:
    final: Any = None
    for event in litellm.responses(model="openai/gpt-5-mini", input="Hi", stream=True, **options):
        if getattr(event, "type", None) == "response.completed":
            final = event.response
    if final is None:
        return
    seen.finish = final.status
    for item in final.output:
        told = item if isinstance(item, dict) else item.model_dump()
        if told.get("type") == "function_call":
            whole = told.get("status") in (None, "completed")
            fate = fate_of_text(told.get("arguments")) if whole else "marked"
            why = "" if whole else f"item {told.get('status')}"
            seen.calls.append(Call(told.get("call_id"), told.get("name"), told.get("arguments"), fate, why))


def ask(cell: Cell, seen: Seen) -> None:
    options: dict[str, Any] = {"api_base": cell.url, "api_key": "none", "max_retries": 0, "timeout": 10}
    if cell.protocol == "openai-responses":
        responses(options, seen)
        return
    messages = [{"role": "user", "content": "Hi"}]
    chunks = list(litellm.completion(MODELS[cell.protocol], messages, stream=True, **options))
    whole: Any = litellm.stream_chunk_builder(chunks, messages=messages)
    if whole is None:
        return
    choice = whole.choices[0]
    seen.finish = choice.finish_reason
    for call in choice.message.tool_calls or []:
        arguments = call.function.arguments
        seen.calls.append(Call(call.id, call.function.name, arguments, fate_of_text(arguments)))


if __name__ == "__main__":
    serve(ask, ("litellm", "openai"), HOW)

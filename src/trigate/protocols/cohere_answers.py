"""How a Cohere turn goes back to the provider: the assistant's message, and the results of its calls.

Source: docs/protocols/cohere-chat.md, "Answers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigate.calls import ReleasedCall, ToolCall
from trigate.protocols.answers import answered_id, as_text, kept

if TYPE_CHECKING:
    from trigate.response import Response

__all__ = ["to_message", "tool_result_message"]


def to_message(response: Response) -> dict[str, Any]:
    """The assistant's message: plan, content and citations, and the calls that may be answered."""
    told: dict[str, Any] = kept(response.echo[0]) if response.echo else {}
    message: dict[str, Any] = {"role": "assistant"}
    calls = response.released if response.status == "completed" else ()
    if calls:
        message["tool_calls"] = [_as_it_came(call) for call in calls]
    return message | {name: value for name, value in told.items() if value}


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The result of one call. An error has no sign of its own: its text says it."""
    return {"role": "tool", "tool_call_id": answered_id(call), "content": _content(content)}


def _as_it_came(call: ReleasedCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments if call.arguments.strip() else "{}"}
    return {"id": call.call_id, "type": "function", "function": function}


def _content(content: Any) -> str | list[Any]:
    """Text and lists of parts as they are, an object as a document (it can be cited), the rest as JSON."""
    if content and isinstance(content, list) and all(map(_is_part, content)):
        return content
    if isinstance(content, dict):
        return [{"type": "document", "document": {"data": content}}]
    return as_text(content)


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in ("text", "document")

"""How a Messages turn goes back to the provider: the assistant's message, and the results of its calls.

Source: docs/protocols/anthropic-messages.md, "Answers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigate.calls import ToolCall
from trigate.protocols.answers import answered_id, as_text, kept

if TYPE_CHECKING:
    from trigate.response import Response

__all__ = ["RESENT", "to_message", "tool_result_message"]

#: After these the provider wants its own content back, unaltered, to go on from there.
RESENT = ("pause_turn", "compaction")


def to_message(response: Response) -> dict[str, Any]:
    """The assistant's message, without a tool_use that nothing may answer: the provider would refuse it."""
    answerable = {call.call_id for call in response.released}
    is_resent = response.status == "incomplete" and response.reason in RESENT
    content = [kept(raw) for raw in response.echo]
    if not is_resent:
        is_completed = response.status == "completed"
        content = [
            block
            for block in content
            if block.get("type") != "tool_use" or (is_completed and block.get("id") in answerable)
        ]
    return {"role": "assistant", "content": content}


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The user's message with one result. All results of a turn belong into one message, before any text."""
    answer: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": answered_id(call),
        "content": _content(content),
    }
    if is_error:
        answer["is_error"] = True
    toolset = _toolset(response, call)
    if toolset is not None:
        answer["toolset_name"] = toolset
    return {"role": "user", "content": [answer]}


def _content(content: Any) -> str | list[Any]:
    """Text and lists of content blocks as they are, other JSON values as text."""
    if isinstance(content, str) or (content and isinstance(content, list) and all(map(_is_block, content))):
        return content
    return as_text(content)


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _toolset(response: Response, call: ToolCall) -> Any:
    """A call out of a toolset names it, and the answer must repeat that."""
    for raw in response.echo:
        block = kept(raw)
        if block.get("type") == "tool_use" and block.get("id") == call.call_id:
            return block.get("toolset_name")
    return None

"""How a ConverseStream turn goes back to Bedrock: the assistant's message, and the results of its calls.

Source: docs/protocols/bedrock-converse.md, "Answers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigate.calls import ToolCall
from trigate.protocols.answers import answered_id, as_text, kept

if TYPE_CHECKING:
    from trigate.response import Response

__all__ = ["to_message", "tool_result_message"]

#: What a result's content may hold: each block has one of these members.
BLOCKS = ("text", "json", "image", "document", "video", "searchResult")


def to_message(response: Response) -> dict[str, Any]:
    """The assistant's message. A toolUse of the client that nothing may answer is left out."""
    answerable = {call.call_id for call in response.released} if response.status == "completed" else set()
    content = [kept(raw) for raw in response.echo]
    return {"role": "assistant", "content": [block for block in content if _may_stay(block, answerable)]}


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The user's message with one result. Several results of one turn belong into one such message."""
    result = {
        "toolUseId": answered_id(call),
        "content": _content(content),
        "status": "error" if is_error else "success",
    }
    return {"role": "user", "content": [{"toolResult": result}]}


def _may_stay(block: dict[str, Any], answerable: set[str | None]) -> bool:
    tool = block.get("toolUse")
    return tool is None or "type" in tool or tool.get("toolUseId") in answerable


def _content(content: Any) -> list[Any]:
    """Lists of content blocks as they are, an object as json, other JSON values as text."""
    if content is None:
        return []
    if content and isinstance(content, list) and all(map(_is_block, content)):
        return content
    if isinstance(content, dict):
        return [{"json": content}]
    return [{"text": as_text(content)}]


def _is_block(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in BLOCKS

"""What goes back to Gemini after a turn: the turn itself, and the results of its calls.

Rules
 - The turn goes back part by part, each as it came: a thoughtSignature belongs to its part, also to an empty
   one, and parts are never merged.
 - Of a turn that did not end well the calls are left out, for nothing may answer them; a turn that is to be
   continued goes back whole.
"""

from __future__ import annotations

from typing import Any

from trigate.calls import ToolCall
from trigate.protocols.answers import kept, refuse_bytes
from trigate.response import Response

__all__ = ["CONTINUES", "to_message", "tool_result_message"]

#: The finishReason after which the turn is sent back unchanged, to be continued.
CONTINUES = "CONTINUATION"


def to_message(response: Response) -> dict[str, Any]:
    """The content with the role "model", to stand in the next request's `contents`."""
    parts = _parts(response)
    if response.status != "completed" and response.reason != CONTINUES:
        parts = [part for part in parts if part.get("functionCall") is None]
    return {"role": "model", "parts": parts}


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """A content with one functionResponse. Those of a turn belong into one content, in the calls' order."""
    if not call.name:
        raise ValueError("the call has no name, so it cannot be answered")
    answer: dict[str, Any] = {}
    if call.call_id is not None and call.call_id in _wire_ids(response):
        answer["id"] = call.call_id  # one that was made up here means nothing to the provider
    answer["name"] = call.name
    answer["response"] = {"error" if is_error else "output": _json_value(content)}
    return {"role": "user", "parts": [{"functionResponse": answer}]}


def _parts(response: Response) -> list[dict[str, Any]]:
    return [kept(raw) for raw in response.echo]


def _wire_ids(response: Response) -> set[str]:
    calls = (part.get("functionCall") for part in _parts(response))
    return {call["id"] for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str)}


def _json_value(content: Any) -> Any:
    refuse_bytes(content)
    return content

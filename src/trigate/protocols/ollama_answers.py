"""How an Ollama turn goes back to the server: the assistant's message, and the results of its calls.

Source: docs/protocols/ollama-chat.md, "Answers".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigate.calls import ReleasedCall, ToolCall
from trigate.protocols.answers import as_text, kept

if TYPE_CHECKING:
    from trigate.response import Response

__all__ = ["to_message", "tool_result_message"]


def to_message(response: Response) -> dict[str, Any]:
    """The assistant's message, with the calls that may be answered, each as it came."""
    message: dict[str, Any] = {"role": "assistant", "content": response.text}
    if response.reasoning:
        message["thinking"] = response.reasoning
    calls = [_as_it_came(response, call) for call in response.released] if _is_good(response) else []
    if calls:
        message["tool_calls"] = calls
    return message


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The result of one call. An error has no sign of its own: its text says it."""
    if not call.name:
        raise ValueError("the call has no name, so it cannot be answered")
    answer = {"role": "tool", "tool_name": call.name, "content": as_text(content)}
    if call.call_id is not None and _wire_call(response, call).get("id") == call.call_id:
        answer["tool_call_id"] = call.call_id  # one that was made up here means nothing to the server
    return answer


def _is_good(response: Response) -> bool:
    return response.status == "completed"


def _wire_call(response: Response, call: ToolCall) -> dict[str, Any]:
    """The call as the wire had it: its key is its place among them."""
    place = call.wire_key[0]
    assert isinstance(place, int)
    made: dict[str, Any] = kept(response.echo[place])
    return made


def _as_it_came(response: Response, call: ReleasedCall) -> dict[str, Any]:
    made = _wire_call(response, call)
    return made | {"function": made["function"] | {"arguments": call.value()}}

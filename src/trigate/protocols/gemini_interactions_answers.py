"""What goes back to the Interactions API after a turn: its steps, and the results of its calls.

Rules
 - With previous_interaction_id (`response.id`) the provider knows the steps, and the results alone are the
   input. Without it the steps go first, each as it was assembled, signatures unchanged.
 - Of a turn that did not end well the calls are left out, for nothing may answer them; a turn that is to be
   continued goes back whole.
"""

from __future__ import annotations

import json
from typing import Any

from trigate.calls import ToolCall
from trigate.protocols.answers import answered_id, kept, refuse_bytes
from trigate.response import Response

__all__ = ["CONTINUES", "to_message", "tool_result_message"]

#: The status after which the interaction is to be continued.
CONTINUES = "requires_continuation"


def to_message(response: Response) -> list[dict[str, Any]]:
    """The steps, to stand in the next request's `input`."""
    steps: list[dict[str, Any]] = [kept(raw) for raw in response.echo]
    if response.status != "completed" and response.reason != CONTINUES:
        steps = [step for step in steps if step.get("type") != "function_call"]
    return steps


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The function_result step for one call."""
    answer = {
        "type": "function_result",
        "call_id": answered_id(call),
        "name": call.name,
        "result": _result(content),
    }
    return answer | ({"is_error": True} if is_error else {})


def _result(content: Any) -> Any:
    """Text, a list of content blocks or an object goes as it is; other values as their JSON text."""
    refuse_bytes(content)
    if content is None or isinstance(content, (str, list, dict)):
        return "" if content is None else content
    return json.dumps(content)

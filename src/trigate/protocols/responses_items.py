"""The items of a Responses turn: which the client must act on, how they are echoed and how they are answered.

Source: docs/protocols.md, "openai-responses", the tables of items and answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trigate.calls import CallKind, ToolCall
from trigate.framing import Frame
from trigate.protocols.answers import answered_id, as_text, kept
from trigate.protocols.wire import members_of

if TYPE_CHECKING:
    from trigate.response import Response

__all__ = [
    "CLIENT_ITEMS",
    "SERVER_ITEMS",
    "ClientItem",
    "builtin_arguments",
    "to_message",
    "tool_result_message",
]


class ClientItem(msgspec.Struct, frozen=True):
    """An item that asks the client to act.

    name: the call's name where the item has none of its own. payload: the members that are its arguments, for
    a kind that has no argument text. answers_by_id: the answer carries the item's id instead of a call_id.
    """

    kind: CallKind
    answer: str
    name: str | None = None
    payload: tuple[str, ...] = ()
    answers_by_id: bool = False

    def is_for_client(self, execution: str | None, environment: Any) -> bool:
        """Shells in a hosted container and searches that the server runs are none of ours."""
        if self.name == "tool_search":
            return execution == "client"
        if self.name == "shell":
            return not (isinstance(environment, dict) and environment.get("type") != "local")
        return True


CLIENT_ITEMS = {
    "function_call": ClientItem("function", "function_call_output"),
    "custom_tool_call": ClientItem("custom", "custom_tool_call_output"),
    "shell_call": ClientItem("builtin", "shell_call_output", "shell", ("action",)),
    "local_shell_call": ClientItem(
        "builtin", "local_shell_call_output", "local_shell", ("action",), answers_by_id=True
    ),
    "apply_patch_call": ClientItem("builtin", "apply_patch_call_output", "apply_patch", ("operation",)),
    "computer_call": ClientItem(
        "builtin", "computer_call_output", "computer", ("action", "actions", "pending_safety_checks")
    ),
    "tool_search_call": ClientItem("builtin", "tool_search_output", "tool_search", ("arguments",)),
    "mcp_approval_request": ClientItem(
        "builtin",
        "mcp_approval_response",
        "mcp_approval",
        ("server_label", "name", "arguments"),
        answers_by_id=True,
    ),
}
SERVER_ITEMS = frozenset(
    {
        "message",
        "reasoning",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_response",
        "program",
        "program_output",
        "compaction",
        "additional_tools",
        "tool_search_output",
        "function_call_output",
        "custom_tool_call_output",
        "shell_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
        "computer_call_output",
    }
)
_BY_NAME = {item.name: item for item in CLIENT_ITEMS.values() if item.name is not None}


def builtin_arguments(item_type: str, raw: bytes, event: Frame) -> str:
    """The arguments of a builtin call as one JSON object: its payload, as it came."""
    known = CLIENT_ITEMS.get(item_type)
    if known is None:
        return raw.decode()
    members = members_of(raw, event)
    if len(known.payload) == 1 and members.get(known.payload[0], b"")[:1] == b"{":
        return members[known.payload[0]].decode()
    parts = [f'"{name}":{members[name].decode()}' for name in known.payload if name in members]
    return "{" + ",".join(parts) + "}"


def to_message(response: Response) -> list[dict[str, Any]]:
    """The output items, to stand in the next request's `input`."""
    items = [kept(raw) for raw in response.echo]
    if response.status != "completed":
        # A call of a turn that did not end well cannot be answered, so it must not be sent back either.
        items = [item for item in items if not _is_for_client(item)]
    return items


def _is_for_client(item: dict[str, Any]) -> bool:
    known = CLIENT_ITEMS.get(str(item.get("type")))
    return known is not None and known.is_for_client(item.get("execution"), item.get("environment"))


def tool_result_message(response: Response, call: ToolCall, content: Any, is_error: bool) -> dict[str, Any]:
    """The answer item for one call. An error has no flag in most of them: its text is the output."""
    known = _BY_NAME.get(call.name) if call.kind == "builtin" else _of_kind(call.kind)
    if known is None:
        raise ValueError(f"no answer is known for a call of {call.name!r}: its item type is unknown")
    call_id = answered_id(call)
    answer: dict[str, Any] = {"type": known.answer}
    if known.answer == "mcp_approval_response":
        answer |= {"approval_request_id": call_id, "approve": not is_error}
        return answer | ({"reason": as_text(content)} if is_error else {})
    answer["id" if known.answers_by_id else "call_id"] = call_id
    answer |= _OUTPUTS.get(known.answer, _plain)(content, is_error)
    caller = _caller(response, call)
    return answer | ({"caller": caller} if caller is not None else {})


def _of_kind(kind: CallKind) -> ClientItem:
    return CLIENT_ITEMS["custom_tool_call" if kind == "custom" else "function_call"]


def _caller(response: Response, call: ToolCall) -> Any:
    """A call made by a program names its caller, and the answer must repeat it."""
    for raw in response.echo:
        item = kept(raw)
        if item.get("call_id") == call.call_id and item.get("type") in CLIENT_ITEMS:
            return item.get("caller")
    return None


def _plain(content: Any, is_error: bool) -> dict[str, Any]:
    return {"output": content if isinstance(content, list) else as_text(content)}


def _shell(content: Any, is_error: bool) -> dict[str, Any]:
    if isinstance(content, list):
        return {"output": content}
    outcome = {"type": "exit", "exit_code": 1 if is_error else 0}
    text = as_text(content)
    streams = {"stdout": "", "stderr": text} if is_error else {"stdout": text, "stderr": ""}
    return {"output": [{**streams, "outcome": outcome}]}


def _patch(content: Any, is_error: bool) -> dict[str, Any]:
    status = {"status": "failed" if is_error else "completed"}
    return status | ({"output": as_text(content)} if content else {})


def _computer(content: Any, is_error: bool) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise TypeError('a computer call is answered with a dict: {"type": "computer_screenshot", ...}')
    return {"output": content}


def _search(content: Any, is_error: bool) -> dict[str, Any]:
    if not isinstance(content, list):
        raise TypeError("a tool_search call is answered with the list of tool definitions that were found")
    return {"tools": content, "execution": "client", "status": "completed"}


_OUTPUTS = {
    "shell_call_output": _shell,
    "apply_patch_call_output": _patch,
    "computer_call_output": _computer,
    "tool_search_output": _search,
}

"""What goes back to the provider: the turn itself, unchanged, and one answer for each call of it."""

from __future__ import annotations

import json
from typing import Any, Union, get_args

import pytest

import trigate
from streams import PROTOCOL, Event, Script, function_item, message_item

REASONING: Event = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [],
    "encrypted_content": "gAAAAABo+/=_-" * 20,
    "novel": {"n": 1.5, "list": [None, True, "ü\u2028"]},
}
CUSTOM: Event = {"type": "custom_tool_call", "id": "ct_1", "call_id": "c", "name": "py", "input": "1+1"}
SHELL: Event = {
    "type": "shell_call",
    "id": "x",
    "call_id": "c",
    "status": "completed",
    "action": {"commands": ["ls"]},
}
HOSTED = SHELL | {"environment": {"type": "container_auto"}}
PATCH: Event = {
    "type": "apply_patch_call",
    "id": "x",
    "call_id": "c",
    "status": "completed",
    "operation": {"path": "p"},
}
COMPUTER: Event = {"type": "computer_call", "id": "x", "call_id": "c", "actions": [], "status": "completed"}
LOCAL: Event = {
    "type": "local_shell_call",
    "id": "lsh",
    "call_id": "c",
    "action": {"type": "exec"},
    "status": "completed",
}
SEARCH: Event = {
    "type": "tool_search_call",
    "id": "x",
    "call_id": "c",
    "execution": "client",
    "arguments": {},
}
APPROVAL: Event = {
    "type": "mcp_approval_request",
    "id": "mcpr",
    "server_label": "s",
    "name": "f",
    "arguments": "{}",
}
SHOT = {"type": "computer_screenshot", "image_url": "data:image/png;base64,aGk="}


def turn(*items: Event, kind: str = "response.completed", **members: Any) -> trigate.Response:
    script = Script().created()
    for index, item in enumerate(items):
        script.whole(index, item)
    return script.end(kind, **members).parse()


def answer(item: Event, content: Any, is_error: bool = False) -> Any:
    response = turn(item)
    (call,) = response.released
    return response.tool_result_message(call, content, is_error)


def output(*, stdout: str = "", stderr: str = "", code: int = 0) -> list[Event]:
    return [{"stdout": stdout, "stderr": stderr, "outcome": {"type": "exit", "exit_code": code}}]


# -- to_message --------------------------------------------------------------------------------------


def test_all_items_go_back_unchanged_in_their_order() -> None:
    items = [REASONING, message_item("Hé 🌍"), function_item('{"a": 1}'), CUSTOM, HOSTED]
    assert turn(*items).to_message() == items
    assert turn(*items, output=[]).to_message() == items


def test_opaque_members_are_unchanged_byte_for_byte() -> None:
    raw = '{"type":"reasoning" ,"encrypted_content":"a\\u002fb\\/+==","n":1.50,"big":12345678901234567890}'
    data = Script().created().whole(0, {"type": "reasoning"}).end(output=["HERE"]).data()
    response = trigate.parse(data.replace(b'"HERE"', raw.encode()), PROTOCOL)
    assert response.echo == (raw.encode(),)
    (item,) = response.to_message()
    assert item == json.loads(raw)
    assert item["encrypted_content"] == "a/b/+=="
    assert item["big"] == 12345678901234567890


def test_the_message_is_made_anew_each_time() -> None:
    response = turn(REASONING)
    response.to_message()[0]["encrypted_content"] = "gone"
    assert response.to_message() == [REASONING]


@pytest.mark.parametrize("kind", ["response.incomplete", "response.failed", "response.cancelled"])
def test_a_turn_that_did_not_end_well_leaves_the_client_s_calls_out(kind: str) -> None:
    items = [
        REASONING,
        message_item("x"),
        function_item("{}"),
        CUSTOM,
        PATCH,
        LOCAL,
        SEARCH,
        APPROVAL,
        HOSTED,
    ]
    assert turn(*items, kind=kind).to_message() == [REASONING, message_item("x"), HOSTED]


def test_a_cut_turn_keeps_the_items_that_were_done() -> None:
    script = (
        Script().created().message("x").call("{}", index=1).added(2, function_item("", call_id="c2", id="f2"))
    )
    assert script.parse().to_message() == [message_item("x")]


def test_a_conflict_leaves_them_out_too() -> None:
    response = turn(
        message_item("x"), function_item("{}"), output=[message_item("x"), function_item('{"a":1}')]
    )
    assert response.status == "conflict"
    assert response.to_message() == [message_item("x")]


def test_a_response_of_no_protocol_has_no_message() -> None:
    response = trigate.parse(b"", "auto")
    with pytest.raises(ValueError, match="protocol"):
        response.to_message()
    with pytest.raises(ValueError, match="cannot be answered"):
        response.tool_result_message(turn(CUSTOM).calls[0], "x")


# -- tool_result_message -----------------------------------------------------------------------------

ANSWERS: list[tuple[Event, Any, bool, Event]] = [
    (function_item("{}"), "ok", False, {"type": "function_call_output", "call_id": "call_1", "output": "ok"}),
    (function_item("{}"), "no", True, {"type": "function_call_output", "call_id": "call_1", "output": "no"}),
    (
        function_item("{}"),
        {"t": "ü"},
        False,
        {"type": "function_call_output", "call_id": "call_1", "output": '{"t": "ü"}'},
    ),
    (function_item("{}"), None, False, {"type": "function_call_output", "call_id": "call_1", "output": ""}),
    (
        function_item("{}"),
        [{"type": "input_text", "text": "x"}],
        False,
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": [{"type": "input_text", "text": "x"}],
        },
    ),
    (CUSTOM, "2", False, {"type": "custom_tool_call_output", "call_id": "c", "output": "2"}),
    (CUSTOM, "no", True, {"type": "custom_tool_call_output", "call_id": "c", "output": "no"}),
    (SHELL, "a", False, {"type": "shell_call_output", "call_id": "c", "output": output(stdout="a")}),
    (SHELL, "no", True, {"type": "shell_call_output", "call_id": "c", "output": output(stderr="no", code=1)}),
    (
        SHELL,
        [{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}],
        True,
        {
            "type": "shell_call_output",
            "call_id": "c",
            "output": [{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}],
        },
    ),
    (PATCH, "", False, {"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}),
    (
        PATCH,
        "no",
        True,
        {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"},
    ),
    (COMPUTER, SHOT, False, {"type": "computer_call_output", "call_id": "c", "output": SHOT}),
    (LOCAL, "a", False, {"type": "local_shell_call_output", "id": "lsh", "output": "a"}),
    (LOCAL, "no", True, {"type": "local_shell_call_output", "id": "lsh", "output": "no"}),
    (
        SEARCH,
        [],
        False,
        {
            "type": "tool_search_output",
            "call_id": "c",
            "tools": [],
            "execution": "client",
            "status": "completed",
        },
    ),
    (APPROVAL, "", False, {"type": "mcp_approval_response", "approval_request_id": "mcpr", "approve": True}),
    (
        APPROVAL,
        "no",
        True,
        {"type": "mcp_approval_response", "approval_request_id": "mcpr", "approve": False, "reason": "no"},
    ),
]


@pytest.mark.parametrize(("item", "content", "is_error", "wanted"), ANSWERS, ids=str)
def test_each_item_type_has_its_answer(item: Event, content: Any, is_error: bool, wanted: Event) -> None:
    assert answer(item, content, is_error) == wanted


@pytest.mark.parametrize("item", [function_item("{}"), CUSTOM, SHELL])
def test_the_caller_is_repeated(item: Event) -> None:
    caller = {"type": "program", "caller_id": "cm_1"}
    assert answer(item | {"caller": caller}, "x")["caller"] == caller


def test_of_two_calls_each_answer_has_its_own_id() -> None:
    response = turn(function_item("{}"), function_item("{}", call_id="call_2", id="fc_2"))
    ids = [response.tool_result_message(call, "x")["call_id"] for call in response.released]
    assert ids == ["call_1", "call_2"]


def test_a_void_call_of_a_good_turn_can_be_answered_too() -> None:
    """Each call of the turn needs its answer, also if only to tell the model what was wrong."""
    response = turn(function_item('{"a":1,"a":2}'))
    (call,) = response.calls
    assert response.tool_result_message(call, f"bad arguments: {call.problem}", is_error=True) == {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": "bad arguments: duplicate_key",
    }


@pytest.mark.parametrize(
    ("item", "content", "error"),
    [
        (COMPUTER, "text", TypeError),
        (SEARCH, "text", TypeError),
        (function_item("{}"), b"bytes", TypeError),
        (CUSTOM, bytearray(b"bytes"), TypeError),
        (function_item("{}"), {"x": object()}, TypeError),
    ],
)
def test_contents_that_are_no_answer(item: Event, content: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        answer(item, content)


def test_a_call_without_an_id_cannot_be_answered() -> None:
    response = turn(function_item("{}", call_id=None))
    with pytest.raises(ValueError, match="no call_id"):
        response.tool_result_message(response.calls[0], "x")


# -- through the provider's own library --------------------------------------------------------------


def test_the_official_sdk_takes_the_whole_round() -> None:
    params = pytest.importorskip(
        "openai.types.responses.response_input_param", reason="the openai package is not installed"
    )
    pydantic = pytest.importorskip("pydantic")
    reasoning = {key: value for key, value in REASONING.items() if key != "novel"}
    computer = COMPUTER | {"pending_safety_checks": []}
    patch = PATCH | {"operation": {"type": "delete_file", "path": "p"}}
    local = LOCAL | {"action": {"type": "exec", "command": ["ls"], "env": {}}}
    items = [reasoning, message_item("x"), function_item("{}"), CUSTOM | {"call_id": "c2"}]
    items += [
        item | {"call_id": f"c{count}"}
        for count, item in enumerate((SHELL, patch, computer, local, SEARCH), 3)
    ]
    response = turn(*items, APPROVAL)
    contents = {"computer": SHOT, "tool_search": []}
    answers = [
        response.tool_result_message(call, contents.get(call.name, "ok")) for call in response.released
    ]
    assert len(answers) == 8
    round_trip = [*response.to_message(), *answers]
    for item in round_trip:
        type_of_item(params, pydantic, item["type"]).validate_python(item)
    for broken in (answer | {"call_id": 5} for answer in answers if "call_id" in answer):
        with pytest.raises(pydantic.ValidationError):
            type_of_item(params, pydantic, broken["type"]).validate_python(broken)


def type_of_item(params: Any, pydantic: Any, name: str) -> Any:
    """The SDK's own request types for items of that type name: one of them has to fit."""
    fitting = [
        member
        for member in get_args(params.ResponseInputItemParam)
        if f"'{name}'" in str(getattr(member, "__annotations__", {}).get("type")).replace('"', "'")
    ]
    assert fitting, name
    return pydantic.TypeAdapter(Union[tuple(fitting)])  # noqa: UP007 - made at run time

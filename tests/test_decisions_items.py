"""Decisions about items that are no function call: builtin tools, server tools, unknown types, text."""

from __future__ import annotations

import json
from typing import Any

import pytest

import trigate
from streams import PROTOCOL, Event, Script, bytewise, codes, function_item, message_item, run, verdict


def parse(script: Script, **options: Any) -> trigate.Response:
    whole = script.parse(**options)
    assert trigate.parse(bytewise(script.data()), PROTOCOL, **options) == whole
    return whole


def alone(item: Event, **options: Any) -> trigate.Response:
    return parse(Script().created().whole(0, item).end(), **options)


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


# -- builtin tools that the client runs --------------------------------------------------------------

SHELL: Event = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "c",
    "status": "completed",
    "action": {"commands": ["ls"]},
}
BUILTIN: list[tuple[Event, str, str, Any]] = [
    (SHELL, "shell", "c", {"commands": ["ls"]}),
    (SHELL | {"environment": {"type": "local"}}, "shell", "c", {"commands": ["ls"]}),
    (SHELL | {"environment": None}, "shell", "c", {"commands": ["ls"]}),
    (
        SHELL | {"type": "local_shell_call", "action": {"type": "exec"}},
        "local_shell",
        "sh_1",
        {"type": "exec"},
    ),
    (
        {
            "type": "apply_patch_call",
            "id": "ap_1",
            "call_id": "c",
            "status": "completed",
            "operation": {"path": "x"},
        },
        "apply_patch",
        "c",
        {"path": "x"},
    ),
    (
        {"type": "computer_call", "id": "cu_1", "call_id": "c", "actions": [], "pending_safety_checks": []},
        "computer",
        "c",
        {"actions": [], "pending_safety_checks": []},
    ),
    (
        {
            "type": "tool_search_call",
            "id": "ts_1",
            "call_id": "c",
            "execution": "client",
            "arguments": {"q": "x"},
        },
        "tool_search",
        "c",
        {"q": "x"},
    ),
    (
        {
            "type": "mcp_approval_request",
            "id": "ma_1",
            "server_label": "s",
            "name": "shell",
            "arguments": "{}",
        },
        "mcp_approval",
        "ma_1",
        {"server_label": "s", "name": "shell", "arguments": "{}"},
    ),
]


@pytest.mark.parametrize(
    ("item", "name", "call_id", "value"), BUILTIN, ids=lambda part: part if isinstance(part, str) else ""
)
def test_builtin_tools(item: Event, name: str, call_id: str, value: Any) -> None:
    response = alone(item)
    (call,) = response.released
    assert (call.kind, call.name, call.call_id, call.state) == ("builtin", name, call_id, "released")
    assert call.arguments == compact(value)
    assert call.value() == value
    assert response.server_calls == ()
    assert codes(response) == []


def test_builtin_arguments_are_the_text_that_came() -> None:
    raw = '{ "n" : 1.50, "big" : %s, "e" : "\\u00fc" }' % ("9" * 40)
    data = (
        Script().created().whole(0, SHELL | {"action": "HERE"}).end().data().replace(b'"HERE"', raw.encode())
    )
    (call,) = trigate.parse(data, PROTOCOL).released
    assert call.arguments == raw
    huge = data.replace(b"1.50", b"9" * 5000)
    assert verdict(trigate.parse(huge, PROTOCOL)) == [("c", "void", "malformed")]
    doubled = data.replace(b'"big"', b'"n"')
    assert verdict(trigate.parse(doubled, PROTOCOL)) == [("c", "void", "duplicate_key")]


def test_a_builtin_call_that_differs_in_the_final_list() -> None:
    script = Script().created().whole(0, SHELL).end(output=[SHELL | {"action": {"commands": ["rm"]}}])
    response = parse(script)
    assert (response.status, verdict(response)) == ("conflict", [("c", "void", "conflict")])


def test_a_builtin_call_that_is_not_completed() -> None:
    assert verdict(alone(SHELL | {"status": "incomplete"})) == [("c", "void", "incomplete")]


def test_a_builtin_call_without_its_payload_has_no_arguments() -> None:
    (call,) = alone({key: value for key, value in SHELL.items() if key != "action"}).released
    assert call.arguments == "{}"


# -- what the server runs ----------------------------------------------------------------------------

SERVER: list[Event] = [
    {"type": "web_search_call", "id": "x", "status": "completed", "action": {"query": "q"}},
    {"type": "file_search_call", "id": "x", "status": "completed", "queries": []},
    {"type": "code_interpreter_call", "id": "x", "status": "completed", "code": "1"},
    {"type": "image_generation_call", "id": "x", "status": "completed", "result": "aGk="},
    {"type": "mcp_call", "id": "x", "name": "search", "arguments": "{}", "status": "completed"},
    {"type": "mcp_list_tools", "id": "x", "tools": []},
    {"type": "compaction", "id": "x", "encrypted_content": "gAAA"},
    {"type": "program", "id": "x", "call_id": "call_p", "code": "x"},
    {"type": "program_output", "id": "x", "call_id": "call_p"},
    {"type": "shell_call_output", "id": "x", "call_id": "c", "output": []},
    {"type": "tool_search_output", "id": "x", "call_id": "c", "tools": []},
    SHELL | {"id": "x", "environment": {"type": "container_auto"}},
    {"type": "tool_search_call", "id": "x", "call_id": "c", "execution": "server", "arguments": {}},
    {"type": "tool_search_call", "id": "x", "execution": "server", "arguments": {}},
]


@pytest.mark.parametrize("item", SERVER, ids=lambda item: item["type"])
def test_what_the_server_runs_is_never_a_call(item: Event) -> None:
    response = alone(item, strict=True)
    assert response.calls == ()
    assert response.status == "completed"
    (call,) = response.server_calls
    assert (call.type, call.id, call.name) == (item["type"], "x", item.get("name"))
    assert json.loads(call.raw) == item
    assert codes(response) == []


def test_deltas_of_a_server_s_call_are_only_told() -> None:
    item = {"type": "mcp_call", "id": "mcp_1", "name": "search", "arguments": "{}", "status": "completed"}
    script = Script().created().added(0, item | {"arguments": "", "status": "in_progress"})
    script.add("response.mcp_call_arguments.delta", output_index=0, item_id="mcp_1", delta="{}")
    script.add("response.mcp_call.completed", output_index=0, item_id="mcp_1")
    items, response = run([script.done(0, item).end().data()], strict=True)
    others = [told.type for told in items if isinstance(told, trigate.OtherEvent)]
    assert others == ["response.mcp_call_arguments.delta", "response.mcp_call.completed", "mcp_call"]
    assert response.calls == ()


def test_who_runs_an_item_may_be_said_only_at_its_end() -> None:
    bare: Event = {"type": "tool_search_call", "id": "x", "status": "in_progress"}
    mine = bare | {"status": "completed", "execution": "client", "call_id": "c", "arguments": {"q": 1}}
    response = parse(Script().created().added(0, bare).done(0, mine).end())
    assert [(call.call_id, call.arguments) for call in response.released] == [("c", '{"q":1}')]
    assert response.server_calls == ()
    hosted = SHELL | {"environment": {"type": "container_reference"}}
    response = parse(Script().created().added(0, SHELL | {"status": "in_progress"}).done(0, hosted).end())
    assert (response.status, response.released) == ("completed", ())
    assert verdict(response) == [("c", "void", "not_for_client")]
    assert [call.type for call in response.server_calls] == ["shell_call"]


# -- unknown types -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["response.novel.delta", "response.function_call_arguments.checkpoint", "novel", ""]
)
def test_an_unknown_event_type(kind: str) -> None:
    script = Script().created().call("{}").add(kind, output_index=0, delta="x").end()
    items, response = run([script.data()])
    assert verdict(response) == [("call_1", "released", None)]
    assert codes(response) == ["unknown_type"]
    (other,) = (item for item in items if isinstance(item, trigate.OtherEvent))
    assert other.type == kind
    assert json.loads(other.data) == script.events[-2]
    strict = parse(script, strict=True)
    assert (strict.status, strict.released) == ("failed", ())
    assert strict.error is not None
    assert (strict.error.layer, strict.error.code) == ("structure", "unknown_type")


def test_an_unknown_item_type() -> None:
    item = {"type": "novel_item", "id": "x", "status": "completed"}
    response = alone(item)
    assert (response.status, response.calls, codes(response)) == ("completed", (), ["unknown_type"])
    assert [call.type for call in response.server_calls] == ["novel_item"]
    assert alone(item, strict=True).status == "failed"


def test_an_unknown_item_that_looks_like_a_call() -> None:
    """It has a call_id, so somebody waits for an answer: no silently finished turn, and nothing to run."""
    item = {"type": "novel_call", "id": "x", "status": "completed", "call_id": "c", "arguments": "{}"}
    streamed = alone(item)
    only_final = parse(Script().created().end(output=[item]))
    for response in (streamed, only_final):
        assert (response.status, response.released) == ("completed", ())
        assert verdict(response) == [("c", "void", "unknown_type")]
        assert "call_unknown_type" in codes(response)
        with pytest.raises(ValueError, match="novel_call"):
            response.tool_result_message(response.calls[0], "x")


# -- text --------------------------------------------------------------------------------------------

PLACE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}


def test_text_in_one_copy_alone() -> None:
    start = message_item(status="in_progress")
    whole = message_item("Hé")
    part = {"type": "output_text", "text": "Hé", "annotations": []}
    delta = Script().created().added(0, start).add("response.output_text.delta", **PLACE, delta="Hé")
    done = Script().created().added(0, start).add("response.output_text.done", **PLACE, text="Hé")
    content = Script().created().added(0, start).add("response.content_part.done", **PLACE, part=part)
    item = Script().created().added(0, start).done(0, whole)
    final = Script().created().added(0, start)
    for script in (delta, done, content, item, final):
        items, response = run([script.end(output=[whole]).data()])
        assert response.text == "Hé"
        assert [told.text for told in items if isinstance(told, trigate.TextDelta)] == ["Hé"]
        assert "text_differs" not in codes(response)


def test_text_that_differs_in_a_copy_is_told_once() -> None:
    script = Script().created().added(0, message_item(status="in_progress"))
    script.add("response.output_text.delta", **PLACE, delta="a").add(
        "response.output_text.done", **PLACE, text="b"
    )
    response = parse(script.call("{}", index=1).done(0, message_item("c")).end())
    assert response.text == "a"
    assert codes(response) == ["text_differs"]
    assert len(response.released) == 1


def test_two_parts_of_one_message_and_two_messages() -> None:
    script = Script().created().added(0, message_item(status="in_progress"))
    for index, text in ((0, "a"), (1, "b"), (0, "c")):
        script.add("response.output_text.delta", **(PLACE | {"content_index": index}), delta=text)
    script.done(0, message_item("ac", "b")).message("d", index=1, item_id="msg_2")
    response = parse(script.end())
    assert response.text == "acbd"
    assert codes(response) == []


@pytest.mark.parametrize("numbers", [(1, 2), (5, 9), (0, 2)])
def test_servers_that_number_their_parts_oddly(numbers: tuple[int, int]) -> None:
    """The item's list has places 0 and 1, whatever the events said: only the whole is compared."""
    script = Script().created().added(0, message_item(status="in_progress"))
    for number, text in zip(numbers, ("ab", "cd"), strict=True):
        script.add("response.output_text.delta", **(PLACE | {"content_index": number}), delta=text)
    response = parse(script.done(0, message_item("ab", "cd")).end())
    assert (response.text, codes(response)) == ("abcd", [])


def test_text_for_a_message_that_never_began() -> None:
    script = Script().created().add("response.output_text.delta", **PLACE, delta="x")
    response = parse(script.done(0, message_item("x")).end())
    assert (response.text, codes(response)) == ("x", ["delta_without_start"])


def test_a_refusal_is_no_text_and_no_status() -> None:
    part = {"type": "refusal", "refusal": "I won't."}
    script = Script().created().added(0, message_item(status="in_progress"))
    script.add("response.refusal.delta", **PLACE, delta="I ").add(
        "response.refusal.delta", **PLACE, delta="won't."
    )
    script.add("response.refusal.done", **PLACE, refusal="I won't.").add(
        "response.content_part.done", **PLACE, part=part
    )
    script.done(0, message_item() | {"content": [part]}).end()
    items, response = run([script.data()])
    assert (response.status, response.text, response.refusal) == ("completed", "", "I won't.")
    assert "".join(item.text for item in items if isinstance(item, trigate.RefusalDelta)) == "I won't."
    assert codes(response) == []


def test_reasoning_and_its_summary() -> None:
    place = {"item_id": "rs_1", "output_index": 0}
    item: Event = {"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAAA+/==", "status": None}
    item |= {
        "summary": [{"type": "summary_text", "text": "s"}],
        "content": [{"type": "reasoning_text", "text": "r"}],
    }
    script = Script().created().added(0, {"id": "rs_1", "type": "reasoning", "summary": []})
    script.add(
        "response.reasoning_summary_part.added", **place, summary_index=0, part={"type": "summary_text"}
    )
    script.add("response.reasoning_text.delta", **place, content_index=0, delta="r")
    script.add("response.reasoning_summary_text.delta", **place, summary_index=0, delta="s")
    response = parse(script.done(0, item).end(output=[item | {"encrypted_content": "other"}]))
    assert (response.reasoning, response.text) == ("rs", "")
    assert codes(response) == []


# -- usage and identity of the response --------------------------------------------------------------

FULL = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 5},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 7},
    "total_tokens": 50,
}
USAGES: list[tuple[Any, tuple[int | None, ...] | None]] = [
    (FULL, (20, 30, 50, 5, 7)),
    ({"input_tokens": 1}, (1, None, None, None, None)),
    (FULL | {"input_tokens_details": None, "output_tokens_details": []}, (20, 30, 50, None, None)),
    ({"input_tokens": "20", "output_tokens": True, "total_tokens": 1.5}, (None, None, None, None, None)),
    (None, None),
    ({}, None),
]


@pytest.mark.parametrize(("raw", "counted"), USAGES)
def test_usage(raw: Any, counted: tuple[int | None, ...] | None) -> None:
    items, response = run([Script().created().end(usage=raw).data()])
    updates = [item.usage for item in items if isinstance(item, trigate.UsageUpdate)]
    usage = response.usage
    if counted is None:
        assert (usage, updates) == (None, [])
        return
    assert usage is not None
    assert updates == [usage]
    assert usage.raw == raw
    assert (
        usage.input_tokens,
        usage.output_tokens,
        usage.total_tokens,
        usage.cached_tokens,
        usage.reasoning_tokens,
    ) == counted


def test_the_usage_of_turns_that_did_not_end_well() -> None:
    for kind in ("response.incomplete", "response.failed"):
        usage = parse(Script().created().end(kind, usage=FULL)).usage
        assert usage is not None
        assert usage.total_tokens == 50


def test_id_and_model_are_the_first_that_came() -> None:
    response = parse(Script().created(id="resp_9", model="gpt").end(id="resp_9", model="gpt-2026"))
    assert (response.id, response.model) == ("resp_9", "gpt")
    late = parse(Script().created(id=None, model=None).end(id="resp_9", model="gpt"))
    assert (late.id, late.model) == ("resp_9", "gpt")


def test_calls_stand_in_the_order_of_their_places() -> None:
    script = Script().created()
    for index in (2, 0, 1):
        script.whole(index, function_item("{}", call_id=f"c{index}", id=f"f{index}"))
    response = parse(script.end())
    assert [call.call_id for call in response.calls] == ["c0", "c1", "c2"]
    assert [call.index for call in response.calls] == [0, 1, 2]

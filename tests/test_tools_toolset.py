"""Running tools, their results as text, and sets of tools with their definitions for each provider."""

from __future__ import annotations

import asyncio
import enum
from typing import Annotated, Any

import msgspec
import pytest

from tool_calls import judged, released, run, told
from trigate.protocols import PROTOCOLS
from trigate.tools import Context, Policy, Reconciled, Tool, ToolError, Toolset, judge, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@tool(read_only=True)
def order(what: Annotated[str, msgspec.Meta(description="what to send")], count: int = 1) -> str:
    """Orders things."""
    return f"{count} {what}"


@tool
def shape(of: str) -> str:
    return of


# -- running ---------------------------------------------------------------------------------------------


def test_coroutine_functions_and_callable_objects() -> None:
    @tool(read_only=True)
    async def later(text: str) -> str:
        return text

    class Adder:
        """Adds."""

        def __call__(self, a: int, b: int = 1) -> int:
            return a + b

    assert later.is_async
    assert asyncio.run(run(later, text="x")) == "x"
    adder = Tool(name="add", function=Adder())
    assert not adder.is_async
    assert (adder.description, run(adder, a=2)) == ("Adds.", 3)
    assert adder(2, b=5) == 7


def test_defaults_stay_the_function_s_own() -> None:
    made: list[str] = ["a"]

    @tool
    def use(names: list[str] = made, colour: Colour = Colour.BLUE) -> Any:
        return names, colour

    assert run(use) == (made, Colour.BLUE)
    assert run(use)[0] is made
    assert use.parameters.get("required", []) == []


def test_results_become_text_within_their_bound() -> None:
    made = Tool(name="t", function=order.function, max_result_bytes=20)
    assert made.result_text("grüß dich") == "grüß dich"
    assert made.result_text("half \ud800") == "half ?"
    assert made.result_text({"a": [1, None]}) == '{"a":[1,null]}'
    assert made.result_text(None) == "null"
    assert made.result_text("x" * 20) == "x" * 20
    for long in ("x" * 21, "ü" * 11, ["x" * 20], "x" * 100_000_000):
        with pytest.raises(ToolError) as caught:
            made.result_text(long)
        assert (caught.value.code, caught.value.layer) == ("too_large", "limit")
    loop: list[Any] = []
    loop.append(loop)
    for odd in (object(), loop, {"a": "\ud800"}, float):
        with pytest.raises(ToolError) as caught:
            made.result_text(odd)
        assert caught.value.code == "tool_error"


def test_reconcile_gets_the_same_arguments() -> None:
    def was_sent(to: str, context: Context) -> Reconciled:
        return Reconciled("succeeded", f"{to} {context.scope}")

    @tool(reconcile=was_sent)
    def send(to: str) -> str:
        return to

    arguments = judged(send, {"to": "me"}).arguments
    assert send.ask_reconcile(arguments, Context(scope="s")) == Reconciled("succeeded", "me s")
    assert order.ask_reconcile({}, Context()) == Reconciled("unknown")
    wrong = Tool(name="t", function=send.function, reconcile=lambda to: to)
    with pytest.raises(TypeError, match="Reconciled"):
        wrong.ask_reconcile({"to": "x"}, Context())


# -- toolsets --------------------------------------------------------------------------------------------


def test_names_are_unique_and_exact() -> None:
    tools = Toolset([order, shape])
    assert tools.get("order") is order
    assert tools.get("Order") is None
    assert "order" in tools
    assert 5 not in tools
    assert (len(tools), list(tools)) == (2, [order, shape])
    assert repr(tools) == "<Toolset order, shape>"
    with pytest.raises(ValueError, match="two tools are named order"):
        Toolset([order, order])


def test_any_object_with_the_members_is_a_tool() -> None:
    pytest.importorskip("jsonschema_rs", reason="jsonschema-rs is not installed")

    class Foreign:
        name = "foreign"
        description = "from elsewhere"
        read_only = True

        def __init__(self) -> None:
            self.parameters = {"type": "object", "properties": {"a": {"type": "integer"}}}

        @staticmethod
        def function(arguments: dict[str, Any]) -> int:
            return int(arguments["a"])

    (made,) = Toolset([Foreign()])
    assert (made.name, made.read_only, run(made, a=3)) == ("foreign", True, 3)
    with pytest.raises(TypeError, match="a tool has a name"):
        Toolset([object()])
    with pytest.raises(TypeError, match="@tool makes one of a function"):
        Toolset([run])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_definitions_for_every_protocol(protocol: str) -> None:
    shell = Tool(name="shell", kind="custom", function=print, description="runs")
    listed = Toolset([order, shell]).tools_for(protocol)
    assert len(listed) == 2
    text = msgspec.json.encode(listed).decode()
    for word in ('"order"', '"shell"', "Orders things.", "what to send"):
        assert word in text
    assert ('"input"' in text) == (protocol not in ("openai-responses", "openai-chat"))


def test_a_changed_definition_changes_no_other() -> None:
    tools = Toolset([order])
    tools.tools_for("openai-chat")[0]["function"]["parameters"].clear()
    assert tools.tools_for("openai-chat")[0]["function"]["parameters"]["type"] == "object"


def test_definitions_for_an_unknown_protocol() -> None:
    with pytest.raises(ValueError, match="the known ones are openai-responses"):
        Toolset([order]).tools_for("openai")


def test_definitions_say_what_the_protocols_ask_for() -> None:
    tools = Toolset([Tool(name="f", function=order.function, description="d")])
    schema = order.parameters
    plain = {"name": "f", "description": "d", "parameters": schema}
    assert tools.tools_for("openai-responses") == [{"type": "function", **plain, "strict": False}]
    assert tools.tools_for("openai-chat") == [{"type": "function", "function": plain}]
    assert tools.tools_for("anthropic-messages") == [
        {"name": "f", "description": "d", "input_schema": schema}
    ]
    declared = {"name": "f", "description": "d", "parametersJsonSchema": schema}
    assert tools.tools_for("gemini") == [{"functionDeclarations": [declared]}]
    converse = {"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": schema}}}
    assert tools.tools_for("bedrock-converse") == [converse]


def test_a_call_that_names_no_tool_gets_the_nearest_names() -> None:
    tools = Toolset(
        [Tool(name=name, function=order.function) for name in ("read_file", "list_files", "order")]
    )
    message = told(judge(released("readfile", {}), tools, Policy()))
    assert message["error"] == "unknown_tool"
    assert message["nearest"][0] == "read_file"
    far = told(judge(released("zzz" * 100, {}), tools, Policy()))
    assert "nearest" not in far
    assert len(far["message"]) < 100

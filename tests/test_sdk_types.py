"""What goes to a provider fits the request types of its official SDK: the turn, a result, an error, the tools.

The SDKs are not needed to use or to test trigate: without one its rows are skipped, and `make sdk` installs them all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pytest

import trigate
from model.plans import Ask, Plan
from model.writers import WRITERS
from trigate.tools import Tool, Toolset, tool

ASKS = (
    Ask("call_aaa", "get_weather", ('{"city":"Zürich"}',), {"city": "Zürich"}),
    Ask("call_bbb", "get_time", ('{"tz":', '"UTC"}'), {"tz": "UTC"}),
)
Check = Callable[[Any], object]


def _sdk(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: make sdk")


def _typed(shape: Any) -> Callable[[Any], Any]:
    return _sdk("pydantic").TypeAdapter(shape).validate_python  # type: ignore[no-any-return]


def _openai_responses() -> Check:
    return _typed(_sdk("openai.types.responses.response_input_param").ResponseInputItemParam)


def _openai_chat() -> Check:
    return _typed(_sdk("openai.types.chat").ChatCompletionMessageParam)


def _anthropic() -> Check:
    validate = _typed(_sdk("anthropic.types").MessageParam)

    def check(message: dict[str, Any]) -> None:
        content = validate(message)["content"]
        if not isinstance(content, str):
            list(content)  # pydantic looks at the blocks only when they are asked for

    return check


def _gemini() -> Check:
    return _sdk("google.genai.types").Content.model_validate  # type: ignore[no-any-return]


def _interactions() -> Check:
    """The SDK reads a missing tag as any step, so the class is taken by the type that the step names."""
    _sdk("google.genai")
    steps = {"function_result": "FunctionResultStep", "function_call": "FunctionCallStep"}

    def check(step: dict[str, Any]) -> object:
        kind = steps.get(step["type"], "ModelOutputStep")
        file = importlib.import_module(f"google.genai._gaos.types.interactions.{kind.lower()}")
        return getattr(file, kind).model_validate(step)

    return check


def _ollama() -> Check:
    return _sdk("ollama").Message.model_validate  # type: ignore[no-any-return]


def _cohere() -> Check:
    return _typed(_sdk("cohere.types").ChatMessageV2)


def _bedrock() -> Check:
    session = _sdk("botocore.session").get_session()
    shapes = session.get_service_model("bedrock-runtime")
    validator = _sdk("botocore.validate").ParamValidator()

    def check(message: dict[str, Any]) -> None:
        report = validator.validate(message, shapes.shape_for("Message"))
        if report.has_errors():
            raise ValueError(report.generate_report())

    return check


CHECKS: dict[str, Callable[[], Check]] = {
    "openai-responses": _openai_responses,
    "openai-chat": _openai_chat,
    "anthropic-messages": _anthropic,
    "bedrock-invoke": _anthropic,
    "gemini": _gemini,
    "gemini-interactions": _interactions,
    "ollama-chat": _ollama,
    "bedrock-converse": _bedrock,
    "cohere-chat": _cohere,
}


# -- tools ---------------------------------------------------------------------------------------------


class Line(msgspec.Struct):
    sku: str
    count: Annotated[int, msgspec.Meta(ge=1, description="how many")]


@tool
def order(lines: list[Line], unit: Literal["kg", "lb"] = "kg", note: str | None = None) -> None:
    """Orders things."""
    del lines, unit, note


@tool
def ping() -> None:
    pass


TOOLS = Toolset([order, ping, Tool(name="shell", kind="custom", function=print, description="Runs it.")])


def _converse_tools() -> Check:
    session = _sdk("botocore.session").get_session()
    shape = session.get_service_model("bedrock-runtime").shape_for("ToolConfiguration")
    validator = _sdk("botocore.validate").ParamValidator()

    def check(definition: dict[str, Any]) -> None:
        report = validator.validate({"tools": [definition]}, shape)
        if report.has_errors():
            raise ValueError(report.generate_report())

    return check


def _interactions_tools() -> Check:
    _sdk("google.genai")
    file = importlib.import_module("google.genai._gaos.types.interactions.function")
    return file.Function.model_validate  # type: ignore[no-any-return]


TOOL_CHECKS: dict[str, Callable[[], Check]] = {
    "openai-responses": lambda: _typed(_sdk("openai.types.responses").ToolParam),
    "openai-chat": lambda: _typed(_sdk("openai.types.chat").ChatCompletionToolUnionParam),
    "anthropic-messages": lambda: _typed(_sdk("anthropic.types").ToolParam),
    "bedrock-invoke": lambda: _typed(_sdk("anthropic.types").ToolParam),
    "gemini": lambda: _sdk("google.genai.types").Tool.model_validate,
    "gemini-interactions": _interactions_tools,
    "ollama-chat": lambda: _sdk("ollama").Tool.model_validate,
    "bedrock-converse": _converse_tools,
    "cohere-chat": lambda: _sdk("cohere").ToolV2.model_validate,
}


def _turn(protocol: str) -> trigate.Response:
    plan = Plan(("I look. ",), ("Hm.",), ASKS, "good", frozenset(), 0)
    response = trigate.parse(b"".join(WRITERS[protocol](plan)), protocol)
    assert (response.status, len(response.released)) == ("completed", 2)
    return response


def _listed(message: Any) -> list[dict[str, Any]]:
    return message if isinstance(message, list) else [message]


def test_every_protocol_has_its_check() -> None:
    assert CHECKS.keys() == TOOL_CHECKS.keys() == trigate.PROTOCOLS.keys()


@pytest.mark.parametrize("protocol", CHECKS)
def test_the_round_fits_the_sdk_s_types(protocol: str) -> None:
    check = CHECKS[protocol]()
    response = _turn(protocol)
    told = _listed(response.to_message())
    for call in response.released:
        told += _listed(response.tool_result_message(call, "12 °C"))
        told += _listed(response.tool_result_message(call, "no such city", is_error=True))
    assert len(told) >= 5
    for message in told:
        check(message)


@pytest.mark.parametrize("protocol", CHECKS)
def test_the_check_can_fail(protocol: str) -> None:
    check = CHECKS[protocol]()
    response = _turn(protocol)
    answer = _listed(response.tool_result_message(response.released[0], "x"))[0]
    broken = {
        name: {"not": ["this", 5]} if name not in ("type", "role") else value
        for name, value in answer.items()
    }
    with pytest.raises(Exception):  # noqa: B017, PT011 - each SDK has its own
        check(broken)


@pytest.mark.parametrize("protocol", TOOL_CHECKS)
def test_the_tools_fit_the_sdk_s_types(protocol: str) -> None:
    check = TOOL_CHECKS[protocol]()
    definitions = TOOLS.tools_for(protocol)
    assert len(definitions) == 3
    for definition in definitions:
        check(definition)


@pytest.mark.parametrize("protocol", TOOL_CHECKS)
def test_the_check_of_tools_can_fail(protocol: str) -> None:
    check = TOOL_CHECKS[protocol]()
    definition = TOOLS.tools_for(protocol)[0]
    broken = {name: value if name == "type" else 5 for name, value in definition.items()}
    with pytest.raises(Exception):  # noqa: B017, PT011 - each SDK has its own
        check(broken)

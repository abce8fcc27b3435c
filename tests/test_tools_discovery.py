"""Many tools: the model searches, what it finds is offered from then on, and nothing else is known."""

from __future__ import annotations

from typing import Any

import pytest

from tool_calls import released, told
from trigate.tools import Context, Tool, Toolset, judge


def named(name: str, description: str) -> Tool:
    def function(value: str = "") -> str:
        return value

    return Tool(name=name, description=description, function=function, read_only=True)


TOOLS = [
    named("get_weather", "The weather of a city today."),
    named("get_forecast", "The weather of the next days."),
    named("sendMail", "Sends a message to a person."),
    named("send_invoices", "Sends invoices to customers."),
    named("search_notes", "在笔记里查找延时任务的内容"),
    named("list_tasks", "列出所有任务"),
    *(named(f"tool_{number}", "Does something else.") for number in range(40)),
]


def find(toolset: Any, query: str) -> Any:
    judgment = judge(released("find_tools", {"query": query}), toolset)
    assert judgment.allowed, judgment.problem
    assert judgment.tool is not None
    return judgment.tool.run(judgment.arguments, Context())


def names(toolset: Toolset, protocol: str = "anthropic-messages") -> list[str]:
    return [each["name"] for each in toolset.tools_for(protocol)]


def test_only_the_finder_is_offered_at_first() -> None:
    toolset = Toolset(TOOLS).with_discovery(limit=2)
    assert names(toolset) == ["find_tools"]
    assert len(toolset) == 1
    (definition,) = toolset.tools_for("openai-chat")
    assert "46 tools" in definition["function"]["description"]
    refused = told(judge(released("get_weather", {}), toolset))
    assert refused["error"] == "unknown_tool"
    assert "find_tools" in refused["next"]


def test_what_was_found_is_offered_from_then_on() -> None:
    toolset = Toolset(TOOLS).with_discovery(limit=2, always=["list_tasks"])
    found = find(toolset, "weather")
    assert [each["name"] for each in found] == ["get_weather", "get_forecast"]
    assert found[0]["parameters"]["properties"]["value"] == {"type": "string", "default": ""}
    assert names(toolset) == ["find_tools", "list_tasks", "get_weather", "get_forecast"]
    assert toolset.loaded == tuple(names(toolset))
    assert judge(released("get_weather", {}), toolset).allowed
    find(toolset, "weather")
    assert len(toolset) == 4


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("mail", "sendMail"),
        ("send an invoice", "send_invoices"),
        ("FORECAST", "get_forecast"),
        ("列出任务", "list_tasks"),
        ("延时任务", "search_notes"),
        ("tool 7", "tool_7"),
    ],
)
def test_the_best_comes_first_and_always_the_same(query: str, best: str) -> None:
    rankings = {
        tuple(each["name"] for each in find(Toolset(TOOLS).with_discovery(limit=3), query)) for _ in range(3)
    }
    (ranking,) = rankings
    assert ranking[0] == best
    assert len(ranking) <= 3


def test_nothing_found_is_said() -> None:
    toolset = Toolset(TOOLS).with_discovery()
    with pytest.raises(Exception, match="no tool fits") as caught:
        find(toolset, "xylophone")
    assert caught.value.code == "not_found"  # type: ignore[attr-defined]
    assert judge(released("find_tools", {"query": ""}), toolset).valid.answer == "no"


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Toolset(TOOLS).with_discovery(limit=0)
    with pytest.raises(ValueError, match="find_tools already"):
        Toolset([named("find_tools", "")]).with_discovery()
    with pytest.raises(KeyError):
        Toolset(TOOLS).with_discovery(always=["nope"])


def test_a_long_query_costs_little() -> None:
    toolset = Toolset(TOOLS).with_discovery()
    assert find(toolset, " ".join(f"w{number}" for number in range(5000)) + " mail mail")

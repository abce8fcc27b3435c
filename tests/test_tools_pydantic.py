"""Tools whose arguments are pydantic models: strict, and extra members forbidden, whatever the models say."""

# No `from __future__ import annotations`: the models stand where they are used.
import datetime
import sys
from typing import Any

import pytest

from tool_calls import judged, run, told
from trigate.tools import Tool, tool

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")


class Inner(pydantic.BaseModel):  # type: ignore[misc, name-defined, unused-ignore]
    model_config = pydantic.ConfigDict(extra="allow")
    count: int


class Outer(pydantic.BaseModel):  # type: ignore[misc, name-defined, unused-ignore]
    inner: Inner
    day: datetime.date
    tags: tuple[str, ...] = ()


def pick(value: Any) -> Any:
    return value


GOOD = {"inner": {"count": 1}, "day": "2026-01-31"}


def test_a_model_as_the_parameters() -> None:
    made = Tool(name="pick", function=pick, parameters=Outer)
    assert made.parameters["additionalProperties"] is False
    assert made.parameters["required"] == ["inner", "day"]
    assert run(made, **GOOD) == Outer(inner=Inner(count=1), day=datetime.date(2026, 1, 31))


def test_a_model_among_the_parameters() -> None:
    @tool
    def use(each: list[Inner], times: int = 2) -> Any:
        """Uses it."""
        return each, times

    assert use.parameters["required"] == ["each"]
    assert run(use, each=[{"count": 3}]) == ([Inner(count=3)], 2)
    paths = [
        finding["path"]
        for finding in told(judged(use, {"each": [{"count": 3}], "times": "1", "x": 0}))["problems"]
    ]
    assert paths == ["$.times", "$.x"]


def test_nothing_is_coerced_and_nothing_extra_taken() -> None:
    made = Tool(name="pick", function=pick, parameters=Outer)
    message = told(judged(made, {"inner": {"count": "1", "more": 1}, "day": 5, "tags": "x", "z": 1}))
    assert {(each["path"], each["expected"], each["found"]) for each in message["problems"]} == {
        ("$.inner.count", "integer", '"1"'),
        ("$.inner.more", "only the members count", "an unknown member"),
        ("$.day", "string, format date", "5"),
        ("$.tags", "array", '"x"'),
        ("$.z", "only the members inner, day, tags", "an unknown member"),
    }
    assert told(judged(made, {}))["problems"][0] == {
        "path": "$.inner",
        "expected": "object, with count",
        "found": "nothing: the member is missing",
    }


def test_a_pydantic_that_cannot_forbid_is_named() -> None:
    class Old:
        __pydantic_validator__ = None
        model_fields: Any = None

        @staticmethod
        def model_validate_json(text: str, strict: bool = True) -> None: ...

    with pytest.raises(ImportError, match=r"2\.12"):
        Tool(name="pick", function=pick, parameters=Old)


def test_pydantic_is_not_imported_for_other_tools() -> None:
    import subprocess

    code = """
import sys, trigate.tools
@trigate.tools.tool
def f(a: int) -> int: return a
print('pydantic' in sys.modules, 'jsonschema_rs' in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"

"""The table of docs/execution.md is that of the code, and the pages name what there is."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from trigate import errors, tools
from trigate.tools import CODES, Tool

DOCS = Path(__file__).resolve().parent.parent / "docs"


def rows(page: str, heading: str) -> list[list[str]]:
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_code_stands_in_the_table_as_the_code_has_it() -> None:
    told = rows("execution.md", "What failed, whose layer, what to do next")
    expected = [[f"`{name}`", f"`{each.layer}`", each.failed, each.next] for name, each in CODES.items()]
    assert [row[:4] for row in told] == expected
    assert all(row[4] for row in told)


def test_every_layer_of_a_problem_has_its_class_in_the_table_of_layers() -> None:
    layers: dict[str, str] = {}
    for layer, classes, *_ in rows("errors.md", "Layers"):
        layers[layer.strip("`")] = layers.get(layer.strip("`"), "") + classes
    for code in CODES:
        error = tools.Problem(code=code, message="m").to_error()
        assert f"`{type(error).__name__}`" in layers[error.layer]
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert kind is errors.TrigateError or f"`{name}`" in layers[kind.layer], name


def test_what_a_tool_declares_is_told_with_its_default() -> None:
    units = {"30 seconds": 30.0, "64 KiB": 64 * 1024}
    parameters = inspect.signature(Tool).parameters
    for name, default, _ in rows("tools.md", "What a tool declares"):
        value = units.get(default, None if default == "`None`" else default.strip("`"))
        assert str(parameters[name.strip("`")].default) == str(value), name


def test_every_question_is_explained() -> None:
    questions = [row[0].strip("`") for row in rows("execution.md", "Judgments")]
    fields = [each for each in tools.Judgment.__struct_fields__ if each in questions]
    assert fields == questions == ["known", "well_formed", "valid", "permitted", "fresh"]


def test_every_public_name_of_the_tools_is_in_their_pages() -> None:
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in ("tools.md", "execution.md"))
    words = set(re.findall(r"\w+", text))
    told_by_use = {"CODES", "Finding", "PolicyLike", "ProblemCode", "Progress", "Verdict"}
    assert set(tools.__all__) - words <= told_by_use

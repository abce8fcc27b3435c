"""docs/completion.md says what trigate does and what was measured: against code, bytes and results.

No other library is needed: what they did stands in benchmarks/results/behaviour.json, with a digest of the
bytes that they were given. If the matrix changes, `make behaviour` has to be run again, and a test says so.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import trigate

BEHAVIOUR = Path(__file__).resolve().parent.parent / "benchmarks" / "behaviour"


def load(name: str) -> ModuleType:
    """A module of the measurement, which is no package: its folder comes last, and goes again."""
    sys.path.append(str(BEHAVIOUR))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(BEHAVIOUR))


PAGE, CELLS, VERDICT = load("page"), load("cells"), load("verdict")
TEXT = PAGE.PAGE.read_text(encoding="utf-8")
RESULTS: dict[str, Any] = PAGE.results()
ASKED = {f"{cell.protocol} / {cell.row}": cell for cell in [*CELLS.controls(), *CELLS.cells()]}


@pytest.mark.parametrize("name", PAGE.TABLES)
def test_the_page_has_the_table_that_code_and_results_give(name: str) -> None:
    assert PAGE.written(name) == PAGE.TABLES[name](), "make docs writes it again"


def test_every_protocol_has_its_facts() -> None:
    for name in ("profiles", "ends"):
        told = re.findall(r"^\| `([\w-]+)` \|", PAGE.written(name), re.MULTILINE)
        assert told == list(trigate.PROTOCOLS)


def test_every_row_of_the_matrix_is_explained() -> None:
    rows = {row for row, *_ in table_after("What the rows mean:")}
    assert rows == {cell.row for cell in CELLS.cells()} | {row for _, row in CELLS.refusals()}


def table_after(words: str) -> list[list[str]]:
    lines = TEXT.partition(words)[2].lstrip("\n").partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


# -- the results -----------------------------------------------------------------------------------


def test_the_measured_bytes_are_those_of_the_matrix() -> None:
    assert RESULTS["bytes"] == {key: cell.digest for key, cell in ASKED.items()}, (
        "make behaviour measures again"
    )


@pytest.mark.parametrize("key", ASKED)
def test_trigate_does_what_the_results_say(key: str) -> None:
    assert json.loads(json.dumps(CELLS.outcome(ASKED[key]))) == RESULTS["ours"][key]


@pytest.mark.parametrize("name", RESULTS["peers"])
def test_a_peer_was_asked_everything_that_it_offers(name: str) -> None:
    peer = RESULTS["peers"][name]
    assert set(peer["seen"]) == {key for key, cell in ASKED.items() if cell.protocol in peer["how"]}
    assert set(peer["broken"]) == set(peer["how"])


@pytest.mark.parametrize("name", RESULTS["peers"])
def test_a_peer_runs_the_whole_response(name: str) -> None:
    """Who cannot read the response without a fault says nothing about the faults."""
    for protocol in RESULTS["peers"][name]["how"]:
        key = f"{protocol} / {CELLS.CONTROL}"
        assert VERDICT.verdict(RESULTS["peers"][name]["seen"][key], RESULTS["ours"][key]) == "agrees"


def test_the_peers_of_the_requirements_are_those_measured() -> None:
    pinned = set()
    for file in BEHAVIOUR.glob("requirements*.txt"):
        pinned |= set(re.findall(r"^([\w-]+==[\w.]+)$", file.read_text(encoding="utf-8"), re.MULTILINE))
    told = {
        f"{name}=={version}"
        for peer in RESULTS["peers"].values()
        for name, version in peer["packages"].items()
    }
    assert told == pinned


# -- the judgment ----------------------------------------------------------------------------------

HELD = {
    "released": [],
    "held": [{"name": "pay", "arguments": '{"amount": 100', "state": "void", "problem": None}],
}
FREE = {"released": [{"name": "pay", "arguments": {"amount": 1000}}], "held": []}


def seen(*calls: tuple[Any, str], error: str | None = None) -> dict[str, Any]:
    told = [{"name": "pay", "arguments": arguments, "fate": fate, "why": "no"} for arguments, fate in calls]
    return {"calls": told, "finish": None, "error": error}


@pytest.mark.parametrize(
    ("told", "ours", "expected"),
    [
        (seen(({"amount": 1000}, "runs")), FREE, "agrees"),
        (seen(('{"amount": 1000}', "runs")), FREE, "agrees"),
        (seen(({"amount": 100}, "runs")), FREE, "invents"),
        (seen(({"amount": 1000}, "runs"), ({"amount": 1000}, "runs")), FREE, "runs"),
        (seen(({"amount": 100}, "runs")), HELD, "invents"),
        (seen(({"amount": 100}, "runs"), error="APIError"), HELD, "invents"),
        (seen(error="APIError"), HELD, "error"),
        (seen(error="timeout"), HELD, "no answer"),
        (seen(('{"amount": 100', "unreadable")), HELD, "unreadable"),
        (seen(({"amount": 100}, "marked")), HELD, "marked"),
        (seen(), HELD, "no call"),
    ],
)
def test_verdicts(told: dict[str, Any], ours: dict[str, Any], expected: str) -> None:
    assert VERDICT.verdict(told, ours) == expected
    assert ("**RUNS**" in VERDICT.text_of(told, ours)) == (expected in ("runs", "invents"))

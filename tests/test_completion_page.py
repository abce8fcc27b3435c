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
ASKED = {cell.key: cell for cell in [*CELLS.controls(), *CELLS.cells()]}


@pytest.mark.parametrize("name", PAGE.TABLES)
def test_the_page_has_the_table_that_code_and_results_give(name: str) -> None:
    assert PAGE.written(name) == PAGE.TABLES[name](), "make docs writes it again"


def test_every_protocol_has_its_facts() -> None:
    for name in ("profiles", "ends"):
        told = re.findall(r"^\| `([\w-]+)` \|", PAGE.written(name), re.MULTILINE)
        assert told == list(trigate.PROTOCOLS)


def test_the_page_has_no_other_places() -> None:
    assert re.findall(r"<!-- (\w+): made -->", TEXT) == list(
        dict.fromkeys(re.findall(r"<!-- end of (\w+) -->", TEXT))
    )
    assert set(re.findall(r"<!-- (\w+): made -->", TEXT)) == set(PAGE.TABLES)


# -- the results -----------------------------------------------------------------------------------


def test_the_measured_bytes_are_those_of_the_matrix() -> None:
    assert RESULTS["bytes"] == {key: cell.digest for key, cell in ASKED.items()}, (
        "make behaviour measures again"
    )


@pytest.mark.parametrize("key", ASKED)
def test_trigate_does_what_the_results_say(key: str) -> None:
    assert json.loads(json.dumps(CELLS.outcome(ASKED[key]))) == RESULTS["ours"][key], "make docs"


@pytest.mark.parametrize("name", RESULTS["peers"])
def test_a_peer_was_asked_everything_that_it_offers(name: str) -> None:
    peer = RESULTS["peers"][name]
    offered = {key: cell for key, cell in ASKED.items() if cell.protocol in peer["how"]}
    left_out = {key for key, cell in offered.items() if (cell.protocol, cell.row) in PAGE.NOT_ASKED}
    assert set(peer["seen"]) == set(offered) - left_out
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

A, B = CELLS.MEANT["A"], CELLS.MEANT["B"]
HALF = {"path": "/tmp"}
HELD = {
    "released": [],
    "held": [{"name": B.name, "arguments": B.pieces[0], "state": "void", "problem": None}],
}
FREE = {"released": [{"name": B.name, "arguments": B.value}], "held": []}


def seen(*calls: tuple[Any, str], error: str | None = None) -> dict[str, Any]:
    told = [{"name": B.name, "arguments": arguments, "fate": fate, "why": ""} for arguments, fate in calls]
    return {"calls": told, "finish": None, "error": error}


@pytest.mark.parametrize(
    ("told", "ours", "expected", "shown"),
    [
        (seen((B.value, "runs")), FREE, "agrees", "runs B"),
        (seen((B.arguments, "runs")), FREE, "agrees", "runs B"),
        (seen((HALF, "runs")), FREE, "invents", '**RUNS** `remove_file {"path": "/tmp"}`'),
        (seen((B.value, "runs"), (B.value, "runs")), FREE, "runs", "**RUNS** B, B"),
        (seen((HALF, "runs")), HELD, "invents", '**RUNS** `remove_file {"path": "/tmp"}`'),
        (seen((B.value, "runs"), error="E"), FREE, "agrees", "runs B; error `E`"),
        (seen(error="E"), HELD, "error", "error `E`"),
        (seen(error="timeout"), HELD, "no answer", "no answer"),
        (seen((B.pieces[0], "unreadable")), HELD, "unreadable", 'no JSON: `remove_file {"path":"/tmp`'),
        (seen((B.value, "marked")), HELD, "marked", "marked: B"),
        (seen(), HELD, "no call", "no call"),
    ],
)
def test_verdicts(told: dict[str, Any], ours: dict[str, Any], expected: str, shown: str) -> None:
    assert VERDICT.verdict(told, ours) == expected
    assert VERDICT.text_of(told, ours) == shown

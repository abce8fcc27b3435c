"""The runner of the peers' tests: what it lets pass, what it does not, and that its table is on the pages."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "peers"))
run: Any = importlib.import_module("run")
table: Any = importlib.import_module("table")

PEER = table.Peer(
    "events", "1.0", "as_sseclient", ("tests",), "sseclient.md", private=("tests/test_one.py::test_inner*",)
)
TESTS = """\
import sseclient

def test_good():
    assert sseclient.__name__ == "trigate.compat.sseclient"

def test_other_than_the_standard():
    assert list(sseclient.SSEClient([b"data: half"]).events())

def test_inner_one():
    assert sseclient.inner

def test_inner_two():
    assert sseclient.inner
"""
OTHER = table.Deviation("tests/test_one.py::test_other_than_the_standard", "9.2.6", "a half event is none")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def ran(monkeypatch: pytest.MonkeyPatch, checkout: Path, peer: Any) -> int:
    monkeypatch.setattr(run, "PEERS", (peer,))
    code: int = run.main(["--from", f"events={checkout}"])
    return code


def test_what_the_table_says_passes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], checkout: Path
) -> None:
    assert ran(monkeypatch, checkout, replace(PEER, deviations=(OTHER,))) == 0
    assert re.split(r" {2,}", capsys.readouterr().out.splitlines()[1]) == [
        *("events (checkout)", "1", "1", "0", "2", "as the table says")
    ]
    assert [path.name for path in checkout.iterdir()] == ["tests"]


def test_what_the_table_does_not_say_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], checkout: Path
) -> None:
    assert ran(monkeypatch, checkout, PEER) == 1
    assert f"events: failed, and is not in the table: {OTHER.test}" in capsys.readouterr().out


def test_a_file_that_cannot_be_loaded_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], checkout: Path
) -> None:
    (checkout / "tests" / "test_two.py").write_text("from sseclient import nothing\n", encoding="utf-8")
    assert ran(monkeypatch, checkout, replace(PEER, deviations=(OTHER,))) == 1
    assert "failed, and is not in the table: tests/test_two.py" in capsys.readouterr().out


def test_a_row_that_passes_and_a_row_of_nothing_are_errors() -> None:
    seen = {"t::a": "passed", "t::b": "failed", "t::c": "skipped"}
    rows = [table.Deviation(test, "9.2.6", "") for test in ("t::a", "t::b", "t::c", "t::gone*")]
    assert list(run.faults(replace(PEER, deviations=tuple(rows)), seen)) == [
        "in the table, and passed: t::a",
        "in the table, and skipped: t::c",
        "in the table, and is no test: t::gone*",
        "private in the table, and is no test: tests/test_one.py::test_inner*",
    ]
    assert list(run.faults(replace(PEER, private=()), {})) == ["no test was run"]


def test_tests_that_are_not_there_are_an_error_unless_they_are_known_to_be_missing(tmp_path: Path) -> None:
    row, faults = run.check(replace(PEER, unshipped="not in its sdist"), tmp_path, is_shown=False)
    assert (row[-1], faults) == ("not in its sdist", [])
    row, faults = run.check(PEER, tmp_path, is_shown=False)
    assert (row[-1], faults[0]) == ("2 faults", "no test was run")


def test_an_unknown_peer_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run.main(["no-such-peer"])
    assert caught.value.code == 2
    assert "no such peer: no-such-peer" in capsys.readouterr().err


@pytest.mark.parametrize("peer", table.PEERS, ids=lambda peer: peer.name)
def test_the_page_lists_what_must_fail(peer: Any) -> None:
    page = (ROOT / "docs" / "compat" / peer.page).read_text(encoding="utf-8")
    section = page.partition("\n## The peer's own tests\n")[2]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{row.test}` | {row.clause} | {row.why} |" for row in peer.deviations]
    assert all((ROOT / "tests" / "peers" / f"{known.place}.py").is_file() for known in table.PEERS)

"""How the benchmark takes turns, and what it makes of its rows: no clock is asked for anything here."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
book: Any = importlib.import_module("book")
figures: Any = importlib.import_module("figures")
plan: Any = importlib.import_module("plan")
race: Any = importlib.import_module("race")
tables: Any = importlib.import_module("tables")

PLAN = dataclasses.replace(plan.QUICK, least_ns=1)


def contestant(name: str, ran: list[str], is_right: Any) -> Any:
    return race.Contestant(name, "1.0", race.always(lambda: ran.append(name)), is_right)


def fails() -> bool:
    raise LookupError("no such event")


# -- turns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [1, 5, 15])
def test_rounds_of_a_slow_one_are_spread(of: int) -> None:
    for rounds in range(1, of + 1):
        part = [number for number in range(of) if race.takes_part(number, rounds, of)]
        assert len(part) == rounds
        gaps = {later - earlier for earlier, later in itertools.pairwise(part)}
        assert not gaps or max(gaps) - min(gaps) <= 1


def test_contestants_take_turns_and_those_that_are_wrong_are_not_timed() -> None:
    ran: list[str] = []
    names = {"one": lambda: True, "other": lambda: True, "wrong": lambda: False, "broken": fails}
    outcomes = race.race([contestant(name, ran, is_right) for name, is_right in names.items()], PLAN)
    assert [outcomes[name].state for name in names] == [
        race.TIMED,
        race.TIMED,
        race.OTHER,
        f"{race.OTHER}: LookupError",
    ]
    assert set(ran) == {"one", "other"}
    assert [len(outcomes[name].times) for name in names] == [PLAN.rounds, PLAN.rounds, 0, 0]
    assert outcomes["wrong"].median is None


def test_one_without_patience_for_it_runs_once() -> None:
    ran: list[str] = []
    slow = contestant("slow", ran, lambda: True)
    outcome = race.race([slow], dataclasses.replace(PLAN, patience_ns=0))["slow"]
    assert len(ran) == len(outcome.times) == 1


# -- figures and tables --------------------------------------------------------------------------------


def row(group: str, case: str, name: str, value: float | None, **facts: Any) -> Any:
    state = "timed" if value is not None else "other result"
    return book.Row(group, case, name, "1.0", state, value, "ns", 5, facts)


@pytest.fixture
def made() -> Any:
    """A book with a few rows of each group, in which trigate takes 10 and the others a round number of times that."""
    rows = []
    for case in ("chat, 64 KiB", "crlf, 64 KiB", "chat, one event"):
        rows += [row("sse", case, "trigate", 10.0), row("sse", case, "httpx-sse", 400.0)]
    rows.append(row("sse", "crlf, 64 KiB", "openai", None))
    for protocol, sdk in figures.SDKS.items():
        for shape in tables.SHAPES:
            case = f"{protocol}, {shape}"
            rows += [row("calls", case, "trigate", 10.0), row("calls", case, sdk, 7000.0)]
            rows.append(row("calls", case, figures.REFERENCES[1], 80.0, floor=True))
        rows.append(row("recorded", protocol, sdk, 600.0, floor=False, right=3, of=4, own=20.0))
        rows.append(row("chunk", "comment", protocol, 30.0, floor=False))
        rows.append(row("memory", "fresh", protocol, 2048.0, traced=2000.0))
        rows.append(row("memory", "open", protocol, 4096.0, total=40960000, count=10000))
        rows.append(row("memory", "growth", protocol, 5.0, text=4.0))
        for lane, speed in (("memcpy", 10.0), (figures.HITS, 5.0)):
            facts = {"bytes": 1 << 30, "cache": 1 << 25}
            rows.append(row("core", f"{protocol}, past the cache", lane, speed, **facts))
    rows += [
        row("drip", f"openai-responses, {size} KiB", "trigate", value, size=size * 1024)
        for size, value in ((64, 2.0), (256, 3.0))
    ]
    return book.Book("quick", rows, {"somebody": "not here"})


def test_ratios(made: Any) -> None:
    assert figures.mean_times(made, "sse", "64 KiB", "httpx-sse") == pytest.approx(40.0)
    assert figures.times(made, "calls", "gemini, long, 64 KiB", "google-genai") == 700.0
    assert figures.recorded_times(made, "gemini", "google-genai") == 30.0
    assert figures.share_of_memcpy(made, "past the cache", figures.HITS) == pytest.approx(0.5)
    assert figures.drip_growth(made, "openai-responses", "trigate") == (1.5, "64 KiB", "256 KiB")
    assert figures.times(made, "sse", "crlf, 64 KiB", "openai") is None
    assert figures.geometric_mean([]) is None


def test_every_group_has_its_page(made: Any) -> None:
    pages = tables.pages(made)
    assert set(pages) == {f"{group}.md" for group in (*tables.PAGES, "asked")}
    assert "| openai | - | other result |" in pages["sse.md"]
    assert "| gemini | google-genai | 3 of 4 | 600 | 20.0 | 30.0 times |" in pages["calls.md"]
    assert "orjson alone *" in pages["calls.md"]
    assert "somebody: not here" in pages["asked.md"]
    assert "Past the cache: 1,024 MiB; the last-level cache has 32 MiB" in pages["core.md"]
    for text in pages.values():
        assert "None" not in text


def test_a_run_of_one_group_has_its_page_alone(made: Any) -> None:
    assert tables.is_whole(made)
    part = book.Book("quick", [row for row in made.rows if row.group == "recorded"])
    assert not tables.is_whole(part)
    assert set(tables.pages(part)) == {"calls.md", "asked.md"}
    assert "|" not in tables.summary(part)


def test_the_summary_quotes_the_main_figures(made: Any) -> None:
    summary = tables.summary(made)
    assert "| 64 KiB a chunk | 10.0 ns an event | 40.0 times |" in summary
    assert "| gemini, one event a chunk | 10.0 ns a delta | 700 times |" in summary
    assert "2.0 KiB at most" in summary
    assert "costs 1.50 times one of 64 KiB" in summary


def test_a_book_is_what_was_saved(made: Any, tmp_path: Path) -> None:
    made.save(tmp_path / "figures.json")
    again = book.Book.load(tmp_path / "figures.json")
    assert again == made
    assert json.loads((tmp_path / "figures.json").read_text())["machine"] == book.machine()


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (1234.5, "1,234"), (56.78, "56.8"), (0.456, "0.46")]
)
def test_numbers_have_few_digits(value: float | None, text: str) -> None:
    assert tables.number(value) == text

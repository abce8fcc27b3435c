"""What the benchmarks share: the plan, and the book that their rows go into.

Rules
 - `--plan` says how much is measured, `--figures` where the record goes; both are the Makefile's to give.
"""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# Peers speak of what they would rather have; it would stand between the figures.
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

import pytest  # noqa: E402 - after the path and the filters

import compare  # noqa: E402
from book import Book, Row  # noqa: E402
from plan import PLANS, Plan  # noqa: E402
from race import Outcome  # noqa: E402
from replay import Record, replay  # noqa: E402

BOOK = pytest.StashKey[Book]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--plan", choices=sorted(PLANS), default="quick", help="how much is measured")
    parser.addoption("--figures", type=Path, required=True, help="where the record of the run goes")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[BOOK] = Book(config.getoption("plan"), absent=dict(compare.load()[1]))


def pytest_sessionfinish(session: pytest.Session) -> None:
    book = session.config.stash[BOOK]
    if book.rows:
        book.save(session.config.getoption("figures"))


@pytest.fixture(scope="session")
def plan(pytestconfig: pytest.Config) -> Plan:
    return PLANS[pytestconfig.getoption("plan")]


@pytest.fixture(scope="session")
def book(pytestconfig: pytest.Config) -> Book:
    return pytestconfig.stash[BOOK]


@pytest.fixture
def record(book: Book, benchmark: Any) -> Record:
    """Writes a row into the book, and its rounds into pytest-benchmark."""

    def write(row: Row, outcome: Outcome) -> None:
        book.add(row)
        if not outcome.times:
            pytest.skip(outcome.state)
        replay(benchmark, f"{row.group}: {row.case}", outcome.times)

    return write

"""A pytest plugin: what became of each test, as JSON; tests that are named private are not run.

Read from the environment: PEER_PRIVATE, names one a line; PEER_OUTCOMES, the file to write: test to "passed",
"failed", "skipped" or "private". A file that cannot be collected is a failed test of its own name.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

OUTCOMES: dict[str, str] = {}


def matches(test: str, name: str) -> bool:
    """Whether a name of the table, which may end in *, stands for this test."""
    return test == name or (name.endswith("*") and test.startswith(name[:-1]))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    names = os.environ["PEER_PRIVATE"].splitlines()
    private = [item for item in items if any(matches(item.nodeid, name) for name in names)]
    items[:] = [item for item in items if item not in private]
    OUTCOMES.update({item.nodeid: "private" for item in private})
    config.hook.pytest_deselected(items=private)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        OUTCOMES[report.nodeid] = "failed"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or not report.passed:
        OUTCOMES[report.nodeid] = "failed" if report.failed else report.outcome


def pytest_sessionfinish() -> None:
    Path(os.environ["PEER_OUTCOMES"]).write_text(json.dumps(OUTCOMES), encoding="utf-8")

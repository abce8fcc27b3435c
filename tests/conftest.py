"""What all tests share: one private server a run for each ledger that needs one, and the example gateway's modules.

Rule: property tests take the same examples at every run, unless TRIGATE_EXPLORE=1 asks for new ones.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("settled", derandomize=True, database=None)
settings.register_profile("explore")
settings.load_profile("explore" if os.environ.get("TRIGATE_EXPLORE") == "1" else "settled")


def _server(name: str) -> Iterator[str]:
    """A private server for the ledgers; skips where there is none."""
    from ledger_servers import SERVERS, Missing

    with ExitStack() as stack:
        try:
            url = stack.enter_context(SERVERS[name]())
        except Missing as reason:
            pytest.skip(str(reason))
        yield url


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    yield from _server("postgres")


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    yield from _server("redis")


@pytest.fixture(scope="session")
def example() -> Any:
    """The example gateway's modules, which are no package."""
    example = Path(__file__).resolve().parent.parent / "examples" / "gateway"
    for folder in (example, example / "load"):
        sys.path.insert(0, str(folder))
    try:
        found = {
            name: importlib.import_module(name)
            for name in ("gateway", "metrics", "relay", "settings", "traffic")
        }
        yield {
            "make_app": found["gateway"].make_app,
            "Settings": found["settings"].Settings,
            "metrics": found["metrics"],
            "relay": found["relay"],
            "stream": found["traffic"].stream,
        }
    finally:
        for folder in (example, example / "load"):
            sys.path.remove(str(folder))

"""These tests need a real server: collected only where it is installed (`make live`, docs/live.md)."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest
from llama_server import serving

collect_ignore = [] if importlib.util.find_spec("xllamacpp") else ["test_live.py", "test_live_agents.py"]


@pytest.fixture(scope="session")
def address() -> Iterator[tuple[str, int]]:
    with serving() as found:
        yield found

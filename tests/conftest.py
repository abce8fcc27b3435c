"""What all tests share: the same examples of property tests at every run, unless TRIGATE_EXPLORE=1 asks for new ones;
and one private server a run for each ledger that needs one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

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

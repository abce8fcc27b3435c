"""What the tests of the ledgers share: a ledger of each kind, opened often, and a stream with calls.

A Place opens one ledger as many times as a test likes; each test has a fresh one.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

import trigate
from trigate.ledger import Key, Ledger, PostgresLedger, RedisLedger, SQLiteLedger
from wire_builder import Wire

TESTS = Path(__file__).resolve().parent
BACKENDS = ("sqlite", "postgres", "redis")
_numbers = itertools.count(1)


class Place:
    """A fresh ledger; open() gives one more connection to it, and all are closed with the place."""

    def __init__(self, backend: str, make: Callable[[], Ledger], url: str, name: str) -> None:
        self.backend = backend
        self.url = url
        self.name = name
        self._make = make
        self._opened = ExitStack()

    def open(self) -> Ledger:
        return self._opened.enter_context(self._make())

    def close(self) -> None:
        self._opened.close()


def place_of(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    name = f"t{os.getpid()}_{next(_numbers)}"
    if backend == "sqlite":
        path = tmp_path / "ledger.db"
        return Place(backend, lambda: SQLiteLedger(path), str(path), "")
    url: str = request.getfixturevalue(f"{backend}_url")
    if backend == "postgres":
        return Place(backend, lambda: PostgresLedger(url, table=name), url, name)
    return Place(backend, lambda: RedisLedger(url, prefix=name), url, name)


def key(number: int = 0, scope: str = "test") -> Key:
    return Key(scope, "resp_1", f"call_{number}", "transfer")


def digest(letter: str = "a") -> str:
    return letter * 64


def response_of(*arguments: str, response_id: str = "resp_1") -> trigate.Response:
    """A completed response with one call for each argument text."""
    return trigate.parse(stream_of(*arguments, response_id=response_id), "openai-responses")


def stream_of(*arguments: str, response_id: str = "resp_1") -> bytes:
    wire = Wire()
    for text in arguments:
        wire.call(text, name="transfer")
    return wire.complete().stream.replace(b'"resp_1"', f'"{response_id}"'.encode())


def run_python(*words: str) -> str:
    """What a program prints; a process of its own, for it forks, or lowers its own limits."""
    made = subprocess.run(
        [sys.executable, "-W", "error", *words],
        capture_output=True,
        text=True,
        cwd=TESTS,
        timeout=120,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return made.stdout

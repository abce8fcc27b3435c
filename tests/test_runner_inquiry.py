"""Calls in doubt: the tool is asked what became of them, the ledger keeps its word, and only then may one run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from test_runner import FREE, response
from trigate.ledger import Finding, SQLiteLedger, digest_of, key_of
from trigate.runner import Runner
from trigate.tools import Context, Reconciled, Toolset, tool

GIVEN = response(("a", "send", '{"to":"Ann"}'))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SQLiteLedger]:
    with SQLiteLedger(tmp_path / "ledger.db") as opened:
        yield opened


def runner(ledger: SQLiteLedger, log: list[str], told: Callable[[str], Any]) -> Runner:
    """Its one tool acts, and never answers the first time."""

    def asked(to: str, context: Context) -> Reconciled:
        assert context.scope == "default"
        answer: Reconciled = told(to)
        return answer

    @tool(timeout=0.05, reconcile=asked)
    def send(to: str, context: Context) -> str:
        log.append(to)
        if len(log) == 1:
            context.cancellation.wait(20)
        return "sent"

    return Runner(Toolset([send]), FREE, ledger=ledger)


@pytest.mark.parametrize(
    ("told", "status", "content", "runs"),
    [
        (Reconciled("succeeded", {"id": 7}), "succeeded", '{"id":7}', 1),
        (Reconciled("failed", "the address is unknown"), "failed", "the address is unknown", 1),
        (Reconciled("failed"), "failed", "it had failed", 1),
        (Reconciled("not_run"), "not_run", "it may be run now", 2),
        (Reconciled("unknown"), "unknown", "still not known", 1),
        (Reconciled("succeeded", "x" * 100_000), "succeeded", "too_large", 1),
        ("no Reconciled at all", "unknown", "TypeError", 1),
    ],
)
def test_the_tool_s_word_decides(
    ledger: SQLiteLedger, told: Any, status: str, content: str, runs: int
) -> None:
    log: list[str] = []
    running = runner(ledger, log, lambda _: told)
    assert running.run(GIVEN)["a"].status == "unknown"
    result = running.reconcile(GIVEN)["a"]
    assert (result.status, content in result.content) == (status, True)
    again = running.run(GIVEN)["a"]
    assert len(log) == runs
    assert again.status == ("succeeded" if status == "not_run" else status)
    if status in ("succeeded", "failed"):
        assert (again.content, again.is_stored) == (result.content, True)


def test_an_inquiry_that_raises_or_hangs_leaves_the_doubt(ledger: SQLiteLedger) -> None:
    free = threading.Event()
    log: list[str] = []

    def hang(_: str) -> None:
        free.wait(20)

    def burn(_: str) -> None:
        raise RuntimeError("swordfish")

    runner(ledger, log, hang).run(GIVEN)
    try:
        results = [runner(ledger, log, told).reconcile(GIVEN)["a"] for told in (hang, burn)]
    finally:
        free.set()
    assert [each.status for each in results] == ["unknown", "unknown"]
    assert "swordfish" not in results[1].content
    assert log == ["Ann"]


def test_what_is_not_in_doubt_is_not_asked_about(ledger: SQLiteLedger) -> None:
    asked: list[str] = []
    running = runner(ledger, ["before"], asked.append)
    assert len(running.reconcile(GIVEN)) == 0
    assert running.run(GIVEN)["a"].content == "sent"
    assert (len(running.reconcile(GIVEN)), asked) == (0, [])
    assert len(running.reconcile(response(("a", "nothing", "{}")))) == 0


def test_an_entry_of_other_arguments_is_not_asked_about(ledger: SQLiteLedger) -> None:
    asked: list[str] = []
    other = response(("a", "send", '{"to":"Bob"}'))
    claim = ledger.claim(key_of(other.released[0], other, "default"), digest_of(other.released[0]))
    ledger.give_up(claim, "the worker died")
    assert runner(ledger, [], asked.append).reconcile(GIVEN)["a"].status == "unknown"
    assert asked == []
    assert ledger.reconcile(claim.key, Finding("succeeded")).state == "succeeded"


def test_without_a_ledger_nothing_is_in_doubt() -> None:
    @tool
    def send(to: str) -> str:
        return json.dumps(to)

    with pytest.raises(ValueError, match="without a ledger"):
        Runner(Toolset([send]), FREE).reconcile(GIVEN)

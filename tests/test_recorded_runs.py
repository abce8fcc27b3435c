"""Runs of a real small model, kept in tests/runs, come out the same when they are replayed offline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_runs import APIS, KINDS, RUNS, asked, made
from trigate.agent import ReplayModel, RunRecord


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", APIS)
def test_the_run_is_the_same_again(protocol: str, kind: str, tmp_path: Path) -> None:
    path = RUNS / f"{kind}-{protocol}.jsonl"
    agent, values = made(kind, ReplayModel(path))
    again = tmp_path / "again.jsonl"
    with RunRecord(again) as record:
        agent.run(asked(kind), record=record, values=values)
    assert meaning(again) == meaning(path)


def meaning(path: Path) -> list[dict[str, object]]:
    """The lines without what differs each time."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        {name: value for name, value in line.items() if name not in ("time", "seconds", "trigate")}
        for line in lines
    ]

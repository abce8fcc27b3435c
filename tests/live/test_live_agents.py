"""Agents with a real small model behind them, over three APIs: judged, recorded, bounded, replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from llama_server import MODEL

from agent_runs import APIS, KINDS, LIMITS, asked, made
from trigate.agent import DIALECTS, LiveModel, ReplayModel, RunRecord
from trigate.agent.outcome import STATUSES


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", APIS)
def test_every_round_is_judged_recorded_and_bounded(
    address: tuple[str, int], protocol: str, kind: str, tmp_path: Path
) -> None:
    host, port = address
    model = LiveModel(MODEL, DIALECTS[protocol], base_url=f"http://{host}:{port}/v1")
    agent, values = made(kind, model)
    path = tmp_path / "run.jsonl"
    with RunRecord(path) as record:
        result = agent.run(asked(kind), record=record, values=values)
    assert result.status in STATUSES
    assert result.reason not in ("connection", "timeout", "http_error", "bad_request")
    assert 1 <= result.rounds <= LIMITS.rounds
    assert result.usage.output_tokens <= LIMITS.output_tokens
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds.count("request") == kinds.count("response") == result.rounds
    assert kinds.count("result") == len(result.results)
    assert (kinds[0], kinds[-1]) == ("run", "end")
    for each in result.results:
        assert each.judgment is not None or each.call.state == "void"

    again, values = made(kind, ReplayModel(path))
    replayed = again.run(asked(kind), values=values)
    assert (replayed.status, replayed.reason, replayed.usage) == (result.status, result.reason, result.usage)
    assert [each.content for each in replayed.results] == [each.content for each in result.results]

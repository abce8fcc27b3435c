"""`trigate calls --explain` tells which rule and which bytes decided, and invents nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import trigate
from trigate.cli import main
from trigate.cli.explain import RULES

STREAMS = Path(__file__).parent.parent / "examples" / "streams"


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe is as wide as it likes, unless the environment says otherwise: test runners do."""
    monkeypatch.delenv("COLUMNS", raising=False)


def explained(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    main(["calls", "--explain", str(STREAMS / name)])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("name", ["parallel-calls.sse", "cut.sse", "failed.sse", "incomplete.sse"])
def test_each_decision_stands_with_its_bytes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = (STREAMS / name).read_bytes()
    lines = explained(name, capsys)
    decisions = trigate.parse(data).decisions
    assert decisions
    head = next(index for index, line in enumerate(lines) if line.startswith("BYTE"))
    for line, decision in zip(lines[head + 1 :], decisions, strict=False):
        place = "end" if decision.offset is None else str(decision.offset)
        assert line.split()[:2] == [place, decision.rule]
        assert decision.detail in line
        if decision.offset is not None and decision.offset < len(data):
            assert data[decision.offset : decision.offset + 20].decode() in line
    for rule in {decision.rule for decision in decisions}:
        assert any(line.startswith(rule) and line.endswith(RULES[rule]) for line in lines)


def test_the_protocol_s_profile_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(explained("parallel-calls.sse", capsys))
    for word in ("in openai-responses", "response.function_call_arguments.done", "response.completed"):
        assert word in text


def test_a_released_call_names_the_terminal_event() -> None:
    data = (STREAMS / "parallel-calls.sse").read_bytes()
    released = [step for step in trigate.parse(data).decisions if step.rule == "call_released"]
    terminal = data.index(b"event: response.completed")
    assert [step.offset for step in released] == [terminal, terminal]


def test_json_has_the_decisions_too(capsys: pytest.CaptureFixture[str]) -> None:
    main(["calls", "--json", str(STREAMS / "failed.sse")])
    members = json.loads(capsys.readouterr().out)
    assert [step["rule"] for step in members["decisions"]] == [
        "call_started",
        "call_done",
        "ended",
        "call_void",
    ]


def test_an_input_of_no_known_protocol_is_explained_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "stream"
    path.write_bytes(b"data: {}\n\n")
    assert main(["calls", "--explain", str(path)]) == 4
    assert "ended" in capsys.readouterr().out

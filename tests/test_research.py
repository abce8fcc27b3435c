"""The research assistant: one complete call a round, and no answer without notes that were read in this run."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trigate.agent import AgentLimits, AgentResult, RunRecord

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "research"
QUESTION = "延时任务 故障 恢复"


@pytest.fixture(scope="module")
def example() -> Any:
    """The example's modules, which are no package."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: importlib.import_module(name) for name in ("assistant", "notebook", "scripted")}
    finally:
        sys.path.remove(str(EXAMPLE))


@pytest.fixture
def asked(example: Any) -> Any:
    """Runs the assistant with a model that says these rounds."""

    def ask(*rounds: bytes, folder: Path = EXAMPLE, **options: Any) -> tuple[AgentResult, Any]:
        model = example["scripted"].ScriptedModel(rounds)
        agent = example["assistant"].make_agent(model, folder=folder, **options)
        return agent.run(QUESTION, values=example["assistant"].new_values()), model

    return ask


@pytest.fixture
def said(example: Any) -> Any:
    return example["scripted"].round_of


@pytest.fixture
def note(example: Any) -> Any:
    return example["notebook"].Notebook(EXAMPLE).read("failure-and-recovery")


def answer(note: Any, call_id: str = "c9") -> tuple[str, str, Any]:
    return (
        call_id,
        "submit_answer",
        {"answer": "先查证。", "citations": [{"name": note.name, "version": note.version}]},
    )


def answers_in(body: dict[str, Any]) -> list[tuple[str, str]]:
    """(id, content) of the results in a request's last message."""
    return [(block["tool_use_id"], block["content"]) for block in body["messages"][-1]["content"]]


def test_search_read_answer(asked: Any, said: Any, note: Any) -> None:
    result, model = asked(
        said(1, ("c1", "search_notes", {"query": QUESTION})),
        said(2, ("c2", "read_note", {"name": note.name})),
        said(3, answer(note)),
    )
    assert (result.status, result.answer, result.rounds) == ("awaiting_review", "先查证。", 3)
    ((call_id, found),) = answers_in(model.bodies[1])
    assert call_id == "c1"
    assert json.loads(found)[0]["name"] == "failure-and-recovery"
    ((_, read),) = answers_in(model.bodies[2])
    assert json.loads(read)["version"] == note.version


def test_an_answer_without_reading_is_refused_and_may_be_mended(asked: Any, said: Any, note: Any) -> None:
    result, model = asked(
        said(1, answer(note, "c1")),
        said(2, ("c2", "read_note", {"name": note.name})),
        said(3, answer(note, "c3")),
    )
    assert [each.status for each in result.results] == ["failed", "succeeded", "succeeded"]
    ((call_id, told),) = answers_in(model.bodies[1])
    assert (call_id, json.loads(told)["read"]) == ("c1", {})
    assert result.status == "awaiting_review"


def test_an_answer_that_cites_another_version_never_reaches_review(asked: Any, said: Any, note: Any) -> None:
    wrong = {"answer": "x", "citations": [{"name": note.name, "version": "0" * 64}]}
    result, _ = asked(
        said(1, ("c1", "read_note", {"name": note.name})),
        said(2, ("c2", "submit_answer", wrong)),
        said(3, text="好的。"),
    )
    assert (result.status, result.reason) == ("protocol_error", "expected_one_complete_tool_call")
    assert result.results[1].status == "failed"


def test_no_citation_no_review(asked: Any, said: Any) -> None:
    result, model = asked(
        said(1, ("c1", "submit_answer", {"answer": "x", "citations": []})), said(2, stop="max_tokens")
    )
    assert result.results[0].status == "refused"
    assert "citations" in answers_in(model.bodies[1])[0][1]


@pytest.mark.parametrize(
    ("tool", "member", "status"),
    [("request_input", "question", "needs_input"), ("report_insufficient", "reason", "insufficient")],
)
def test_other_ends(asked: Any, said: Any, tool: str, member: str, status: str) -> None:
    result, _ = asked(said(1, ("c1", tool, {member: "哪一个系统？"})))
    assert (result.status, result.answer) == (status, "哪一个系统？")


def test_two_calls_at_once_fail_the_round_with_nothing_run(asked: Any, said: Any, note: Any) -> None:
    two = [("c1", "read_note", {"name": note.name}), ("c2", "search_notes", {"query": "故障"})]
    result, _ = asked(said(1, *two))
    assert (result.status, result.reason, result.results) == (
        *("protocol_error", "expected_one_complete_tool_call"),
        (),
    )


def test_text_alone_is_no_answer(asked: Any, said: Any) -> None:
    result, _ = asked(said(1, text="重跑就好。"))
    assert (result.status, result.reason) == ("protocol_error", "expected_one_complete_tool_call")


def test_a_round_cut_by_its_token_limit_runs_nothing(asked: Any, said: Any) -> None:
    result, _ = asked(said(1, ("c1", "search_notes", {"query": "故障"}), stop="max_tokens"))
    assert (result.status, result.reason, result.results) == ("exhausted", "output_tokens", ())


def test_half_a_call_runs_nothing(asked: Any, said: Any) -> None:
    result, _ = asked(said(1, ("c1", "search_notes", '{"query":"故')))
    assert (result.status, result.results) == ("protocol_error", ())


def test_a_call_id_that_comes_again_stops(asked: Any, said: Any) -> None:
    search = ("c1", "search_notes", {"query": "故障"})
    result, _ = asked(said(1, search), said(2, search))
    assert (result.status, result.reason, len(result.results)) == ("protocol_error", "repeated_call_id", 1)


@pytest.mark.parametrize(
    "arguments",
    [{"query": "故障", "limit": 5}, {"query": ""}, {"query": "  "}, {}, {"query": 1}, {"name": "x"}],
)
def test_what_does_not_fit_goes_back_as_an_error(asked: Any, said: Any, arguments: Any) -> None:
    result, model = asked(said(1, ("c1", "search_notes", arguments)), said(2, stop="max_tokens"))
    assert [each.is_error for each in result.results] == [True]
    block = model.bodies[1]["messages"][-1]["content"][0]
    assert (block["tool_use_id"], block["is_error"]) == ("c1", True)
    assert json.loads(block["content"])["next"]


def test_only_notes_of_the_manifest_in_their_version(asked: Any, said: Any, tmp_path: Path) -> None:
    folder = tmp_path / "research"
    shutil.copytree(EXAMPLE, folder)
    (folder / "notes" / "secret.md").write_text("# 密")
    changed = folder / "notes" / "monitoring.md"
    changed.write_text(changed.read_text(encoding="utf-8") + "改", encoding="utf-8")
    rounds = [
        said(at, (f"c{at}", "read_note", {"name": name}))
        for at, name in enumerate(("secret", "../cli", "/etc/passwd", "monitoring"))
    ]
    result, _ = asked(*rounds, said(9, stop="max_tokens"), folder=folder)
    codes = [json.loads(each.content)["error"] for each in result.results]
    assert codes == ["not_found", "not_found", "not_found", "stale_version"]


def test_a_note_that_has_changed_is_not_found_and_hides_no_other(
    asked: Any, said: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "research"
    shutil.copytree(EXAMPLE, folder)
    changed = folder / "notes" / "monitoring.md"
    changed.write_text("故障", encoding="utf-8")
    (folder / "notes" / "timing-wheels.md").unlink()
    result, _ = asked(
        said(1, ("c1", "search_notes", {"query": "故障"})), said(2, stop="max_tokens"), folder=folder
    )
    names = [each["name"] for each in json.loads(result.results[0].content)]
    assert "failure-and-recovery" in names
    assert not {"monitoring", "timing-wheels"} & set(names)


def test_rounds_are_bounded(asked: Any, said: Any) -> None:
    rounds = [said(at, (f"c{at}", "search_notes", {"query": "故障"})) for at in range(9)]
    result, model = asked(*rounds, limits=AgentLimits(rounds=2))
    assert (result.status, result.reason, len(model.bodies)) == ("exhausted", "rounds", 2)


# -- the command line ------------------------------------------------------------------------------------


def cli(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE / "cli.py"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=EXAMPLE.parent.parent, check=False
    )


def test_the_recorded_run_is_replayed_offline() -> None:
    done = cli(QUESTION)
    assert (done.returncode, done.stderr) == (0, "")
    assert "status  awaiting_review (submit_answer)" in done.stdout
    assert "先查证" in done.stdout


def test_the_recorded_run_is_as_the_script_writes_it(example: Any, tmp_path: Path) -> None:
    """After a change of notes, tools or instructions: python examples/research/record_run.py."""
    recorded = EXAMPLE / "runs" / "answered.jsonl"
    lines = [json.loads(line) for line in recorded.read_text(encoding="utf-8").splitlines()]
    streams = [line["stream"].encode() for line in lines if line["type"] == "response"]
    again = tmp_path / "again.jsonl"
    with RunRecord(again) as record:
        agent = example["assistant"].make_agent(example["scripted"].ScriptedModel(streams))
        agent.run(QUESTION, record=record, values=example["assistant"].new_values())
    varying = ("time", "seconds", "trigate")
    for written, made in zip(
        lines, map(json.loads, again.read_text(encoding="utf-8").splitlines()), strict=True
    ):
        assert {k: v for k, v in written.items() if k not in varying} == {
            k: v for k, v in made.items() if k not in varying
        }


def test_another_question_has_no_record() -> None:
    done = cli("别的问题")
    assert done.returncode == 1
    assert "The recorded run answers '延时任务 故障 恢复'" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--live", "x"], "need --model"),
        (["--base-url", "http://127.0.0.1:1/v1", "x"], "need --model"),
        (["--replay", "nowhere.jsonl", "x"], "cannot be read"),
        (["--rounds", "0", "x"], "rounds must be a positive number"),
        (["--base-url", "http://u:p@127.0.0.1:1/v1", "--model", "m", "x"], "no user name"),
        (["--record", "README.md", "x"], "is there already"),
    ],
)
def test_wrong_usage_says_what_to_do(words: list[str], told: str) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr

"""`trigate agent`: nobody is asked without being told to, a recorded run offline, exit codes that mean something."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from test_agent import Server, chat, run
from trigate.agent import AgentLimits, LiveModel, ReplayModel
from trigate.agent.outcome import STATUSES
from trigate.cli import main
from trigate.cli.agent import EXIT_CODES, INSTRUCTIONS
from trigate.tools.files import file_tools


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Cli: TypeAlias = Callable[..., Done]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Runs `trigate agent` in this process; without keys in the environment but the given ones."""

    def ask(*words: str, **environment: str) -> Done:
        for name in ("COLUMNS", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "TRIGATE_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        code = main(["agent", *words])
        return Done(code, *capsys.readouterr())

    return ask


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.md").write_text("# Plan\nWe ship on Friday.\n")
    return folder


@pytest.fixture
def recorded(root: Path, tmp_path: Path) -> Path:
    """A run over that folder, written down."""
    path = tmp_path / "run.jsonl"
    server = Server(
        chat("", ("c1", "read_file", '{"path":"a.md"}'), id_="r1"), chat("On Friday (a.md).", id_="r2")
    )
    result = run(server, file_tools(root), question="When?", instructions=INSTRUCTIONS, record=path)
    assert result.status == "completed"
    return path


def test_a_recorded_run_is_replayed(cli: Cli, root: Path, recorded: Path) -> None:
    done = cli("--root", str(root), "--replay", str(recorded), "When?")
    assert (done.returncode, done.stderr) == (0, "")
    assert "read_file" in done.stdout
    assert "status  completed" in done.stdout
    assert done.stdout.endswith("On Friday (a.md).\n")


def test_json_for_programs(cli: Cli, root: Path, recorded: Path) -> None:
    done = cli("--json", "--root", str(root), "--replay", str(recorded), "When?")
    told: dict[str, Any] = json.loads(done.stdout)
    assert (told["status"], told["answer"], told["rounds"], told["cost"]) == (
        *("completed", "On Friday (a.md).", 2),
        None,
    )
    assert [each["name"] for each in told["results"]] == ["read_file"]


def test_a_changed_file_is_no_replay(cli: Cli, root: Path, recorded: Path) -> None:
    (root / "a.md").write_text("# Plan\nWe ship on Monday.\n")
    done = cli("--root", str(root), "--replay", str(recorded), "When?")
    assert done.returncode == 4
    assert "replay_mismatch" in done.stdout
    assert "the record answers 'When?'" in done.stderr


def test_the_replay_can_be_recorded_too(cli: Cli, root: Path, recorded: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    words = ("--root", str(root), "--replay", str(recorded), "--record", str(again), "When?")
    assert cli(*words).returncode == 0
    assert len(again.read_text().splitlines()) == len(recorded.read_text().splitlines())
    done = cli(*words)
    assert (done.returncode, "is there already" in done.stderr) == (2, True)


def test_the_example_s_run_is_replayed(cli: Cli) -> None:
    """After a change of notes, file tools or instructions: python examples/research/record_run.py."""
    root = Path(__file__).parent.parent / "examples" / "research"
    run_file = root / "runs" / "files.jsonl"
    question = ReplayModel(run_file).question
    done = cli("--json", "--root", str(root / "notes"), "--replay", str(run_file), question)
    told: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, told["status"], told["rounds"]) == (0, "completed", 3)
    assert "failure-and-recovery.md" in told["answer"]
    assert {each["status"] for each in told["results"]} == {"succeeded"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--root", ".", "--model", "m", "x"], "without --allow-paid-api nothing is asked of a provider"),
        (
            ["--root", ".", "--model", "m", "--base-url", "https://example.com/v1", "x"],
            "without --allow-paid-api",
        ),
        (["--root", ".", "--model", "m", "--allow-paid-api", "x"], "no key: set OPENAI_API_KEY"),
        (
            ["--root", ".", "--model", "m", "--api", "anthropic-messages", "--allow-paid-api", "x"],
            "no key: set ANTHROPIC_API_KEY",
        ),
        (
            ["--root", ".", "--model", "m", "--base-url", "https://example.com/v1", "--allow-paid-api", "x"],
            "no key: set TRIGATE_API_KEY",
        ),
        (
            ["--root", ".", "--model", "m", "--base-url", "http://user:secret@127.0.0.1:9/v1", "x"],
            "base_url must hold no user name and no password",
        ),
        (["--root", ".", "--model", "m", "--base-url", "http://[::1/v1", "x"], "without --allow-paid-api"),
        (["--root", ".", "--allow-paid-api", "x"], "--model is missing"),
        (["--root", ".", "--replay", "nowhere.jsonl", "x"], "nowhere.jsonl cannot be read"),
        (["--replay", "x.jsonl", "--allow-paid-api", "x"], "--replay asks nobody"),
        (["--model", "m", "--base-url", "http://127.0.0.1:9/v1", "x"], "--root is missing"),
        (
            ["--root", ".", "--rounds", "0", "--model", "m", "--base-url", "http://[::1]:9/v1", "x"],
            "rounds must be",
        ),
    ],
)
def test_wrong_usage_is_one_line_that_says_what_to_do(cli: Cli, words: list[str], told: str) -> None:
    done = cli(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "secret" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_local_server_needs_no_flag_and_gets_no_key(cli: Cli, root: Path) -> None:
    words = ("--root", str(root), "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "x")
    done = cli(*words, OPENAI_API_KEY="sk-very-secret")
    assert done.returncode == 4
    assert "connection" in done.stdout
    assert "sk-very-secret" not in done.stdout + done.stderr


def test_the_provider_s_key_goes_to_no_other_server(
    cli: Cli, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    class Spy(LiveModel):
        def __init__(self, *args: Any, **options: Any) -> None:
            made.append(options)
            super().__init__(*args, **options)

        async def ask(self, body: dict[str, Any], seconds: float) -> Any:
            raise OSError(f"{len(body)} {seconds}")

    monkeypatch.setattr("trigate.agent.LiveModel", Spy)
    words = ("--root", str(root), "--model", "m", "--allow-paid-api")
    keys = {"OPENAI_API_KEY": "sk-openai\n", "TRIGATE_API_KEY": "sk-other"}
    assert cli(*words, "x", **keys).returncode == 4
    assert cli(*words, "--base-url", "https://example.com/v1", "x", **keys).returncode == 4
    assert cli(*words, "--base-url", "http://localhost:9/v1", "x", **keys).returncode == 4
    assert [each["key"] for each in made] == ["sk-openai", "sk-other", None]


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a process differ there")
def test_an_interrupted_run_says_so_in_its_record(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        words = ("--tools", "none", "--base-url", url, "--model", "m", "--record", str(path), "why?")
        command = [sys.executable, "-m", "trigate", "agent", *words]
        server.settimeout(60)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asking:
            connection, _ = server.accept()
            with connection:
                connection.recv(1)  # the request has come, and is never answered
                asking.send_signal(signal.SIGINT)
                _, errors = asking.communicate(timeout=60)
    assert (asking.returncode, "Traceback" in errors) == (130, False)
    end = json.loads(path.read_text().splitlines()[-1])
    assert (end["type"], end["status"], end["reason"]) == ("end", "failed", "cancelled")


def test_every_status_has_its_exit_code() -> None:
    assert set(EXIT_CODES) == set(STATUSES)


def test_the_help_names_the_limits_as_they_are(cli: Cli) -> None:
    limits = AgentLimits()
    text = cli("--help").stdout
    for value in (limits.rounds, int(limits.seconds), limits.output_tokens):
        assert f"({value})" in text

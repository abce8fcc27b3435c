"""The command line: exit codes, what a program reads, what a person sees, what a hostile stream cannot do."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from trigate.cli import main
from trigate.cli.calls import EXIT_CODES
from wire_builder import Wire

if sys.platform != "win32":
    import fcntl
    import pty
    import struct
    import termios

STREAMS = Path(__file__).resolve().parent.parent / "examples" / "streams"
GOOD, CUT = STREAMS / "parallel-calls.sse", STREAMS / "cut.sse"
COMMAND = [sys.executable, "-m", "trigate"]
HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp\u200b\r\n"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\ud800-\udfff]")
Run = subprocess.CompletedProcess[str]


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    return {**kept, "PYTHONUTF8": "1", **changes}


def run(*words: str | Path, stdin: bytes = b"", **changes: str) -> Run:
    command = [*COMMAND, *map(str, words)]
    made = subprocess.run(
        command, input=stdin, capture_output=True, env=environment(**changes), timeout=60, check=False
    )
    return Run(made.args, made.returncode, made.stdout.decode(), made.stderr.decode())


def on_terminal(
    words: Sequence[str | Path], changes: Mapping[str, str] | None = None, *, columns: int = 100
) -> tuple[int, str]:
    """Runs it with a pseudo-terminal for input and output: exit code, and all that was written."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [*COMMAND, *map(str, words)]
    env = environment(TERM="xterm-256color") | dict(changes or {})
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=env) as process:
        os.close(follower)
        seen = bytearray()
        while piece := _read(leader):
            seen += piece
        code = process.wait(timeout=60)
    os.close(leader)
    return code, seen.decode()


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # the other side is closed: Linux says EIO
        return b""


needs_pty = pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")


@pytest.fixture
def record(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(stream: bytes) -> Path:
        path = tmp_path / "stream.sse"
        path.write_bytes(stream)
        return path

    return write


def event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def ended_as(status: str) -> bytes:
    """A stream whose end says that status."""
    response: dict[str, Any] = {"id": "resp_1", "model": "m", "status": status, "output": []}
    started = {"type": "response.created", "response": {**response, "status": "in_progress"}}
    return event(started) + event({"type": f"response.{status}", "response": response})


# -- exit codes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code"), [("parallel-calls", 0), ("cut", 3), ("failed", 4), ("incomplete", 5)]
)
def test_the_exit_code_of_calls_is_the_verdict(name: str, code: int) -> None:
    assert main(["calls", str(STREAMS / f"{name}.sse")]) == code


@pytest.mark.parametrize("status", ["completed", "failed", "incomplete", "cancelled"])
def test_each_end_has_its_exit_code(status: str, record: Callable[[bytes], Path]) -> None:
    assert main(["calls", str(record(ended_as(status)))]) == EXIT_CODES[status]


def test_a_contradiction_is_exit_code_6(
    record: Callable[[bytes], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    stream = GOOD.read_bytes().replace(b'"call_id":"call_VJa9', b'"call_id":"call_other', 1)
    assert main(["calls", str(record(stream))]) == EXIT_CODES["conflict"] == 6
    shown = capsys.readouterr().out
    assert "conflict: 0 of 2 calls may run" in shown
    assert "structure call_id_changed at byte" in shown or "call_id_changed" in shown


def test_nothing_at_all_is_truncated(record: Callable[[bytes], Path]) -> None:
    assert main(["calls", str(record(b""))]) == 3


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (b"data: a\n\n", 0),
        (b"", 0),
        (b"data: a\n\n: a comment\n", 0),
        (b"data: a\n\ndata: b\n", 3),
        (b"data: a\n\ndata: \xe4\xbd", 3),
        (b"data: \xff\n\n", 0),
    ],
)
def test_the_exit_code_of_events_says_whether_it_was_whole(
    stream: bytes, code: int, record: Callable[[bytes], Path]
) -> None:
    assert main(["events", str(record(stream))]) == code


def test_broken_bytes_are_exit_code_4_and_the_events_before_them_are_shown(
    record: Callable[[bytes], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["events", "--strict", str(record(b"data: a\n\ndata: \xff\n\n"))]) == 4
    shown = capsys.readouterr()
    assert shown.out.split() == ["0", "message", "1", "a"]
    assert "invalid_utf8" in shown.err
    assert "byte 15" in shown.err


# -- wrong use -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["calls", "no/such/file"], "no file no/such/file"),
        (["events", "no/such/file"], "no file no/such/file"),
        (["calls", str(STREAMS)], "is a directory"),
        (["calls", ""], ""),
        (["calls", "a\0b"], "cannot read"),
        (["calls", "--protocol", "telepathy", str(GOOD)], "openai-responses"),
        (["calls", "--lenient", "everything", str(GOOD)], "duplicate_keys"),
        (["calls"], "FILE"),
        (["calls", "--jsn", str(GOOD)], "--jsn"),
        (["sing"], "calls"),
        ([], "COMMAND"),
    ],
)
def test_a_mistake_is_one_line_that_helps(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert hint in shown.err
    assert shown.err.startswith("trigate")
    assert shown.err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_one_line(
    record: Callable[[bytes], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path = record(b"")
    path.chmod(0)
    assert main(["calls", str(path)]) == 2
    assert "permission denied" in capsys.readouterr().err


def test_a_hostile_file_name_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", HOSTILE]) == 2
    shown = capsys.readouterr().err
    assert not CONTROL.search(shown)
    assert shown.count("\n") == 1


@pytest.mark.parametrize("words", [["--help"], ["calls", "--help"], ["events", "--help"], ["--version"]])
def test_help_is_no_mistake(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert "trigate" in capsys.readouterr().out


def test_help_names_every_exit_code_and_leniency(capsys: pytest.CaptureFixture[str]) -> None:
    main(["calls", "--help"])
    shown = capsys.readouterr().out
    for word in ("0 completed", "3 truncated", "4 failed", "5 incomplete", "6 conflict", "duplicate_keys"):
        assert word in shown


# -- for programs ----------------------------------------------------------------------------------


def test_calls_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", "--json", str(GOOD)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1
    members = json.loads(lines[0])
    assert set(members) == {
        *("status", "reason", "protocol", "id", "model", "calls", "released", "text", "reasoning", "refusal"),
        *("usage", "error", "anomalies", "decisions", "clean_end", "server_calls"),
    }
    assert members["status"] == "completed"
    assert members["protocol"] == "openai-responses"
    assert members["text"] == "好的，我同时查天气并给小林发消息 🌦️👩‍💻。"
    assert members["clean_end"] is True
    assert members["usage"]["total_tokens"] == 459
    weather, message = members["calls"]
    assert members["released"] == [weather["call_id"], message["call_id"]]
    assert set(weather) == {
        *("call_id", "name", "kind", "state", "problem", "flags", "index", "wire_key", "arguments")
    }
    assert json.loads(weather["arguments"]) == {"city": "杭州", "days": 3, "unit": "celsius"}
    assert weather["state"] == "released"


def test_a_cut_stream_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calls", "--json", str(CUT)]) == 3
    members = json.loads(capsys.readouterr().out)
    assert members["released"] == []
    assert [(call["state"], call["problem"]) for call in members["calls"]] == [("void", "incomplete")]
    assert members["error"]["code"] == "truncated_in_arguments"
    assert members["error"]["offset"] == CUT.stat().st_size


def test_a_provider_error_nested_beyond_writing_still_gives_json(
    record: Callable[[bytes], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    deep = '{"a":' * 900 + "NaN" + "}" * 900
    body = record(f'{{"error": {deep}}}'.encode())
    assert main(["calls", "--json", "--protocol", "openai-responses", str(body)]) == 4
    assert json.loads(capsys.readouterr().out)["status"] == "failed"


def test_events_as_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", "--json", str(GOOD)]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(made) for made in events] == [{"start", "end", "event", "id", "retry", "data"}] * len(events)
    assert events[0]["start"] == 0
    assert [made["start"] for made in events[1:]] == [made["end"] for made in events[:-1]]
    assert events[-1]["end"] == GOOD.stat().st_size
    assert events[-1]["event"] == json.loads(events[-1]["data"])["type"] == "response.completed"


def test_release_on_call_and_leniencies_reach_the_parser(
    record: Callable[[bytes], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calls", "--json", "--release-on", "call", str(STREAMS / "failed.sse")]) == 4
    assert len(json.loads(capsys.readouterr().out)["released"]) == 1
    whole = GOOD.read_bytes()
    for words, code in ((["--lenient", "unterminated_last_event"], 0), ([], 3)):
        assert main(["calls", *words, str(record(whole[:-1]))]) == code
    unknown = whole.replace(b"response.reasoning_summary_part.added", b"response.news")
    assert main(["calls", str(record(unknown))]) == 0
    assert main(["calls", "--strict", str(record(unknown))]) == 4


# -- standard input and pipes ----------------------------------------------------------------------


def test_standard_input() -> None:
    made = run("calls", "--json", "-", stdin=GOOD.read_bytes())
    assert made.returncode == 0
    assert json.loads(made.stdout)["status"] == "completed"
    assert run("events", "-", stdin=b"data: x\n\ndata").returncode == 3


@pytest.mark.skipif(sys.platform == "win32", reason="the events come one by one through a pipe")
def test_events_of_a_live_stream_come_at_once() -> None:
    with subprocess.Popen(
        [*COMMAND, "events", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in (b"one", b"two"):
            process.stdin.write(b"data: " + word + b"\n\n")
            process.stdin.flush()
            assert process.stdout.readline().split()[-1] == word
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_a_pipe_gets_plain_text_whole() -> None:
    for verb in ("calls", "events"):
        made = run(verb, GOOD, TERM="xterm-256color")
        assert made.returncode == 0
        assert made.stderr == ""
        assert not CONTROL.search(made.stdout)
    shown = run("calls", GOOD).stdout
    assert '"body":"周六去龙井喝茶吗？🍵 I\'ll bring \\"the good cups\\".","urgent":false}' in shown
    assert "completed: 2 of 2 calls may run" in shown


def test_columns_shortens_in_a_pipe_too() -> None:
    lines = run("calls", GOOD, COLUMNS="80").stdout.splitlines()
    assert lines[0].split() == ["CALL_ID", "NAME", "STATE", "PROBLEM", "ARGUMENTS"]
    assert lines[1].endswith("…")
    assert len(lines[1]) <= 80


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGPIPE")
@pytest.mark.parametrize("words", [["calls"], ["calls", "--json"], ["events"], ["events", "--json"]])
def test_a_reader_that_goes_away_is_no_traceback(words: list[str], record: Callable[[bytes], Path]) -> None:
    stream = GOOD.read_bytes().replace(b"celsius", b"c" * 300_000)
    command = [*COMMAND, *words, str(record(stream))]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(timeout=60) == 141
        assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk to write to")
@pytest.mark.parametrize("words", [["calls"], ["calls", "--json"], ["events"], ["events", "--json"]])
def test_a_full_disk_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        made = subprocess.run(
            [*COMMAND, *words, str(GOOD)], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False
        )
    assert made.returncode == 2
    assert made.stderr.startswith(f"trigate {words[0]}: cannot write the output".encode())
    assert made.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
@pytest.mark.parametrize("words", ["calls", "events --json"])
def test_closed_standard_streams_change_no_verdict(words: str, closed: str) -> None:
    for stream, code in ((GOOD, 0), (CUT, 3 if "calls" in words else 0)):
        command = f"{shlex.join(COMMAND)} {words} {shlex.quote(str(stream))} {closed}"
        made = subprocess.run(command, shell=True, capture_output=True, env=environment(), check=False)
        assert made.returncode == code
        assert made.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
def test_closed_standard_input_is_a_mistake() -> None:
    command = f"{shlex.join(COMMAND)} calls - <&-"
    made = subprocess.run(command, shell=True, capture_output=True, env=environment(), check=False)
    assert made.returncode == 2
    assert made.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT")
def test_an_interrupt_is_one_line_and_130() -> None:
    with subprocess.Popen(
        [*COMMAND, "events", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        # A shell's background job ignores the signal, and hands that on to its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"data: x\n\n")
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == b"trigate events: interrupted\n"
        process.stdin.close()


# -- terminals -------------------------------------------------------------------------------------


@needs_pty
@pytest.mark.parametrize("verb", ["calls", "events"])
def test_a_terminal_gets_colour(verb: str) -> None:
    pytest.importorskip("rich")
    code, shown = on_terminal([verb, GOOD])
    assert code == 0
    assert "\x1b[" in shown


@needs_pty
@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.parametrize("verb", ["calls", "events"])
def test_a_terminal_that_wants_none_gets_no_colour(verb: str, changes: dict[str, str]) -> None:
    code, shown = on_terminal([verb, GOOD], changes)
    assert code == 0
    assert "\x1b" not in shown
    assert all(len(line) <= 100 for line in shown.splitlines() if "{" in line)


@needs_pty
@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_the_table_keeps_every_state_in_view(columns: int) -> None:
    _, shown = on_terminal(["calls", CUT], columns=columns)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    for word in ("transfer", "void", "incomplete", '{"amount": 100'):
        assert word in plain
    table = plain.split("protocol")[0].splitlines()
    assert all(len(line) <= columns for line in table)


@needs_pty
@pytest.mark.parametrize("verb", ["calls", "events"])
def test_without_rich_a_terminal_gets_plain_text(verb: str, tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("raise ImportError('not here')\n")
    code, shown = on_terminal([verb, GOOD], {"PYTHONPATH": str(tmp_path)})
    assert code == 0
    assert "\x1b" not in shown
    assert "response.completed" in shown or "released" in shown


@needs_pty
def test_a_long_file_shows_progress_on_a_terminal_alone(record: Callable[[bytes], Path]) -> None:
    path = record(b": " + b"x" * 1_000_000 + b"\n\n" + b"data: x\n\n" * 700_000)
    code, shown = on_terminal(["calls", path])
    assert code == 4
    assert re.search(r"read \d+ of 6 \(\d+ %\) MiB", shown)
    assert "read" not in run("calls", path).stderr


def hostile_stream() -> bytes:
    wire = Wire()
    item = {"id": "fc", "type": "function_call", "call_id": HOSTILE, "name": HOSTILE, "arguments": ""}
    wire.add("response.output_item.added", output_index=0, item=item)
    done = {**item, "arguments": json.dumps({"a": 1}) + HOSTILE, "status": "completed"}
    wire.add("response.output_item.done", output_index=0, item=done)
    server = {"id": HOSTILE, "type": HOSTILE, "status": HOSTILE}
    wire.add("response.output_item.done", output_index=1, item=server)
    wire.add("error", error={"type": HOSTILE, "code": HOSTILE, "message": HOSTILE})
    raw = f"event: {HOSTILE[:-2]}\ndata: {HOSTILE[:-2]}\n\n"
    return wire.stream + raw.encode()


@pytest.mark.parametrize("words", [["calls"], ["calls", "--json"], ["events"], ["events", "--json"]])
def test_a_hostile_stream_cannot_drive_a_pipe(words: list[str]) -> None:
    made = run(*words, "-", stdin=hostile_stream() + b"data: \x1b[31m\xc2\x9b")
    assert not CONTROL.search(made.stdout)
    assert not CONTROL.search(made.stderr)
    assert "owned" in made.stdout


@needs_pty
@pytest.mark.parametrize("words", [["calls"], ["calls", "--json"], ["events"], ["events", "--json"]])
def test_a_hostile_stream_cannot_drive_a_terminal(words: list[str], record: Callable[[bytes], Path]) -> None:
    _, shown = on_terminal([*words, record(hostile_stream())])
    own = re.sub(r"\x1b\[[0-9;]*m|\r\n", "\n", shown)
    assert not CONTROL.search(own)


def test_the_library_does_not_load_rich_or_the_command_line() -> None:
    code = "import trigate, sys; sys.exit('rich' in sys.modules or 'trigate.cli' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_events_of_an_input_without_events_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "body"
    path.write_bytes(b'{"error": "x"}\n')
    assert main(["events", str(path)]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "trigate events: no event in 15 bytes; `trigate calls` says what the input is\n"

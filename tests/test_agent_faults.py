"""The agent among servers, keys, records and models that misbehave: each run ends by name, and no key is written."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from test_agent import CALL, DONE, KEY, Server, chat, double, lines, replayed, responses, run
from trigate.agent import (
    DIALECTS,
    Agent,
    AgentLimits,
    AgentResult,
    LiveModel,
    RecordError,
    ReplayError,
    ReplayModel,
    RunRecord,
)
from trigate.ledger import SQLiteLedger
from trigate.tools import Policy, Toolset, tool

httpx2 = pytest.importorskip("httpx2")
CHAT = DIALECTS["openai-chat"]


# -- keys and URLs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("record_it", [False, True])
def test_a_key_that_the_server_sends_back_is_not_written(
    status: int, record_it: bool, tmp_path: Path
) -> None:
    told = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid_request_error"}}
    path = tmp_path / "run.jsonl" if record_it else None
    result = run(Server((status, json.dumps(told).encode())), record=path)
    assert result.status == "failed"
    assert KEY not in result.message + repr(result.to_record()) + repr(result.responses)
    if path is not None:
        assert KEY not in path.read_text()
        assert replayed(path).message == result.message


@pytest.mark.parametrize("key", ["sk-very-secret\n", "sk very secret", "sk–very–secret", "sk-\0very"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(ValueError, match="the key has characters that no key has") as caught:
        LiveModel("m", CHAT, key=key)
    assert "very" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://user:secret@127.0.0.1:9/v1", "no user name and no password"),
        ("http://127.0.0.1:9/v1?key=secret", "must have no [?]"),
        ("http://127.0.0.1:9/v1#secret", "must have no [?]"),
        ("ftp://secret/v1", "must be an http"),
        ("secret", "must be an http"),
        ("http:///secret", "must be an http"),
        ("http://127.0.0.1:99999/v1", "Port out of range"),
        ("http://127.0.0.1/v1/chat/completions", "must end before /chat/completions"),
    ],
)
def test_a_url_that_holds_secrets_or_is_none_is_refused_without_showing_it(url: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        LiveModel("m", CHAT, base_url=url)
    assert "secret" not in str(caught.value)


def test_a_name_for_a_dialect_and_a_list_for_a_toolset_are_refused_at_once() -> None:
    wrong: Any = "openai-chat"
    with pytest.raises(TypeError, match=r"DIALECTS\['openai-chat'\], not 'openai-chat'"):
        LiveModel("m", wrong)
    wrong = []
    with pytest.raises(TypeError, match=r"must be a Toolset, .* not a list"):
        Agent(LiveModel("m", CHAT), wrong)


def test_a_path_that_is_not_there_is_named() -> None:
    result = run(Server((404, b"<html>")))
    assert (result.status, result.reason) == ("failed", "not_found")
    assert result.message.startswith(
        "the server answered 404 to https://api.openai.com/v1/chat/completions: "
    )


def test_without_the_client_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(ImportError, match=r"pip install 'trigate\[httpx\]'"):
        LiveModel("m", CHAT)


def test_a_replay_needs_no_client() -> None:
    code = "import sys, trigate.agent, trigate.runner; print('httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_no_redirect_is_followed() -> None:
    asked: list[str] = []

    def server(request: Any) -> Any:
        asked.append(str(request.url))
        return httpx2.Response(307, headers={"location": "https://elsewhere.example/v1"})

    async def main() -> AgentResult:
        transport = httpx2.MockTransport(server)
        async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
            return await Agent(LiveModel("m", CHAT, key=KEY, client=client), Toolset([double])).arun("why?")

    result = asyncio.run(main())
    assert (result.status, result.reason, len(asked)) == ("failed", "redirected", 1)


@pytest.mark.parametrize(
    "error",
    [
        httpx2.LocalProtocolError(f"Illegal header value b'Bearer {KEY}'"),
        httpx2.DecodingError(f"at https://user:{KEY}@host/"),
        httpx2.InvalidURL(f"https://{KEY}/"),
        httpx2.RemoteProtocolError("peer closed"),
        RuntimeError(f"the client has been closed {KEY}"),
    ],
)
def test_what_a_client_raises_is_named_and_its_text_is_not_shown(error: Exception, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    result = run(Server(error), record=path)
    assert (result.status, type(error).__name__ in result.message) == ("failed", True)
    assert KEY not in result.message + path.read_text()
    assert lines(path)[-1]["type"] == "end"


# -- models that do odd things ---------------------------------------------------------------------------


def test_half_a_character_is_written_sent_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"

    @tool(read_only=True)
    def echo(text: str) -> str:
        return text

    def half(body: bytes) -> bytes:
        return body.replace(b"HALF", rb"\ud800")

    call = half(chat("HALF", ("a", "echo", '{"text":"x"}'), id_="r1"))
    server = Server(call, half(chat("bye HALF\u2028\x85.", id_="r2")))
    result = run(server, [echo], question="half \udcff", record=path)
    assert (result.status, result.answer) == ("completed", "bye \ufffd\u2028\x85.")
    again = replayed(path, [echo], question="half \udcff")
    assert (again.status, again.answer) == ("completed", result.answer)


def test_a_call_that_nobody_can_answer_ends_the_run() -> None:
    computer = {"type": "computer_call", "id": "x", "call_id": "c", "status": "completed", "action": {}}
    result = run(Server(responses(computer)), protocol="openai-responses")
    assert (result.status, result.reason) == ("protocol_error", "unanswerable_call")
    nameless = CALL.replace(b'"id": "a", ', b"")
    result = run(Server(nameless))
    assert (result.status, result.reason) == ("protocol_error", "unanswerable_call")
    assert "no_call_id" in result.message


def test_a_refusal_is_no_answer() -> None:
    part = {"type": "refusal", "refusal": "I will not."}
    item = {"id": "msg", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    result = run(Server(responses(item)), protocol="openai-responses")
    assert (result.status, result.reason, result.message) == ("failed", "refusal", "I will not.")


def test_a_model_that_raises_ends_the_run_by_name(tmp_path: Path) -> None:
    class Odd:
        name, dialect = "odd", CHAT

        async def ask(self, body: dict[str, Any], seconds: float) -> Any:
            raise IndexError(f"{KEY} {len(body)} {seconds}")

    path = tmp_path / "run.jsonl"
    with RunRecord(path) as record:
        result = Agent(Odd(), Toolset()).run("why?", record=record)
    assert (result.status, result.reason, result.message) == (
        *("failed", "model_error"),
        "the model raised IndexError",
    )
    assert KEY not in path.read_text()


def test_a_model_that_does_not_keep_to_its_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trigate.agent.loop._MARGIN", 0.05)

    class Slow:
        name, dialect = "slow", CHAT

        async def ask(self, body: dict[str, Any], seconds: float) -> Any:
            await asyncio.sleep(20 + seconds + len(body))

    result = Agent(Slow(), Toolset(), limits=AgentLimits(seconds=0.05)).run("why?")
    assert (result.status, result.reason, result.rounds) == ("exhausted", "seconds", 1)


def test_a_record_that_was_closed_is_written_to_no_more(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunRecord(path) as record:
        record.begin("why?", "", "m", "openai-chat", AgentLimits())
    record.begin("late", "", "m", "openai-chat", AgentLimits())
    assert [line["question"] for line in lines(path)] == ["why?"]


def test_a_run_that_is_called_off_says_so_in_its_record(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"

    async def main() -> None:
        asked = asyncio.Event()

        class Silent:
            name, dialect = "silent", CHAT

            async def ask(self, body: dict[str, Any], seconds: float) -> Any:
                asked.set()
                await asyncio.sleep(seconds + len(body))

        with RunRecord(path) as record:
            task = asyncio.create_task(Agent(Silent(), Toolset()).arun("why?", record=record))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    end = lines(path)[-1]
    assert (end["type"], end["status"], end["reason"], end["rounds"]) == ("end", "failed", "cancelled", 1)


@pytest.mark.parametrize("name", ["rounds", "output_tokens"])
def test_limits_that_count_are_whole(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a whole number"):
        AgentLimits(**{name: 2.5})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seconds must be a positive number"):
        AgentLimits(seconds=float("inf"))


# -- the record ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("left", range(7))
def test_a_record_that_cannot_be_written_ends_the_run(left: int, tmp_path: Path) -> None:
    log: list[int] = []

    @tool
    def pay(amount: int) -> str:
        log.append(amount)
        return "paid"

    server = Server(chat("", ("a", "pay", '{"amount":1}'), id_="r1"), DONE)
    path = tmp_path / "run.jsonl"

    async def main() -> AgentResult:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(server)) as client:
            with RunRecord(path) as record:
                record._file = Full(record._file, left)  # type: ignore[assignment]
                agent = Agent(
                    LiveModel("m", CHAT, client=client), Toolset([pay]), policy=Policy(side_effects=True)
                )
                return await agent.arun("pay", record=record)

    result = asyncio.run(main())
    assert (result.status, result.reason) == ("failed", "record_unwritable")
    assert "No space left" in result.message
    # What could not be written down has not happened.
    assert len(log) == (left >= 3)
    assert len(server.requests) == (0 if left < 2 else 1 if left < 5 else 2)
    assert len(path.read_bytes().splitlines()) == left + 1  # the last one is cut
    if left:
        assert replayed(path, [pay], question="pay", policy=Policy(side_effects=True)).rounds <= 2


class Full:
    """A file on a disk that has room for so many lines, and a piece."""

    def __init__(self, file: Any, left: int) -> None:
        self.file, self.left = file, left

    def write(self, data: Any) -> int:
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left -= 1
        return int(self.file.write(data if self.left >= 0 else data[:20]))

    def close(self) -> None:
        self.file.close()


def test_short_writes_are_gone_on_with(tmp_path: Path) -> None:
    class Short:
        def __init__(self, file: Any) -> None:
            self.file = file

        def write(self, data: Any) -> int:
            return int(self.file.write(data[:7]))

        def close(self) -> None:
            self.file.close()

    path = tmp_path / "run.jsonl"
    with RunRecord(path) as record:
        record._file = Short(record._file)  # type: ignore[assignment]
        record.begin("why?", "", "m", "openai-chat", AgentLimits())
    assert [line["type"] for line in lines(path)] == ["run"]


def test_a_disk_that_is_full() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    record = RunRecord()
    record._file = full.open("wb", buffering=0)
    with pytest.raises(RecordError, match="No space left"):
        record.begin("why?", "", "m", "openai-chat", AgentLimits())
    record.close()


# -- replays of broken records ---------------------------------------------------------------------------


def spoilt(path: Path) -> Iterator[bytes]:
    """The record, spoilt in many ways: each must be refused, or end the run by name."""
    data = path.read_bytes()
    told = [json.loads(line) for line in data.splitlines()]
    for at in range(0, len(data), 101):
        yield data[:at]
    for at, line in enumerate(told):
        for name in line:
            values: tuple[Any, ...] = (None, -1, "x", [], {}, "\ud800", 1e308)
            for value in values:
                changed = [*told[:at], {**line, name: value}, *told[at + 1 :]]
                yield "".join(json.dumps(each) + "\n" for each in changed).encode()
            less = [*told[:at], {key: line[key] for key in line if key != name}, *told[at + 1 :]]
            yield "".join(json.dumps(each) + "\n" for each in less).encode()
    yield b"[" * 100_000
    yield b'{"type": "run"}\n' + b"\xff\n"
    yield b"\n\n"
    yield b"null\n" * 3


def test_a_broken_record_is_refused_or_ends_the_run_by_name(tmp_path: Path) -> None:
    path, broken = tmp_path / "run.jsonl", tmp_path / "broken.jsonl"
    run(Server(CALL, DONE), record=path)
    ends = set()

    async def main() -> None:
        for data in spoilt(path):
            broken.write_bytes(data)
            try:
                model = ReplayModel(broken)
            except ReplayError as error:
                ends.add(("refused", error.code))
            else:
                result = await Agent(model, Toolset([double])).arun("why?")
                ends.add((result.status, result.reason))

    asyncio.run(main())
    assert ("failed", "replay_ended") in ends
    assert {end for end in ends if end[0] == "refused"} == {("refused", "not_a_record")}
    assert ("failed", "replay_mismatch") in ends


def test_a_replay_with_the_ledger_of_then_runs_nothing_twice(tmp_path: Path) -> None:
    log: list[int] = []

    @tool
    def pay(amount: int) -> str:
        log.append(amount)
        return "paid"

    path = tmp_path / "run.jsonl"
    free = Policy(side_effects=True)
    with SQLiteLedger(tmp_path / "ledger.db") as ledger:

        async def main() -> None:
            server = Server(chat("", ("a", "pay", '{"amount":1}'), id_="r1"), DONE)
            async with httpx2.AsyncClient(transport=httpx2.MockTransport(server)) as client:
                model = LiveModel("m", CHAT, client=client)
                with RunRecord(path) as record:
                    agent = Agent(model, Toolset([pay]), policy=free, ledger=ledger)
                    await agent.arun("pay", record=record, scope="job 1")

        asyncio.run(main())
        agent = Agent(ReplayModel(path), Toolset([pay]), policy=free, ledger=ledger)
        again = agent.run("pay", scope="job 1")
    assert (again.status, again.results[0].is_stored, log) == ("completed", True, [1])

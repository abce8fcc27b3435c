"""Four ways in which half a thing looks whole, from a socket to the ledger: nothing runs, and the record says why."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from trigate.agent import DIALECTS, Agent, AgentLimits, LiveModel, RunRecord
from trigate.ledger import SQLiteLedger
from trigate.tools import Policy, Toolset, tool

pytest.importorskip("httpx2")


def event(kind: str, number: int, **members: Any) -> bytes:
    data = {"type": kind, "sequence_number": number, **members}
    return f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


HEAD = {"id": "resp_1", "object": "response", "model": "m"}
CREATED = event("response.created", 0, response={**HEAD, "status": "in_progress", "output": []})
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "call_1",
    "name": "transfer",
    "status": "in_progress",
}
ARGUMENTS = '{"to":"小林","amount":1000}'
WHOLE = {**CALL, "arguments": ARGUMENTS, "status": "completed"}
ADDED = event("response.output_item.added", 1, output_index=0, item={**CALL, "arguments": ""})


def delta(number: int, text: str) -> bytes:
    return event("response.function_call_arguments.delta", number, output_index=0, item_id="fc_1", delta=text)


DONE = event("response.function_call_arguments.done", 4, output_index=0, item_id="fc_1", arguments=ARGUMENTS)
ITEM_DONE = event("response.output_item.done", 5, output_index=0, item=WHOLE)
ERROR = {"code": "server_error", "message": "the model broke"}
FAILED = event("response.failed", 6, response={**HEAD, "status": "failed", "error": ERROR, "output": [WHOLE]})
COMPLETED = event("response.completed", 6, response={**HEAD, "status": "completed", "output": [WHOLE]})
TEXT = [
    event(
        "response.output_item.added",
        1,
        output_index=0,
        item={"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []},
    ),
    event(
        "response.content_part.added",
        2,
        output_index=0,
        content_index=0,
        item_id="msg_1",
        part={"type": "output_text", "text": "", "annotations": []},
    ),
    event(
        "response.output_text.delta",
        3,
        output_index=0,
        content_index=0,
        item_id="msg_1",
        delta="I have transferred the money.",
    ),
]

FREE, ONE = Policy(side_effects=True), AgentLimits(rounds=1)
IN_A_CHARACTER = CREATED + ADDED + delta(2, '{"to":"小')
CUT_IN_A_CHARACTER = IN_A_CHARACTER[: IN_A_CHARACTER.rindex("小".encode()) + 2]
CUT_IN_A_STRING = CREATED + ADDED + delta(2, '{"to":"小林","amount":100')
CALL_DONE_RESPONSE_FAILED = (
    CREATED + ADDED + delta(2, ARGUMENTS[:9]) + delta(3, ARGUMENTS[9:]) + DONE + ITEM_DONE + FAILED
)
TEXT_THEN_NOTHING = CREATED + b"".join(TEXT)
GOOD = CALL_DONE_RESPONSE_FAILED.replace(FAILED, COMPLETED)


@contextmanager
def serving(body: bytes, is_cut: bool) -> Iterator[str]:
    """The URL of a server that sends these bytes to one client, and then ends the body, or drops the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_answer, args=(server, body, is_cut))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        finally:
            thread.join(20)


def _answer(server: socket.socket, body: bytes, is_cut: bool) -> None:
    client, _ = server.accept()
    with client, client.makefile("rb") as sent:
        head = b"".join(iter(sent.readline, b"\r\n"))
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        sent.read(length)
        client.sendall(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for at in range(0, len(body), 700):
            piece = body[at : at + 700]
            client.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
        if not is_cut:
            client.sendall(b"0\r\n\r\n")


def told(
    body: bytes, is_cut: bool, folder: Path
) -> tuple[list[str], dict[str, Any], Any, list[dict[str, Any]]]:
    """What ran, how the run ended, the ledger's entries, and the record's lines."""
    ran: list[str] = []

    @tool
    def transfer(to: str, amount: int) -> str:
        ran.append(f"{amount} to {to}")
        return "done"

    path = folder / "run.jsonl"
    with (
        serving(body, is_cut) as url,
        SQLiteLedger(folder / "ledger.db") as ledger,
        RunRecord(path) as record,
    ):
        model = LiveModel("m", DIALECTS["openai-responses"], base_url=url)
        agent = Agent(model, Toolset([transfer]), policy=FREE, limits=ONE, ledger=ledger)
        result = agent.run("Send 小林 the rent.", record=record)
        entries = ledger.entries()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return ran, result.to_record(), entries, lines


@pytest.mark.parametrize("is_cut", [True, False], ids=["dropped", "ended"])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (CUT_IN_A_CHARACTER, "truncated_in_character"),
        (CUT_IN_A_STRING, "truncated_in_arguments"),
        (CALL_DONE_RESPONSE_FAILED, "server_error"),
        (TEXT_THEN_NOTHING, "truncated_before_terminal"),
    ],
    ids=["in a character", "in a string", "done, but failed", "text, then nothing"],
)
def test_nothing_runs_and_the_record_says_why(body: bytes, reason: str, is_cut: bool, tmp_path: Path) -> None:
    ran, end, entries, lines = told(body, is_cut, tmp_path)
    assert (ran, entries) == ([], [])
    assert end["status"] == "failed"
    assert end["reason"] in (reason, "connection")
    response = next(line for line in lines if line["type"] == "response")
    assert response["error"]["code"] == reason
    assert (
        response["stream"].encode() == body
        if reason != "truncated_in_character"
        else response["stream_base64"]
    )
    assert [line["type"] for line in lines] == ["run", "request", "response", "end"]
    assert lines[-1]["reason"] == end["reason"]


def test_the_same_call_whole_runs_once(tmp_path: Path) -> None:
    ran, _, entries, lines = told(GOOD, False, tmp_path)
    assert ran == ["1000 to 小林"]
    assert [(entry.state, entry.key.call) for entry in entries] == [("succeeded", "call_1")]
    assert "result" in [line["type"] for line in lines]

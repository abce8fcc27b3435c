"""The agent: rounds, limits, endings and faults; a record of each, and the same run again from it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trigate
from trigate.agent import (
    DIALECTS,
    Agent,
    AgentLimits,
    AgentResult,
    LiveModel,
    ReplayError,
    ReplayModel,
    RunRecord,
)
from trigate.ledger import SQLiteLedger
from trigate.tools import Policy, Toolset, tool

httpx2 = pytest.importorskip("httpx2")

KEY = "sk-very-secret"
Answer = bytes | tuple[int, bytes] | Exception


@tool(read_only=True)
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number


def chat(
    text: str = "", *calls: tuple[str, str, str], finish: str = "", id_: str = "r", tokens: int | None = 5
) -> bytes:
    asked = [
        {"index": at, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (call_id, name, arguments) in enumerate(calls)
    ]
    delta: dict[str, Any] = {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}
    reason = finish or ("tool_calls" if calls else "stop")
    events: list[dict[str, Any]] = [
        {"id": id_, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"id": id_, "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
    ]
    if tokens is not None:
        usage = {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}
        events.append({"id": id_, "model": "m", "choices": [], "usage": usage})
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events) + b"data: [DONE]\n\n"


class Server:
    """Answers with these, in order; remembers what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []

    def __call__(self, request: Any) -> Any:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        kind = "text/event-stream" if status == 200 else "application/json"
        return httpx2.Response(status, headers={"content-type": kind}, content=body)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def run(
    server: Callable[[Any], Any],
    tools: Any = (double,),
    *,
    question: str = "why?",
    protocol: str = "openai-chat",
    record: Path | None = None,
    **options: Any,
) -> AgentResult:
    async def main() -> AgentResult:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(server)) as client:
            model = LiveModel("m", DIALECTS[protocol], key=KEY, client=client)
            with RunRecord(record) as written:
                return await Agent(model, Toolset(tools), **options).arun(question, record=written)

    return asyncio.run(main())


CALL = chat("", ("a", "double", '{"number":2}'), id_="r1")
DONE = chat("It is 4.", id_="r2")


# -- rounds ----------------------------------------------------------------------------------------------


def test_a_question_a_call_and_an_answer() -> None:
    server = Server(CALL, DONE)
    result = run(server, instructions="Be brief.")
    assert (result.status, result.answer, result.rounds) == ("completed", "It is 4.", 2)
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.complete) == (20, 10, True)
    first, second = server.bodies
    assert first["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "why?"},
    ]
    assert first["tools"] == Toolset([double]).tools_for("openai-chat")
    assert (first["max_tokens"], second["max_tokens"]) == (1800, 1795)
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert second["messages"][-1] == {"role": "tool", "tool_call_id": "a", "content": "4"}
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert str(server.requests[0].url) == "https://api.openai.com/v1/chat/completions"


def test_a_bad_call_is_answered_with_its_fault() -> None:
    server = Server(chat("", ("a", "duble", "{}")), DONE)
    result = run(server)
    assert (result.status, result.results[0].status) == ("completed", "refused")
    told = json.loads(server.bodies[1]["messages"][-1]["content"])
    assert (told["error"], told["nearest"]) == ("unknown_tool", ["double"])


def test_without_tools_none_are_offered() -> None:
    server = Server(DONE)
    assert run(server, ()).status == "completed"
    assert "tools" not in server.bodies[0]


def test_responses_are_stateless_and_keep_what_they_cannot_read() -> None:
    call = {"id": "fc", "type": "function_call", "status": "completed", "call_id": "a", "name": "double"}
    call["arguments"] = '{"number":2}'
    reasoning = {"id": "rs", "type": "reasoning", "summary": [], "encrypted_content": "opaque=="}
    server = Server(responses(reasoning, call), responses(message("It is 4.")))
    result = run(server, protocol="openai-responses")
    assert (result.status, result.answer) == ("completed", "It is 4.")
    first, second = server.bodies
    assert (first["store"], first["include"]) == (False, ["reasoning.encrypted_content"])
    assert second["input"][1:3] == [reasoning, call]
    assert second["input"][3]["type"] == "function_call_output"


def test_messages_have_all_answers_in_one_message() -> None:
    server = Server(messages(("a", {"number": 2}), ("b", {"number": 3})), messages())
    result = run(server, protocol="anthropic-messages")
    assert result.status == "completed"
    assert server.requests[0].headers["x-api-key"] == KEY
    answers = server.bodies[1]["messages"][-1]
    assert answers["role"] == "user"
    assert [(block["tool_use_id"], block["content"]) for block in answers["content"]] == [
        ("a", "4"),
        ("b", "6"),
    ]


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "msg", "type": "message", "role": "assistant", "status": "completed", "content": [part]}


def responses(*items: dict[str, Any]) -> bytes:
    head = {"id": "resp", "object": "response", "model": "m"}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**head, "status": "in_progress", "output": []}}
    ]
    for at, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": at, "item": item})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    events.append(
        {
            "type": "response.completed",
            "response": {**head, "status": "completed", "output": list(items), "usage": usage},
        }
    )
    numbered = [{**event, "sequence_number": at} for at, event in enumerate(events)]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in numbered)


def messages(*calls: tuple[str, Any]) -> bytes:
    start = {"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []}
    usage = {"input_tokens": 10, "output_tokens": 1}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**start, "usage": usage}}]
    for at, (call_id, value) in enumerate(calls):
        block = {"type": "tool_use", "id": call_id, "name": "double", "input": {}}
        piece = {"type": "input_json_delta", "partial_json": json.dumps(value)}
        events.append({"type": "content_block_start", "index": at, "content_block": block})
        events.append({"type": "content_block_delta", "index": at, "delta": piece})
        events.append({"type": "content_block_stop", "index": at})
    reason = "tool_use" if calls else "end_turn"
    events.append({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


# -- ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        ((401, b'{"error":{"message":"bad key","type":"invalid_request_error"}}'), "failed", "unauthorized"),
        ((429, b'{"error":{"message":"slow down","type":"rate_limit"}}'), "failed", "rate_limited"),
        ((500, b"oops"), "failed", "http_error"),
        (httpx2.ConnectError("refused"), "failed", "connection"),
        (httpx2.ReadError("reset"), "failed", "connection"),
        (httpx2.ReadTimeout("slow"), "failed", "timeout"),
        (chat("Half an answ", finish="length"), "exhausted", "output_tokens"),
        (chat("No.", finish="content_filter"), "failed", "content_filter"),
        (CALL[:-60], "failed", "truncated_in_line"),
        (b'data: {"error":{"message":"boom","code":"server_error"}}\n\n', "failed", "server_error"),
    ],
)
def test_what_goes_wrong_has_a_name_and_is_not_tried_again(answer: Answer, status: str, reason: str) -> None:
    server = Server(answer)
    result = run(server)
    assert (result.status, result.reason, result.rounds) == (status, reason, 1)
    assert result.message
    assert KEY not in result.message
    assert (len(server.requests), result.results) == (1, ())


def test_a_contradiction_is_a_protocol_error_and_runs_nothing() -> None:
    other = [{"index": 0, "id": "b", "function": {"arguments": "1}"}}]
    event = {"id": "r", "choices": [{"index": 0, "delta": {"tool_calls": other}}]}
    head, tail = CALL.split(b"\n\n", 1)
    body = head + f"\n\ndata: {json.dumps(event)}\n\n".encode() + tail
    assert trigate.parse(body, "openai-chat").status == "conflict"
    result = run(Server(body))
    assert (result.status, result.results) == ("protocol_error", ())


def test_a_model_that_asks_for_ever_is_stopped_by_its_rounds() -> None:
    server = Server(*(chat("", (f"c{at}", "double", '{"number":2}'), id_=f"r{at}") for at in range(9)))
    result = run(server, limits=AgentLimits(rounds=3))
    assert (result.status, result.reason, result.rounds, len(result.results)) == ("exhausted", "rounds", 3, 3)
    assert len(server.requests) == 3


def test_tokens_are_bounded_over_all_rounds() -> None:
    server = Server(*(chat("", (f"c{at}", "double", '{"number":2}'), tokens=6) for at in range(9)))
    result = run(server, limits=AgentLimits(output_tokens=10))
    assert (result.status, result.reason, result.rounds) == ("exhausted", "output_tokens", 2)
    assert [body["max_tokens"] for body in server.bodies] == [10, 4]


def test_a_model_that_never_ends_is_stopped_by_the_clock() -> None:
    async def endless() -> Any:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(0.01)

    def server(_: Any) -> Any:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=endless())

    began = time.monotonic()
    result = run(server, limits=AgentLimits(seconds=0.2))
    assert (result.status, result.reason) == ("exhausted", "seconds")
    assert time.monotonic() - began < 10


def test_a_call_id_that_comes_again_stops_the_run() -> None:
    server = Server(CALL, CALL, DONE)
    result = run(server)
    assert (result.status, result.reason, len(result.results)) == ("protocol_error", "repeated_call_id", 1)


def test_a_sum_without_one_count_says_so() -> None:
    result = run(Server(chat("", ("a", "double", '{"number":2}'), tokens=None), DONE))
    assert (result.usage.output_tokens, result.usage.complete) == (5, False)
    assert result.to_record()["cost"] is None


def test_an_ending_tool_ends_the_run() -> None:
    @tool(read_only=True)
    def submit(answer: str) -> str:
        return f"taken: {answer}"

    server = Server(chat("", ("a", "submit", '{"answer":"4"}')))
    result = run(server, [double, submit], endings={"submit": "awaiting_review"})
    assert (result.status, result.reason, result.answer) == ("awaiting_review", "submit", "taken: 4")
    refused = Server(chat("", ("a", "submit", "{}")), DONE)
    assert run(refused, [double, submit], endings={"submit": "awaiting_review"}).status == "completed"


@pytest.mark.parametrize(
    "body",
    [
        chat("Text alone."),
        chat("", ("a", "double", '{"number":1}'), ("b", "double", '{"number":2}')),
        chat("", ("a", "double", '{"number":1')),
    ],
)
def test_one_complete_call_a_round(body: bytes) -> None:
    result = run(Server(body), one_call=True)
    assert (result.status, result.reason) == ("protocol_error", "expected_one_complete_tool_call")
    assert result.results == ()


def test_limits_are_positive() -> None:
    with pytest.raises(ValueError, match="rounds must be a positive number, not 0"):
        AgentLimits(rounds=0)


# -- the record, and the replay --------------------------------------------------------------------------


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def replayed(path: Path, tools: Any = (double,), question: str = "why?", **options: Any) -> AgentResult:
    return Agent(ReplayModel(path), Toolset(tools), **options).run(question)


def test_a_run_is_written_down_without_its_key(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(Server(CALL, DONE), record=path)
    told = lines(path)
    assert [line["type"] for line in told] == [
        *("run", "request", "response", "result", "request", "response", "end")
    ]
    assert KEY not in path.read_text()
    assert told[0]["limits"] == {"rounds": 8, "seconds": 60.0, "output_tokens": 1800}
    assert told[2]["stream"] == CALL.decode()
    assert told[2]["usage"]["completion_tokens"] == 5
    assert told[3]["judgment"]["allowed"] is True
    assert (told[-1]["status"], told[-1]["cost"]) == ("completed", None)
    with pytest.raises(FileExistsError):
        RunRecord(path)


def test_a_recorded_run_is_the_same_run_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    result = run(Server(CALL, DONE), record=path)
    again = replayed(path)
    assert (again.status, again.answer, again.usage) == (result.status, result.answer, result.usage)
    assert [each.content for each in again.results] == ["4"]


@pytest.mark.parametrize(
    "answer",
    [(429, b'{"error":{"message":"slow"}}'), CALL[:-60], httpx2.ConnectError("refused"), b"\xff\xfe"],
)
def test_a_fault_is_the_same_fault_again(tmp_path: Path, answer: Answer) -> None:
    path = tmp_path / "run.jsonl"
    result = run(Server(answer), record=path)
    again = replayed(path)
    assert (again.status, again.reason, again.message) == (result.status, result.reason, result.message)


def test_a_replay_answers_only_what_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(Server(CALL, DONE), record=path)
    other = replayed(path, question="what?")
    assert (other.status, other.reason) == ("failed", "replay_mismatch")
    assert "$.messages[0].content" in other.message

    @tool(read_only=True, name="double")
    def triple(number: int) -> int:
        """Twice the number."""
        return 3 * number

    changed = replayed(path, [triple])
    assert (changed.status, changed.reason, changed.rounds) == ("failed", "replay_mismatch", 2)


def test_a_record_that_ends_early_ends_the_replay(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    run(Server(CALL, DONE), record=path)
    whole = path.read_text().splitlines(keepends=True)
    for kept, reason in ((4, "replay_ended"), (2, "replay_ended")):
        path.write_text("".join(whole[:kept]))
        assert replayed(path).reason == reason


@pytest.mark.parametrize(
    "text", ["", "{}", "not json", '{"type":"run","version":99}', '{"type":"run","version":1}']
)
def test_what_is_no_record_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    with pytest.raises(ReplayError, match=r"run\.jsonl is no record of a run"):
        ReplayModel(path)
    with pytest.raises(ReplayError, match="cannot be read"):
        ReplayModel(tmp_path / "missing")


def test_a_killed_run_goes_on_without_running_twice(tmp_path: Path) -> None:
    log: list[int] = []

    @tool
    def pay(amount: int) -> str:
        log.append(amount)
        return "paid"

    body = chat("", ("a", "pay", '{"amount":1}'))

    async def main(ledger: SQLiteLedger) -> list[str]:
        statuses: list[str] = []
        for _ in range(2):
            async with httpx2.AsyncClient(transport=httpx2.MockTransport(Server(body, DONE))) as client:
                model = LiveModel("m", DIALECTS["openai-chat"], client=client)
                agent = Agent(model, Toolset([pay]), policy=Policy(side_effects=True), ledger=ledger)
                statuses.append((await agent.arun("pay", scope="job-1")).status)
        return statuses

    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        assert asyncio.run(main(ledger)) == ["completed", "completed"]
    assert log == [1]


def test_the_key_is_not_in_the_model_s_repr() -> None:
    assert KEY not in repr(LiveModel("m", DIALECTS["openai-chat"], key=KEY))

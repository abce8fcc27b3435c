"""The runner among tools, listeners, ledgers and callers that misbehave: one answer for each call, and no harm."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import trigate
from test_runner import FREE, counted, double, response
from trigate.ledger import Claim, Entry, SQLiteLedger, key_of
from trigate.runner import CallResult, Runner
from trigate.tools import Cancellation, Context, Problem, ToolError, Toolset, tool


def only(made: Any, name: str = "act", **options: Any) -> CallResult:
    """What becomes of one call of this tool."""
    return Runner(Toolset([made]), FREE, **options).run(response(("a", name, "{}")))["a"]


# -- what a tool may raise and return --------------------------------------------------------------------


class Odd(BaseException):
    pass


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), Odd(), StopIteration()]
)
@pytest.mark.parametrize("is_async", [False, True])
def test_whatever_a_tool_raises_ends_its_own_call_alone(error: BaseException, is_async: bool) -> None:
    def raise_it() -> None:
        raise error

    async def raise_it_later() -> None:
        raise error

    made = tool(name="act", read_only=True)(raise_it_later if is_async else raise_it)
    result = only(made)
    assert (result.status, json.loads(result.content)["error"]) == ("failed", "tool_error")
    assert only(tool(name="act")(lambda: "still here")).content == "still here"


def test_a_function_that_returns_a_coroutine_is_awaited() -> None:
    async def later() -> str:
        await asyncio.sleep(0)
        return "done"

    def hidden() -> Any:
        return later()

    assert only(tool(name="act")(hidden)).content == "done"


def test_a_coroutine_that_comes_too_late_is_closed() -> None:
    async def later() -> str:
        return "done"

    def act(context: Context) -> Any:
        context.cancellation.wait(20)
        return later()

    assert only(tool(timeout=0.05)(act)).status == "unknown"


def test_a_coroutine_that_cancels_itself_leaves_its_outcome_open() -> None:
    @tool
    async def act() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    result = only(act)
    assert (result.status, json.loads(result.content)["message"]) == ("unknown", "it cancelled itself")


def test_a_tool_that_does_not_know_says_so_and_is_not_run_again(tmp_path: Path) -> None:
    log: list[str] = []

    @tool
    def act() -> None:
        log.append("asked the bank")
        raise ToolError("the bank did not answer", code="timeout_unknown")

    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        assert [only(act, ledger=ledger).status for _ in range(2)] == ["unknown", "unknown"]
    assert log == ["asked the bank"]


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("a name like \udcff", {}),
        ("well", {"when": object()}),
        ("well", {"deep": {(1, 2): 3}}),
        ("well", {"half": "\ud800"}),
        ("well", {"all": "x" * 10_000_000}),
        ("x" * 10_000_000, {}),
    ],
)
def test_what_a_tool_says_can_be_sent_and_stored(message: str, facts: dict[str, Any], tmp_path: Path) -> None:
    @tool
    def act() -> None:
        raise ToolError(message, code="not_found", facts=facts)

    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        first, again = only(act, ledger=ledger), only(act, ledger=ledger)
    assert json.loads(first.content.encode())["error"] == "not_found"
    assert len(first.content) < 100_000
    assert (first.content, first.is_recorded, again.is_stored) == (again.content, True, True)


def test_a_result_that_comes_after_a_blocked_loop_adds_nothing() -> None:
    @tool(timeout=0.02)
    async def act() -> str:
        time.sleep(0.05)  # nothing can interrupt this
        return "late"

    result = only(act)
    assert (result.status, "late" in result.content) == ("unknown", False)


# -- a tool that runs calls itself -----------------------------------------------------------------------


def test_a_tool_may_run_calls_itself() -> None:
    inner = response(("b", "double", '{"number":2}'))
    runner = Runner(Toolset([double]))

    @tool(read_only=True)
    def act() -> str:
        return runner.run(inner)["b"].content

    assert only(act).content == "4"


def test_a_coroutine_that_would_wait_for_its_own_loop_is_told() -> None:
    runner = Runner(Toolset([double]))
    told: list[str] = []

    @tool(read_only=True)
    async def act() -> str:
        with pytest.raises(RuntimeError, match=r"await arun\(\) instead") as caught:
            runner.run(response(("b", "double", '{"number":2}')))
        told.append(str(caught.value))
        return (await runner.arun(response(("b", "double", '{"number":2}'))))["b"].content

    assert (only(act).content, len(told)) == ("4", 1)


# -- listeners -------------------------------------------------------------------------------------------


def test_a_listener_that_raises_does_not_harm_the_tool() -> None:
    @tool
    def act(context: Context) -> str:
        context.report("half")
        return "done"

    def broken(*_: object) -> None:
        raise OSError("the pipe is gone")

    assert only(act, on_progress=broken).content == "done"


def test_progress_after_the_answer_is_not_told() -> None:
    told: list[str] = []
    reported = threading.Event()
    gave_up = threading.Event()

    @tool(timeout=0.02)
    def act(context: Context) -> None:
        context.report("begun")
        gave_up.wait(20)
        context.report("late")
        reported.set()

    result = only(act, on_progress=lambda _, progress: told.append(progress.message))
    gave_up.set()
    assert reported.wait(20)
    assert (result.status, told) == ("unknown", ["begun"])


def test_a_token_that_lives_on_keeps_nothing_of_a_turn() -> None:
    token = Cancellation()
    for _ in range(3):
        Runner(Toolset([double])).run(response(("a", "double", '{"number":1}')), token=token)
    assert token._listeners == []


# -- time and cancellation -------------------------------------------------------------------------------


def test_a_turn_called_off_before_it_began_runs_nothing() -> None:
    log: list[str] = []
    token = Cancellation()
    token.cancel("never mind")
    asked: list[str] = []

    @tool(fresh=lambda: asked.append("fresh"))
    def act() -> str:
        log.append("ran")
        return "done"

    turn = Runner(Toolset([act]), FREE).run(response(("a", "act", "{}")), token=token)
    assert (turn["a"].status, json.loads(turn["a"].content)["message"]) == ("not_run", "never mind")
    assert (log, asked) == ([], [])


@pytest.mark.parametrize("parallel", [1, 4])
def test_a_turn_that_is_cancelled_at_any_step_leaves_no_claim_open(parallel: int, tmp_path: Path) -> None:
    """Cancels after one step of the loop, after two, and so on, until the turn ends by itself."""
    log: list[str] = []

    @tool
    async def act(number: int) -> str:
        await asyncio.sleep(0)
        log.append(f"{number}")
        return "done"

    async def attempt(steps: int, ledger: SQLiteLedger) -> bool:
        given = response(*((f"c{at}", "act", json.dumps({"number": at})) for at in range(3)), id_=f"r{steps}")
        runner = Runner(Toolset([act]), FREE, ledger=ledger, parallel=parallel)
        task = asyncio.create_task(runner.arun(given))
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        is_over = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for call in given.released:
            entry = ledger.get(key_of(call, given, "default"))
            assert entry is None or entry.state in ("proposed", "succeeded", "unknown")
        return is_over

    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        for steps in range(40):
            if asyncio.run(attempt(steps * 2, ledger)):
                break


def test_fresh_is_asked_right_before_the_run() -> None:
    value = 1

    def fresh(expected: int) -> Problem | None:
        return None if value == expected else Problem(code="stale_version", message="it has changed")

    @tool(fresh=fresh)
    def act(expected: int) -> str:
        nonlocal value
        value = expected + 1
        return "changed"

    given = response(("a", "act", '{"expected":1}'), ("b", "act", '{"expected":1}'))
    turn = Runner(Toolset([act]), FREE, parallel=1).run(given)
    assert [each.status for each in turn] == ["succeeded", "refused"]


def test_questions_that_hang_are_asked_side_by_side() -> None:
    free = threading.Event()

    def fresh() -> None:
        free.wait(20)

    @tool(fresh=fresh, timeout=0.1)
    def act() -> str:
        return "ran"

    given = response(*((f"c{at}", "act", "{}") for at in range(8)))
    try:
        turn = Runner(Toolset([act]), FREE, seconds=0.2).run(given)
    finally:
        free.set()
    assert {each.status for each in turn} == {"not_run"}
    assert all("no answer" in each.content for each in turn)


# -- which calls -----------------------------------------------------------------------------------------


def test_calls_that_would_run_twice_or_belong_elsewhere_are_refused() -> None:
    log: list[str] = []
    runner = Runner(Toolset([counted(log)]), FREE)
    given = response(("a", "pay", '{"amount":1}'))
    other = response(("b", "pay", '{"amount":1}'))
    with pytest.raises(ValueError, match="given twice"):
        runner.run(given, calls=given.released * 2)
    with pytest.raises(ValueError, match="no call of this response"):
        runner.run(given, calls=other.released)
    assert log == []


def test_a_call_that_was_sent_twice_has_one_answer() -> None:
    call = {"id": "fc1", "type": "function_call", "status": "completed", "call_id": "a", "name": "double"}
    call["arguments"] = '{"number":1}'
    head = {"id": "resp", "object": "response", "model": "m"}
    items = [call, {**call, "id": "fc2"}]
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": at, "item": item}
        for at, item in enumerate(items)
    ]
    events.append(
        {"type": "response.completed", "response": {**head, "status": "completed", "output": items}}
    )
    body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    given = trigate.parse(body.encode(), "openai-responses")
    assert [each.problem for each in given.calls] == [None, "repeated"]
    turn = Runner(Toolset([double])).run(given)
    assert [message["call_id"] for message in turn.messages()] == ["a"]
    assert turn["a"].content == "2"


def ollama(*names: str) -> trigate.Response:
    asked = [{"function": {"name": name, "arguments": {}}} for name in names]
    lines = [
        {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": asked}, "done": False},
        {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
    ]
    return trigate.parse("".join(json.dumps(line) + "\n" for line in lines).encode(), "ollama-chat")


def test_calls_without_ids_are_told_apart_by_their_place(tmp_path: Path) -> None:
    log: list[int] = []

    @tool
    def act() -> str:
        log.append(1)
        return str(len(log))

    given = ollama("act", "act")
    assert [call.call_id for call in given.released] == [None, None]
    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        runner = Runner(Toolset([act]), FREE, ledger=ledger, parallel=1)
        with pytest.raises(ValueError, match="this response has no id"):
            runner.run(given)
        assert log == []
        turns = [runner.run(given, response_id="turn 1") for _ in range(2)]
    assert [[each.content for each in turn] for turn in turns] == [["1", "2"]] * 2
    assert [message["content"] for message in turns[0].messages()] == ["1", "2"]


def test_a_call_that_was_released_early_runs_once(tmp_path: Path) -> None:
    log: list[str] = []
    item = {"id": "fc", "type": "function_call", "status": "completed", "call_id": "a", "name": "pay"}
    item["arguments"] = '{"amount":1}'
    head = {"id": "resp", "object": "response", "model": "m", "output": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**head, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**head, "status": "completed", "output": [item]}},
    ]
    body = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    parser = trigate.ResponseParser("openai-responses", release_on="call")
    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        runner = Runner(Toolset([counted(log)]), FREE, ledger=ledger)
        for piece in body[:3]:
            parser.feed(piece)
        early = runner.run(parser.response)
        parser.feed(body[3])
        late = runner.run(parser.finish())
    assert [turn["a"].content for turn in (early, late)] == ["paid 1", "paid 1"]
    assert (late["a"].is_stored, log) == (True, ["paid 1"])


def test_a_thousand_calls_are_a_thousand_answers() -> None:
    calls = [(f"c{at}", "double", json.dumps({"number": at})) for at in range(1000)]
    turn = Runner(Toolset([double]), parallel=16).run(response(*calls))
    assert [each.content for each in turn] == [str(2 * at) for at in range(1000)]


def test_a_cancelled_turn_waits_for_each_outcome_although_others_end_first(tmp_path: Path) -> None:
    """One call ends while the other one still writes what became of it."""
    began, asked = asyncio.Event(), threading.Event()

    @tool
    async def act() -> str:
        began.set()
        await asyncio.sleep(20)
        return "late"

    def fresh() -> None:
        asked.set()
        time.sleep(0.1)

    @tool(fresh=fresh)
    def look() -> str:
        return "looked"

    class Slow(SQLiteLedger):
        def give_up(self, claim: Claim, why: str) -> Entry:
            time.sleep(0.2)
            return super().give_up(claim, why)

    async def main(ledger: SQLiteLedger) -> None:
        given = response(("a", "act", "{}"), ("b", "look", "{}"))
        task = asyncio.create_task(Runner(Toolset([act, look]), FREE, ledger=ledger).arun(given))
        await began.wait()
        while not asked.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [entry.state for entry in ledger.entries()] == ["unknown"]

    with Slow(tmp_path / "ledger.db") as ledger:
        asyncio.run(main(ledger))

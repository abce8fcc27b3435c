"""The runner: who may run, once, side by side, in time; and one answer for every call."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trigate
from trigate.ledger import SQLiteLedger, key_of
from trigate.runner import Runner
from trigate.tools import Cancellation, Context, Policy, Problem, ToolError, Toolset, tool

FREE = Policy(side_effects=True)


def response(*calls: tuple[str, str, str], finish: str = "tool_calls", id_: str = "r") -> trigate.Response:
    """A chat response with these calls (id, name, arguments)."""
    asked = [
        {"index": at, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (call_id, name, arguments) in enumerate(calls)
    ]
    events = [
        {"id": id_, "choices": [{"index": 0, "delta": {"tool_calls": asked}, "finish_reason": None}]},
        {"id": id_, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    return trigate.parse(body.encode(), "openai-chat")


@tool(read_only=True)
def double(number: int) -> int:
    return 2 * number


def counted(log: list[str]) -> Any:
    @tool
    def pay(amount: int) -> str:
        log.append(f"paid {amount}")
        return f"paid {amount}"

    return pay


# -- answers ---------------------------------------------------------------------------------------------


def test_each_call_has_its_own_answer() -> None:
    given = response(("a", "double", '{"number":1}'), ("b", "double", '{"number":2}'))
    turn = Runner(Toolset([double])).run(given)
    assert [(each.call.call_id, each.status, each.content) for each in turn] == [
        ("a", "succeeded", "2"),
        ("b", "succeeded", "4"),
    ]
    assert turn["b"].content == "4"
    assert len(turn) == 2
    assert turn.messages() == [
        {"role": "tool", "tool_call_id": "a", "content": "2"},
        {"role": "tool", "tool_call_id": "b", "content": "4"},
    ]
    with pytest.raises(KeyError):
        turn["c"]


def test_results_are_paired_by_the_call_whatever_ends_first() -> None:
    gates = {name: threading.Event() for name in "ab"}

    @tool(read_only=True)
    def wait(name: str) -> str:
        other = gates["b" if name == "a" else "a"]
        if name == "a":
            assert other.wait(5)  # a ends after b
        gates[name].set()
        return name

    turn = Runner(Toolset([wait])).run(response(("x", "wait", '{"name":"a"}'), ("y", "wait", '{"name":"b"}')))
    assert [(each.call.call_id, each.content) for each in turn] == [("x", "a"), ("y", "b")]


def test_no_more_run_at_once_than_the_limit() -> None:
    running, most, lock = 0, 0, threading.Lock()

    @tool(read_only=True)
    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1
        return number

    calls = [(f"c{at}", "work", json.dumps({"number": at})) for at in range(8)]
    turn = Runner(Toolset([work]), parallel=3).run(response(*calls))
    assert [each.content for each in turn] == [str(at) for at in range(8)]
    assert most == 3


def test_coroutines_run_too() -> None:
    @tool(read_only=True)
    async def later(number: int) -> int:
        await asyncio.sleep(0)
        return number + 1

    given = response(("a", "later", '{"number":1}'))
    runner = Runner(Toolset([later]))
    assert runner.run(given)["a"].content == "2"
    assert asyncio.run(runner.arun(given))["a"].content == "2"


def test_a_refused_call_is_answered_and_the_others_run() -> None:
    given = response(("a", "double", '{"number":"x"}'), ("b", "double", '{"number":2}'), ("c", "duble", "{}"))
    turn = Runner(Toolset([double])).run(given)
    assert [each.status for each in turn] == ["refused", "succeeded", "refused"]
    told = json.loads(turn["a"].content)
    assert (told["error"], told["problems"][0]["path"]) == ("invalid_arguments", "$.number")
    assert json.loads(turn["c"].content)["nearest"] == ["double"]
    assert [each.is_error for each in turn] == [True, False, True]


def test_all_or_nothing_runs_nothing_beside_a_bad_call() -> None:
    log: list[str] = []
    given = response(("a", "pay", '{"amount":1}'), ("b", "pay", "{}"))
    turn = Runner(Toolset([counted(log)]), FREE, on_bad="all_or_nothing").run(given)
    assert [each.status for each in turn] == ["not_run", "refused"]
    assert log == []
    good = response(("a", "pay", '{"amount":1}'), ("b", "pay", '{"amount":2}'))
    turn = Runner(Toolset([counted(log)]), FREE, on_bad="all_or_nothing").run(good)
    assert sorted(log) == ["paid 1", "paid 2"]
    assert [each.status for each in turn] == ["succeeded", "succeeded"]


def test_a_void_call_of_a_completed_response_is_answered() -> None:
    given = response(("a", "double", '{"number":1'), ("b", "double", '{"number":2}'))
    turn = Runner(Toolset([double])).run(given)
    assert [(each.call.call_id, each.status) for each in turn] == [("a", "refused"), ("b", "succeeded")]
    assert json.loads(turn["a"].content)["error"] == "invalid_arguments"


def test_of_a_response_that_did_not_end_well_nothing_runs() -> None:
    log: list[str] = []
    given = response(("a", "pay", '{"amount":1}'), finish="length")
    turn = Runner(Toolset([counted(log)]), FREE).run(given)
    assert (len(turn), log) == (0, [])


def test_a_draft_does_not_run() -> None:
    given = response(("a", "double", '{"number":1'))
    draft: Any = given.calls
    with pytest.raises(TypeError, match="only a ReleasedCall runs, not a ToolCall"):
        Runner(Toolset([double])).run(given, calls=draft)


def test_without_permission_nothing_runs() -> None:
    log: list[str] = []
    turn = Runner(Toolset([counted(log)])).run(response(("a", "pay", '{"amount":1}')))
    assert (json.loads(turn["a"].content)["error"], log) == ("permission_denied", [])


def test_wrong_options() -> None:
    tools: Any = [double]
    with pytest.raises(TypeError, match=r"must be a Toolset, .* not a list"):
        Runner(tools)
    wrong: Any = "some"
    with pytest.raises(ValueError, match="on_bad must be"):
        Runner(Toolset([double]), on_bad=wrong)
    with pytest.raises(ValueError, match="parallel must be at least 1"):
        Runner(Toolset([double]), parallel=0)
    with pytest.raises(ValueError, match="seconds must be positive"):
        Runner(Toolset([double]), seconds=0)


# -- tools that misbehave --------------------------------------------------------------------------------


def test_a_tool_that_raises_leaks_nothing() -> None:
    @tool(read_only=True)
    def burn() -> None:
        raise RuntimeError("password is swordfish")

    result = Runner(Toolset([burn])).run(response(("a", "burn", "{}")))["a"]
    assert (result.status, json.loads(result.content)["error"]) == ("failed", "tool_error")
    assert "swordfish" not in result.content
    assert result.problem is not None
    assert "swordfish" in result.problem.record


def test_a_tool_says_what_failed_in_its_own_words() -> None:
    @tool(read_only=True)
    def read(name: str) -> None:
        raise ToolError(f"no note is named {name}", code="not_found")

    result = Runner(Toolset([read])).run(response(("a", "read", '{"name":"x"}')))["a"]
    assert json.loads(result.content)["message"] == "no note is named x"


def test_a_tool_that_exits_ends_its_own_call_alone() -> None:
    @tool(read_only=True)
    def leave() -> None:
        raise SystemExit(3)

    assert Runner(Toolset([leave])).run(response(("a", "leave", "{}")))["a"].status == "failed"


def hanging(free: threading.Event, **declared: Any) -> Any:
    @tool(timeout=0.05, **declared)
    def hang() -> str:
        free.wait(20)
        return "late"

    return hang


@pytest.mark.parametrize("read_only", [False, True])
def test_a_tool_that_hangs_ends_the_wait(read_only: bool) -> None:
    free = threading.Event()
    try:
        turn = Runner(Toolset([hanging(free, read_only=read_only)]), FREE).run(response(("a", "hang", "{}")))
    finally:
        free.set()
    assert turn["a"].status == "unknown"
    told = json.loads(turn["a"].content)
    assert told["error"] == "timeout_unknown"
    assert ("may be called again" in told["next"]) is read_only


def test_a_coroutine_that_ignores_cancellation_ends_the_wait() -> None:
    free = asyncio.Event()
    ignored = []

    @tool(timeout=0.05)
    async def stubborn() -> str:
        while not free.is_set():
            try:
                await asyncio.wait_for(free.wait(), 20)
            except asyncio.CancelledError:
                ignored.append(1)
        return "late"

    async def main() -> Any:
        turn = await Runner(Toolset([stubborn]), FREE).arun(response(("a", "stubborn", "{}")))
        free.set()
        return turn["a"]

    result = asyncio.run(main())
    assert (result.status, result.problem.code) == ("unknown", "timeout_unknown")
    assert ignored


def test_a_tool_that_heeds_its_token_ends_in_order() -> None:
    ended = threading.Event()

    @tool(timeout=0.05)
    def work(context: Context) -> str:
        context.cancellation.wait(20)
        ended.set()
        return "late: adds nothing"

    result = Runner(Toolset([work]), FREE).run(response(("a", "work", "{}")))["a"]
    assert (result.status, ended.is_set()) == ("unknown", True)
    assert "adds nothing" not in result.content


def test_a_result_beyond_its_limit_is_not_handed_on() -> None:
    log: list[str] = []

    @tool(max_result_bytes=1000)
    def dump() -> str:
        log.append("ran")
        return "x" * 100_000_000

    result = Runner(Toolset([dump]), FREE).run(response(("a", "dump", "{}")))["a"]
    told = json.loads(result.content)
    assert (result.status, told["error"], log) == ("failed", "too_large", ["ran"])
    assert (told["next"], told["message"][:12]) == ("Do not repeat it.", "it was done,")
    assert len(result.content) < 1000


def test_a_result_that_is_no_json() -> None:
    @tool(read_only=True)
    def strange() -> Any:
        return object()

    assert Runner(Toolset([strange])).run(response(("a", "strange", "{}")))["a"].status == "failed"


# -- time ------------------------------------------------------------------------------------------------


def test_the_turn_s_time_bounds_all_of_it() -> None:
    log: list[str] = []

    @tool
    def slow(context: Context) -> str:
        log.append("began")
        context.cancellation.wait(20)
        return "late"

    given = response(("a", "slow", "{}"), ("b", "slow", "{}"))
    turn = Runner(Toolset([slow]), FREE, parallel=1, seconds=0.05).run(given)
    assert [each.status for each in turn] == ["unknown", "not_run"]
    assert log == ["began"]
    assert json.loads(turn["b"].content)["error"] == "cancelled"


def test_a_token_calls_the_turn_off() -> None:
    token, free = Cancellation(), threading.Event()

    @tool
    def first(context: Context) -> str:
        token.cancel("the user went away")
        assert context.cancellation.is_cancelled
        free.wait(20)
        return "late"

    @tool
    def second() -> str:
        return "ran"

    given = response(("a", "first", "{}"), ("b", "second", "{}"))
    try:
        turn = Runner(Toolset([first, second]), FREE, parallel=1).run(given, token=token)
    finally:
        free.set()
    assert [each.status for each in turn] == ["unknown", "not_run"]
    assert json.loads(turn["b"].content)["message"] == "the user went away"


def test_a_cancelled_caller_leaves_the_outcome_in_doubt(tmp_path: Path) -> None:
    given = response(("a", "work", "{}"))

    async def main(ledger: SQLiteLedger) -> None:
        began = asyncio.Event()

        @tool
        async def work() -> str:
            began.set()
            await asyncio.sleep(20)
            return "late"

        task = asyncio.create_task(Runner(Toolset([work]), FREE, ledger=ledger).arun(given))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with SQLiteLedger(tmp_path / "ledger.db") as ledger:
        asyncio.run(main(ledger))
        entry = ledger.get(key_of(given.released[0], given, "default"))
    assert entry is not None
    assert entry.state == "unknown"


def test_progress_is_told_with_its_call() -> None:
    told: list[tuple[str | None, str]] = []

    @tool(read_only=True)
    def work(context: Context) -> str:
        context.report("half", 1, 2)
        return "done"

    Runner(
        Toolset([work]), on_progress=lambda call, progress: told.append((call.call_id, progress.message))
    ).run(response(("a", "work", "{}")))
    assert told == [("a", "half")]


def test_values_and_scope_reach_the_tool() -> None:
    @tool(read_only=True)
    def who(context: Context) -> str:
        assert context.call is not None
        assert context.remaining() is not None
        return f"{context.scope} {context.values['user']} {context.call.call_id}"

    turn = Runner(Toolset([who])).run(response(("a", "who", "{}")), scope="s", values={"user": "u"})
    assert turn["a"].content == "s u a"


# -- who asks the world ----------------------------------------------------------------------------------


def fresh_tool(answer: Callable[[], Problem | None], log: list[str]) -> Any:
    @tool(fresh=answer, timeout=0.05)
    def change() -> str:
        log.append("changed")
        return "changed"

    return change


def test_a_stale_call_does_not_run() -> None:
    log: list[str] = []
    stale = Problem(code="stale_version", message="it has changed")
    given = response(("a", "change", "{}"))
    assert Runner(Toolset([fresh_tool(lambda: stale, log)]), FREE).run(given)["a"].status == "refused"
    assert Runner(Toolset([fresh_tool(lambda: None, log)]), FREE).run(given)["a"].status == "succeeded"
    assert log == ["changed"]


def test_a_question_without_an_answer_runs_nothing() -> None:
    log: list[str] = []
    free = threading.Event()

    def hang() -> None:
        free.wait(20)

    try:
        result = Runner(Toolset([fresh_tool(hang, log)]), FREE).run(response(("a", "change", "{}")))["a"]
    finally:
        free.set()
    assert (result.status, log) == ("not_run", [])

"""The runner and its ledger: once for each call, whoever else runs it, and whatever fails when."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trigate
from test_runner import FREE, counted, double, response
from trigate.errors import LimitError
from trigate.ledger import LedgerError, SQLiteLedger, digest_of, key_of
from trigate.runner import CallResult, Runner
from trigate.tools import Cancellation, Context, Policy, Problem, ToolError, Toolset, tool
from trigate.tools.files import file_tools


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    with SQLiteLedger(tmp_path / "ledger.db") as opened:
        yield opened


def test_a_call_that_comes_again_runs_once(ledger: SQLiteLedger) -> None:
    log: list[str] = []
    given = response(("a", "pay", '{"amount":1}'))
    turns = [Runner(Toolset([counted(log)]), FREE, ledger=ledger).run(given) for _ in range(3)]
    assert log == ["paid 1"]
    assert [turn["a"].content for turn in turns] == ["paid 1"] * 3
    assert [turn["a"].is_stored for turn in turns] == [False, True, True]


def test_the_same_id_with_other_arguments_is_a_conflict(ledger: SQLiteLedger) -> None:
    log: list[str] = []
    runner = Runner(Toolset([counted(log)]), FREE, ledger=ledger)
    runner.run(response(("a", "pay", '{"amount":1}')))
    result = runner.run(response(("a", "pay", '{"amount":2}')))["a"]
    assert (result.status, json.loads(result.content)["error"], log) == ("not_run", "conflict", ["paid 1"])


def test_another_response_is_another_call(ledger: SQLiteLedger) -> None:
    log: list[str] = []
    runner = Runner(Toolset([counted(log)]), FREE, ledger=ledger)
    for id_ in ("r1", "r2"):
        runner.run(response(("a", "pay", '{"amount":1}'), id_=id_))
    assert log == ["paid 1", "paid 1"]


def test_a_failure_is_stored_with_its_words(ledger: SQLiteLedger) -> None:
    @tool
    def refuse() -> None:
        raise ToolError("the account is closed", code="not_found")

    runner = Runner(Toolset([refuse]), FREE, ledger=ledger)
    turns = [runner.run(response(("a", "refuse", "{}"))) for _ in range(2)]
    assert [turn["a"].is_stored for turn in turns] == [False, True]
    assert turns[0]["a"].content == turns[1]["a"].content


def test_an_outcome_in_doubt_stays_in_doubt(ledger: SQLiteLedger) -> None:
    log: list[str] = []

    @tool(timeout=0.05)
    def pay(context: Context) -> str:
        log.append("began")
        context.cancellation.wait(20)
        return "late"

    runner = Runner(Toolset([pay]), FREE, ledger=ledger)
    given = response(("a", "pay", "{}"))
    statuses = [runner.run(given)["a"].status for _ in range(2)]
    assert (statuses, log) == (["unknown", "unknown"], ["began"])


class Failing(SQLiteLedger):
    """Fails from its n-th transaction on, as a full disk does."""

    left = 0

    def _transact(self, ids: Any, decide: Any) -> Any:
        if not self.left:
            raise LedgerError("the disk is full", code="ledger_unavailable")
        self.left -= 1
        return super()._transact(ids, decide)


def test_a_ledger_that_cannot_be_written_to_stops_the_call(tmp_path: Path) -> None:
    log: list[str] = []
    given = response(("a", "pay", '{"amount":1}'))
    with Failing(tmp_path / "ledger.db") as ledger:
        result = Runner(Toolset([counted(log)]), FREE, ledger=ledger).run(given)["a"]
    assert (result.status, result.is_recorded, log) == ("not_run", False, [])
    assert "disk" not in result.content


def test_an_outcome_that_cannot_be_written_is_handed_on_and_runs_no_more(tmp_path: Path) -> None:
    log: list[str] = []
    given = response(("a", "pay", '{"amount":1}'))
    with Failing(tmp_path / "ledger.db") as ledger:
        ledger.left = 1
        runner = Runner(Toolset([counted(log)]), FREE, ledger=ledger)
        result = runner.run(given)["a"]
        assert (result.status, result.content, result.is_recorded) == ("succeeded", "paid 1", False)
        ledger.left = 1
        again = runner.run(given)["a"]
    assert (again.status, log) == ("not_run", ["paid 1"])


def test_a_record_is_plain_data(ledger: SQLiteLedger) -> None:
    turn = Runner(Toolset([double]), ledger=ledger).run(response(("a", "double", '{"number":1}')))
    record = json.loads(json.dumps(turn["a"].to_record()))
    assert (record["call_id"], record["status"], record["content"]) == ("a", "succeeded", "2")
    assert record["judgment"]["allowed"] is True


class Slow(SQLiteLedger):
    """Does something while a claim is under way."""

    meanwhile: Callable[[], object]

    def claim_many(self, asks: Any, *, lease: float = 60.0) -> Any:
        claims = super().claim_many(asks, lease=lease)
        self.meanwhile()
        return claims


@pytest.mark.parametrize("by", ["token", "deadline"])
def test_a_claim_that_comes_too_late_is_given_back(by: str, tmp_path: Path) -> None:
    log: list[str] = []
    token = Cancellation()
    given = response(("a", "pay", '{"amount":1}'))
    with Slow(tmp_path / "ledger.db") as ledger:
        runner = Runner(Toolset([counted(log)]), FREE, ledger=ledger)
        if by == "token":
            ledger.meanwhile = token.cancel
            result = runner.run(given, token=token)["a"]
        else:
            ledger.meanwhile = lambda: time.sleep(0.12)
            result = runner.run(given, deadline=time.monotonic() + 0.1)["a"]
        entry = ledger.get(key_of(given.released[0], given, "default"))
        assert entry is not None
        assert (result.status, log, entry.state) == ("not_run", [], "proposed")
        ledger.meanwhile = lambda: None
        assert runner.run(given)["a"].content == "paid 1"


class Broken(SQLiteLedger):
    """One of its verbs raises what it should not."""

    error: Exception = OSError("gone")
    verb = ""

    def _maybe(self, verb: str) -> None:
        if verb == self.verb:
            raise self.error

    def claim_many(self, asks: Any, *, lease: float = 60.0) -> Any:
        self._maybe("claim")
        return super().claim_many(asks, lease=lease)

    def succeed(self, claim: Any, result: Any = None) -> Any:
        self._maybe("succeed")
        return super().succeed(claim, result)

    def fail(self, claim: Any, problem: str, *, started: bool = True) -> Any:
        self._maybe("fail")
        return super().fail(claim, problem, started=started)

    def give_up(self, claim: Any, why: str) -> Any:
        self._maybe("give_up")
        return super().give_up(claim, why)


@pytest.mark.parametrize(
    "error",
    [
        LedgerError("full", code="ledger_unavailable"),
        OSError("gone"),
        LimitError("long", code="result_too_large"),
    ],
)
@pytest.mark.parametrize(
    ("verb", "status"),
    [("claim", "not_run"), ("succeed", "succeeded"), ("fail", "failed"), ("give_up", "unknown")],
)
def test_a_ledger_that_fails_at_a_verb_spoils_no_other_call(
    verb: str, status: str, error: Exception, tmp_path: Path
) -> None:
    log: list[str] = []

    @tool(timeout=0.05)
    def act(context: Context) -> str:
        log.append("ran")
        if verb == "fail":
            raise ToolError("no")
        if verb == "give_up":
            context.cancellation.wait(20)
        return "done"

    with Broken(tmp_path / "ledger.db") as ledger:
        ledger.verb, ledger.error = verb, error
        given = response(("a", "act", "{}"), ("b", "nothing", "{}"))
        turn = Runner(Toolset([act]), FREE, ledger=ledger).run(given)
        assert [each.status for each in turn] == [status, "refused"]
        assert (turn["a"].is_recorded, str(error) in turn["a"].unrecorded) == (False, True)
        assert str(error) not in turn["a"].content
        assert log == ([] if verb == "claim" else ["ran"])
        ledger.verb = ""
        Runner(Toolset([act]), FREE, ledger=ledger).run(given)
    assert len(log) == 1


def test_two_runners_and_one_ledger_run_a_call_once(tmp_path: Path) -> None:
    begun, free, log = threading.Event(), threading.Event(), []

    @tool
    def act() -> str:
        log.append("ran")
        begun.set()
        assert free.wait(20)
        return "done"

    given = response(("a", "act", "{}"))
    with SQLiteLedger(tmp_path / "ledger.db") as one, SQLiteLedger(tmp_path / "ledger.db") as two:
        results: list[CallResult] = []
        first = threading.Thread(
            target=lambda: results.append(Runner(Toolset([act]), FREE, ledger=one).run(given)["a"])
        )
        first.start()
        assert begun.wait(20)
        second = Runner(Toolset([act]), FREE, ledger=two).run(given)["a"]
        free.set()
        first.join()
    told = json.loads(second.content)
    assert (second.status, told["error"]) == ("not_run", "duplicate")
    assert "another worker" in told["message"]
    assert (results[0].content, log) == ("done", ["ran"])


@pytest.mark.parametrize("release_on", ["response", "call"])
def test_a_stream_that_is_cut_at_every_event_and_comes_again_runs_each_call_once(
    release_on: Any, ledger: SQLiteLedger
) -> None:
    log: list[str] = []
    runner = Runner(Toolset([counted(log)]), FREE, ledger=ledger)
    asked = [(f"c{at}", "pay", json.dumps({"amount": at})) for at in range(3)]
    pieces = [
        {"index": at, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (call_id, name, arguments) in enumerate(asked)
    ]
    deltas: list[dict[str, Any]] = [{"tool_calls": [piece]} for piece in pieces]
    events = [
        {"id": "r", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    events.append({"id": "r", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    stream = [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]
    for count in range(len(stream) + 1):
        turn = runner.run(trigate.parse(b"".join(stream[:count]), "openai-chat", release_on=release_on))
    assert [each.content for each in turn] == ["paid 0", "paid 1", "paid 2"]
    assert [each.is_stored for each in runner.run(turn.response)] == [True] * 3
    assert sorted(log) == ["paid 0", "paid 1", "paid 2"]


@pytest.mark.parametrize("on_bad", ["each", "all_or_nothing"])
def test_a_call_that_changed_the_world_has_its_result_when_it_comes_again(
    on_bad: Any, tmp_path: Path, ledger: SQLiteLedger
) -> None:
    """Its `fresh` would say that the world is not as the call expects it: because of the call itself."""
    root = tmp_path / "files"
    root.mkdir()
    (root / "a.txt").write_text("buy milk")
    version = hashlib.sha256(b"buy milk").hexdigest()
    change = {"path": "a.txt", "old": "milk", "new": "tea", "expected_version": version}
    look = ("b", "read_file", '{"path":"a.txt"}')
    given = response(("a", "replace_in_file", json.dumps(change)), look)
    toolset = Toolset(file_tools(root, writable=True))
    runner = Runner(toolset, Policy({"files.write"}), ledger=ledger, parallel=1, on_bad=on_bad)
    turns = [runner.run(given) for _ in range(2)]
    assert [[each.status for each in turn] for turn in turns] == [["succeeded"] * 2] * 2
    assert turns[0]["a"].content == turns[1]["a"].content
    assert turns[1]["a"].is_stored
    # Another call that expects the old version is stale; one of the same id with other arguments is a conflict.
    other = response(("c", "replace_in_file", json.dumps(change)))
    assert json.loads(runner.run(other)["c"].content)["error"] == "stale_version"
    forged = response(("a", "replace_in_file", json.dumps({**change, "new": "rum"})))
    assert json.loads(runner.run(forged)["a"].content)["error"] == "conflict"
    assert (root / "a.txt").read_text() == "buy tea"


@pytest.mark.parametrize(
    ("state", "status"), [("busy", "not_run"), ("unknown", "unknown"), ("broken", "refused")]
)
def test_a_stale_call_that_has_begun_before_is_told_so(state: str, status: str, tmp_path: Path) -> None:
    @tool(fresh=lambda: Problem(code="stale_version", message="it has changed"))
    def act() -> str:
        return "ran"

    class Deaf(SQLiteLedger):
        def _read(self, id_: str) -> Any:
            if state == "broken":
                raise LedgerError("the disk is gone", code="ledger_io")
            return super()._read(id_)

    given = response(("a", "act", "{}"))
    call = given.released[0]
    with Deaf(tmp_path / "ledger.db") as ledger:
        claim = ledger.claim(key_of(call, given, "default"), digest_of(call))
        if state == "unknown":
            ledger.give_up(claim, "the worker died")
        assert Runner(Toolset([act]), FREE, ledger=ledger).run(given)["a"].status == status

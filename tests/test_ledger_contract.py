"""The contract of every ledger: the same tests for SQLite, PostgreSQL and Redis, each against the real thing."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from ledgers import BACKENDS, Place, digest, key, place_of
from trigate.errors import LimitError
from trigate.ledger import (
    Ask,
    Claim,
    Entry,
    Finding,
    Key,
    Ledger,
    LedgerError,
    StaleClaim,
    State,
    open_ledger,
)
from trigate.ledger.entry import STATES

A, B = digest("a"), digest("b")
SHORT = 0.001


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made = place_of(request.param, request, tmp_path)
    yield made
    made.close()


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return place.open()


def lapsed(ledger: Ledger, of: Key | None = None, *, read_only: bool = False) -> Claim:
    """A claim whose lease is over."""
    claim = ledger.claim(of or key(), A, lease=SHORT, read_only=read_only)
    assert claim.outcome == "claimed"
    while (entry := ledger.get(claim.key)) is not None and entry.state == "claimed":
        time.sleep(SHORT)
    return claim


def state(ledger: Ledger, of: Key | None = None) -> str | None:
    entry = ledger.get(of or key())
    return None if entry is None else entry.state


def code_of(caught: pytest.ExceptionInfo[LedgerError]) -> tuple[str, str]:
    return caught.value.layer, caught.value.code


# -- the usual way ---------------------------------------------------------------------------------


def test_claim_run_and_store(ledger: Ledger) -> None:
    claim = ledger.claim(key(), A)
    assert (claim.outcome, claim.fence, claim.entry.state, claim.result) == ("claimed", 1, "claimed", None)
    entry = ledger.succeed(claim, {"paid": True, "text": "好的\ud800\0"})
    assert (entry.state, entry.lease_until) == ("succeeded", None)
    again = ledger.claim(key(), A)
    assert (again.outcome, again.result) == ("stored", {"paid": True, "text": "好的\ud800\0"})
    assert ledger.get(key()) == again.entry == entry


def test_what_others_see(place: Place, ledger: Ledger) -> None:
    other = place.open()
    assert other.get(key()) is None
    claim = ledger.claim(key(), A)
    assert other.claim(key(), A).outcome == "busy"
    assert state(other) == "claimed"
    ledger.succeed(claim, 1)
    assert other.claim(key(), A).result == 1


def test_another_digest_is_a_conflict_in_every_state(ledger: Ledger) -> None:
    def conflicts() -> None:
        claim = ledger.claim(key(), B)
        assert (claim.outcome, claim.entry.digest, claim.result) == ("conflict", A, None)
        assert ledger.claim(key(), B, read_only=True).outcome == "conflict"
        with pytest.raises(LedgerError, match="other arguments") as caught:
            ledger.propose(key(), B)
        assert code_of(caught) == ("structure", "digest_conflict")

    ledger.propose(key(), A)
    conflicts()
    claim = ledger.claim(key(), A)
    conflicts()
    ledger.give_up(claim, "a deadline passed")
    conflicts()
    ledger.reconcile(key(), Finding("succeeded"))
    conflicts()
    assert state(ledger) == "succeeded"


@pytest.mark.parametrize("part", ["scope", "response", "call", "tool"])
def test_another_key_is_another_call(ledger: Ledger, part: str) -> None:
    members = {"scope": "s", "response": "r", "call": "c", "tool": "t"}
    assert ledger.claim(Key(**members), A).outcome == "claimed"
    assert ledger.claim(Key(**(members | {part: "x"})), B).outcome == "claimed"


def test_a_proposed_call_waits(ledger: Ledger) -> None:
    entry = ledger.propose(key(), A)
    assert (entry.state, entry.fence) == ("proposed", 0)
    assert ledger.propose(key(), A) == entry
    assert ledger.claim(key(), A).outcome == "claimed"
    assert ledger.propose(key(), A).state == "claimed"


def test_any_text_can_be_part_of_a_key(ledger: Ledger) -> None:
    odd = Key("范围\0\ud800\\u0000", "r'\"%s{}\x1b", "c" * 3000, "t\n")
    claim = ledger.claim(odd, A)
    assert ledger.give_up(claim, "\0\ud800\\").problem == "\0\ud800\\"
    assert [entry.key for entry in ledger.entries(scope=odd.scope)] == [odd]
    assert ledger.find(odd.id[:20])[0].key == odd


# -- how it ends -----------------------------------------------------------------------------------


def test_failed_is_final_for_a_side_effect(ledger: Ledger) -> None:
    ledger.fail(ledger.claim(key(), A), "no money")
    for _ in range(2):
        claim = ledger.claim(key(), A)
        assert (claim.outcome, claim.entry.state, claim.entry.problem) == ("stored", "failed", "no money")
        assert claim.result is None


def test_what_had_not_started_may_be_claimed_again(ledger: Ledger) -> None:
    entry = ledger.fail(ledger.claim(key(), A), "the runner was full", started=False)
    assert (entry.state, entry.problem) == ("proposed", "the runner was full")
    again = ledger.claim(key(), A)
    assert (again.outcome, again.fence, again.entry.problem) == ("claimed", 2, None)


def test_a_lease_that_is_over_makes_it_unknown_and_it_never_runs_again(ledger: Ledger) -> None:
    lapsed(ledger)
    for _ in range(2):
        claim = ledger.claim(key(), A)
        assert (claim.outcome, claim.entry.state) == ("unknown", "unknown")
    assert ledger.claim(key(), A, read_only=True).outcome == "unknown"  # a word does not make it harmless


def test_giving_up_makes_it_unknown(ledger: Ledger) -> None:
    ledger.give_up(ledger.claim(key(), A), "no answer within 30 s")
    claim = ledger.claim(key(), A)
    assert (claim.outcome, claim.entry.problem) == ("unknown", "no answer within 30 s")


def test_a_read_only_call_may_run_again_unless_it_succeeded(ledger: Ledger) -> None:
    lapsed(ledger, read_only=True)
    second = ledger.claim(key(), A, read_only=True)
    assert (second.outcome, second.fence) == ("claimed", 2)
    assert ledger.claim(key(), A, read_only=True).outcome == "busy"
    ledger.fail(second, "it was away")
    assert ledger.claim(key(), A).outcome == "stored"  # as a side effect it may not
    third = ledger.claim(key(), A, read_only=True)
    assert (third.outcome, third.fence) == ("claimed", 3)
    ledger.succeed(third, "text")
    assert ledger.claim(key(), A, read_only=True).result == "text"


# -- only the holder writes ------------------------------------------------------------------------


def test_a_late_holder_writes_nothing(ledger: Ledger) -> None:
    claim = lapsed(ledger)
    for write in (
        lambda: ledger.succeed(claim, 1),
        lambda: ledger.fail(claim, "x"),
        lambda: ledger.fail(claim, "x", started=False),
        lambda: ledger.give_up(claim, "x"),
        lambda: ledger.renew(claim),
    ):
        with pytest.raises(StaleClaim, match="not held any more") as caught:
            write()
        assert code_of(caught) == ("unknown_outcome", "stale_claim")
    assert state(ledger) == "unknown"


def test_the_fence_keeps_an_older_holder_out(ledger: Ledger) -> None:
    first = lapsed(ledger, read_only=True)
    second = ledger.claim(key(), A, read_only=True)
    with pytest.raises(StaleClaim, match="fence 1 is not held any more: the entry is claimed, fence 2"):
        ledger.succeed(first, "old")
    ledger.succeed(second, "new")
    with pytest.raises(StaleClaim):
        ledger.succeed(first, "old")
    assert ledger.claim(key(), A).result == "new"


def test_the_same_word_twice_is_one_and_another_word_is_refused(ledger: Ledger) -> None:
    claim = ledger.claim(key(), A)
    entry = ledger.succeed(claim, [1])
    assert ledger.succeed(claim, [1]) == entry
    with pytest.raises(StaleClaim):
        ledger.succeed(claim, [2])
    with pytest.raises(StaleClaim):
        ledger.fail(claim, "x")
    assert ledger.get(key()) == entry


def test_renewing_keeps_a_claim(ledger: Ledger) -> None:
    claim = ledger.claim(key(), A, lease=30)
    longer = ledger.renew(claim, lease=90)
    assert longer.entry.lease_until is not None
    assert claim.entry.lease_until is not None
    assert longer.entry.lease_until - claim.entry.lease_until >= 60_000_000
    assert longer.fence == claim.fence
    shorter = ledger.renew(longer, lease=1)
    assert shorter.entry.lease_until == longer.entry.lease_until
    ledger.succeed(claim, 1)  # the first picture of the claim is the same claim
    with pytest.raises(StaleClaim):
        ledger.renew(longer)


# -- reconcile -------------------------------------------------------------------------------------


def test_an_inquiry_resolves_it(ledger: Ledger) -> None:
    for number, (finding, becomes, then) in enumerate(
        [
            (Finding("succeeded", result={"id": 7}), "succeeded", "stored"),
            (Finding("failed", problem="refused"), "failed", "stored"),
            (Finding("unknown"), "unknown", "unknown"),
            (Finding("unknown", problem="the bank is closed"), "unknown", "unknown"),
            (Finding("not_happened"), "proposed", "claimed"),
        ]
    ):
        claim = lapsed(ledger, key(number))
        asked: list[Entry] = []

        def ask(entry: Entry, found: Finding = finding, to: list[Entry] = asked) -> Finding:
            to.append(entry)
            return found

        entry = ledger.reconcile(claim.key, ask)
        assert [each.state for each in asked] == ["unknown"]
        assert entry.state == becomes
        assert entry.result == finding.result
        assert (
            ledger.get(claim.key) == entry or entry.problem == "the lease ended before an outcome was written"
        )
        again = ledger.claim(claim.key, A)
        assert again.outcome == then
        if then == "claimed":
            assert again.fence == claim.fence + 1
            with pytest.raises(StaleClaim):
                ledger.succeed(claim, "late")


def test_only_a_call_in_doubt_is_reconciled(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="the ledger has no") as caught:
        ledger.reconcile(key(), Finding("succeeded"))
    assert code_of(caught) == ("environment", "no_entry")
    claim = ledger.claim(key(), A)
    for _ in range(2):
        with pytest.raises(LedgerError, match="is not in doubt") as caught:
            ledger.reconcile(key(), lambda _: pytest.fail("nobody is asked"))
        assert code_of(caught) == ("unknown_outcome", "not_in_doubt")
        ledger.succeed(claim, 1)


def test_an_inquiry_that_comes_too_late_changes_nothing(place: Place, ledger: Ledger) -> None:
    lapsed(ledger)
    other = place.open()

    def slow(_: Entry) -> Finding:
        other.reconcile(key(), Finding("not_happened"))
        other.give_up(other.claim(key(), A), "again")
        return Finding("not_happened")

    with pytest.raises(LedgerError, match="the entry is unknown, fence 2"):
        ledger.reconcile(key(), slow)
    assert state(ledger) == "unknown"


def test_an_inquiry_that_raises_changes_nothing(ledger: Ledger) -> None:
    lapsed(ledger)
    with pytest.raises(ZeroDivisionError):
        ledger.reconcile(key(), lambda _: 1 // 0)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="gives a Finding, not str"):
        ledger.reconcile(key(), "succeeded")  # type: ignore[arg-type]
    assert state(ledger) == "unknown"


# -- many, lists, time -----------------------------------------------------------------------------


def test_many_claims_are_like_one_after_the_other(ledger: Ledger) -> None:
    ledger.succeed(ledger.claim(key(1), A), "one")
    asks = [Ask(key(3), A), Ask(key(1), A), Ask(key(3), A), Ask(key(2), A, True), Ask(key(3), B)]
    claims = ledger.claim_many(asks)
    assert [claim.outcome for claim in claims] == ["claimed", "stored", "busy", "claimed", "conflict"]
    assert [claim.key for claim in claims] == [ask.key for ask in asks]
    assert claims[1].result == "one"
    for claim in (claims[0], claims[3]):
        ledger.succeed(claim, None)
    assert ledger.claim_many([]) == []
    many = ledger.claim_many(Ask(key(number, "many"), A) for number in range(700))
    assert {claim.outcome for claim in many} == {"claimed"}
    assert len(ledger.entries("claimed", "many", limit=701)) == 700


def test_lists_by_state_and_scope(ledger: Ledger) -> None:
    lapsed(ledger, key(1))
    ledger.claim(key(2), A)
    ledger.give_up(ledger.claim(key(3, "other"), A), "x")
    ledger.propose(key(4), A)

    def calls(*args: str | None, limit: int = 100) -> list[str]:
        return [entry.key.call for entry in ledger.entries(*args, limit=limit)]  # type: ignore[arg-type]

    assert calls() == ["call_1", "call_2", "call_3", "call_4"]
    assert [entry.state for entry in ledger.entries()] == ["unknown", "claimed", "unknown", "proposed"]
    assert calls("unknown") == ["call_1", "call_3"]
    assert calls("unknown", "other") == ["call_3"]
    assert calls(None, "test") == ["call_1", "call_2", "call_4"]
    assert calls("claimed") == ["call_2"]
    assert calls("proposed") == ["call_4"]
    assert calls("succeeded") == []
    assert calls(limit=2) == ["call_1", "call_2"]
    with pytest.raises(ValueError, match="state must be one of"):
        calls("done")
    with pytest.raises(ValueError, match="limit"):
        calls(limit=0)


def test_leases_that_are_over_are_stored_as_unknown_on_request(ledger: Ledger) -> None:
    lapsed(ledger, key(1))
    lapsed(ledger, key(2))
    ledger.claim(key(3), A)
    revisions = [entry.revision for entry in ledger.entries("unknown")]
    assert ledger.expire() == 2
    assert ledger.expire() == 0
    assert [entry.revision for entry in ledger.entries("unknown")] == revisions
    assert state(ledger, key(3)) == "claimed"


def test_an_id_leads_to_its_entry(ledger: Ledger) -> None:
    ledger.claim_many(Ask(key(number), A) for number in range(50))
    full = key(7).id
    assert [entry.key for entry in ledger.find(full)] == [key(7)]
    assert [entry.key for entry in ledger.find(full[:16])] == [key(7)]
    shared = next(digit for digit in "0123456789abcdef" if sum(key(n).id[0] == digit for n in range(50)) > 1)
    assert len(ledger.find(shared)) == 2
    assert ledger.find("0" * 64) == []
    with pytest.raises(ValueError, match="hexadecimal"):
        ledger.find("call_7")


def test_the_clock_is_one_for_all_and_right(place: Place, ledger: Ledger) -> None:
    claim = ledger.claim(key(), A, lease=100)
    assert abs(claim.entry.created / 1e6 - time.time()) < 60
    assert claim.entry.lease_until == claim.entry.created + 100_000_000
    entry = place.open().succeed(claim, None)
    assert entry.updated >= entry.created == claim.entry.created


def test_threads_share_one_ledger(ledger: Ledger) -> None:
    won: list[str] = []

    def work() -> None:
        for number in range(20):
            claim = ledger.claim(key(number), A)
            if claim.outcome == "claimed":
                won.append(claim.key.call)
                ledger.succeed(claim, claim.fence)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == sorted(key(number).call for number in range(20))
    assert [entry.result for entry in ledger.entries("succeeded")] == [1] * 20


# -- opening, misuse -------------------------------------------------------------------------------


def test_it_is_all_there_when_it_is_opened_again(place: Place, ledger: Ledger) -> None:
    ledger.succeed(ledger.claim(key(), A), {"a": [1, None]})
    ledger.close()
    ledger.close()
    with pytest.raises(RuntimeError, match="closed"):
        ledger.get(key())
    assert place.open().claim(key(), A).result == {"a": [1, None]}


def test_a_url_opens_it(place: Place) -> None:
    with open_ledger(place.url) as ledger:
        assert type(ledger).__name__.lower().startswith(place.backend)
        claim = ledger.claim(key(scope=place.name or "url"), A)
        assert claim.outcome == "claimed"
    with open_ledger(place.url, mode="rw") as ledger:
        assert state(ledger, claim.key) == "claimed"


def test_a_result_is_json_and_bounded(ledger: Ledger) -> None:
    claim = ledger.claim(key(), A)
    with pytest.raises(TypeError):
        ledger.succeed(claim, object())
    with pytest.raises(ValueError, match="JSON"):
        ledger.succeed(claim, float("nan"))
    ledger.max_result_bytes = 10
    ledger.succeed(ledger.claim(key(1), A), "x" * 8)
    with pytest.raises(LimitError, match="the result has 11 bytes") as caught:
        ledger.succeed(claim, "x" * 9)
    assert (caught.value.code, caught.value.limit) == ("result_too_large", "max_result_bytes")
    assert state(ledger) == "claimed"


def test_misuse_is_told_at_once(ledger: Ledger) -> None:
    claim = ledger.claim(key(), A)
    busy = ledger.claim(key(), A)
    with pytest.raises(ValueError, match="this one is busy"):
        ledger.succeed(busy, 1)
    for lease in (0, -1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="a lease is a positive number"):
            ledger.claim(key(1), A, lease=lease)
        with pytest.raises(ValueError, match="a lease is a positive number"):
            ledger.renew(claim, lease=lease)
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        ledger.claim(key(1), "abc")
    with pytest.raises(TypeError, match="digest must be a str"):
        ledger.claim(key(1), b"a" * 64)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a Key, not str"):
        ledger.claim("call_1", A)  # type: ignore[arg-type]
    ledger.give_up(claim, "x")
    with pytest.raises(ValueError, match="failed has no result"):
        ledger.reconcile(key(), Finding("failed", result=1))


def test_a_client_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, extra, url in (("psycopg", "postgres", "postgresql://x"), ("redis", "redis", "redis://x")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportError, match=rf"pip install 'trigate\[{extra}\]'"):
            open_ledger(url)
    with pytest.raises(ValueError, match="not mysql://"):
        open_ledger("mysql://x")


def test_importing_the_ledger_is_light() -> None:
    heavy = ["asyncio", "psycopg", "redis", "ssl", "socket", "concurrent.futures"]
    code = f"import sys, trigate.ledger\nprint([name for name in {heavy} if name in sys.modules])"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "[]\n"


def test_every_state_is_described_and_leads_to_known_ones() -> None:
    assert tuple(STATES) == get_args(State)
    for _, leads_to in STATES.values():
        assert STATES.keys() >= leads_to.keys()

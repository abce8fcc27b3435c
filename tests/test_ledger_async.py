"""The ledger for asyncio: the same verbs, and what a cancellation leaves behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgers import BACKENDS, Place, digest, key, place_of
from trigate.ledger import Ask, AsyncLedger, Entry, Finding, LedgerError, SQLiteLedger, StaleClaim, in_threads

A = digest("a")


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    made = place_of(request.param, request, tmp_path)
    yield made
    made.close()


def test_every_verb_is_there(place: Place) -> None:
    async def use(ledger: AsyncLedger) -> None:
        assert (await ledger.propose(key(), A)).state == "proposed"
        claim = await ledger.claim(key(), A, lease=30)
        assert (await ledger.renew(claim)).outcome == "claimed"
        assert (await ledger.succeed(claim, [1])).result == [1]
        assert (await ledger.claim(key(), A)).result == [1]
        with pytest.raises(StaleClaim):
            await ledger.fail(claim, "x")
        one, two = await ledger.claim_many([Ask(key(1), A), Ask(key(2), A)])
        await ledger.fail(one, "x")
        await ledger.give_up(two, "y")
        assert [entry.key for entry in await ledger.entries("unknown")] == [key(2)]
        assert (await ledger.find(key(2).id))[0].key == key(2)
        assert await ledger.expire() == 0
        assert (await ledger.reconcile(key(2), Finding("unknown", problem="z"))).problem == "z"

        async def ask(entry: Entry) -> Finding:
            await asyncio.sleep(0)
            return Finding("succeeded", result=entry.fence)

        assert (await ledger.reconcile(key(2), ask)).result == 1
        with pytest.raises(LedgerError):
            await ledger.reconcile(key(2), lambda _: Finding("not_happened"))
        entry = await ledger.get(key(2))
        assert entry is not None
        assert entry.state == "succeeded"

    async def main() -> None:
        async with in_threads(place.open()) as ledger:
            await use(ledger)
            await ledger.close()

    asyncio.run(main())


def test_tasks_that_want_the_same_calls(place: Place) -> None:
    async def work(ledger: AsyncLedger) -> list[str]:
        won = []
        for number in range(10):
            claim = await ledger.claim(key(number), A)
            if claim.outcome == "claimed":
                won.append(claim.key.call)
                await ledger.succeed(claim)
        return won

    async def main() -> list[list[str]]:
        async with in_threads(place.open()) as one, in_threads(place.open()) as other:
            return await asyncio.gather(*(work(ledger) for ledger in (one, other, one, other)))

    won = asyncio.run(main())
    assert sorted(call for calls in won for call in calls) == sorted(key(number).call for number in range(10))


class Slow(SQLiteLedger):
    """A ledger whose transactions wait until they are let go."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.begun = threading.Event()
        self.may_go = threading.Event()

    def _transact(self, ids: Any, decide: Any) -> Any:
        self.begun.set()
        assert self.may_go.wait(10)
        return super()._transact(ids, decide)


async def cancelled_in_the_middle(slow: Slow, work: Coroutine[Any, Any, Any]) -> None:
    """Cancels it, twice, while its transaction is under way."""
    task = asyncio.create_task(work)
    while not slow.begun.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.sleep(0.001)
    assert not task.done()
    slow.may_go.set()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_cancelled_claim_is_given_back(tmp_path: Path) -> None:
    async def main() -> None:
        slow = Slow(tmp_path / "x.db")
        async with in_threads(slow) as ledger:
            await cancelled_in_the_middle(slow, ledger.claim(key(), A))
            entry = await ledger.get(key())
            assert entry is not None
            assert (entry.state, entry.problem) == ("proposed", "cancelled before the run")
            assert (await ledger.claim(key(), A)).fence == 2

    asyncio.run(main())


def test_a_cancelled_write_is_finished(tmp_path: Path) -> None:
    async def main() -> None:
        slow = Slow(tmp_path / "x.db")
        slow.may_go.set()
        async with in_threads(slow) as ledger:
            claim = await ledger.claim(key(), A)
            slow.begun.clear()
            slow.may_go.clear()
            await cancelled_in_the_middle(slow, ledger.succeed(claim, 1))
            assert (await ledger.claim(key(), A)).result == 1

    asyncio.run(main())

"""The same ledger for asyncio: its verbs awaited, each in a thread of the ledger's own.

Rules
 - One thread for one ledger: it has one connection, and what was asked first is done first.
 - Who is cancelled while a claim is under way gets no claim: the claim that was made is given back, for nothing ran.
 - Other writes that are under way are finished, then the cancellation goes on: no write is left in doubt by it.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from trigate.errors import TrigateError
from trigate.ledger.contract import Ledger
from trigate.ledger.entry import Ask, Claim, Entry, Finding, State
from trigate.ledger.key import Key

__all__ = ["AsyncLedger", "in_threads", "patiently"]

_P = ParamSpec("_P")
_T = TypeVar("_T")


class AsyncLedger(Protocol):
    """The verbs of a Ledger, awaited. What each does and raises: see trigate.ledger.Ledger."""

    async def propose(self, key: Key, digest: str, *, read_only: bool = False) -> Entry: ...
    async def claim(
        self, key: Key, digest: str, *, lease: float = 60.0, read_only: bool = False
    ) -> Claim: ...
    async def claim_many(self, asks: Iterable[Ask], *, lease: float = 60.0) -> list[Claim]: ...
    async def renew(self, claim: Claim, *, lease: float = 60.0) -> Claim: ...
    async def succeed(self, claim: Claim, result: Any = None) -> Entry: ...
    async def fail(self, claim: Claim, problem: str, *, started: bool = True) -> Entry: ...
    async def give_up(self, claim: Claim, why: str) -> Entry: ...
    async def get(self, key: Key) -> Entry | None: ...
    async def entries(
        self, state: State | None = None, scope: str | None = None, *, limit: int = 1000
    ) -> list[Entry]: ...
    async def find(self, prefix: str) -> list[Entry]: ...
    async def reconcile(
        self, key: Key, asked: Finding | Callable[[Entry], Finding | Awaitable[Finding]]
    ) -> Entry: ...
    async def expire(self) -> int: ...
    async def close(self) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...


def in_threads(ledger: Ledger) -> AsyncLedger:
    """The ledger for asyncio. Closing it closes the ledger."""
    return _InThreads(ledger)


class _InThreads:
    """An AsyncLedger over a Ledger and one thread."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._is_closed = False
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trigate-ledger")

    def _submit(self, verb: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> asyncio.Future[_T]:
        if self._process != os.getpid():  # a forked child: the thread is its parent's
            self._begin()
        return asyncio.wrap_future(self._thread.submit(verb, *args, **options))

    async def _do(self, verb: Callable[_P, _T], *args: _P.args, **options: _P.kwargs) -> _T:
        """Runs a verb in the thread; a cancellation waits for its end."""
        return await self._finish(self._submit(verb, *args, **options))

    async def _finish(self, work: asyncio.Future[_T]) -> _T:
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            with contextlib.suppress(TrigateError):
                await patiently(work)
            raise

    async def propose(self, key: Key, digest: str, *, read_only: bool = False) -> Entry:
        return await self._do(self._ledger.propose, key, digest, read_only=read_only)

    async def claim(self, key: Key, digest: str, *, lease: float = 60.0, read_only: bool = False) -> Claim:
        return (await self.claim_many([Ask(key, digest, read_only)], lease=lease))[0]

    async def claim_many(self, asks: Iterable[Ask], *, lease: float = 60.0) -> list[Claim]:
        asked = list(asks)
        work = self._submit(self._ledger.claim_many, asked, lease=lease)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            with contextlib.suppress(TrigateError):
                for claim in await patiently(work):
                    if claim.outcome == "claimed":
                        why = "cancelled before the run"
                        await patiently(self._submit(self._ledger.fail, claim, why, started=False))
            raise

    async def renew(self, claim: Claim, *, lease: float = 60.0) -> Claim:
        return await self._do(self._ledger.renew, claim, lease=lease)

    async def succeed(self, claim: Claim, result: Any = None) -> Entry:
        return await self._do(self._ledger.succeed, claim, result)

    async def fail(self, claim: Claim, problem: str, *, started: bool = True) -> Entry:
        return await self._do(self._ledger.fail, claim, problem, started=started)

    async def give_up(self, claim: Claim, why: str) -> Entry:
        return await self._do(self._ledger.give_up, claim, why)

    async def get(self, key: Key) -> Entry | None:
        return await self._do(self._ledger.get, key)

    async def entries(
        self, state: State | None = None, scope: str | None = None, *, limit: int = 1000
    ) -> list[Entry]:
        return await self._do(self._ledger.entries, state, scope, limit=limit)

    async def find(self, prefix: str) -> list[Entry]:
        return await self._do(self._ledger.find, prefix)

    async def reconcile(
        self, key: Key, asked: Finding | Callable[[Entry], Finding | Awaitable[Finding]]
    ) -> Entry:
        """As Ledger.reconcile; an inquiry is called in the event loop, and may be a coroutine function."""
        if not callable(asked):
            return await self._do(self._ledger.reconcile, key, asked)
        entry = await self._do(self._ledger.in_doubt, key)
        found = asked(entry)
        if inspect.isawaitable(found):
            found = await found
        return await self._do(self._ledger.resolve, entry, found)

    async def expire(self) -> int:
        return await self._do(self._ledger.expire)

    async def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            await self._do(self._ledger.close)
            self._thread.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def patiently(work: asyncio.Future[_T]) -> _T:
    """Waits for the end however often it is cancelled."""
    while not work.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([work])
    return work.result()

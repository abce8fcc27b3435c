"""One tool at work: run in its own thread or task, waited for as long as there is time, and no longer.

Rules
 - The wait ends when the time is over, whether the tool ends or not. Nothing can stop a thread: what it still does
   happens, and what it then returns adds nothing.
 - Who is called off is told first (the token; a coroutine's task too), then has a moment to end in order.
 - Threads are daemons: a tool that hangs does not keep the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from trigate.tools import Cancellation

__all__ = ["GRACE", "NoAnswerError", "run_tool"]

#: Seconds that a tool which was called off gets to end in order.
GRACE = 0.25


class NoAnswerError(Exception):
    """There was no answer in time. Whether the tool has done anything is not known. reason: why nobody waits."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def run_tool(function: Callable[[], Any], is_async: bool, seconds: float, token: Cancellation) -> Any:
    """What the function returns, or its coroutine if it is async; what it raises goes on.

    NoAnswerError once `seconds` are over or the token is cancelled. If the caller's own task is cancelled the tool is
    told, gets its moment, and CancelledError goes on.
    """
    loop = asyncio.get_running_loop()
    called_off = asyncio.Event()
    token.when_cancelled(lambda: _tell(loop, called_off))
    work = asyncio.ensure_future(function()) if is_async else _in_thread(function)
    stop = asyncio.create_task(called_off.wait())
    try:
        await asyncio.wait({work, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if work.done() and not work.cancelled():
            return work.result()
        reason = token.reason if token.is_cancelled else f"no answer within {seconds:g} s"
    except asyncio.CancelledError:
        await _call_off(work, token, "the run was cancelled")
        raise
    finally:
        stop.cancel()
    await _call_off(work, token, reason)
    raise NoAnswerError(reason)


def _tell(loop: asyncio.AbstractEventLoop, called_off: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(called_off.set)


def _in_thread(function: Callable[[], Any]) -> asyncio.Future[Any]:
    """The work under way in a thread, as a future of this loop."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if answer.done():
            return  # nobody waits any more
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(error)

    def work() -> None:
        value, failure = None, None
        try:
            value = function()
        except BaseException as error:  # also a SystemExit of a tool is its answer, not ours
            failure = error if isinstance(error, Exception) else RuntimeError(f"the tool raised {error!r}")
        with suppress(RuntimeError):  # of a closed loop: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=work, name="trigate-tool", daemon=True).start()
    return answer


async def _call_off(work: asyncio.Future[Any], token: Cancellation, reason: str) -> None:
    """Tells the tool, and leaves it a moment. What it answers now is not looked at."""
    token.cancel(reason)
    if isinstance(work, asyncio.Task):
        work.cancel()
    await asyncio.wait({work}, timeout=GRACE)
    if work.done():
        if not work.cancelled():
            work.exception()  # looked at, so that it is not reported as forgotten
    elif isinstance(work, asyncio.Task):
        work.add_done_callback(lambda late: late.cancelled() or late.exception())
    else:
        work.cancel()

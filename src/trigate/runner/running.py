"""One tool at work: run in its own thread or task, waited for as long as there is time, and no longer.

Rules
 - The wait ends when the time is over, whether the tool ends or not. Nothing can stop a thread: what it still does
   happens, and what it then returns adds nothing.
 - Who is called off is told first (the token; a coroutine's task too), then has a moment to end in order.
 - Threads are daemons: a tool that hangs does not keep the process from ending.
 - Whatever a tool raises is its answer: it ends neither the loop nor the process.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from trigate.tools import Cancellation

__all__ = ["GRACE", "NoAnswerError", "run_tool"]

#: Seconds that a tool which was called off gets to end in order.
GRACE = 0.25


def _same(value: Any) -> Any:
    return value


class NoAnswerError(Exception):
    """There was no answer in time. Whether the tool has done anything is not known. reason: why nobody waits."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def run_tool(
    function: Callable[[], Any],
    is_async: bool,
    seconds: float,
    token: Cancellation,
    *,
    then: Callable[[Any], Any] = _same,
) -> Any:
    """What `then` makes of what the function, or the awaitable that it returns, gives; what they raise goes on.

    is_async: call it in the loop; else in a thread. NoAnswerError once `seconds` are over or the token is cancelled.
    If the caller's own task is cancelled the tool is told, gets its moment, and CancelledError goes on.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    work = loop.create_task(_guarded(function, then)) if is_async else _in_thread(function, then)
    called_off = asyncio.Event()
    stop = loop.create_task(called_off.wait())
    forget = token.when_cancelled(functools.partial(_tell, loop, called_off))
    try:
        await asyncio.wait({work, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if work.done() and not work.cancelled():
            value = work.result()
            if is_async or not inspect.isawaitable(value):
                return value
            return await run_tool(lambda: value, True, until - loop.time(), token, then=then)
    except asyncio.CancelledError:
        await _call_off(work, token, "the run was cancelled")
        raise
    finally:
        forget()
        stop.cancel()
    if work.done():
        raise NoAnswerError("it cancelled itself")
    reason = token.reason if token.is_cancelled else f"no answer within {seconds:g} s"
    await _call_off(work, token, reason)
    raise NoAnswerError(reason or "it was called off")


def _tell(loop: asyncio.AbstractEventLoop, called_off: asyncio.Event) -> None:
    with suppress(RuntimeError):  # of a closed loop: nobody waits any more
        loop.call_soon_threadsafe(called_off.set)


async def _guarded(function: Callable[[], Any], then: Callable[[Any], Any]) -> Any:
    """The answer of a coroutine. A SystemExit would end the loop, and with it everybody else's work."""
    try:
        return then(await function())
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise  # it may be the user's, and no tool's
        raise _as_exception(error) from error


def _in_thread(function: Callable[[], Any], then: Callable[[Any], Any]) -> asyncio.Future[Any]:
    """The work under way in a thread, as a future of this loop."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: Exception | None) -> None:
        if answer.done():  # nobody waits any more
            _close(value)
        elif error is None:
            answer.set_result(value)
        else:
            answer.set_exception(error)

    def work() -> None:
        value, failure = None, None
        try:
            value = function()
            if not inspect.isawaitable(value):
                value = then(value)
        except BaseException as error:  # also a SystemExit of a tool is its answer, not ours
            failure = _as_exception(error)
        with suppress(RuntimeError):  # of a closed loop: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name="trigate-tool", daemon=True).start()
    return answer


def _as_exception(error: BaseException) -> Exception:
    """The error as one that a future can hold: those that stop programs and iterations become others."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    other = RuntimeError(f"the tool raised {type(error).__name__}")
    other.__cause__ = error
    return other


async def _call_off(work: asyncio.Future[Any], token: Cancellation, reason: str) -> None:
    """Tells the tool, and leaves it a moment. What it answers now is not looked at."""
    token.cancel(reason)
    if isinstance(work, asyncio.Task):
        work.cancel()
    await asyncio.wait({work}, timeout=GRACE)
    if not work.done() and not isinstance(work, asyncio.Task):
        work.cancel()
    work.add_done_callback(_drop)


def _drop(late: asyncio.Future[Any]) -> None:
    """Looks at an answer that adds nothing, so that it is not reported as forgotten."""
    if not late.cancelled() and late.exception() is None:
        _close(late.result())


def _close(value: Any) -> None:
    if inspect.iscoroutine(value):
        value.close()

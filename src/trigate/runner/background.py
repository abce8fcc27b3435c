"""A loop in a thread of its own, for callers that block.

Rules
 - One for the process, begun when first needed and never waited for: a tool that ignores its cancellation goes on
   there, and keeps nobody from ending. A forked child begins its own.
 - Who is interrupted while it waits (Ctrl-C) calls the work off, and leaves it a moment to write down what it knows.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["run_in_background"]

_T = TypeVar("_T")
#: Seconds that work which was called off gets to end in order: the tools' own moment, and a write to the ledger.
_MOMENT = 2.0


class _Background:
    """The loop and its thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        if self._thread is threading.current_thread():
            raise RuntimeError(
                "run() waits for the loop that it is called from: in a coroutine, await arun() instead"
            )
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="trigate-runner", daemon=True
                )
                self._thread.start()
            return self._loop


_background = _Background()
# Kept, not closed: closing a copy of the parent's loop would close it for the parent too.
_of_parents: list[_Background] = []


def _begin_anew() -> None:
    global _background  # noqa: PLW0603 - one for the process, and this is another process
    _of_parents.append(_background)
    _background = _Background()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def run_in_background(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """What the coroutine returns or raises. An exception that comes to the waiting caller (Ctrl-C) cancels it.

    RuntimeError if it is called from a coroutine of this very loop, which would wait for itself.
    """
    loop = _background.loop()
    ended = threading.Event()

    async def whole() -> _T:
        try:
            return await work()
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(whole(), loop)
    try:
        return future.result()
    except BaseException:
        if future.cancel():
            ended.wait(_MOMENT)
        raise

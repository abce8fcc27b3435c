"""A loop in a thread of its own, for callers that block.

Rule: one for the process, begun when first needed and never waited for: a tool that ignores its cancellation goes on
there, and keeps nobody from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["run_in_background"]

_T = TypeVar("_T")


class _Background:
    """The loop and its thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # A forked child has its parent's loop, but not the thread.
            if self._loop is None or self._thread is None or not self._thread.is_alive():
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="trigate-runner", daemon=True
                )
                self._thread.start()
            return self._loop


_background = _Background()


def run_in_background(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """What the coroutine returns or raises. An exception that comes to the waiting caller (Ctrl-C) cancels it."""
    future = asyncio.run_coroutine_threadsafe(work(), _background.loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise

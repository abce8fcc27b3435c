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
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None


def _background() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    with _lock:
        if _loop is None or _thread is None or not _thread.is_alive():  # a fork has the loop, not its thread
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_loop.run_forever, name="trigate-runner", daemon=True)
            _thread.start()
        return _loop


def run_in_background(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """What the coroutine returns or raises. An exception that comes to the waiting caller (Ctrl-C) cancels it."""
    future = asyncio.run_coroutine_threadsafe(work(), _background())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise

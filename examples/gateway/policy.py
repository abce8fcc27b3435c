"""Which tool calls may pass. Here: all but those whose names are on a list.

Rule: it sees whole calls alone, so it may look at their arguments too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from trigate import ToolCall

__all__ = ["allow_all_but"]


def allow_all_but(denied: Iterable[str]) -> Callable[[ToolCall], bool | str]:
    """What a CallGate asks: True, or the reason why not, which the client is told."""
    patterns = tuple(denied)

    def allow(call: ToolCall) -> bool | str:
        if any(fnmatchcase(call.name, pattern) for pattern in patterns):
            return f"calls of {call.name} are not allowed here"
        return True

    return allow

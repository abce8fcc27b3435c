"""Who permits what: asked for each call, after its arguments were read and before anything runs.

Rules
 - Nothing is permitted by silence: without a word, only a tool that reads and needs no permission.
 - A refusal has a reason that the model may read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from trigate.tools.context import Context
from trigate.tools.definition import Tool

__all__ = ["Policy", "PolicyLike"]

PolicyLike: TypeAlias = Callable[[Tool, Any, Context], bool | str]
"""(tool, arguments, context) -> True, or False, or the reason of a refusal."""


class Policy:
    """Permits by words.

    granted       the permissions that are given
    side_effects  whether a tool that does more than read may run although it names no permission
    """

    def __init__(self, granted: Iterable[str] = (), *, side_effects: bool = False) -> None:
        if isinstance(granted, str):
            raise TypeError("granted is a set of words, not one str")
        self.granted = frozenset(granted)
        self.side_effects = side_effects

    def __call__(self, tool: Tool, arguments: Any, context: Context) -> bool | str:  # noqa: ARG002 - as any policy
        if tool.permission is not None:
            return tool.permission in self.granted or f"the permission {tool.permission} is not granted"
        return tool.read_only or self.side_effects or f"{tool.name} has side effects, and none are permitted"

    def __repr__(self) -> str:
        return f"Policy({sorted(self.granted)!r}, side_effects={self.side_effects})"

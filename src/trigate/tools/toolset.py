"""The tools that one conversation may use: unique names, and their definitions for each provider.

Rules
 - What is not in the set is unknown, however near its name is.
 - Definitions come in the order in which the tools were given, so that a provider's cache of the prompt holds.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trigate.protocols.definitions import DEFINERS, Definition
from trigate.tools.definition import Tool, as_tool

if TYPE_CHECKING:
    from trigate.tools.discovery import DiscoveringToolset

__all__ = ["Toolset", "check_is_toolset"]


class Toolset:
    """Tools by name. tools: Tool objects, or any with name, parameters (JSON Schema) and function.

    ValueError for two tools of one name.
    """

    def __init__(self, tools: Iterable[Any] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for each in map(as_tool, tools):
            if each.name in self._tools:
                raise ValueError(f"two tools are named {each.name}")
            self._tools[each.name] = each

    def get(self, name: str) -> Tool | None:
        """The tool of exactly that name, or None."""
        return self._tools.get(name)

    def nearest(self, name: str, count: int = 3) -> tuple[str, ...]:
        """The names that are most like it, the nearest first; none if nothing is near."""
        by_fold = {each.casefold(): each for each in self._offered()}
        found = difflib.get_close_matches(name[:100].casefold(), by_fold, n=count, cutoff=0.5)
        return tuple(by_fold[each] for each in found)

    def tools_for(self, protocol: str) -> list[dict[str, Any]]:
        """The definitions in the shape of that protocol's requests: the list that stands in `tools` there, in
        `toolConfig.tools` for bedrock-converse. ValueError for an unknown protocol."""
        try:
            define = DEFINERS[protocol]
        except KeyError:
            known = ", ".join(DEFINERS)
            raise ValueError(f"unknown protocol {protocol!r}; the known ones are {known}") from None
        tools = self._offered().values()
        # Copies: who fits a request to a provider's taste must not change what the next one says.
        return [
            define(Definition(each.name, each.description, copy.deepcopy(each.parameters), each.kind))
            for each in tools
        ]

    def with_discovery(self, limit: int = 5, always: Iterable[str] = ()) -> DiscoveringToolset:
        """The same tools, offered on demand: the model sees find_tools, and what it found with it.

        limit: how many tools one search loads. always: names that are offered from the start.
        """
        from trigate.tools.discovery import DiscoveringToolset  # it is made of this class

        return DiscoveringToolset(self, limit, always)

    def _offered(self) -> dict[str, Tool]:
        return self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(list(self._offered().values()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __len__(self) -> int:
        return len(self._offered())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(self._offered())}>"


def check_is_toolset(toolset: object) -> None:
    """TypeError for the tools themselves in place of their set."""
    if not isinstance(toolset, Toolset):
        raise TypeError(f"toolset must be a Toolset, as Toolset([tool, ...]), not a {type(toolset).__name__}")

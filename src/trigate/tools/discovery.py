"""Many tools, few definitions: the model searches, and what it finds is offered from then on.

Rules
 - A tool that was not loaded is unknown to `judge`: nobody told the model its parameters.
 - The ranking is plain and the same each time: words in the name count more than words in the description, rare
   words more than common ones, ties go by the order of the tools.
 - One set belongs to one conversation: it remembers what was loaded there.
"""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any

import msgspec

from trigate.tools.definition import Tool
from trigate.tools.problem import ToolError
from trigate.tools.toolset import Toolset

__all__ = ["FIND_TOOLS", "DiscoveringToolset"]

FIND_TOOLS = "find_tools"
_WORD = re.compile(r"[^\W_]+")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME_WEIGHT = 3
_MAX_QUERY_WORDS = 50
#: Definitions are larger than most results: a schema may have tens of KiB.
_MAX_FOUND_BYTES = 512 * 1024


class DiscoveringToolset(Toolset):
    """A toolset that offers find_tools, the tools that are always there, and those that were found."""

    def __init__(self, tools: Toolset, limit: int, always: Iterable[str]) -> None:
        if limit < 1:
            raise ValueError(f"limit must be at least 1, not {limit}")
        super().__init__(tools)
        if FIND_TOOLS in self._tools:
            raise ValueError(f"a tool is named {FIND_TOOLS} already")
        self._limit = limit
        self._lock = threading.Lock()
        self._index = _Index(self._tools.values())
        finder = Tool(
            function=self.find,
            name=FIND_TOOLS,
            description=self._about(),
            read_only=True,
            max_result_bytes=_MAX_FOUND_BYTES,
        )
        self._loaded = {FIND_TOOLS: finder}
        for name in always:
            self._loaded[name] = self._tools[name]

    def _about(self) -> str:
        return (
            f"Finds tools by what they do. {len(self._tools)} tools exist; at most {self._limit} of them are loaded "
            "by one search and can be called from the next turn on."
        )

    def find(
        self,
        query: Annotated[
            str, msgspec.Meta(min_length=1, description="what the tool should do, in a few words")
        ],
    ) -> list[dict[str, Any]]:
        """Loads the tools that fit best, the best first: name, description and parameters of each."""
        names = self._index.search(query, self._limit)
        if not names:
            raise ToolError(
                "no tool fits these words",
                code="not_found",
                next="Search with other, more general words; if nothing is found, there is no such tool.",
            )
        found = [self._tools[name] for name in names]
        with self._lock:  # a new dict each time: who reads the old one meanwhile is not disturbed
            self._loaded = {**self._loaded, **{each.name: each for each in found}}
        return [
            {"name": each.name, "description": each.description, "parameters": each.parameters}
            for each in found
        ]

    @property
    def loaded(self) -> tuple[str, ...]:
        """The names that are offered now."""
        return tuple(self._loaded)

    def get(self, name: str) -> Tool | None:
        """The tool of that name if it is offered by now."""
        return self._loaded.get(name)

    def _offered(self) -> dict[str, Tool]:
        return self._loaded


class _Index:
    """Words of tools, weighted."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._weights: dict[str, Counter[str]] = {}
        spread: Counter[str] = Counter()
        for each in tools:
            weights: Counter[str] = Counter(set(_words(each.description)))
            for word in set(_words(each.name)):
                weights[word] += _NAME_WEIGHT
            self._weights[each.name] = weights
            spread.update(weights.keys())
        count = len(self._weights)
        self._rarity = {word: math.log(1 + count / seen) for word, seen in spread.items()}

    def search(self, query: str, limit: int) -> list[str]:
        """The names of the best tools that share a word with the query."""
        asked = sorted(set(_words(query)))[:_MAX_QUERY_WORDS]
        scores = {
            name: sum(weights[word] * self._rarity[word] for word in asked if word in weights)
            for name, weights in self._weights.items()
        }
        ranked = sorted(scores, key=lambda name: -scores[name])  # stable: ties keep their order
        return [name for name in ranked if scores[name] > 0][:limit]


def _words(text: str) -> list[str]:
    """Folded words, without a plural's end; of scripts without spaces, each pair of letters."""
    told: list[str] = []
    for word in _WORD.findall(_HUMP.sub(" ", text)):
        folded = word.casefold()
        if _WIDE.search(folded):
            told += [folded[at : at + 2] for at in range(max(1, len(folded) - 1))]
        else:
            told.append(folded[:-1] if len(folded) > 3 and folded.endswith("s") else folded)
    return told

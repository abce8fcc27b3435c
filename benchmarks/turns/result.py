"""What a response comes to, in a form that every library can be asked for.

Rules
 - Arguments are values, not text: two libraries may write the same object with other spaces.
 - What a library does not say is None, and is not compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Call", "Result"]

#: (call_id or None where the wire has none, name, the value of the arguments)
Call = tuple[str | None, str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    text: str
    calls: tuple[Call, ...]
    reasoning: str | None = None
    status: str | None = None

    def agrees(self, other: Result) -> bool:
        """Whether both say the same, as far as both say anything."""
        return (
            self.text == other.text
            and self.calls == other.calls
            and _same(self.reasoning, other.reasoning)
            and _same(self.status, other.status)
        )


def _same(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other

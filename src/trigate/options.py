"""What the caller asked of the parser, as ResponseParser checked it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trigate.limits import Limits

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """See ResponseParser."""

    release_on: Literal["response", "call"] = "response"
    deltas: bool = True
    limits: Limits = field(default_factory=Limits)
    lenient: frozenset[str] = frozenset()
    strict: bool = False
    ids: Literal["wire", "generate"] = "wire"

"""What the caller asked of the parser, as ResponseParser checked it."""

from __future__ import annotations

from typing import Literal

import msgspec

from trigate.limits import DEFAULTS, Limits

__all__ = ["Options"]


class Options(msgspec.Struct, frozen=True):
    """See ResponseParser."""

    release_on: Literal["response", "call"] = "response"
    deltas: bool = True
    limits: Limits = DEFAULTS
    lenient: frozenset[str] = frozenset()
    strict: bool = False
    ids: Literal["wire", "generate"] = "wire"

"""What a user of a peer has in hand after one stream, and the loop that each peer_*.py runs.

Rules
 - A peer is one process. It reads cells from standard input and writes what was seen to standard output, a
   JSON line each.
 - `fate` of a call: "runs" if the library's own helper, or the loop in the provider's guide where there is
   none, would run it; "marked" if the library itself says that the call is not to be run; "unreadable" if
   the call is handed over, but its arguments are no JSON, so that the caller's json.loads is the first to
   notice.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from typing import Any, Literal, TypeAlias

from loopback import Loopback

__all__ = ["Ask", "Call", "Cell", "Seen", "fate_of_text", "serve"]

Fate: TypeAlias = Literal["runs", "marked", "unreadable"]


@dataclass(frozen=True)
class Call:
    """One call as handed over. arguments: as given, a text or a value. why: what marks it."""

    call_id: str | None
    name: str | None
    arguments: Any
    fate: Fate
    why: str = ""


@dataclass
class Seen:
    """calls: those in the final result. finish: the word for why it ended, None where there is none."""

    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    error: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Cell:
    """One stream. names: the tools that it mentions, for libraries that know only registered ones."""

    protocol: str
    server: Loopback
    names: tuple[str, ...]

    @property
    def url(self) -> str:
        return self.server.url


Ask: TypeAlias = Callable[[Cell, Seen], None]


def fate_of_text(arguments: Any) -> Fate:
    """What `json.loads(call.arguments)` in a user's loop makes of it. An empty text is no JSON either."""
    try:
        json.loads(arguments)
    except (TypeError, ValueError):
        return "unreadable"
    return "runs"


def look(ask: Ask, server: Loopback, told: dict[str, Any]) -> Seen:
    """One cell. An exception is something that the user sees, too."""
    server.answer_with(base64.b64decode(told["body"]), broken=told["broken"])
    seen = Seen()
    try:
        ask(Cell(told["protocol"], server, tuple(told["names"])), seen)
    except Exception as error:
        seen.error = type(error).__name__
        seen.message = str(error).replace(server.url, "URL").split("\n", 1)[0][:200]
    seen.calls = [call if call.name in told["names"] else lost(call) for call in seen.calls]
    return seen


def lost(call: Call) -> Call:
    """A call that would run, but no tool has its name."""
    return replace(call, fate="marked", why="no such tool") if call.fate == "runs" else call


def serve(ask: Ask, packages: tuple[str, ...], how: dict[str, str]) -> None:
    """Greets with versions and manners, then answers cells until the input ends."""
    warnings.simplefilter("ignore")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        os.environ[name] = "none"
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library that prints does not disturb
    server = Loopback()

    def say(value: Any) -> None:
        out.write(json.dumps(value, default=repr) + "\n")
        out.flush()

    say({"packages": {name: version(name) for name in packages}, "how": how})
    for line in sys.stdin:
        say(asdict(look(ask, server, json.loads(line))))

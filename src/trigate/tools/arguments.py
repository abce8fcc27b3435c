"""Arguments that do not fit: the faults gathered, bounded, and said without giving secrets away.

Rules
 - A reader has the JSON Schema for the model and reads a decoded object strictly: unknown members are refused,
   nothing is coerced. What does not fit is one UnfitError with every fault that was found, up to MAX_FINDINGS.
 - What was found is shown shortened, and not at all where the member's name says that it is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Protocol

from trigate.tools.problem import Finding, spell
from trigate.tools.schema import Part, Schema, path_of

__all__ = [
    "MAX_COUNTED",
    "MAX_FINDINGS",
    "ArgumentReader",
    "TextReader",
    "UnfitError",
    "fault",
    "missing",
    "unknown",
]

MAX_FINDINGS = 10
#: So many faults are looked for: arguments of megabytes that are wrong all over must not cost more than that.
MAX_COUNTED = 1000
_SECRET = re.compile(
    r"(?i)passw|passphrase|secret|token|credential|authorization|api[-_]?key|private[-_]?key"
)


class UnfitError(Exception):
    """The arguments do not fit. findings: the first of them; more: how many beyond those were counted."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        unique = list(dict.fromkeys(islice(findings, MAX_COUNTED)))
        self.findings = tuple(unique[:MAX_FINDINGS])
        self.more = len(unique) - len(self.findings)
        super().__init__("; ".join(f"{each.path}: {each.expected}" for each in self.findings))

    @classmethod
    def raise_for(cls, findings: Iterable[Finding]) -> None:
        """Raises itself if there are any."""
        if told := list(islice(findings, MAX_COUNTED)):
            raise cls(told)


class ArgumentReader(Protocol):
    """schema: what the model is shown. read: the arguments as the function takes them; UnfitError."""

    @property
    def schema(self) -> Schema: ...

    def read(self, value: dict[str, Any]) -> Any: ...


class TextReader:
    """Of a custom tool: free text. A provider without custom tools sends it as the one member `input`."""

    def __init__(self) -> None:
        self.schema: Schema = {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
            "additionalProperties": False,
        }

    def read(self, value: dict[str, Any]) -> str:
        faults = [unknown([name], ("input",)) for name in value if name != "input"]
        if "input" not in value:
            faults.append(missing(["input"], "string"))
        elif not isinstance(value["input"], str):
            faults.append(fault(["input"], "string", value["input"]))
        UnfitError.raise_for(faults)
        return str(value["input"])


def fault(parts: list[Part], expected: str, found: Any) -> Finding:
    """A value that is not what is expected there."""
    is_secret = isinstance(found, str) and any(
        isinstance(each, str) and _SECRET.search(each) for each in parts
    )
    return Finding(path_of(parts), expected, "a string, not shown" if is_secret else spell(found))


def missing(parts: list[Part], expected: str) -> Finding:
    """A member that must be there."""
    return Finding(path_of(parts), expected or "a value", "nothing: the member is missing")


def unknown(parts: list[Part], known: Iterable[str]) -> Finding:
    """A member that must not be there."""
    names = ", ".join(known)
    return Finding(
        path_of(parts), f"only the members {names}" if names else "no such member", "an unknown member"
    )

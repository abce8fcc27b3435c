"""The cut matrix as cells, and what trigate makes of each: shared by the measurement, the page and its test.

The bytes are those of tests/matrix_streams.py, nothing of them is written here. A control is a response
without a fault: a peer that does not run its call cannot be judged on the rest.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trigate

ROOT = Path(__file__).resolve().parent.parent.parent
if str(ROOT / "tests") not in sys.path:
    sys.path.append(str(ROOT / "tests"))

import matrix_streams  # noqa: E402 (it is no package: the path comes first)
import mutations  # noqa: E402

__all__ = [
    "CONTROL",
    "MEANT",
    "Cell",
    "cells",
    "controls",
    "counted",
    "outcome",
    "refusals",
    "rows",
    "unseen",
]

CONTROL = "no_fault"
#: The calls that every turn asks for, by the letter that the page gives them.
MEANT = {"A": matrix_streams.A, "B": matrix_streams.B}


@dataclass(frozen=True)
class Cell:
    """One protocol, one fault, and the bytes."""

    protocol: str
    row: str
    body: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:16]

    @property
    def key(self) -> str:
        return f"{self.protocol} / {self.row}"


def cells() -> list[Cell]:
    """Every cell of the matrix that exists, protocol by protocol."""
    return [Cell(*cell) for cell in matrix_streams.matrix()]


def controls() -> list[Cell]:
    """The same turn without a fault, and with the end mark where the protocol has one."""
    made = []
    for protocol, writer_of in matrix_streams._WRITERS.items():
        writer = writer_of()
        matrix_streams._ended(writer)
        if protocol == "openai-chat":
            writer.sentinel()
        made.append(Cell(protocol, CONTROL, matrix_streams.frames.join(writer.frames)))
    return made


def rows() -> dict[str, str]:
    """Each row and what it does."""
    return dict(matrix_streams.ROWS)


def refusals() -> dict[tuple[str, str], str]:
    """Why a row does not exist in a protocol."""
    return dict(matrix_streams.NOT_ON_WIRE)


def unseen() -> dict[str, dict[str, str]]:
    """By protocol, the kinds of damage that its wire cannot show, and why."""
    return dict(mutations.CANNOT_SHOW)


def counted() -> dict[str, tuple[int, dict[str, int]]]:
    """By protocol, how many mutants of the recordings there were, and how many calls each kind explains."""
    tree = ast.parse((ROOT / "tests" / "test_mutation_safety.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if (
            isinstance(node, ast.AnnAssign)
            and ast.unparse(node.target) == "COUNTED"
            and node.value is not None
        ):
            found: dict[str, tuple[int, dict[str, int]]] = ast.literal_eval(node.value)
            return found
    raise LookupError("tests/test_mutation_safety.py has no COUNTED")


def outcome(cell: Cell) -> dict[str, Any]:
    """What trigate says: the status, what may run, what may not and why."""
    response = trigate.parse(cell.body, cell.protocol)
    return {
        "status": response.status,
        "reason": response.reason,
        "error": response.error.code if response.error is not None else None,
        "released": [released(call) for call in response.released],
        "held": [
            {"name": call.name, "arguments": call.arguments, "state": call.state, "problem": call.problem}
            for call in response.calls
            if not isinstance(call, trigate.ReleasedCall)
        ],
    }


def released(call: trigate.ReleasedCall) -> dict[str, Any]:
    arguments = call.arguments if call.kind == "custom" else json.loads(call.arguments or "{}")
    return {"name": call.name, "arguments": arguments}

"""What the model of a seeded turn says, before any protocol writes it down: reasoning, text, calls, in pieces.

Rules
 - The same seed gives the same pieces, on every machine.
 - Pieces are like tokens: a word with its space, a mark, now and then a line break, a quote or Chinese.
 - Arguments are one JSON object, cut between characters and never inside an escape, as tokenizers do.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import Any

__all__ = ["Script", "Spoken", "letters", "spoken_call", "words", "write_file"]

_PROSE = (
    "the stream ends when its last event has been read and not a byte before so a parser must keep what it "
    "has half of a number is a number too which is why nobody may act on it"
)
_WORDS = _PROSE.split()
_MARKS = (",", ".", ":", " -", ")", " (", "s", "ing", ".\n\n", '"', ' "', "`")
_ABROAD = ("数据", "流在", "🌦️", " café", "结束")
_UNIT = re.compile(r"\\u[0-9a-f]{4}|\\.|.", re.DOTALL)
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@dataclass(frozen=True)
class Spoken:
    """One call: `pieces` joined are the JSON text of `value`."""

    call_id: str
    name: str
    value: Any
    pieces: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


@dataclass(frozen=True)
class Script:
    name: str
    reasoning: tuple[str, ...]
    text: tuple[str, ...]
    calls: tuple[Spoken, ...]

    @property
    def deltas(self) -> int:
        return len(self.reasoning) + len(self.text) + sum(len(call.pieces) for call in self.calls)


def letters(rng: random.Random, size: int) -> str:
    return "".join(rng.choices(_ALPHABET, k=size))


def words(rng: random.Random, count: int, *, ascii_only: bool = False) -> tuple[str, ...]:
    """Pieces of prose."""
    kinds = rng.choices(("word", "mark", "abroad"), weights=(85, 14, 0 if ascii_only else 1), k=count)
    made = {
        "word": lambda: " " + rng.choice(_WORDS),
        "mark": lambda: rng.choice(_MARKS),
        "abroad": lambda: rng.choice(_ABROAD),
    }
    return tuple(made[kind]() for kind in kinds)


def write_file(rng: random.Random, size: int) -> dict[str, Any]:
    """Arguments of a call that writes a file whose content has about `size` characters, all of them ASCII."""
    lines: list[str] = []
    while size > 0:
        line = "    " + " ".join(rng.choices(_WORDS, k=9))
        lines.append(line if rng.random() < 0.7 else f'    print("{line.strip()}")')
        size -= len(lines[-1]) + 2
    return {"path": f"src/{letters(rng, 8)}.py", "overwrite": True, "mode": 420, "content": "\n".join(lines)}


def spoken_call(rng: random.Random, name: str, value: Any, *, piece: int | None = None) -> Spoken:
    """`piece`: the length of each piece; None: one to seven characters, as tokens have."""
    text = json.dumps(value, ensure_ascii=False)
    units = _UNIT.findall(text) if piece is None else list(text)
    pieces, start = [], 0
    while start < len(units):
        end = start + (piece or rng.randint(1, 7))
        pieces.append("".join(units[start:end]))
        start = end
    return Spoken(f"call_{letters(rng, 24)}", name, value, tuple(pieces))

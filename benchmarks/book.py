"""What was measured, row by row, and where: the one record that tables and plots are made from.

Rules
 - A row says what ran, on what, and what came out; `value` is None where a contestant was not timed.
 - Absolute figures belong to one machine and one day, so both are in the record.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

__all__ = ["Book", "Row", "machine"]


@dataclass(frozen=True)
class Row:
    """group: which question; case: on which input; name: who; value: how much, in `unit`."""

    group: str
    case: str
    name: str
    versions: str
    state: str
    value: float | None
    unit: str
    rounds: int = 0
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass
class Book:
    plan: str
    rows: list[Row] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    date: str = ""
    machine: str = ""

    def add(self, row: Row) -> None:
        self.rows.append(row)

    def of(self, group: str, case: str | None = None) -> list[Row]:
        return [row for row in self.rows if row.group == group and case in (None, row.case)]

    def value(self, group: str, case: str, name: str) -> float | None:
        return next((row.value for row in self.of(group, case) if row.name == name), None)

    def save(self, path: Path) -> None:
        self.date = datetime.now(UTC).date().isoformat()
        self.machine = machine()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Book:
        record = json.loads(path.read_text(encoding="utf-8"))
        rows = [Row(**row) for row in record.pop("rows")]
        return cls(rows=rows, **record)


def machine() -> str:
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, {python}"

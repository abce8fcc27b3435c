"""Memory: what a fresh parser weighs, what 10,000 open streams weigh, and what a delta adds.

Rules
 - Each figure comes from a process of its own (memory.py). There is nothing to take turns with: weight does not
   depend on what else the machine does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import trigate
from book import Book, Row
from memory import STATM
from plan import Plan
from race import TIMED
from turns import PROTOCOLS

GROUP = "memory"
SCRIPT = Path(__file__).with_name("memory.py")
KINDS = ("fresh", "open", "growth")


@pytest.mark.skipif(not STATM.exists(), reason="no /proc here to read a process's memory from")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def bench_memory(protocol: str, kind: str, plan: Plan, book: Book) -> None:
    count = plan.parsers // 50 if kind == "growth" else plan.parsers
    made = subprocess.run(
        [sys.executable, str(SCRIPT), kind, protocol, str(count)],
        capture_output=True,
        text=True,
        check=True,
    )
    facts = json.loads(made.stdout)
    facts["count"] = count
    weight = facts.pop("resident")
    book.add(Row(GROUP, kind, protocol, trigate.__version__, TIMED, weight, "bytes", 1, facts))

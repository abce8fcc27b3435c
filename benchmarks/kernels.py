"""The speed of each function of the scanner by each of its kernels: the tables in benchmarks/README.md.

Rules
 - A C program (c/kernels.c) runs, times and checks; a figure is the median of its rounds.
 - Kernels take turns within a round, so those of one row can be compared on a busy machine too.

usage: kernels.py [--write]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import marks
from book import machine

HERE = Path(__file__).resolve().parent
PAGE = HERE / "README.md"
BUILD = HERE.parent / "build" / "bench"
BEGIN, END = "<!-- kernels: written by make bench-counts -->", "<!-- end of kernels -->"
ROUNDS = 301
COMPARES = "is_equal, "


def measure() -> list[dict[str, Any]]:
    subprocess.run(["make", "-s", "-C", str(HERE / "c"), f"BUILD={BUILD}"], check=True)
    made = subprocess.run([str(BUILD / "kernels"), str(ROUNDS)], capture_output=True, text=True, check=True)
    rows: list[dict[str, Any]] = json.loads(made.stdout)["rows"]
    return rows


def table(unit: str, rows: list[dict[str, Any]]) -> str:
    """GB/s, or nanoseconds a call."""
    names = list(rows[0]["ns"])
    lines = [[unit, *names], ["---", *["---:"] * len(names)]]
    for row in rows:
        calls = [statistics.median(row["ns"][name]) / row["calls"] for name in names]
        values = [row["len"] / call for call in calls] if unit == "GB/s" else calls
        lines.append([row["name"].removeprefix(COMPARES), *(f"{value:.1f}" for value in values)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="The speed of the scanner's kernels.")
    parser.add_argument("--write", action="store_true", help="into benchmarks/README.md")
    options = parser.parse_args()
    rows = measure()
    scans = [row for row in rows if not row["name"].startswith(COMPARES)]
    compares = [row for row in rows if row["name"].startswith(COMPARES)]
    parts = [
        f"Medians of {ROUNDS} rounds; {machine()}.",
        f"Runs of {scans[0]['len'] // 1024} KiB without a hit:",
        table("GB/s", scans),
        "Equal bytes compared, beside libc's memcmp:",
        table("ns a call", compares),
    ]
    text = "\n\n".join(parts)
    print(text)
    if options.write:
        marks.put(PAGE, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""SSE events in node: eventsource-parser, on the same streams and chunks, timed inside node.

Rules
 - Another process and another language: it does not take turns with the others, its garbage collector runs when it
   likes, and its rounds follow one another. So its figure stands apart, marked, and no ratio is made of it.
 - Its events are compared with the expected ones, by a digest of all types and texts.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from bench_sse import CHUNKINGS, GROUP, corpus
from book import Book, Row
from corpus import NAMES, Stream
from figures import APART
from plan import Plan
from race import OTHER, TIMED, Outcome
from replay import REPLAY, Record

SCRIPT = Path(__file__).with_name("node") / "events.js"
#: Where the Makefile has npm install the package, if there is npm.
PACKAGE = Path(os.environ.get("TRIGATE_BENCH_NODE", "")) / "node_modules" / "eventsource-parser"
NODE = shutil.which("node")


@pytest.fixture(scope="session")
def node(book: Book) -> str:
    reason = "no node here" if NODE is None else "" if PACKAGE.is_dir() else "npm did not install it"
    if NODE is None or reason:
        book.absent[APART] = reason
        pytest.skip(reason)
    return NODE


def digest(stream: Stream) -> str:
    said = "".join(f"{kind}\0{data}\0" for kind, data, _, _ in stream.expected)
    return hashlib.sha256(said.encode()).hexdigest()


@pytest.mark.benchmark(timer=REPLAY)
@pytest.mark.parametrize("chunking", CHUNKINGS)
@pytest.mark.parametrize("name", NAMES)
def bench_node(name: str, chunking: str, node: str, plan: Plan, record: Record, tmp_path: Path) -> None:
    stream = corpus(plan.events)[name]
    file = tmp_path / name
    file.write_bytes(stream.data)
    sizes = [len(chunk) for chunk in stream.chunks(CHUNKINGS[chunking])]
    request = json.dumps({"file": str(file), "sizes": sizes, "rounds": plan.rounds * 2})
    made = subprocess.run(
        [node, str(SCRIPT), str(PACKAGE)], input=request, capture_output=True, text=True, check=True
    )
    answer = json.loads(made.stdout)
    right = answer["count"] == len(stream.expected) and answer["sha256"] == digest(stream)
    times = answer["ns"][plan.rounds :] if right else []  # the first half is the compiler's
    outcome = Outcome(f"{answer['version']}, node {answer['node']}", TIMED if right else OTHER, times)
    value = None if outcome.median is None else outcome.median / len(stream.expected)
    row = Row(
        GROUP,
        f"{name}, {chunking}",
        APART,
        outcome.versions,
        outcome.state,
        value,
        "ns an event",
        len(times),
    )
    record(row, outcome)

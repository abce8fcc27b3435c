"""Instructions for each event, in the core and in Python: the tables in benchmarks/README.md.

Rules
 - valgrind's callgrind counts them, so that neither a clock nor a busy machine has a part in it. Each figure is the
   difference of two runs that differ in the number of events alone, over that number: start-up, loading and the end
   fall out.
 - Each run says what it met (events, those that came out, text), and is refused if that is not what its row says.
 - valgrind plays a machine without AVX-512, so the kernel is the one that runs there; the table says which.

usage: counts.py [--write]
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import declared
import marks
from bench_chunk import COMMENT, HEADS
from bench_core import PIECES
from turns import PROTOCOLS, text_turn

HERE = Path(__file__).resolve().parent
PAGE = HERE / "README.md"
BUILD = HERE.parent / "build" / "bench"
BEGIN, END = "<!-- counts: written by make bench-counts -->", "<!-- end of counts -->"
FEW, MANY = 1000, 4000
TEMPLATES = 8  # TG_PREDICT_TEMPLATES
#: Deltas before those that are counted: the first opens its part, and only one behind it is learned.
BEFORE = 3
#: A member of each protocol's deltas that stays the same from one to the next.
FIXED = {
    "openai-responses": "output_index",
    "openai-chat": "system_fingerprint",
    "anthropic-messages": "index",
    "gemini": "responseId",
}
CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")


# -- streams -------------------------------------------------------------------------------------------


def deltas(protocol: str) -> list[bytes]:
    head = HEADS[protocol]
    return list(text_turn(protocol, MANY).blocks[head : head + MANY])


def line_by_line(frames: list[bytes]) -> list[bytes]:
    """The lines around the data are never those of the event before: every second one has no space in `data: `."""
    return [
        frame.replace(b"data: ", b"data:", 1) if number % 2 else frame for number, frame in enumerate(frames)
    ]


def value_of(frame: bytes) -> Any:
    return json.loads(frame.partition(b"data: ")[2])


def moved(protocol: str, frame: bytes, value: int, is_last: bool) -> bytes:
    """The frame with another value of the fixed member, which stands first or last in it."""
    name = FIXED[protocol]
    members = value_of(frame)
    del members[name]
    members = {**members, name: value} if is_last else {name: value, **members}
    before, mark, rest = frame.partition(b"data: ")
    end = rest[len(rest.rstrip(b"\r\n")) :]
    data = json.dumps(members, ensure_ascii=False, separators=(",", ":")).encode()
    return before + mark + data + end


def near_misses(protocol: str, frames: list[bytes], is_last: bool) -> list[bytes]:
    """As many that differ as there are templates, then those that are like none of them."""
    return [
        moved(protocol, frame, 10 + number if number < TEMPLATES else 99, is_last)
        for number, frame in enumerate(frames)
    ]


# -- counting ------------------------------------------------------------------------------------------


def instructions(words: list[str], given: bytes = b"", **more: str) -> tuple[int, list[str]]:
    """What one run takes, and what it says."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", **more}
    made = subprocess.run(
        [*CALLGRIND, *words], input=given, capture_output=True, env=environment, check=False
    )
    counted = re.search(rb"Collected\s*:\s*(\d+)", made.stderr)
    if made.returncode or counted is None:
        raise SystemExit(f"{' '.join(words)} failed:\n{made.stderr.decode()}")
    return int(counted.group(1)), made.stdout.decode().split()


@dataclass(frozen=True)
class Case:
    """title: the row; mode: c/counts.c's; frames: its stream; read: how many of the first `count` events come out."""

    title: str
    mode: str
    frames: Callable[[str, list[bytes]], list[bytes]]
    read: Callable[[int], range]


def _same(_: str, frames: list[bytes]) -> list[bytes]:
    return frames


def _lines(_: str, frames: list[bytes]) -> list[bytes]:
    return line_by_line(frames)


def _early(protocol: str, frames: list[bytes]) -> list[bytes]:
    return near_misses(protocol, frames, is_last=False)


def _late(protocol: str, frames: list[bytes]) -> list[bytes]:
    return near_misses(protocol, frames, is_last=True)


def _few(_: int) -> range:
    return range(1, TEMPLATES + 1)


def _all(count: int) -> range:
    return range(count, count + 1)


CASES = (
    Case("taken by its template, 64 KiB a chunk", "hits", _same, _few),
    Case("taken by its template, one event a chunk", "hits each", _same, _few),
    Case(
        "framed, no templates: the lines around the data are those of the last event", "frames", _same, _all
    ),
    Case("framed, no templates: line by line", "frames", _lines, _all),
    Case(
        f"framed, and like none of {TEMPLATES} templates, which differ in their first literal",
        *("misses", _early, _all),
    ),
    Case(
        f"framed, and like none of {TEMPLATES} templates, which differ in their last literal",
        *("misses", _late, _all),
    ),
    Case("framed and learned: its shape, its template", "learnt", _same, _all),
    Case("its shape alone (`tg_pick_find` on the data)", "picks", _same, _all),
)


def core_count(case: Case, protocol: str, folder: Path) -> tuple[float, str]:
    """Instructions of an event, and the kernel."""
    file = folder / f"{protocol} {case.title.replace('/', ' ')}"
    file.write_bytes(b"".join(case.frames(protocol, deltas(protocol))))
    shapes = folder / f"{protocol}.shapes"
    found, kernel = [], ""
    for count in (FEW, MANY):
        words = [str(BUILD / "counts"), str(shapes), str(file), case.mode, str(count)]
        taken, (met, read, kernel) = instructions(words)
        if int(met) != count or int(read) not in case.read(count):
            raise SystemExit(f"{protocol}, {case.title}: {met} events, {read} of them read")
        found.append(taken)
    return (found[1] - found[0]) / (MANY - FEW), kernel


@dataclass(frozen=True)
class Call:
    """title: the row, and counts_loop.py's case; is_unread: the core takes each event."""

    title: str
    chunks: Callable[[list[bytes]], list[bytes]]
    is_unread: bool = False
    is_text: bool = True
    settings: dict[str, str] = field(default_factory=dict)


def _deltas(frames: list[bytes]) -> list[bytes]:
    return frames


def _comments(frames: list[bytes]) -> list[bytes]:
    return [COMMENT] * len(frames)


def _never_alike(frames: list[bytes]) -> list[bytes]:
    """A member that must stay the same does not."""
    return [
        frame.replace(b'"logprobs":[]', b'"logprobs":[%d]' % (number % 90 + 10))
        for number, frame in enumerate(frames)
    ]


_OFF = {"TRIGATE_FASTPATH": "0"}
CALLS = (
    Call("loop", _comments, is_text=False),
    Call("list.clear", _comments, is_text=False),
    Call("ResponseParser.feed: a comment", _comments, is_text=False),
    Call("ResponseParser.feed, deltas=False: a delta that is taken", _deltas, is_unread=True),
    Call("ResponseParser.feed: a delta that is taken", _deltas, is_unread=True),
    Call("ResponseParser.feed, deltas=False: a delta that is read (no prediction)", _deltas, settings=_OFF),
    Call("ResponseParser.feed: a delta that is read (no prediction)", _deltas, settings=_OFF),
    Call("ResponseParser.feed: a delta that is like no template; read and learned", _never_alike),
    Call("SSEDecoder.feed: an event", _deltas, is_text=False),
    Call("SSEDecoder.feed: an event, its type and text asked for", _deltas, is_text=False),
)
SHOWN = {"loop": "the loop around each of these calls", "list.clear": "`list.clear` of an empty list"}


def python_count(call: Call) -> float:
    protocol = "openai-responses"
    blocks = text_turn(protocol, MANY).blocks
    head = HEADS[protocol]
    first = head + BEFORE
    frames = call.chunks(list(blocks[first : first + MANY]))
    given = pickle.dumps({"head": b"".join(blocks[:first]), "chunks": frames})
    found = []
    for count in (FEW, MANY):
        words = [sys.executable, "-B", str(HERE / "counts_loop.py"), call.title, str(count)]
        taken, (unread, text, anomalies) = instructions(words, given, **call.settings)
        pieces = [PIECES[protocol](value_of(block)) for block in blocks[head : first + count]]
        wanted = len("".join(pieces if call.is_text else pieces[:BEFORE]).encode())
        if (int(unread), int(text), int(anomalies)) != (count if call.is_unread else 0, wanted, 0):
            raise SystemExit(f"{call.title}: {unread} unread, {text} bytes of text, {anomalies} anomalies")
        found.append(taken)
    return (found[1] - found[0]) / (MANY - FEW)


# -- the page ------------------------------------------------------------------------------------------


def version(words: list[str]) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()


def core_table(folder: Path, pool: ThreadPoolExecutor) -> tuple[str, str]:
    for protocol in PROTOCOLS:
        declared.write(protocol, folder)
    rows = [[pool.submit(core_count, case, protocol, folder) for protocol in PROTOCOLS] for case in CASES]
    sizes = [f"{sum(map(len, deltas(protocol))) / MANY:,.0f}" for protocol in PROTOCOLS]
    lines = [["an event", *PROTOCOLS], ["---", *["---:"] * len(PROTOCOLS)], ["bytes of it", *sizes]]
    for case, row in zip(CASES, rows, strict=True):
        lines.append([case.title, *(f"{job.result()[0]:,.0f}" for job in row)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines), rows[0][0].result()[1]


def python_table(jobs: list[Future[float]]) -> str:
    lines = ["| a call | instructions |", "|---|---:|"]
    for call, job in zip(CALLS, jobs, strict=True):
        name, colon, what = call.title.partition(":")
        lines.append(f"| {SHOWN.get(call.title, f'`{name}`{colon}{what}')} | {job.result():,.0f} |")
    return "\n".join(lines)


def said(kernel: str) -> str:
    tools = [
        version(["gcc", "--version"]),
        f"CPython {platform.python_version()}",
        version(["valgrind", "--version"]),
    ]
    text = (
        f"Counted by valgrind's callgrind: two runs, of {FEW:,} and of {MANY:,} events, and the difference of the two"
        f" over the {MANY - FEW:,} events between them, so that start-up and loading fall out. Each run is refused if"
        f" it does not meet the events and the text that it should. valgrind plays a machine without AVX-512, so the"
        f" kernel is {kernel}'s. Made with {', '.join(tools)}."
    )
    return textwrap.fill(text, 120, break_on_hyphens=False)


def main() -> int:
    parser = argparse.ArgumentParser(description="Instructions for each event, in the core and in Python.")
    parser.add_argument("--write", action="store_true", help="into benchmarks/README.md")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("valgrind is not here: nothing is counted", file=sys.stderr)
        return 1
    subprocess.run(["make", "-s", "-C", str(HERE / "c"), f"BUILD={BUILD}"], check=True)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        calls = [pool.submit(python_count, call) for call in CALLS]
        core, kernel = core_table(Path(folder), pool)
        python = python_table(calls)
    parts = [
        said(kernel),
        "The core alone:",
        core,
        "From Python, deltas of openai-responses, one a chunk:",
        python,
    ]
    text = "\n\n".join(parts)
    print(text)
    if options.write:
        marks.put(PAGE, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

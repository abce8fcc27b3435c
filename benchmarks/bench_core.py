"""The core alone: GB/s of what it does to bytes, beside memcpy and memchr of the same bytes in the same run.

Rules
 - A C program (c/core.c) runs and times; here it is built, given seeded deltas, and its findings are checked: how
   many events, and the text of all of them by its checksum.
 - Two places: a stream larger than the last-level cache, where memory is the measure, and 64 KiB that stay in the
   cache. Where the machine has not the memory for the first, a smaller one is taken, and the row says its size.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import declared
from bench_chunk import HEADS
from book import Book, Row
from figures import HITS
from plan import KIB, MIB, Plan
from race import OTHER, TIMED
from turns import PROTOCOLS, text_turn

GROUP = "core"
HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "bench"
CACHED = 64 * KIB
#: Lanes that count events, and those that find their text; the others count copies, or nothing.
FINDS_TEXT = (HITS, f"{HITS}, one event a chunk", "pick")
COUNTS_EVENTS = ("framing", *FINDS_TEXT)
MEMORY, CACHE = "past the cache", "in the cache"
#: Where the piece of a delta stands.
PIECES: dict[str, Callable[[Any], str]] = {
    "openai-responses": lambda value: value["delta"],
    "openai-chat": lambda value: value["choices"][0]["delta"]["content"],
    "anthropic-messages": lambda value: value["delta"]["text"],
    "gemini": lambda value: value["candidates"][0]["content"]["parts"][0]["text"],
}


@dataclass(frozen=True)
class Deltas:
    """data: whole events, end to end; text: that of all of them."""

    data: bytes
    events: int
    text: bytes

    def sum(self, copies: int) -> int:
        """CRC-32 of the text, so many times."""
        found = 0
        for _ in range(copies):
            found = zlib.crc32(self.text, found)
        return found


def available() -> int:
    """Bytes of memory that can be had; the size of the quick plan where the machine does not say."""
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        return 4 * 256 * MIB
    fields = dict(line.split(":") for line in meminfo.read_text().splitlines())
    return int(fields["MemAvailable"].split()[0]) * KIB


def last_level_cache() -> int:
    """Bytes; 0 where the machine does not say."""
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("*/size")]
    units = {"K": KIB, "M": MIB}
    return max((int(size[:-1]) * units[size[-1]] for size in sizes if size[-1] in units), default=0)


@pytest.fixture(scope="session")
def program() -> Path:
    if shutil.which("make") is None or (shutil.which("cc") or shutil.which("gcc")) is None:
        pytest.skip("no make, or no C compiler, here")
    subprocess.run(["make", "-s", "-C", str(HERE / "c"), f"BUILD={BUILD}"], check=True)
    return BUILD / "core"


def deltas_of(protocol: str, size: int) -> Deltas:
    """Deltas of one text, `size` bytes at most."""
    head = HEADS[protocol]
    turn = text_turn(protocol, 8000 if size > CACHED else 400)
    blocks: list[bytes] = []
    text = ""
    left = size
    for block in turn.blocks[head : head + turn.deltas]:
        left -= len(block)
        if left < 0:
            break
        blocks.append(block)
        text += PIECES[protocol](json.loads(block.partition(b"data: ")[2]))
    assert turn.expected.text.startswith(text)
    return Deltas(b"".join(blocks), len(blocks), text.encode())


def measured(program: Path, files: list[Path], size: int, passes: int, rounds: int) -> dict[str, Any]:
    words = [str(word) for word in (program, *files, size, passes, rounds)]
    made = subprocess.run(words, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(made.stdout)
    return answer


def is_right(name: str, lane: dict[str, Any], deltas: Deltas, copies: int) -> bool:
    if name in COUNTS_EVENTS and lane["found"] != deltas.events * copies:
        return False
    return name not in FINDS_TEXT or lane["sum"] == deltas.sum(copies)


@pytest.mark.parametrize("place", [MEMORY, CACHE])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def bench_core(protocol: str, place: str, program: Path, plan: Plan, book: Book, tmp_path: Path) -> None:
    # Two copies of the stream, and as much again for everything else.
    size = min(plan.core_bytes, available() // 4) if place == MEMORY else CACHED
    deltas = deltas_of(protocol, size if place == CACHE else 4 * MIB)
    file = tmp_path / "deltas"
    file.write_bytes(deltas.data)
    files = [declared.write(protocol, tmp_path), file]
    passes = 1 if place == MEMORY else plan.core_bytes // 4 // CACHED
    rounds = plan.rounds // 2 + 1
    answer = measured(program, files, size, passes, rounds)
    facts = {"bytes": answer["bytes"] // passes, "cache": last_level_cache()}
    for name, lane in answer["lanes"].items():
        right = is_right(name, lane, deltas, answer["copies"])
        time = statistics.median(lane["ns"])
        told = {**facts, "ns an event": time / lane["found"]} if name in COUNTS_EVENTS and right else facts
        value, state = (lane["bytes"] / time, TIMED) if right else (None, OTHER)
        book.add(Row(GROUP, f"{protocol}, {place}", name, "", state, value, "GB/s", rounds, told))

"""What parsers weigh, measured in a process of its own: run by bench_memory.py.

Rules
 - The weight is what the process has resident more than before, over many parsers: allocator, headers and all.
   tracemalloc sees what Python allocates and not what the core does, so it is told beside it.
 - Modules, streams and one parser come first, so that nothing is weighed that is there only once.

usage: memory.py fresh|open|growth PROTOCOL COUNT
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tracemalloc
from pathlib import Path

import trigate
from turns import short_turns, text_turn

STATM = Path("/proc/self/statm")
#: Deltas that a parser is fed before and after the first weighing of `growth`.
BEFORE, MORE = 100, 2000


def resident() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def parsers(protocol: str, count: int, deltas: bool = True) -> list[trigate.ResponseParser]:
    return [trigate.ResponseParser(protocol, deltas=deltas) for _ in range(count)]


def fresh(protocol: str, count: int) -> dict[str, float]:
    kept = parsers(protocol, 100)
    start = resident()
    kept += parsers(protocol, count)
    weight = (resident() - start) / count
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept += parsers(protocol, 1000)
    traced = (tracemalloc.get_traced_memory()[0] - before) / 1000
    return {"resident": weight, "traced": traced}


def open_streams(protocol: str, count: int) -> dict[str, float]:
    """Each has been fed three quarters of a response that ends with a call, one event a chunk."""
    turn = short_turns(protocol)[0]
    blocks = turn.blocks[: len(turn.blocks) * 3 // 4]
    kept = parsers(protocol, 1)
    for block in blocks:
        kept[0].feed(block)
    start = resident()
    for _ in range(count):
        (parser,) = parsers(protocol, 1)
        for block in blocks:
            parser.feed(block)
        kept.append(parser)
    weight = resident() - start
    response = kept[-1].response
    assert response.status == "in_progress"
    assert protocol == "gemini" or response.calls[-1].state == "streaming"
    return {"resident": weight / count, "total": weight}


def growth(protocol: str, count: int) -> dict[str, float]:
    turn = text_turn(protocol, BEFORE + MORE)
    kept = parsers(protocol, count, deltas=False)
    for parser in kept:
        for block in turn.blocks[:BEFORE]:
            parser.feed(block)
    start, text = resident(), len(kept[0].response.text.encode())
    for parser in kept:
        for block in turn.blocks[BEFORE : BEFORE + MORE]:
            parser.feed(block)
    weight = (resident() - start) / count / MORE
    return {"resident": weight, "text": (len(kept[0].response.text.encode()) - text) / MORE}


KINDS = {"fresh": fresh, "open": open_streams, "growth": growth}

if __name__ == "__main__":
    kind, protocol, count = sys.argv[1:]
    print(json.dumps(KINDS[kind](protocol, int(count))))

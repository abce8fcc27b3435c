"""What parsers weigh, in bytes of memory that they hold: counted by the allocators, not by the size of the process.

Rules
 - `traced` sees what Python allocates. `allocated` sees the core's memory too, for in the process of its own that it
   needs (`python weights.py KIND PROTOCOL`, PYTHONMALLOC=malloc) all of Python's comes from the C library as well,
   which adds its headers. Only glibc tells what it has lent.
 - Parsers come before those that are weighed, so that nothing is weighed that is there only once.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matrix_streams
import trigate

__all__ = ["CAN_SEE_ALL", "KINDS", "allocated", "cut_in_call", "fed", "traced"]

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
#: Parsers that are weighed.
COUNT = 100
#: Deltas that a parser is fed before it is weighed for its growth, and then.
BEFORE, MORE = 100, 2000
_MEMBERS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _Lent(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _MEMBERS.split())


_mallinfo2: Any = getattr(ctypes.CDLL(None), "mallinfo2", None) if os.name == "posix" else None
_is_free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
#: A free-threaded build has an allocator of its own; the turns that are weighed lie in a checkout alone.
CAN_SEE_ALL = _mallinfo2 is not None and not _is_free_threaded and BENCHMARKS.is_dir()


def _lent() -> int:
    _mallinfo2.restype = _Lent
    told = _mallinfo2()
    return int(told.uordblks + told.hblkhd)


def fed(protocol: str, chunks: Sequence[bytes], **options: Any) -> trigate.ResponseParser:
    parser = trigate.ResponseParser(protocol, **options)
    for chunk in chunks:
        parser.feed(chunk)
    return parser


def _mean(weigh: Callable[[], int], make: Callable[[], trigate.ResponseParser]) -> float:
    kept: list[Any] = [make() for _ in range(20)]
    kept += [None] * COUNT
    gc.collect()
    before = weigh()
    for place in range(20, len(kept)):
        kept[place] = make()
    gc.collect()
    return (weigh() - before) / COUNT


def traced(protocol: str, chunks: Sequence[bytes]) -> float:
    """Bytes of Python's memory that a parser holds which was fed this."""
    tracemalloc.start()
    try:
        return _mean(lambda: tracemalloc.get_traced_memory()[0], lambda: fed(protocol, chunks))
    finally:
        tracemalloc.stop()


def cut_in_call(protocol: str) -> list[bytes]:
    """Pieces of a stream that is cut inside its second call, or before it where calls come whole."""
    rows = {row: data for name, row, data in matrix_streams.matrix() if name == protocol}
    data = rows.get("cut_in_arguments") or rows["cut_after_name"]
    return [data[at : at + 100] for at in range(0, len(data), 100)]


def _turns() -> Any:
    sys.path.append(str(BENCHMARKS))
    return importlib.import_module("turns")


def _open(protocol: str) -> float:
    """An open stream, as the benchmark has it: three quarters of a response that ends with a call, event by event."""
    blocks = _turns().short_turns(protocol)[0].blocks
    begun = blocks[: len(blocks) * 3 // 4]
    response = fed(protocol, begun).response
    assert response.status == "in_progress"
    assert protocol == "gemini" or response.calls[-1].state == "streaming"
    return _mean(_lent, lambda: fed(protocol, begun))


def _growth(protocol: str) -> float:
    """Bytes that a delta adds to an open stream beside those of its text."""
    blocks = _turns().text_turn(protocol, BEFORE + MORE).blocks
    parsers = [fed(protocol, blocks[:BEFORE], deltas=False) for _ in range(10)]
    gc.collect()
    before = _lent()
    for parser in parsers:
        for block in blocks[BEFORE : BEFORE + MORE]:
            parser.feed(block)
    grown = (_lent() - before) / len(parsers)
    # A buffer doubles: it is up to twice its text.
    return (grown - 2 * len(parsers[0].response.text.encode())) / MORE


KINDS = {"open": _open, "growth": _growth}


def allocated(kind: str, protocol: str) -> float:
    """One of KINDS, from a process of its own."""
    made = subprocess.run(
        [sys.executable, __file__, kind, protocol],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONMALLOC": "malloc"},
    )
    return float(made.stdout)


if __name__ == "__main__":
    print(KINDS[sys.argv[1]](sys.argv[2]))

"""One call of trigate's, so many times, for a tool that counts instructions (counts.py runs it).

Rules
 - Everything is loaded and made whatever the count, so that the difference of two counts is that of the calls.
 - The loops of all cases are one, but for the floors, whose calls take nothing.
 - It imports as little as it can: each import is run by the tool too, fifty times as slowly.

usage: counts_loop.py CASE COUNT < PICKLED, a dict of `head` (what comes before) and `chunks`
Prints how many events went unread, the bytes of text that came, and the anomalies.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

import trigate

Feed = Callable[[bytes], Any]


def each(feed: Feed, chunks: list[bytes]) -> None:
    for chunk in chunks:
        feed(chunk)


def each_asked(feed: Feed, chunks: list[bytes]) -> None:
    """Asks each event for what it holds."""
    for chunk in chunks:
        for event in feed(chunk):
            _ = event.event
            _ = event.data


def floor(case: str, chunks: list[bytes]) -> None:
    clear: Callable[[], None] = [].clear
    if case == "loop":
        for _ in chunks:
            pass
    else:
        for _ in chunks:
            clear()


def parser_of(case: str, head: bytes) -> trigate.ResponseParser:
    parser = trigate.ResponseParser("openai-responses", deltas="deltas=False" not in case)
    parser.feed(head)
    return parser


def main() -> None:
    case, count = sys.argv[1], int(sys.argv[2])
    given = pickle.load(sys.stdin.buffer)
    chunks: list[bytes] = given["chunks"][:count]
    parser = parser_of(case, given["head"])
    before = parser._turn.lanes._hits
    gc.disable()
    if case in ("loop", "list.clear"):
        floor(case, chunks)
    elif case.startswith("SSEDecoder"):
        decoder = trigate.SSEDecoder(errors="strict")
        (each_asked if "text asked for" in case else each)(decoder.feed, chunks)
    else:
        each(parser.feed, chunks)
    response = parser.response
    unread = parser._turn.lanes._hits - before
    print(unread, len(response.text.encode()), len(response.anomalies), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()

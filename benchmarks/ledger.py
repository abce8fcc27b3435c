"""What a claim costs: calls a second for each ledger, one at a time and many at once.

Rules
 - The calls come from a parsed stream: key and digest are part of the time, the parsing is not.
 - Real servers on this machine, over Unix sockets, each commit synced. The disk decides most of it: its own time for
   a small write and fsync stands beside the table.
 - One process, one connection. Medians of rounds; in each round every ledger has its turn.

usage: ledger.py [--calls 500] [--rounds 5] [--write]
"""

from __future__ import annotations

import argparse
import collections
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))  # where the servers and the streams are

import marks  # noqa: E402 - this and what follows: after the path
from ledger_servers import SERVERS, Missing  # noqa: E402
from ledgers import response_of  # noqa: E402
from trigate.ledger import Ask, Ledger, digest_of, key_of, open_ledger  # noqa: E402
from trigate.response import Response  # noqa: E402

PAGE = HERE / "README.md"
BEGIN, END = "<!-- ledgers: written by benchmarks/ledger.py -->", "<!-- end of ledgers -->"
BATCHES = (1, 10, 100)
ARGUMENTS = '{"to":"Ann","amount":10,"note":"rent, November","urgent":false}'


def asks_of(response: Response, scope: str) -> Iterator[Ask]:
    """Key and digest of each call, as a runner makes them."""
    for call in response.released:
        yield Ask(key_of(call, response, scope), digest_of(call))


def claimed(ledger: Ledger, response: Response, scope: str, batch: int) -> None:
    """Claims every call of the response, so many in one transaction."""
    waiting: list[Ask] = []
    for ask in asks_of(response, scope):
        waiting.append(ask)
        if len(waiting) == batch:
            assert all(claim.outcome == "claimed" for claim in ledger.claim_many(waiting))
            waiting.clear()
    assert not waiting


def settled(ledger: Ledger, response: Response, scope: str) -> None:
    """Claims every call, and writes its result."""
    for ask in asks_of(response, scope):
        ledger.succeed(ledger.claim(ask.key, ask.digest), {"done": True})


def repeated(ledger: Ledger, response: Response, scope: str) -> None:
    """Claims every call once more: the stored result comes back."""
    for ask in asks_of(response, scope):
        assert ledger.claim(ask.key, ask.digest).outcome == "stored"


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(ledgers: dict[str, Ledger], response: Response, rounds: int) -> dict[str, dict[str, float]]:
    """By ledger and kind of work: calls a second."""
    count = len(response.released)
    taken: dict[str, dict[str, list[float]]] = {name: {} for name in ledgers}
    for number in range(rounds):
        for name, ledger in ledgers.items():
            for batch in BATCHES:
                scope = f"round {number}, {batch} at once"
                time_ = seconds(lambda s=scope, b=batch, led=ledger: claimed(led, response, s, b))
                taken[name].setdefault(f"claim, {batch} at once", []).append(time_)
            scope = f"round {number}, settled"
            time_ = seconds(lambda s=scope, led=ledger: settled(led, response, s))
            taken[name].setdefault("claim and result", []).append(time_)
            time_ = seconds(lambda s=scope, led=ledger: repeated(led, response, s))
            taken[name].setdefault("seen again", []).append(time_)
    return {
        name: {kind: count / statistics.median(times) for kind, times in kinds.items()}
        for name, kinds in taken.items()
    }


def sync_time() -> float:
    """Microseconds of a write of 4 KiB and its fsync, here."""
    with tempfile.NamedTemporaryFile(dir=HERE) as file:
        times = []
        for _ in range(50):
            began = time.perf_counter()
            os.write(file.fileno(), b"x" * 4096)
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6


def key_time(response: Response) -> float:
    """Microseconds for the key and the digest of one call."""
    return seconds(lambda: collections.deque(asks_of(response, "s"), 0)) / len(response.released) * 1e6


def table(found: dict[str, dict[str, float]], response: Response) -> str:
    kinds = list(next(iter(found.values())))
    lines = ["| calls a second | " + " | ".join(found) + " |", "| --- |" + " ---: |" * len(found)]
    lines += [
        f"| {kind} | " + " | ".join(f"{row[kind]:,.0f}" for row in found.values()) + " |" for kind in kinds
    ]
    return (
        "\n".join(lines) + f"\n\nKey and digest take {key_time(response):.0f} µs of each call. "
        f"A write of 4 KiB and its fsync take {sync_time():,.0f} µs on this disk."
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    response = response_of(*[ARGUMENTS] * options.calls)
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(dir=HERE))
        ledgers = {"SQLite": stack.enter_context(open_ledger(Path(home) / "ledger.db"))}
        for title, name in (("PostgreSQL", "postgres"), ("Redis", "redis")):
            try:
                ledgers[title] = stack.enter_context(open_ledger(stack.enter_context(SERVERS[name]())))
            except Missing as reason:
                print(f"{title} is left out: {reason}", file=sys.stderr)
        text = table(measure(ledgers, response, options.rounds), response)
    print(text)
    if options.write:
        marks.put(PAGE, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

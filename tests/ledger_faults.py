"""Faults with real processes: workers that race for the same calls, and workers that are killed at any step.

    python tests/ledger_faults.py [--backend sqlite] [--url WHERE] [--workers 8] [--calls 1000] [--kills 300] [--table]

Who ran what is told by an independent witness: each run appends one line to a file, in one write with O_APPEND.
A second file of that kind says which results a worker had been told are stored. The ledger is compared with both.
It prints one JSON object for each backend, or a table; the exit code is 1 if anything ran twice or got lost.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from ledger_servers import SERVERS, Missing
from trigate.ledger import Finding, Key, Ledger, StaleClaim, open_ledger

DIGEST = "d" * 64
#: Where a worker kills itself, in the order of a call; "any instant" is left to the parent.
STEPS = (
    "before the claim",
    "in the claim, before its commit",
    "after the claim",
    "after the run",
    "in the write, before its commit",
    "after the write",
    "any instant",
)


class Plan(NamedTuple):
    """How a worker is to end: at this step, after so many calls of its own."""

    step: str
    calls: int


class Arena:
    """A ledger, its witnesses, and the workers that are let loose on it."""

    def __init__(self, url: str, home: Path, lease: float) -> None:
        self.url = url
        self.lease = lease
        self.scope = f"faults in {home}"  # nobody else's calls, whatever the ledger holds
        self._acted = home / "acted"
        self._told = home / "told"
        self._broken = home / "broken"
        self._home = home
        for path in (self._acted, self._told, self._broken):
            path.touch()

    def key(self, number: int) -> Key:
        return Key(self.scope, f"resp_{number // 4}", f"call_{number}", "transfer")

    # -- in a worker

    def work(self, numbers: Sequence[int], plan: Plan | None) -> None:
        """Claims these calls, runs and writes those that it gets; dies as planned."""
        mine = 0

        def at(step: str) -> None:
            if plan is not None and plan.step == step and plan.calls <= mine:
                os.kill(os.getpid(), signal.SIGKILL)

        with open_ledger(self.url) as ledger:
            (self._home / str(os.getpid())).touch()
            for number in numbers:
                at("before the claim")
                with _inside(ledger, lambda: at("in the claim, before its commit")):
                    claim = ledger.claim(self.key(number), DIGEST, lease=self.lease)
                if claim.outcome != "claimed":
                    continue
                at("after the claim")
                _append(self._acted, number)
                at("after the run")
                try:
                    with _inside(ledger, lambda: at("in the write, before its commit")):
                        ledger.succeed(claim, number * 7)
                except StaleClaim:  # the machine was slower than the lease: the outcome is unknown
                    continue
                _append(self._told, number)
                at("after the write")
                mine += 1

    def start(self, numbers: Sequence[int], plan: Plan | None = None) -> int:
        """Forks a worker; its process id."""
        child = os.fork()
        if child:
            return child
        try:
            self.work(numbers, plan)
            os._exit(0)
        except BaseException:
            with self._broken.open("a") as file:
                file.write(traceback.format_exc())
            os._exit(1)

    def has_begun(self, child: int) -> bool:
        """Whether that worker has opened the ledger."""
        return (self._home / str(child)).exists()

    # -- afterwards

    def acted(self) -> Counter[int]:
        """How often each call ran."""
        return Counter(map(int, self._acted.read_text().split()))

    def check(self, ledger: Ledger, count: int) -> dict[str, int]:
        """What the ledger says, against what the witnesses saw. `faults` counts every contradiction."""
        assert self._broken.read_text() == "", self._broken.read_text()[-2000:]
        acted = self.acted()
        told = set(map(int, self._told.read_text().split()))
        states: Counter[str] = Counter()
        faults: Counter[str] = Counter(
            {"twice": sum(times > 1 for times in acted.values()), "lost": 0, "wrong": 0}
        )
        for number in range(count):
            entry = ledger.get(self.key(number))
            state = "absent" if entry is None else entry.state
            states[state] += 1
            has_result = entry is not None and entry.result == number * 7
            faults["lost"] += number in told and not (state == "succeeded" and has_result)
            if state == "succeeded":
                faults["wrong"] += acted[number] != 1 or not has_result
            elif state != "unknown":  # neither finished nor in doubt: then nothing may have happened
                faults["wrong"] += acted[number] != 0 or state not in ("absent", "proposed")
        return {**states, **faults}


@contextmanager
def _inside(ledger: Ledger, act: Callable[[], None]) -> Iterator[None]:
    """Calls this in each transaction of the ledger, when all is decided and nothing is committed."""
    transact = ledger._transact

    def with_act(ids: Sequence[str], decide: Any) -> Any:
        def decide_and_act(now: int, found: Any) -> Any:
            decided = decide(now, found)
            act()
            return decided

        return transact(ids, decide_and_act)

    ledger._transact = with_act  # type: ignore[method-assign]
    try:
        yield
    finally:
        ledger._transact = transact  # type: ignore[method-assign]


def _append(path: Path, number: int) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{number}\n".encode())
    os.close(file)


def _wait(children: Sequence[int]) -> None:
    for child in children:
        os.waitpid(child, 0)


def race(arena: Arena, workers: int, calls: int, seed: int = 1) -> dict[str, Any]:
    """Workers that all want all calls, each in an order of its own."""
    chance = random.Random(seed)
    began = time.monotonic()
    children = [arena.start(chance.sample(range(calls), calls)) for _ in range(workers)]
    _wait(children)
    seconds = time.monotonic() - began
    with open_ledger(arena.url) as ledger:
        found = arena.check(ledger, calls)
    return {
        "workers": workers,
        "calls": calls,
        "runs": arena.acted().total(),
        "seconds": round(seconds, 1),
    } | found


def massacre(arena: Arena, workers: int, kills: int, seed: int = 1) -> dict[str, Any]:
    """Workers that are killed, at each step in turn. Then what is in doubt is resolved, and the rest runs."""
    chance = random.Random(seed)
    alive: dict[int, str] = {}
    instants: dict[int, float] = {}
    killed: Counter[str] = Counter()
    started = 0
    while killed.total() < kills or alive:
        while len(alive) < workers and killed.total() + len(alive) < kills:
            # One that got no call of its own was not killed: its step's turn comes again.
            begun = killed + Counter(alive.values())
            plan = Plan(min(STEPS, key=lambda step: begun[step]), chance.randrange(2))
            # Windows overlap, so that neighbours want the same calls.
            alive[arena.start(range(started * 2, started * 2 + 12), plan)] = plan.step
            started += 1
        for child, step in list(alive.items()):
            if step == "any instant" and arena.has_begun(child):
                at = instants.setdefault(child, time.monotonic() + chance.uniform(0, 0.03))
                if time.monotonic() >= at:
                    os.kill(child, signal.SIGKILL)
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                del alive[child]
                instants.pop(child, None)
                killed[step] += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        time.sleep(0.0005)
    calls = started * 2 + 12
    with open_ledger(arena.url) as ledger:
        while ledger.entries("claimed", arena.scope, limit=1):
            time.sleep(0.01)
        found = arena.check(ledger, calls)
        resolved = _resolve(arena, ledger)
    _wait([arena.start(range(calls))])
    with open_ledger(arena.url) as ledger:
        after = arena.check(ledger, calls)
    return {
        "workers": started,
        "calls": calls,
        "kills": killed.total(),
        "by_step": {step: killed[step] for step in STEPS},
        **found,
        "had_happened": resolved["succeeded"],
        "had_not_happened": resolved["not_happened"],
        "all_succeeded": after.get("succeeded", 0) == calls,
        "twice_after": after["twice"],
        "wrong_after": after["wrong"],
    }


def _resolve(arena: Arena, ledger: Ledger) -> Counter[str]:
    """Asks the witness about every call in doubt. All workers are gone, so "not happened" is for good."""
    acted = arena.acted()
    resolved: Counter[str] = Counter()
    ledger.expire()
    for entry in ledger.entries("unknown", arena.scope, limit=100_000):
        number = int(entry.key.call.removeprefix("call_"))
        found = Finding("succeeded", result=number * 7) if acted[number] else Finding("not_happened")
        ledger.reconcile(entry.key, found)
        resolved[found.state] += 1
    return resolved


def faultless(result: dict[str, Any]) -> bool:
    """Whether nothing ran twice, no result was lost, and every doubt was shown and resolved."""
    names = ("twice", "lost", "wrong", "twice_after", "wrong_after")
    return not any(result.get(name, 0) for name in names) and result.get("all_succeeded", True)


@contextmanager
def arena_of(url: str, lease: float) -> Iterator[Arena]:
    """A ledger with witnesses in a directory of their own."""
    home = Path(tempfile.mkdtemp(prefix="tg-faults-"))
    try:
        yield Arena(url or str(home / "ledger.db"), home, lease)
    finally:
        shutil.rmtree(home)


def run(backend: str, url: str, workers: int, calls: int, kills: int, lease: float) -> dict[str, Any]:
    """A race and a massacre. The race's lease is long: nobody dies there. url: "" for a fresh SQLite file."""
    with arena_of(url, 600.0) as arena:
        raced = race(arena, workers, calls)
    with arena_of(url, lease) as arena:
        killed = massacre(arena, workers, kills)
    return {"backend": backend, "race": raced, "kills": killed, "ok": faultless(raced) and faultless(killed)}


#: Column heads of the table, and the figure of each.
_COLUMNS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "backend": lambda made: made["backend"],
    "race: calls, workers": lambda made: f"{made['race']['calls']:,}, {made['race']['workers']}",
    "runs": lambda made: f"{made['race']['runs']:,}",
    "kills": lambda made: made["kills"]["kills"],
    "calls": lambda made: f"{made['kills']['calls']:,}",
    "ran twice": lambda made: made["race"]["twice"] + made["kills"]["twice"] + made["kills"]["twice_after"],
    "results lost": lambda made: made["race"]["lost"] + made["kills"]["lost"],
    "unknown": lambda made: made["kills"].get("unknown", 0),
    "of them had happened": lambda made: made["kills"]["had_happened"],
    "had not": lambda made: made["kills"]["had_not_happened"],
}


def table(results: Sequence[dict[str, Any]]) -> str:
    rows = [list(_COLUMNS), ["---"] * len(_COLUMNS)]
    rows += [[str(figure(made)) for figure in _COLUMNS.values()] for made in results]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _place(backend: str, url: str) -> AbstractContextManager[str]:
    """Where the ledger is: the given place, a fresh server, or "" for fresh files."""
    return nullcontext(url) if url or backend == "sqlite" else SERVERS[backend]()


def main() -> int:
    parser = argparse.ArgumentParser(description="Races and kills on real ledgers.")
    parser.add_argument("--backend", choices=["sqlite", *SERVERS], action="append")
    parser.add_argument(
        "--url", default="", help="a ledger to use, with one --backend; else a fresh one is made"
    )
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--lease", type=float, default=2.0)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    results = []
    for backend in options.backend or ["sqlite", *SERVERS]:
        try:
            with _place(backend, options.url) as url:
                results.append(
                    run(backend, url, options.workers, options.calls, options.kills, options.lease)
                )
        except Missing as reason:
            print(f"{backend}: skipped, {reason}", file=sys.stderr)
            continue
        if not options.table:
            print(json.dumps(results[-1]), flush=True)
    if options.table:
        print(table(results))
    return 0 if all(made["ok"] for made in results) else 1


if __name__ == "__main__":
    sys.exit(main())

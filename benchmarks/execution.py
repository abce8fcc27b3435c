"""What the runner adds to a call: microseconds a call, beside calling the function itself.

Rules
 - The tool does next to nothing, so that what is measured is the way to it: judgment, thread or task, claim, result.
 - The calls come from a parsed stream; the parsing is not part of the time. A synced write is most of what a ledger
   costs: benchmarks/ledger.py says what that is on this disk.
 - Medians of rounds; in each round every way has its turn.

usage: execution.py [--calls 200] [--rounds 7] [--write]
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))  # where the streams are

import marks  # noqa: E402 - this and what follows: after the path
from book import machine  # noqa: E402
from test_runner import response as response_of  # noqa: E402
from trigate.ledger import Ledger, SQLiteLedger  # noqa: E402
from trigate.response import Response  # noqa: E402
from trigate.runner import Runner  # noqa: E402
from trigate.tools import Toolset, judge, tool  # noqa: E402

PAGE = HERE.parent / "docs" / "execution.md"
BEGIN, END = "<!-- runner: written by benchmarks/execution.py -->", "<!-- end of runner -->"
PARALLEL = (1, 8)
Work = Callable[[str], Awaitable[object]]


@tool(read_only=True)
def plain(number: int) -> int:
    return number + 1


@tool(read_only=True)
async def coroutine(number: int) -> int:
    return number + 1


TOOLSET = Toolset([plain, coroutine])


def given(name: str, calls: int) -> Response:
    return response_of(*((f"c{at}", name, f'{{"number": {at}}}') for at in range(calls)))


async def call_directly(response: Response, _scope: str) -> None:
    for call in response.released:
        plain.function(**call.value())


async def await_directly(response: Response, _scope: str) -> None:
    for call in response.released:
        await coroutine.function(**call.value())


async def judge_alone(response: Response, _scope: str) -> None:
    for call in response.released:
        assert judge(call, TOOLSET).allowed


async def run_all(runner: Runner, response: Response, scope: str) -> None:
    turn = await runner.arun(response, scope=scope)
    assert all(result.status == "succeeded" for result in turn)


def ways(calls: int, ledger: Ledger) -> dict[str, tuple[Work, Work]]:
    """By name: what is done with a plain function, and with a coroutine."""
    first, second = given("plain", calls), given("coroutine", calls)
    found: dict[str, tuple[Work, Work]] = {
        "the function itself": (
            functools.partial(call_directly, first),
            functools.partial(await_directly, second),
        ),
        "judged, not run": (functools.partial(judge_alone, first), functools.partial(judge_alone, second)),
    }
    for words, kept in (("no ledger", None), ("SQLite", ledger)):
        for parallel in PARALLEL:
            runner = Runner(TOOLSET, ledger=kept, parallel=parallel)
            name = f"runner, {words}, {parallel} at once"
            found[name] = (
                functools.partial(run_all, runner, first),
                functools.partial(run_all, runner, second),
            )
    return found


async def measure(calls: int, rounds: int, ledger: Ledger) -> dict[str, list[float]]:
    """By way: microseconds a call of a function and of a coroutine."""
    taken: dict[tuple[str, int], list[float]] = {}
    for number in range(rounds):
        for name, pair in ways(calls, ledger).items():
            for kind, work in enumerate(pair):
                began = time.perf_counter()
                await work(f"{number} {name} {kind}")
                taken.setdefault((name, kind), []).append((time.perf_counter() - began) / calls * 1e6)
    names = dict.fromkeys(name for name, _ in taken)
    return {name: [statistics.median(taken[name, kind]) for kind in (0, 1)] for name in names}


def table(found: dict[str, list[float]]) -> str:
    lines = ["| µs a call | a function, in a thread | a coroutine |", "| --- | ---: | ---: |"]
    for name, values in found.items():
        lines.append(f"| {name} | " + " | ".join(f"{value:,.1f}" for value in values) + " |")
    return "\n".join(lines) + f"\n\n{machine()}."


def main() -> int:
    parser = argparse.ArgumentParser(description="What the runner adds to a call.")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--write", action="store_true", help="into docs/execution.md")
    options = parser.parse_args()
    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory(dir=HERE))
        ledger = stack.enter_context(SQLiteLedger(Path(home) / "ledger.db"))
        text = table(asyncio.run(measure(options.calls, options.rounds, ledger)))
    print(text)
    if options.write:
        marks.put(PAGE, BEGIN, END, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

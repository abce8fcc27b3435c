"""SSEDecoder beside its peers: the time that one event costs, from bytes to its type and text.

Rules
 - A contestant is timed on a stream only if it gives the expected events there.
 - Contestants take turns in one process, round after round, so that a busy machine hurts all of them alike;
   the figure is the median of the rounds.
 - Every contestant hands out `str` for type and data of each event: lazy ones are asked for them.
 - Peers are called below their HTTP layer, at the fastest entry that they have.

usage: bench_sse.py [--rounds N] [--events N] [--no-write]
"""

from __future__ import annotations

import argparse
import codecs
import gc
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx_sse._decoders as httpx_sse_decoders
from openai._streaming import SSEDecoder as OpenAIDecoder

import trigate
from corpus import Event, Stream, streams

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
BEGIN, END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"
CHUNKINGS = {"64 KiB": 64 * 1024, "one event": None}
OURS = "trigate"

Seen = tuple[Any, Any, Any, Any]
Contestant = Callable[[Iterable[bytes]], list[Seen]]


def run_trigate(chunks: Iterable[bytes]) -> list[Seen]:
    decoder = trigate.SSEDecoder()
    feed = decoder.feed
    seen = [(event.event, event.data, event.id, event.retry) for chunk in chunks for event in feed(chunk)]
    decoder.finish()
    return seen


def run_httpx_sse(chunks: Iterable[bytes]) -> list[Seen]:
    """httpx-sse as its EventSource uses it: text decoder, line decoder, event decoder."""
    text = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
    lines = httpx_sse_decoders.SSELineDecoder().decode
    decode = httpx_sse_decoders.SSEDecoder().decode
    seen = []
    for chunk in chunks:
        for line in lines(text(chunk)):
            event = decode(line)
            if event is not None:
                seen.append((event.event, event.data, event.id, event.retry))
    return seen


def run_openai(chunks: Iterable[bytes]) -> list[Seen]:
    events = OpenAIDecoder().iter_bytes(iter(chunks))
    return [(event.event, event.data, event.id, event.retry) for event in events]


CONTESTANTS: dict[str, Contestant] = {
    OURS: run_trigate,
    "httpx-sse": run_httpx_sse,
    "openai": run_openai,
}


def is_right(run: Contestant, chunks: list[bytes], expected: tuple[Event, ...]) -> bool:
    """Whether the events are the expected ones; None stands for "message" and for no id in some peers."""
    seen = [(kind or "message", data, id_ or "", retry) for kind, data, id_, retry in run(chunks)]
    return seen == list(expected)


def measure(stream: Stream, size: int | None, rounds: int) -> dict[str, float | None]:
    """Nanoseconds an event, by contestant; None where it gives other events."""
    chunks = stream.chunks(size)
    rivals = {name: run for name, run in CONTESTANTS.items() if is_right(run, chunks, stream.expected)}
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, run in rivals.items():
            gc.collect()
            gc.disable()
            start = time.perf_counter_ns()
            run(chunks)
            times[name].append((time.perf_counter_ns() - start) / len(stream.expected))
            gc.enable()
    return {name: statistics.median(times[name]) if name in times else None for name in CONTESTANTS}


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def ratios(results: list[dict[str, Any]], chunking: str, name: str) -> float:
    """How many times as long as trigate a peer takes: the geometric mean over the streams it reads right."""
    rows = [row["ns"] for row in results if row["chunking"] == chunking]
    return geometric_mean(ns[name] / ns[OURS] for ns in rows if ns[name] is not None)


def machine() -> str:
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), model)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, {python}"


def summary(results: list[dict[str, Any]]) -> str:
    """The short table: ratios alone."""
    lines = ["| chunks | " + " | ".join(names()) + " |", "|---" * (len(CONTESTANTS) + 1) + "|"]
    for chunking in CHUNKINGS:
        own = geometric_mean(row["ns"][OURS] for row in results if row["chunking"] == chunking)
        cells = [f"{own:,.0f} ns an event"]
        cells += [f"{ratios(results, chunking, name):.1f} times that" for name in CONTESTANTS if name != OURS]
        lines.append(f"| {chunking} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def names() -> list[str]:
    return [f"{name} {version(name)}" for name in CONTESTANTS]


def full(results: list[dict[str, Any]]) -> str:
    """Every stream: nanoseconds an event."""
    lines = ["| stream | chunks | " + " | ".join(names()) + " |", "|---" * (len(CONTESTANTS) + 2) + "|"]
    for row in results:
        cells = ["other events" if ns is None else f"{ns:,.0f}" for ns in row["ns"].values()]
        lines.append(f"| {row['stream']} | {row['chunking']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(results: list[dict[str, Any]], corpus: list[Stream], rounds: int) -> None:
    """The results beside this file, and the short table in the README."""
    date = datetime.now(UTC).date().isoformat()
    said = f"{date}, {machine()}; medians of {rounds} rounds, geometric means over {len(corpus)} streams."
    shapes = "\n".join(
        f"- `{stream.name}`: {stream.hits}, {len(stream.expected)} events" for stream in corpus
    )
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    page = f"# SSEDecoder beside its peers\n\nWritten by `make bench`. {said}\n\n{summary(results)}\n\n"
    page += f"Nanoseconds an event:\n\n{full(results)}\n\nStreams:\n\n{shapes}\n"
    (folder / "sse.md").write_text(page, encoding="utf-8")
    record = {"date": date, "machine": machine(), "rounds": rounds, "versions": names(), "results": results}
    (folder / "sse.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    figures = f"{BEGIN}\n{summary(results)}\n\n{said}\n{END}"
    README.write_text(before + figures + after, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description="SSEDecoder beside its peers.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--events", type=int, default=4000, help="events a stream")
    parser.add_argument("--no-write", action="store_true", help="print alone; leave results and README be")
    options = parser.parse_args()
    corpus = streams(count=options.events)
    results: list[dict[str, Any]] = []
    for chunking, size in CHUNKINGS.items():
        for stream in corpus:
            print(f"{stream.name}, {chunking} ...", file=sys.stderr)
            ns = measure(stream, size, options.rounds)
            if ns[OURS] is None:
                print(f"trigate gives other events than expected on {stream.name}", file=sys.stderr)
                return 1
            results.append({"stream": stream.name, "chunking": chunking, "ns": ns})
    print(full(results), summary(results), sep="\n\n")
    if not options.no_write:
        write(results, corpus, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())

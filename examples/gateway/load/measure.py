"""Runs the load test: upstream, gateway and clients, a process each, and what the gateway's process took.

    python examples/gateway/load/measure.py [--streams 1000] [--rounds 3] [--write]

--write needs matplotlib.

Rules
 - The modes take turns in each round, so that a slow minute of the machine hits all of them.
 - CPU is the gateway process's own time; memory its resident size with all streams open, less what it had with none.
 - Exit code 1 if a byte or a call was lost, doubled or invented.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

from report import write

HERE = Path(__file__).resolve().parent
MODES = ("plain", "tap", "gate", "json")
FAULTS = (
    "not identical",
    "calls lost",
    "calls doubled",
    "not a beginning",
    "calls of cut streams",
    "cut taken for an end",
)
_TICK = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"nothing listens at port {port} after 10 s")


def cpu_of(pid: int) -> float:
    """Seconds, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def memory_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def run(mode: str, plan: dict[str, Any]) -> dict[str, Any]:
    """One round of one mode: its figures and the clients' tally."""
    upstream_port, port = free_port(), free_port()
    url = f"http://127.0.0.1:{upstream_port}"
    settings = {"GATEWAY_MODE": mode, "GATEWAY_OPENAI_URL": url, "GATEWAY_ANTHROPIC_URL": url}
    upstream = subprocess.Popen([sys.executable, str(HERE / "upstream.py"), str(upstream_port)])
    words = [
        "-m",
        "uvicorn",
        "--factory",
        "gateway:make_app",
        "--app-dir",
        str(HERE.parent),
        "--port",
        str(port),
    ]
    words += ["--log-level", "critical", "--no-access-log", "--backlog", "4096"]
    # It says something of each stream that the upstream resets, which here are hundreds.
    gateway = subprocess.Popen(
        [sys.executable, *words], env={**os.environ, **settings}, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(upstream_port)
        wait_for(port)
        # What a first stream loads is no stream's cost.
        ask(
            port,
            {**plan, "count": 20, "length": 5, "pace": 1000.0, "killed": 0.0, "leaving": 0.0, "first": 10**6},
        )
        cpu, idle = cpu_of(gateway.pid), memory_of(gateway.pid)
        clients = subprocess.Popen(
            [sys.executable, str(HERE / "client.py"), json.dumps({**plan, "port": port})],
            stdout=subprocess.PIPE,
        )
        peak = idle
        while clients.poll() is None:
            peak = max(peak, memory_of(gateway.pid))
            time.sleep(0.2)
        assert clients.stdout is not None
        tally = json.loads(clients.stdout.read())["tally"]
        clients.stdout.close()
        spent = cpu_of(gateway.pid) - cpu
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
            open_streams = [
                line for line in page.read().decode().splitlines() if line.startswith("gateway_open_streams ")
            ]
        tally["streams never closed"] = int(float(open_streams[0].split()[1]))
    finally:
        for process in (gateway, upstream):
            process.terminate()
            process.wait()
    return {
        "mode": mode,
        "cpu_us_per_event": spent / tally["events"] * 1e6,
        "memory": (peak - idle) / plan["count"],
        "tally": tally,
    }


def ask(port: int, plan: dict[str, Any]) -> None:
    subprocess.run(
        [sys.executable, str(HERE / "client.py"), json.dumps({**plan, "port": port})],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each mode the medians over the rounds, and the faults of all."""
    figures = {}
    for mode in MODES:
        mine = [one for one in runs if one["mode"] == mode]
        figures[mode] = {
            "cpu_us_per_event": median(one["cpu_us_per_event"] for one in mine),
            "memory_kib_per_stream": median(one["memory"] for one in mine) / 1024,
        }
    total: Counter[str] = Counter()
    for one in runs:
        total.update(one["tally"])
    return {"modes": figures, "tally": dict(total)}


def main() -> int:
    parser = argparse.ArgumentParser(description="load test of the example gateway, on loopback")
    parser.add_argument("--streams", type=int, default=1000, help="streams at once")
    parser.add_argument("--length", type=int, default=100, help="pieces of text a stream")
    parser.add_argument("--pace", type=float, default=5.0, help="events a second in each stream")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the figures into README.md and load.svg")
    options = parser.parse_args()
    plan = {
        "count": options.streams,
        "length": options.length,
        "pace": options.pace,
        "killed": 0.1,
        "leaving": 0.1,
    }
    runs = []
    for number in range(options.rounds):
        for mode in MODES:
            runs.append(run(mode, plan))
            cost = runs[-1]["cpu_us_per_event"]
            print(
                f"round {number + 1} of {options.rounds}, {mode}: {cost:.1f} us of CPU an event",
                file=sys.stderr,
                flush=True,
            )
    result = {"plan": plan, **summary(runs)}
    print(json.dumps(result, indent=1))
    if options.write:
        write(result, runs, HERE.parent)
    failed = [name for name in (*FAULTS, "streams never closed") if result["tally"].get(name)]
    failed += [name for name in result["tally"] if name.startswith("client failed")]
    if failed:
        print("faults: " + ", ".join(f"{name} {result['tally'][name]}" for name in failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

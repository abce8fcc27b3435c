"""Measures what the libraries in use do with the bytes of the cut matrix, and writes it down.

`run.py` makes an environment for each requirements file, asks every peer, writes
benchmarks/results/behaviour.json and the tables of docs/completion.md. `--peer NAME` asks one and keeps
what the file says of the others.

Rules
 - Every peer is a process of its own. One that does not answer in time is started again, and asked once more.
 - No peer is asked anything that it does not offer: `HOW` in its file says for which protocols it has an
   entry point.
 - Network: the package index while the environments are made, the loopback interface afterwards.
"""

from __future__ import annotations

import argparse
import base64
import datetime
import json
import platform
import selectors
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cells import MEANT, ROOT, Cell, cells, controls, outcome
from page import NOT_ASKED, RESULTS, write_page
from verdict import verdict

import trigate

HERE = Path(__file__).resolve().parent
#: In the order of the page: the peer, and the environment that it lives in.
PEERS = {
    "openai": "behaviour",
    "anthropic": "behaviour",
    "google_genai": "behaviour",
    "langchain": "behaviour",
    "pydantic_ai": "behaviour-pydantic-ai",
    "litellm": "behaviour",
}
REQUIREMENTS = {"behaviour": "requirements.txt", "behaviour-pydantic-ai": "requirements-pydantic-ai.txt"}
SECONDS = 45.0
#: The rows for which the connection also breaks within HTTP's own framing.
BROKEN = "cut_in_arguments"


def environment(name: str) -> Path:
    """The interpreter of an environment, which is made where it is missing or its requirements changed."""
    home = ROOT / f".venv-{name}"
    wanted = (HERE / REQUIREMENTS[name]).read_text(encoding="utf-8")
    stamp = home / "requirements"
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"making {home.name} (some minutes)", file=sys.stderr)
        if not python.exists():
            venv.create(home, with_pip=True)
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "-r",
            str(HERE / REQUIREMENTS[name]),
        ]
        subprocess.run(command, check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


class Peer:
    """One peer's process. It is started when it is needed, and again when it was stopped."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._python = environment(PEERS[name])
        self._process: subprocess.Popen[bytes] | None = None
        self.greeting = self._start()

    def _start(self) -> dict[str, Any]:
        self._process = subprocess.Popen(
            [str(self._python), str(HERE / f"peer_{self.name}.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        told = self._line(SECONDS * 4)
        if told is None:
            raise SystemExit(
                f"{self.name} does not start: run benchmarks/behaviour/peer_{self.name}.py to see why"
            )
        return told

    def _line(self, seconds: float) -> dict[str, Any] | None:
        """The next answer; None: it did not come, and the process is gone."""
        assert self._process is not None
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            line = self._process.stdout.readline() if selector.select(seconds) else b""
        if not line:
            self.stop()
            return None
        value: dict[str, Any] = json.loads(line)
        return value

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def ask(self, cell: Cell, *, broken: bool = False) -> dict[str, Any]:
        """What was seen. Who does not answer is asked once more, by a process that was asked nothing before."""
        told = {
            "protocol": cell.protocol,
            "body": base64.b64encode(cell.body).decode(),
            "broken": broken,
            "names": [call.name for call in MEANT.values()],
        }
        for _ in range(2):
            if self._process is None:
                self._start()
            assert self._process is not None
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(told).encode() + b"\n")
            self._process.stdin.flush()
            if (seen := self._line(SECONDS)) is not None:
                return seen
        return {"calls": [], "finish": None, "error": "timeout", "message": ""}


def measure(name: str, asked: Iterable[Cell], ours: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """All cells that the peer can be asked: its greeting, and what was seen in each."""
    peer = Peer(name)
    seen: dict[str, dict[str, Any]] = {}
    broken: dict[str, dict[str, Any]] = {}
    for cell in asked:
        if cell.protocol not in peer.greeting["how"] or (cell.protocol, cell.row) in NOT_ASKED:
            continue
        key = cell.key
        seen[key] = peer.ask(cell)
        if cell.row == BROKEN:
            broken[cell.protocol] = peer.ask(cell, broken=True)
        print(f"{name:13} {key:60} {verdict(seen[key], ours[key])}", file=sys.stderr)
    peer.stop()
    return peer.greeting | {"seen": seen, "broken": broken}


def measured(chosen: list[str] | None, asked: list[Cell], ours: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The results file anew. chosen: ask these alone, and keep what the file says of the others."""
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))["peers"] if chosen else {}
    found = kept | {name: measure(name, asked, ours) for name in chosen or PEERS}
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "trigate": trigate.__version__,
        "bytes": {cell.key: cell.digest for cell in asked},
        "ours": ours,
        "peers": {name: found[name] for name in PEERS if name in found},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description="What the libraries in use do with the bytes of the cut matrix."
    )
    parser.add_argument(
        "--peer", choices=PEERS, action="append", help="ask this one; the others stay as they are"
    )
    parser.add_argument("--page", action="store_true", help="ask nobody: what trigate does, and the page")
    options = parser.parse_args()
    asked = [*controls(), *cells()]
    ours = {cell.key: outcome(cell) for cell in asked}
    if options.page:
        results = json.loads(RESULTS.read_text(encoding="utf-8")) | {"ours": ours}
    else:
        results = measured(options.peer, asked, ours)
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_page()


if __name__ == "__main__":
    main()

"""The peers' own test suites, run against our faces: `python tests/peers/run.py [PEER ...]`.

Rules
 - Nothing comes into the repository: sdists are fetched into a temporary folder, and are gone at the end.
 - The tests are the peer's, unchanged; only the module that they import is ours (the `as_*` modules put it there).
 - A failure is either in the table with its reason, or an error; so is a row of the table that does not fail.

Exit code: 0 all as the table says, 1 not so, 2 wrong usage. The Python that runs this needs what
tests/peers/requirements.txt lists; `make peers` makes one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from outcomes import matches
from table import PEERS, Peer

HERE = Path(__file__).resolve().parent
COLUMNS = ("peer", "passed", "deviations", "skipped", "private", "verdict")
#: Tests of ours know nothing of these: they are for the peer's run alone.
PLUGINS = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "outcomes")


def fetch(peer: Peer, folder: Path) -> Path:
    """The peer's sdist, unpacked in the folder; the root of its tree."""
    wanted = f"{peer.name}=={peer.version}"
    options = (
        "--no-binary",
        ":all:",
        "--no-deps",
        "--disable-pip-version-check",
        "--quiet",
        "--dest",
        str(folder),
    )
    subprocess.run([sys.executable, "-m", "pip", "download", *options, wanted], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(folder, filter="data")
    (root,) = (path for path in folder.iterdir() if path.is_dir())
    return root


def outcomes(peer: Peer, root: Path, paths: Sequence[str], folder: Path, *, is_shown: bool) -> dict[str, str]:
    """Runs the peer's tests with our face in its place: test to "passed", "failed", "skipped", "private"."""
    found = folder / "outcomes.json"
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH", "")))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PEER_OUTCOMES": str(found),
        "PEER_PRIVATE": "\n".join(peer.private),
    }
    command = [sys.executable, "-m", "pytest", "-c", str(settings), f"--rootdir={root}", "-q", "--tb=short"]
    command += [*PLUGINS, "-p", peer.place, *peer.options, *paths]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if is_shown or not found.exists():
        sys.stderr.write(done.stdout + done.stderr)
    return json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}


def faults(peer: Peer, seen: dict[str, str]) -> Iterator[str]:
    """What is not as the table says."""
    if not seen:
        yield "no test was run"
    names = [deviation.test for deviation in peer.deviations]
    for test, outcome in seen.items():
        if outcome == "failed" and not any(matches(test, name) for name in names):
            yield f"failed, and is not in the table: {test}"
    for name in names:
        found = {test: outcome for test, outcome in seen.items() if matches(test, name)}
        if not found:
            yield f"in the table, and is no test: {name}"
        for test, outcome in found.items():
            if outcome != "failed":
                yield f"in the table, and {outcome}: {test}"
    for name in peer.private:
        if not any(matches(test, name) for test in seen):
            yield f"private in the table, and is no test: {name}"


def check(peer: Peer, checkout: Path | None, *, is_shown: bool) -> tuple[Sequence[str], list[str]]:
    """One row of the table of results, and the faults behind it."""
    title = f"{peer.name} {peer.version}" if checkout is None else f"{peer.name} (checkout)"
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        folder = Path(name)
        root = fetch(peer, folder) if checkout is None else checkout
        paths = [path for path in peer.tests if (root / path).exists()]
        if not paths and peer.unshipped:
            return (title, "", "", "", "", peer.unshipped), []
        seen = outcomes(peer, root, paths, folder, is_shown=is_shown) if paths else {}
    found = list(faults(peer, seen))
    count = Counter(seen.values())
    numbers = [str(count[word]) for word in ("passed", "failed", "skipped", "private")]
    return (title, *numbers, f"{len(found)} faults" if found else "as the table says"), found


def show(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main(arguments: Sequence[str] | None = None) -> int:
    names = [peer.name for peer in PEERS]
    parser = argparse.ArgumentParser(description="The peers' own tests against our faces.")
    parser.add_argument("peer", nargs="*", help=f"of {', '.join(names)}; without one, all")
    parser.add_argument("--from", dest="checkouts", metavar="PEER=FOLDER", action="append", default=[])
    parser.add_argument("--output", action="store_true", help="show what pytest says")
    options = parser.parse_args(arguments)
    checkouts = dict(entry.split("=", 1) for entry in options.checkouts if "=" in entry)
    if unknown := [name for name in (*options.peer, *checkouts) if name not in names]:
        parser.error(f"no such peer: {', '.join(unknown)}; there are {', '.join(names)}")
    wanted = set(options.peer) | set(checkouts) or set(names)
    rows: list[Sequence[str]] = [COLUMNS]
    problems: list[str] = []
    for peer in PEERS:
        if peer.name in wanted:
            checkout = Path(checkouts[peer.name]).resolve() if peer.name in checkouts else None
            row, found = check(peer, checkout, is_shown=options.output)
            rows.append(row)
            problems += [f"{peer.name}: {fault}" for fault in found]
    show(rows)
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

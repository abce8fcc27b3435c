"""How many events of recorded streams go unread, by provider: the table in docs/prediction.md.

Rules
 - An event counts as one if the decoder gives it out; of them, those that the core took by a template go unread.
 - Streams are fed in pieces of 1000 bytes, so that frames are cut as a network cuts them.

usage: hits.py [--write] [--if-there]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import marks
import trigate
from trigate._core import EventStreamDecoder, JSONArrayDecoder, NDJSONDecoder, SSEDecoder
from trigate.framing import choose_framing

HERE = Path(__file__).resolve().parent
CORPUS = Path(os.environ.get("TRIGATE_CORPUS", HERE.parents[1] / "shared" / "corpus"))
PAGE = HERE.parent / "docs" / "prediction.md"
BEGIN, END = "<!-- hit rates: written by benchmarks/hits.py -->", "<!-- end of hit rates -->"
CHUNK = 1000
SAID = (
    f"Recorded streams of real providers, in pieces of {CHUNK} bytes. `make bench-full` writes this table at its end\n"
    "where the recordings are (`TRIGATE_CORPUS`); `python benchmarks/hits.py` shows it:"
)
DECODERS = {
    "sse": SSEDecoder,
    "ndjson": NDJSONDecoder,
    "json-array": JSONArrayDecoder,
    "eventstream": EventStreamDecoder,
}


def events_of(data: bytes) -> int:
    framing = choose_framing(data, ("sse", "ndjson", "json-array", "eventstream")) or "sse"
    return len(DECODERS[framing]().feed(data)) if framing in DECODERS else 0


def unread_of(data: bytes) -> tuple[str, int]:
    """The protocol of a stream, and how many of its events were not read."""
    parser = trigate.ResponseParser("auto", deltas=False)
    for start in range(0, len(data), CHUNK):
        parser.feed(data[start : start + CHUNK])
    return parser.finish().protocol, parser._turn.lanes._hits


def measure() -> dict[tuple[str, str], list[int]]:
    """By protocol and provider: streams, events, events that went unread."""
    files = json.loads((CORPUS / "index.json").read_text("utf-8"))["files"]
    found: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for entry in files:
        data = (CORPUS / entry["file"]).read_bytes()
        protocol, unread = unread_of(data)
        if protocol == "auto":
            continue
        row = found[protocol, Path(entry["file"]).name.partition("_")[0]]
        row[0] += 1
        row[1] += events_of(data)
        row[2] += unread
    return found


def table(found: dict[tuple[str, str], list[int]]) -> str:
    lines = ["| protocol | provider | streams | events | unread |", "|---|---|---:|---:|---:|"]
    for (protocol, provider), (streams, events, unread) in sorted(found.items()):
        lines.append(f"| {protocol} | {provider} | {streams} | {events:,} | {unread / events:.0%} |")
    streams, events, unread = (sum(row[place] for row in found.values()) for place in range(3))
    lines.append(f"| all | | {streams} | {events:,} | {unread / events:.0%} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="How many events of recorded streams go unread.")
    parser.add_argument("--write", action="store_true", help="into docs/prediction.md")
    parser.add_argument("--if-there", action="store_true", help="without recordings all is left as it is")
    options = parser.parse_args()
    if not (CORPUS / "index.json").is_file():
        print(f"no recorded corpus at {CORPUS} (TRIGATE_CORPUS names another)", file=sys.stderr)
        return 0 if options.if_there else 1
    text = table(measure())
    print(text)
    if options.write:
        marks.put(PAGE, BEGIN, END, f"{SAID}\n\n{text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

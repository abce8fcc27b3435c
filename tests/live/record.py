"""Writes examples/streams/live-*.sse again: `python tests/live/record.py`, where the server is installed.

The ids are new each time: tests/test_live_recordings.py and docs/live.md tell them.
"""

from __future__ import annotations

from pathlib import Path

from asking import APIS
from live_turns import CUT, GOOD, take
from llama_server import serving

STREAMS = Path(__file__).resolve().parents[2] / "examples" / "streams"


def main() -> None:
    with serving() as address:
        for api in APIS:
            for word, ask in (("call", GOOD), ("cut", CUT)):
                taken = take(address, api, ask)
                path = STREAMS / f"live-{api.protocol}-{word}.sse"
                path.write_bytes(taken.stream)
                print(path.name, len(taken.stream), taken.named.status, [c.state for c in taken.named.calls])


if __name__ == "__main__":
    main()

"""What a patch saves: time for each event of the SDKs' streams, with their decoder and with trigate's in its place.

Rules
 - The four ways take turns: each SDK's decoder alone, trigate's alone, and the whole of Stream over either, up to the
   SDK's own object for each event.
 - A patched client is timed as a user has it: made by the SDK, then patch(client).
 - Streams are seeded turns of text; their body is there, and nothing of HTTP is timed.

usage: patched.py [--plan quick|full] [--write]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import marks
from book import machine
from compare.canned import Canned
from plan import KIB, PLANS, Plan
from race import Contestant, always, race
from trigate.compat import anthropic as anthropic_face
from trigate.compat import openai as openai_face
from turns import text_turn

PAGES = Path(__file__).resolve().parent.parent / "docs" / "compat"
BEGIN, END = "<!-- patched: written by benchmarks/patched.py -->", "<!-- end of patched -->"
CHUNKS = {"64 KiB a chunk": 64 * KIB, "one event a chunk": None}
HEAD = "| stream | the SDK's decoder | trigate's | the SDK, unpatched | patched | saved |"
OPTIONS: dict[str, Any] = {"api_key": "none", "base_url": "http://127.0.0.1/", "max_retries": 0}


@dataclass(frozen=True)
class SDK:
    """streams: protocol to the type that the SDK makes of each event, by module and name."""

    name: str
    client: str
    face: Any
    streams: dict[str, tuple[str, str]]

    @property
    def page(self) -> Path:
        return PAGES / f"{self.name}.md"


SDKS = (
    SDK(
        "openai",
        "OpenAI",
        openai_face,
        {
            "openai-responses": ("openai.types.responses", "ResponseStreamEvent"),
            "openai-chat": ("openai.types.chat", "ChatCompletionChunk"),
        },
    ),
    SDK(
        "anthropic",
        "Anthropic",
        anthropic_face,
        {"anthropic-messages": ("anthropic.types", "RawMessageStreamEvent")},
    ),
)


def count(events: Any) -> int:
    return sum(1 for _ in events)


def ways(sdk: SDK, protocol: str, chunks: list[bytes]) -> dict[str, Callable[[], int]]:
    """Each reads the whole stream, and says how many events it gave."""
    module = import_module(sdk.name)
    place, name = sdk.streams[protocol]
    cast_to = getattr(import_module(place), name)
    plain, patched = (getattr(module, sdk.client)(**OPTIONS) for _ in range(2))
    sdk.face.patch(patched)

    def whole(client: Any) -> Callable[[], int]:
        return lambda: count(module.Stream(cast_to=cast_to, response=Canned(chunks), client=client))

    def decoder(client: Any) -> Callable[[], int]:
        return lambda: count(client._make_sse_decoder().iter_bytes(iter(chunks)))

    return {
        "decoder": decoder(plain),
        "our decoder": decoder(patched),
        "unpatched": whole(plain),
        "patched": whole(patched),
    }


def row(sdk: SDK, protocol: str, shape: str, plan: Plan) -> str:
    turn = text_turn(protocol, plan.events)
    made = ways(sdk, protocol, turn.chunks(CHUNKS[shape]))
    events = {name: run() for name, run in made.items()}

    def contestant(name: str, twin: str) -> Contestant:
        return Contestant(name, sdk.name, always(made[name]), lambda: events[name] == events[twin] > 0)

    pairs = (("decoder", "our decoder"), ("unpatched", "patched"))
    raced = race([contestant(*names) for pair in pairs for names in (pair, pair[::-1])], plan)
    each: dict[str, float] = {}
    for name, outcome in raced.items():
        if outcome.median is None:
            raise SystemExit(f"{sdk.name}, {protocol}: {name} gave {events[name]} events, of {events}")
        each[name] = outcome.median / events[name]
    saved = 1 - each["patched"] / each["unpatched"]
    cells = " | ".join(f"{each[name]:,.0f} ns" for name in made)
    return f"| {protocol}, {shape} | {cells} | {saved:.0%} |"


def table(sdk: SDK, plan: Plan) -> str:
    rows = [row(sdk, protocol, shape, plan) for protocol in sdk.streams for shape in CHUNKS]
    said = (
        f"{datetime.now(UTC):%Y-%m-%d}, {machine()}; {sdk.name} {version(sdk.name)}; "
        f"medians of up to {plan.rounds} rounds in turn, the {plan.name} run."
    )
    return "\n".join([HEAD, "|---|---:|---:|---:|---:|---:|", *rows, "", said])


def main() -> int:
    parser = argparse.ArgumentParser(description="Time for each event of the SDKs' streams, patched and not.")
    parser.add_argument("--plan", choices=PLANS, default="quick")
    parser.add_argument("--write", action="store_true", help="into docs/compat/openai.md and anthropic.md")
    options = parser.parse_args()
    for sdk in SDKS:
        text = table(sdk, PLANS[options.plan])
        print(text)
        if options.write:
            marks.put(sdk.page, BEGIN, END, f"\n{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

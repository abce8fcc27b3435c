"""Writes docs/state-machines.md from the code: states of machines and calls, ends of responses, limits.
Also the states of an entry, in docs/ledger.md.

Rules
 - What the page says stands in the code once: X-macro lists of the headers, trigate.Limits, the profiles.
 - `generate.py` writes the page; `generate.py --check` only says whether it is up to date (else 1).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import get_args

from trigate import Limits
from trigate.calls import CallState
from trigate.ledger.entry import STATES as ENTRY_STATES
from trigate.protocols import PROTOCOLS
from trigate.response import Status

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "ext" / "core"
PAGE = ROOT / "docs" / "state-machines.md"
LEDGER_PAGE = ROOT / "docs" / "ledger.md"
LEDGER_MARKS = ("<!-- states: written by make docs -->", "<!-- end of states -->")

_LIST = re.compile(r"#define (TG_\w+_STATES)\(X\)((?:\s*X\(\w+,(?:\s*\"(?:[^\"\\]|\\.)*\")+\s*\))+)")
_ENTRY = re.compile(r"X\((\w+),((?:\s*\"(?:[^\"\\]|\\.)*\")+)\s*\)")
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"")

#: What has been seen in each call state, and where it can go. Checked against trigate.calls.CallState.
CALL_STATES = {
    "streaming": ("the call began; its arguments are arriving", "`done`, `void`"),
    "done": ("the protocol closed it, and its arguments are one strict JSON object", "`released`, `void`"),
    "released": ("it may run, as the release policy asks; it is a ReleasedCall now", "nothing"),
    "void": ("it can never run; `problem` says why", "nothing"),
}
#: What each response status means. Checked against trigate.response.Status.
STATUSES = {
    "in_progress": "the input goes on",
    "completed": "the provider said that it ended well; calls are released",
    "incomplete": "the provider ended it early: token limit, content filter, pause",
    "failed": "the provider reported an error, or the bytes broke the rules or a limit",
    "cancelled": "it was cancelled",
    "truncated": "the input ended before the protocol's own end",
    "conflict": "the stream contradicts itself; nothing of it may run",
}


def machines() -> Iterator[tuple[Path, list[tuple[str, str]]]]:
    """Every header with a list of states: (name, sentence)."""
    for header in sorted(CORE.glob("tg_*.h")):
        text = re.sub(r"\\\n", "\n", header.read_text(encoding="utf-8"))
        for match in _LIST.finditer(text):
            yield header, [(name, _text_of(strings)) for name, strings in _ENTRY.findall(match.group(2))]


def _text_of(strings: str) -> str:
    return re.sub(r"\\(.)", r"\1", "".join(_STRING.findall(strings)))


def _purpose(header: Path) -> str:
    first = header.read_text(encoding="utf-8").splitlines()[0]
    return first.partition(" - ")[2].strip()


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _machine(header: Path, states: list[tuple[str, str]]) -> str:
    rows = []
    for name, sentence in states:
        seen, _, awaiting = sentence.partition(" / ")
        rows.append((f"`{name}`", seen, awaiting))
    title = f"### `{header.name}`\n\n{_purpose(header)}"
    return f"{title}\n\n{_table(('state', 'seen so far', 'awaiting'), rows)}"


def _calls() -> str:
    assert tuple(CALL_STATES) == get_args(CallState), "a call state is new or gone"
    rows = [(f"`{state}`", *words) for state, words in CALL_STATES.items()]
    return _table(("state", "what is known", "next"), rows)


def _statuses() -> str:
    assert tuple(STATUSES) == get_args(Status), "a status is new or gone"
    return _table(("status", "meaning"), [(f"`{name}`", words) for name, words in STATUSES.items()])


def _profiles() -> Iterator[str]:
    for name, reader in PROTOCOLS.items():
        profile = reader.profile
        ends = [f"`{word}` gives {status}" for word, status in profile.ends_otherwise.items()]
        rows = (
            ("closes a call's arguments", _words(profile.closes_arguments)),
            ("completes a call", _words(profile.completes_call)),
            ("ends well and asks to run calls", _words(profile.asks_to_run)),
            ("ends well, no call asked for", _words(profile.ends_well)),
            ("ends otherwise", "; ".join(ends)),
            ("an unknown end", profile.unknown_end),
            ("where it is over", _words(profile.terminal)),
            ("noise, anywhere", _words(profile.noise)),
        )
        yield f"### `{name}`\n\n{_table(('fact', 'on the wire'), rows)}"


def _words(words: tuple[str, ...]) -> str:
    return "; ".join(words) or "nothing does"


def _limits() -> str:
    defaults = Limits()
    rows = [(f"`{field.name}`", f"{getattr(defaults, field.name):,}") for field in fields(Limits)]
    return _table(("limit", "default"), rows)


def page() -> str:
    """The whole page."""
    core = "\n\n".join(_machine(header, states) for header, states in machines())
    profiles = "\n\n".join(_profiles())
    return f"""# State machines

Made by `make docs` from the code. Do not edit: change the code.

## A call

{_calls()}

## A response

{_statuses()}

## What completion means

{profiles}

## The core

State is data: each machine of `ext/core` lists its states once, and the enum, the names and these tables
come from that list. An error is a state too, and it stays until the machine is reset.

{core}

## Limits

A value of n is accepted, n + 1 is an error that names the limit. The reasons stand in the README and in
`trigate.Limits`.

{_limits()}
"""


def ledger_page() -> str:
    """docs/ledger.md with the states as the code has them."""
    begin, end = LEDGER_MARKS
    before, _, rest = LEDGER_PAGE.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    rows = []
    for state, (known, leads_to) in ENTRY_STATES.items():
        ways = [f"`{target}`: {way}" for target, way in leads_to.items()]
        rows.append((f"`{state}`", known, "; ".join(ways) or "nothing"))
    arrows = [
        f"    {state} --> {target}" for state, (_, leads_to) in ENTRY_STATES.items() for target in leads_to
    ]
    diagram = "\n".join(
        ["```mermaid", "stateDiagram-v2", "    [*] --> proposed", "    [*] --> claimed", *arrows, "```"]
    )
    states = _table(("state", "what is known", "next, and by what"), rows)
    return f"{before}{begin}\n{diagram}\n\n{states}\n{end}{after}"


def main() -> int:
    for path, made in ((PAGE, page()), (LEDGER_PAGE, ledger_page())):
        if "--check" not in sys.argv[1:]:
            path.write_text(made, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != made:
            print(f"{path.name} is out of date: run `make docs`", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

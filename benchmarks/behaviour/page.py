"""Writes the generated tables of docs/completion.md, each between its markers.

Rules
 - profiles and the matrix of trigate come from the code of today; the peers' tables from
   benchmarks/results/behaviour.json.
 - `page.py` writes, `page.py --check` only says whether the page is up to date (else 1).
   tests/test_completion_page.py asks the same, table by table. No peer is needed for any of it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cells import CONTROL, ROOT, Cell, cells, outcome, refusals
from verdict import VERDICTS, Verdict, text_of, verdict

from trigate.protocols import PROTOCOLS

__all__ = ["PAGE", "RESULTS", "TABLES", "results", "write_page", "written"]

PAGE = ROOT / "docs" / "completion.md"
RESULTS: Path = ROOT / "benchmarks" / "results" / "behaviour.json"
#: As the page names them.
TITLES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "google_genai": "google-genai",
    "langchain": "langchain",
    "pydantic_ai": "pydantic-ai",
    "litellm": "litellm",
}


def results() -> dict[str, Any]:
    """What was measured."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


# -- what the protocols say ------------------------------------------------------------------------


def words(told: tuple[str, ...]) -> str:
    return "; ".join(told) or "nothing does"


def profiles() -> str:
    rows = []
    for name, reader in PROTOCOLS.items():
        profile = reader.profile
        facts = (profile.closes_arguments, profile.completes_call, profile.asks_to_run, profile.terminal)
        rows.append((f"`{name}`", *(words(fact) for fact in facts)))
    return table(
        ("protocol", "closes the arguments", "completes the call", "asks to run", "where it is over"), rows
    )


def ends() -> str:
    rows = []
    for name, reader in PROTOCOLS.items():
        profile = reader.profile
        by_status: dict[str, list[str]] = {}
        for word, status in profile.ends_otherwise.items():
            by_status.setdefault(status, []).append(f"`{word}`")
        otherwise = "; ".join(f"{status}: {', '.join(told)}" for status, told in by_status.items())
        cells_of_row = (words(profile.ends_well), otherwise, profile.unknown_end, words(profile.noise))
        rows.append((f"`{name}`", *cells_of_row))
    return table(("protocol", "ends well, nothing to run", "ends otherwise", "an unknown end", "noise"), rows)


# -- what trigate does -----------------------------------------------------------------------------


def matrix() -> str:
    by_place = {(cell.protocol, cell.row): cell for cell in cells()}
    names = [name for name in PROTOCOLS if any(protocol == name for protocol, _ in by_place)]
    rows = list(dict.fromkeys(row for _, row in (*by_place, *refusals())))
    lines = [(row, *(ours(by_place.get((name, row))) for name in names)) for row in rows]
    return table(("", *(f"`{name}`" for name in names)), lines)


def ours(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    told = outcome(cell)
    if not told["released"]:
        return str(told["status"])
    return f"{told['status']}, runs {len(told['released'])} of {len(told['released']) + len(told['held'])}"


def reasons() -> str:
    rows = [(f"`{name}`", row, why) for (name, row), why in refusals().items()]
    return table(("protocol", "row", "why it cannot occur"), rows)


# -- what the peers do -----------------------------------------------------------------------------


def judged(found: dict[str, Any], name: str) -> dict[str, Verdict]:
    """The verdict of each cell of the matrix; the controls are no faults."""
    seen = found["peers"][name]["seen"]
    return {
        key: verdict(told, found["ours"][key])
        for key, told in seen.items()
        if not key.endswith(f" / {CONTROL}")
    }


def measured() -> str:
    found = results()
    rows = []
    for name, told in found["peers"].items():
        versions = ", ".join(f"{package} {number}" for package, number in told["packages"].items())
        for protocol, how in told["how"].items():
            rows.append((TITLES[name], versions, f"`{protocol}`", how))
    head = table(("peer", "versions", "protocol", "how it was asked"), rows)
    return f"Measured on {found['date']}, CPython {found['python']}.\n\n{head}"


def summary() -> str:
    found = results()
    rows = []
    for name in found["peers"]:
        verdicts = list(judged(found, name).values())
        rows.append((TITLES[name], str(len(verdicts)), *(str(verdicts.count(word)) for word in VERDICTS)))
    return table(("peer", "cells", *VERDICTS.values()), rows)


def peers() -> str:
    found = results()
    parts = []
    for protocol in PROTOCOLS:
        names = [name for name, told in found["peers"].items() if protocol in told["how"]]
        keys = [key for key in found["ours"] if key.startswith(f"{protocol} / ")]
        if names:
            head = ("", "trigate", *(TITLES[name] for name in names))
            rows = [peer_row(found, key, names) for key in keys]
            parts.append(f"### `{protocol}`, the same bytes\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def peer_row(found: dict[str, Any], key: str, names: list[str]) -> tuple[str, ...]:
    told = found["ours"][key]
    mine = "; ".join([told["status"], *(f"runs `{call['name']} {shown(call)}`" for call in told["released"])])
    theirs = (text_of(found["peers"][name]["seen"][key], told) for name in names)
    return (key.partition(" / ")[2], mine, *theirs)


def shown(call: dict[str, Any]) -> str:
    return json.dumps(call["arguments"], ensure_ascii=False).replace("|", "\\|")


def broken() -> str:
    found = results()
    rows = []
    for name, told in found["peers"].items():
        for protocol, seen in told["broken"].items():
            none = {"released": [], "held": []}
            rows.append((TITLES[name], f"`{protocol}`", text_of(seen, none)))
    return table(("peer", "protocol", "the connection breaks inside the arguments"), rows)


# -- what trigate chose ----------------------------------------------------------------------------


def choices() -> str:
    """Every table under "Choices" in the pages of the protocols, in one."""
    rows = []
    for page in sorted((ROOT / "docs" / "protocols").glob("*.md")):
        _, _, section = page.read_text(encoding="utf-8").partition("\n### Choices\n")
        lines = [line for line in section.partition("\n#")[0].splitlines() if line.startswith("| ")]
        for line in lines[1:]:
            question, choice = (cell.strip() for cell in line.strip("|").split("|")[:2])
            rows.append((f"[{page.stem}](protocols/{page.name})", question, choice))
    return table(("protocol", "question", "choice"), rows)


# -- the page --------------------------------------------------------------------------------------

TABLES: dict[str, Callable[[], str]] = {
    "profiles": profiles,
    "ends": ends,
    "matrix": matrix,
    "reasons": reasons,
    "measured": measured,
    "summary": summary,
    "peers": peers,
    "broken": broken,
    "choices": choices,
}


def place(name: str) -> re.Pattern[str]:
    begin, end = f"<!-- {name}: made -->\n", f"\n<!-- end of {name} -->"
    return re.compile(f"(?<={re.escape(begin)}).*?(?={re.escape(end)})", re.DOTALL)


def written(name: str) -> str:
    """The table as the page has it."""
    match = place(name).search(PAGE.read_text(encoding="utf-8"))
    assert match is not None, f"{PAGE.name} has no place for {name}"
    return match.group()


def write_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, make in TABLES.items():
        made = make().replace("\\", "\\\\")  # in a replacement a backslash is special
        text = place(name).sub(made, text)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(int(any(written(name) != make() for name, make in TABLES.items())))
    write_page()

"""Writes the generated tables of docs/completion.md, each between its markers.

Rules
 - Profiles, matrix and choices come from the code and the pages of today; the peers' tables from
   benchmarks/results/behaviour.json. tests/test_completion_page.py compares them, one by one.
 - No peer is needed for any of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cells import CONTROL, MEANT, ROOT, Cell, cells, counted, outcome, refusals, rows, unseen
from verdict import VERDICTS, Verdict, shown, text_of, verdict

from trigate.protocols import PROTOCOLS

__all__ = ["NOT_ASKED", "PAGE", "RESULTS", "TABLES", "results", "write_page", "written"]

PAGE = ROOT / "docs" / "completion.md"
RESULTS: Path = ROOT / "benchmarks" / "results" / "behaviour.json"
#: Cells that exist, but not for the peers.
NOT_ASKED = {("gemini", "sentinel_no_terminal"): "the array form, which no library here asks for"}
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


def table(head: Iterable[str], content: Iterable[Iterable[str]]) -> str:
    names = list(head)
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in content)])


# -- what the protocols say ------------------------------------------------------------------------


def words(facts: tuple[str, ...]) -> str:
    return "; ".join(facts) or "nothing does"


def profiles() -> str:
    lines = []
    for name, reader in PROTOCOLS.items():
        profile = reader.profile
        facts = (profile.closes_arguments, profile.completes_call, profile.asks_to_run, profile.terminal)
        lines.append((f"`{name}`", *(words(fact) for fact in facts)))
    return table(
        ("protocol", "closes the arguments", "completes the call", "asks to run", "where it is over"), lines
    )


def ends() -> str:
    lines = []
    for name, reader in PROTOCOLS.items():
        profile = reader.profile
        by_status: dict[str, list[str]] = {}
        for word, status in profile.ends_otherwise.items():
            by_status.setdefault(status, []).append(f"`{word}`")
        otherwise = "; ".join(f"{status}: {', '.join(known)}" for status, known in by_status.items())
        cells_of_row = (words(profile.ends_well), otherwise, profile.unknown_end, words(profile.noise))
        lines.append((f"`{name}`", *cells_of_row))
    return table(
        ("protocol", "ends well, nothing to run", "ends otherwise", "an unknown end", "noise"), lines
    )


# -- what trigate does -----------------------------------------------------------------------------


def title(row: str) -> str:
    return row.replace("_", " ")


def meant() -> str:
    told = [(letter, f"`{call.name}`", f"`{call.arguments}`") for letter, call in MEANT.items()]
    return table(("call", "name", "arguments"), told)


def explained() -> str:
    return table(("row", "the bytes"), [(title(row), words_of_row) for row, words_of_row in rows().items()])


def matrix() -> str:
    by_place = {(cell.protocol, cell.row): cell for cell in cells()}
    lines = [(title(row), *(ours(by_place.get((name, row))) for name in PROTOCOLS)) for row in rows()]
    return table(("", *(f"`{name}`" for name in PROTOCOLS)), lines)


def ours(cell: Cell | None) -> str:
    return "–" if cell is None else told(outcome(cell))


def told(result: dict[str, Any]) -> str:
    """The status, and the calls that may run."""
    running = ", ".join(shown(call) for call in result["released"])
    return f"{result['status']}: {running}" if running else str(result["status"])


def reasons() -> str:
    by_reason: dict[str, list[str]] = {}
    for (name, row), why in refusals().items():
        by_reason.setdefault(why, []).append(f"{title(row)}, `{name}`")
    return table(("cannot occur", "because"), [("; ".join(places), why) for why, places in by_reason.items()])


# -- what the peers do -----------------------------------------------------------------------------


def judged(found: dict[str, Any], name: str) -> dict[str, Verdict]:
    """The verdict of each cell of the matrix; the controls are no faults."""
    seen = found["peers"][name]["seen"]
    return {
        key: verdict(each, found["ours"][key])
        for key, each in seen.items()
        if not key.endswith(f" / {CONTROL}")
    }


def measured() -> str:
    found = results()
    lines = []
    for name, peer in found["peers"].items():
        versions = ", ".join(f"{package} {number}" for package, number in peer["packages"].items())
        for protocol, how in peer["how"].items():
            lines.append((TITLES[name], versions, f"`{protocol}`", how))
    head = table(("peer", "versions", "protocol", "how it was asked"), lines)
    return f"Measured on {found['date']}, CPython {found['python']}.\n\n{head}"


def summary() -> str:
    found = results()
    lines = []
    for name in found["peers"]:
        verdicts = list(judged(found, name).values())
        lines.append((TITLES[name], str(len(verdicts)), *(str(verdicts.count(word)) for word in VERDICTS)))
    return table(("peer", "cells", *VERDICTS.values()), lines)


def peers() -> str:
    found = results()
    parts = []
    for protocol in PROTOCOLS:
        names = [name for name, peer in found["peers"].items() if protocol in peer["how"]]
        keys = [key for key in found["ours"] if key.startswith(f"{protocol} / ")]
        if names:
            head = ("", "trigate", *(TITLES[name] for name in names))
            lines = [peer_row(found, key, names) for key in keys]
            parts.append(f"### `{protocol}`, the same bytes\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def peer_row(found: dict[str, Any], key: str, names: list[str]) -> tuple[str, ...]:
    mine = found["ours"][key]
    seen = (found["peers"][name]["seen"].get(key) for name in names)
    theirs = ("–" if each is None else text_of(each, mine) for each in seen)
    return (title(key.partition(" / ")[2]), told(mine), *theirs)


def broken() -> str:
    found = results()
    lines = []
    for name, peer in found["peers"].items():
        for protocol, seen in peer["broken"].items():
            mine = found["ours"][f"{protocol} / cut_in_arguments"]
            lines.append((TITLES[name], f"`{protocol}`", text_of(seen, mine)))
    return table(("peer", "protocol", "the connection breaks inside the arguments"), lines)


# -- what a wire cannot show -----------------------------------------------------------------------


def blind() -> str:
    by_kind: dict[tuple[str, str], list[str]] = {}
    for name, kinds in unseen().items():
        for kind, why in kinds.items():
            by_kind.setdefault((kind, why), []).append(f"`{name}`")
    content = [(title(kind), ", ".join(names), why) for (kind, why), names in sorted(by_kind.items())]
    return table(("damage", "protocols", "why it does not show"), content)


def numbers() -> str:
    content = []
    for name, (mutants, kinds) in counted().items():
        told_kinds = ", ".join(f"{title(kind)} {number}" for kind, number in kinds.items())
        content.append((f"`{name}`", f"{mutants:,}", told_kinds or "none"))
    return table(("protocol", "mutants", "calls that were changed unseen"), content)


# -- what trigate chose ----------------------------------------------------------------------------


def choices() -> str:
    """Every table under "Choices" in the pages of the protocols, in one."""
    made = []
    for page in sorted((ROOT / "docs" / "protocols").glob("*.md")):
        _, _, section = page.read_text(encoding="utf-8").partition("\n### Choices\n")
        lines = [line for line in section.partition("\n#")[0].splitlines() if line.startswith("| ")]
        for line in lines[1:]:
            question, choice = (cell.strip() for cell in line.strip("|").split("|")[:2])
            made.append((f"[{page.stem}](protocols/{page.name})", question, choice))
    return table(("protocol", "question", "choice"), made)


# -- the page --------------------------------------------------------------------------------------

TABLES: dict[str, Callable[[], str]] = {
    "profiles": profiles,
    "ends": ends,
    "meant": meant,
    "rows": explained,
    "matrix": matrix,
    "reasons": reasons,
    "measured": measured,
    "summary": summary,
    "peers": peers,
    "broken": broken,
    "blind": blind,
    "numbers": numbers,
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

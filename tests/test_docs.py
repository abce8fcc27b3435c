"""The pages say what the code does: examples and commands run, tables and codes agree with the source.

In README.md and docs/*.md:
 - each ```python block runs by itself; a ```text block right after it is what it prints;
 - each `$ ` line of a ```console block runs; the lines after it are its output, and `[exit code N]` its code.
"""

from __future__ import annotations

import ast
import dataclasses
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import trigate
from trigate.agent import live, loop
from trigate.agent.outcome import STATUSES
from trigate.calls import ToolCall
from trigate.cli.agent import EXIT_CODES as AGENT_EXIT_CODES
from trigate.cli.calls import EXIT_CODES
from trigate.ledger.errors import CODES as LEDGER_CODES

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BENCHMARKS = ROOT / "benchmarks" / "README.md"
ERRORS = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
#: Commands that install or take long: not run here. tests/test_packaging.py builds and installs the package.
INSTALLS = {"pip install trigate", "pip install 'trigate[all]'", "pip install ."}
#: What examples import and the tests' own environment does not have: `make sdk` does.
SDKS = re.compile(r"^(?:from|import) (openai|anthropic|mcp)\b", re.MULTILINE)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fenced block: where it begins, its language, its text, and the ```text block right after it."""

    page: Path
    line: int
    language: str
    text: str
    prints: str | None

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.line}"


class Command(NamedTuple):
    """One `$ ` line with what it is to print; None where the page does not say."""

    where: str
    words: str
    prints: str | None
    code: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    for number, match in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        prints = None
        if following is not None and following.group(1) == "text":
            between = text[match.end() : following.start()]
            prints = following.group(2) if not between.strip() else None
        yield Block(page, text[: match.start()].count("\n") + 1, match.group(1), match.group(2), prints)


def commands(block: Block) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        words, _, rest = part.partition("\n")
        code = 0
        if told := re.search(r"^\[exit code (\d+)\]\n", rest, re.MULTILINE):
            code, rest = int(told.group(1)), rest[: told.start()]
        yield Command(f"{block.name} {words}", words, rest or None, code)


BLOCKS = [block for page in (*PAGES, BENCHMARKS) for block in blocks(page)]
EXAMPLES = [block for block in BLOCKS if block.language == "python"]
COMMANDS = [command for block in BLOCKS if block.language == "console" for command in commands(block)]


def environment() -> dict[str, str]:
    """The scripts of this environment first; no colour, and as wide as it likes to be."""
    kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    path = os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", "")))
    return {**kept, "PATH": path, "PYTHONUTF8": "1"}


# -- examples and commands -------------------------------------------------------------------------


def test_there_are_examples_and_commands() -> None:
    assert len(EXAMPLES) >= 5
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: block.name)
def test_example(block: Block) -> None:
    for sdk in SDKS.findall(block.text):
        pytest.importorskip(sdk, reason=f"{sdk} is not installed: make sdk")
    made = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.text],
        capture_output=True,
        cwd=ROOT,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert made.stderr.decode() == ""
    assert made.returncode == 0
    assert made.stdout.decode() == (block.prints or "")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.where)
def test_command(command: Command) -> None:
    words = shlex.split(command.words)
    if words[0] == "make":
        assert words[1] in make_targets()
        return
    if command.words in INSTALLS:
        assert (ROOT / "tests" / "test_packaging.py").exists()
        return
    assert words[0] in ("trigate", "python")
    made = subprocess.run(
        command.words, shell=True, capture_output=True, cwd=ROOT, env=environment(), timeout=60, check=False
    )
    assert made.returncode == command.code
    assert made.stderr.decode() == ""
    if command.prints is not None:
        assert made.stdout.decode() == command.prints


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))


def test_the_readme_names_every_make_target() -> None:
    named = {command.words.removeprefix("make ") for command in COMMANDS if command.words.startswith("make ")}
    assert named == make_targets() - {"help", "clean"}


# -- links and words -------------------------------------------------------------------------------


@pytest.mark.parametrize("page", [*PAGES, BENCHMARKS, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)", text):
        if not target.startswith("https://"):
            assert (page.parent / target).exists() or "benchmarks/results" in target, target


def test_public_names_in_the_pages_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"\btrigate\.([A-Za-z]\w*)", page.read_text(encoding="utf-8")):
            place = ROOT / "src" / "trigate" / name
            assert hasattr(trigate, name) or place.with_suffix(".py").exists() or place.is_dir(), name


# -- tables ----------------------------------------------------------------------------------------


def table(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading."""
    section = re.split(r"^#+ ", text.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def first_cells(text: str, heading: str) -> set[str]:
    return {row[0].strip("`") for row in table(text, heading)}


def value_of(words: str) -> int:
    units = {"KiB": 1024, "MiB": 1024 * 1024}
    total = 0
    for term in words.split(" + "):
        number, _, unit = term.partition(" ")
        total += int(number) * units.get(unit, 1)
    return total


def test_the_limits_table_is_that_of_the_code() -> None:
    rows = table((ROOT / "docs" / "limits.md").read_text(encoding="utf-8"), "Limits")
    told = [(row[0].strip("`"), value_of(row[1])) for row in rows]
    assert told == list(dataclasses.asdict(trigate.Limits()).items())
    assert all(row[2] for row in rows)


def test_the_exit_codes_are_those_of_the_code() -> None:
    rows = table((ROOT / "README.md").read_text(encoding="utf-8"), "Command line")
    told = {int(row[0]): row[1] for row in rows}
    assert set(told) == {*EXIT_CODES.values(), 2, 130, 141}
    for status, code in EXIT_CODES.items():
        assert status in told[code]
    of_agents = {int(row[0]): row[4].replace(" ", "_") for row in rows}
    for ending, code in AGENT_EXIT_CODES.items():
        assert ending in of_agents[code]


def test_the_agent_s_page_has_every_ending_and_every_name_of_a_fault() -> None:
    page = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")
    rows = table(page, "How a run ends")
    assert {row[0].strip("`"): row[1] for row in rows} == STATUSES
    assert [word for word in live.FAILURES.values() if f"`{word}`" not in page] == []
    ends = re.findall(r'_Ended\(\s*"\w+",\s*"(\w+)"', Path(loop.__file__).read_text(encoding="utf-8"))
    assert len(ends) >= 5
    assert [word for word in ends if f"`{word}`" not in page] == []


@pytest.mark.parametrize("name", trigate.PROTOCOLS)
def test_every_protocol_is_named_and_has_its_chapter(name: str) -> None:
    """A section of docs/protocols.md, or a page of its own under docs/protocols."""
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page or (ROOT / "docs" / "protocols" / f"{name}.md").exists()


def test_the_state_page_is_what_the_code_says() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (made.returncode, made.stderr) == (0, "")


# -- codes -----------------------------------------------------------------------------------------

#: Codes that the source puts together from a word, and the words.
MADE = {
    "truncated_": ("in_character", "in_line", "in_event", "in_arguments", "before_terminal"),
    "call_": (
        *("duplicate_key", "malformed", "no_call_id", "no_name"),
        *("not_for_client", "not_requested", "repeated", "unknown_type"),
    ),
}
#: Functions that take a code, what kind of code, and which argument it is.
TELLERS = {
    "ErrorInfo": ("error", 2),
    "_limit": ("error", 0),
    "_inconsistent": ("error", 0),
    "void_call": ("problem", 1),
    "Verdict": ("problem", 0),
    "conflict": ("conflict", 0),
    "anomaly": ("anomaly", 0),
    "Anomaly": ("anomaly", 0),
}
#: Words that stand where a code stands, but are the wire's own, or no code.
NO_CODES = {"completed", "cancelled"}


class Codes(ast.NodeVisitor):
    """The code words of a source file, by what they are: error, conflict, anomaly, problem, flag."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {
            kind: set() for kind in ("error", "conflict", "anomaly", "problem", "prefix")
        }

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for keyword in node.keywords:
            if keyword.arg == "code":
                self._add("error", keyword.value)
        kind, position = TELLERS.get(name, ("", 0))
        if kind and len(node.args) > position:
            self._add(kind, node.args[position])
        self.generic_visit(node)

    def _add(self, kind: str, value: ast.expr) -> None:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            self.found[kind].add(value.value)
        elif isinstance(value, ast.JoinedStr) and isinstance(value.values[0], ast.Constant):
            self.found["prefix"].add(str(value.values[0].value))


@cache
def sources() -> tuple[Path, ...]:
    """The files of the package that are imported: what is not reachable says nothing."""
    loaded = "[m.__file__ for n, m in sys.modules.items() if n.startswith('trigate.') and m.__file__]"
    names = "trigate, trigate.ledger.postgres, trigate.ledger.redis, trigate.ledger.threads"
    code = f"import sys, {names}; print(*{loaded}, sep=chr(10))"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return tuple(Path(line) for line in made.stdout.splitlines() if line.endswith(".py"))


@cache
def source_codes() -> dict[str, set[str]]:
    codes = Codes()
    for source in sources():
        codes.visit(ast.parse(source.read_text(encoding="utf-8")))
    return codes.found


def agent_codes() -> set[str]:
    """Those of a record and its replay. Why a run ended is in docs/agent.md."""
    codes = Codes()
    for source in (ROOT / "src" / "trigate" / "agent").glob("*.py"):
        codes.visit(ast.parse(source.read_text(encoding="utf-8")))
    return codes.found["error"]


def core_codes() -> dict[str, tuple[str, str]]:
    """Code to layer and limit, from the one list of the core."""
    text = (ROOT / "ext" / "core" / "tg_status.h").read_text(encoding="utf-8").replace("\\\n", "\n")
    rows = re.findall(r"X\(TG_\w+,\s*\"(\w+)\",\s*\"(\w*)\",\s*\"(\w*)\"", text)
    return {code: (layer, limit) for code, layer, limit in rows if code not in ("ok", "more")}


def test_the_gateway_page_tells_every_code_of_a_gate_and_every_protocol() -> None:
    page = (ROOT / "docs" / "gateway.md").read_text(encoding="utf-8")
    source = (ROOT / "src" / "trigate" / "tap" / "gate.py").read_text(encoding="utf-8")
    codes = set(re.findall(r"_shut\(\s*\"(\w+)\"", source))
    assert len(codes) >= 3
    told = first_cells(page, "What goes out in place of a call")
    assert codes <= told
    assert set(trigate.PROTOCOLS) <= set(re.findall(r"[a-z-]+", " ".join(told)))


def told_by_protocols() -> set[str]:
    """Codes that the page of a protocol explains in a table of its own."""
    pages = (ROOT / "docs" / "protocols").glob("*.md")
    rows = (page.read_text(encoding="utf-8").splitlines() for page in pages)
    return {match.group(1) for lines in rows for line in lines if (match := re.match(r"\| `(\w+)` \|", line))}


def compare(heading: str, known: set[str]) -> None:
    """The table explains every code that no page of a protocol does, and no other."""
    told = first_cells(ERRORS, heading)
    assert known - told - told_by_protocols() == set(), "codes that docs/errors.md does not explain"
    assert told - known == set(), "codes that are gone"


def test_every_error_code_is_explained() -> None:
    known = source_codes()["error"] | core_codes().keys() | LEDGER_CODES.keys() | agent_codes()
    compare("Error codes", (known | {"truncated_" + word for word in MADE["truncated_"]}) - NO_CODES)


def test_the_core_s_codes_have_their_layer_and_limit() -> None:
    rows = {row[0].strip("`"): row for row in table(ERRORS, "Error codes")}
    for code, (layer, limit) in core_codes().items():
        assert rows[code][1].strip("`") == (layer or "-")
        assert limit in rows[code][2]


def test_the_ledger_s_codes_have_their_layer() -> None:
    rows = {row[0].strip("`"): row[1].strip("`") for row in table(ERRORS, "Error codes")}
    assert {code: rows[code] for code in LEDGER_CODES} == LEDGER_CODES
    folder = ROOT / "src" / "trigate" / "ledger"
    text = "".join(
        path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.name != "errors.py"
    )
    assert [code for code in LEDGER_CODES if f'"{code}"' not in text] == []


def test_every_conflict_is_explained() -> None:
    compare("Conflicts", source_codes()["conflict"])


def test_every_anomaly_is_explained() -> None:
    compare("Anomalies", source_codes()["anomaly"] | {"call_" + word for word in MADE["call_"]})


def test_every_problem_is_explained() -> None:
    compare("Problems of a call", source_codes()["problem"])
    assert ToolCall.__doc__ is not None
    assert {word for word in source_codes()["problem"] if f'"{word}"' not in ToolCall.__doc__} == set()


def test_no_other_code_is_put_together() -> None:
    assert source_codes()["prefix"] == set(MADE)


def test_every_flag_is_explained() -> None:
    told = first_cells(ERRORS, "Flags of a call")
    text = "".join(source.read_text(encoding="utf-8") for source in sources())
    assert {flag for flag in told if f'"{flag}"' not in text} == set()
    assert set(trigate.LENIENCIES) - {"unterminated_last_event", "utf8"} <= told

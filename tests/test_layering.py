"""The layers, the sizes and the facts that must be told twice: read from the source text itself.

The core knows no Python and does no input or output; the binding looks at no byte; an import is light.
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import trigate

ROOT = Path(__file__).parent.parent
CORE = ROOT / "ext" / "core"
BINDING = ROOT / "ext" / "binding" / "_core.pyx"
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())

C_FILES = sorted(
    path for folder in ("ext/core", "tests/c", "tests/fuzz") for path in (ROOT / folder).glob("*.[ch]")
)
PY_FILES = sorted(
    path
    for folder in ("src", "tests", "benchmarks", "examples", "docs")
    for path in (ROOT / folder).rglob("*.py")
)
CYTHON_FILES = sorted((ROOT / "ext" / "binding").glob("*.p*"))
ALL_FILES = [*C_FILES, *PY_FILES, *CYTHON_FILES, ROOT / "setup.py", ROOT / "src" / "trigate" / "_core.pyi"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def code_of(path: Path) -> str:
    """C without its comments and string literals."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//[^\n]*", "", text))


core_file = pytest.mark.parametrize("path", [path for path in C_FILES if path.parent == CORE], ids=name_of)


# -- the core ------------------------------------------------------------------------------------------


def test_the_files_were_found() -> None:
    assert len(C_FILES) > 20
    assert len(PY_FILES) > 20
    assert {path.name for path in CYTHON_FILES} == {
        "_core.pyx",
        "events.pxi",
        "frames.pxi",
        "intake.pxi",
        "items.pxi",
        "kernel.pxi",
        "lane.pxi",
        "lanes.pxi",
        "shapes.pxi",
        "sse.pxi",
        "sizes.pxi",
        "tg.pxd",
        "tracker.pxi",
    }


@core_file
def test_core_includes_only_itself_and_plain_c(path: Path) -> None:
    allowed = {"stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "string.h", "limits.h"}
    system = set(re.findall(r"^\s*#\s*include\s*<([^>]+)>", path.read_text(), flags=re.MULTILINE))
    if path.stem.startswith("tg_scan"):
        system = {
            name for name in system if not re.fullmatch(r"(imm|emm|arm_neon)\w*\.h|cpuid\.h|intrin\.h", name)
        }
    assert system <= allowed
    if "stdlib.h" in system:
        assert path.name == "tg_alloc.c"
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), flags=re.MULTILINE):
        assert (CORE / name).is_file()
        assert "/" not in name


@core_file
def test_core_neither_speaks_nor_dies(path: Path) -> None:
    code = code_of(path)
    assert not re.search(
        r"\b(abort|exit|_Exit|assert|printf|fprintf|puts|perror|getenv|signal|longjmp)\s*\(", code
    )
    assert not re.search(r"\bPy[A-Z_]\w*", code)
    if path.name != "tg_alloc.c":
        assert not re.search(r"\b(malloc|calloc|realloc|free)\s*\(", code)


@core_file
def test_intrinsics_live_in_tg_scan_alone(path: Path) -> None:
    pattern = (
        r"\b(_mm\d*_\w+|__m\d+\w*|v(ld1|st1|ceq|orr|max|min)\w*_[su]\d+|__builtin_ia32\w*|u?int\d+x\d+_t)\b"
    )
    if not path.stem.startswith("tg_scan"):
        assert not re.search(pattern, code_of(path))


@core_file
def test_core_keeps_no_state_of_its_own(path: Path) -> None:
    """A static object is const, but for one: which kernel this machine runs, a fact about the machine."""
    objects = [
        line.strip() for line in code_of(path).splitlines() if re.match(r"\s*static\b[^(]*[;=\[]", line)
    ]
    # A pointer is const by the word behind its last star, whatever it points to.
    kept = [
        line
        for line in objects
        if not re.match(r"static const\b[^*]*[;=\[]|static\b[^=]*\*\s*const\b[^*]*[;=\[]", line)
    ]
    if path.name == "tg_scan.c":
        assert [line.replace("volatile ", "") for line in kept] == [
            "static const tg_scan_kernel *scan_in_use;"
        ] * 2
    else:
        assert kept == []


def test_spine_lists_every_layer_once() -> None:
    spine = re.findall(r'^#include "(tg_\w+\.c)"$', (CORE / "tg.c").read_text(), flags=re.MULTILINE)
    assert sorted(spine) == sorted(path.name for path in CORE.glob("tg_*.c"))


# -- the binding ---------------------------------------------------------------------------------------


def test_binding_looks_at_no_byte() -> None:
    text = re.sub(r'""".*?"""', "", BINDING.read_text(), flags=re.DOTALL)
    code = re.sub(r"#[^\n]*", "", text)
    assert not re.search(r"\b(ptr|buf)\s*\[", code)
    assert not re.search(r"uint8_t\s*\*\s*>[^,)\n]*\[", code)
    assert not re.search(r"\b(memchr|strchr|strlen|dereference|ord)\b", code)
    # Comparing and copying whole runs is not looking at a byte.
    assert re.findall(r"from libc\.string cimport (.*)", code) == ["memcmp, memcpy"]
    pxd = (BINDING.parent / "tg.pxd").read_text()
    assert re.findall(r'cdef extern from "([^"]+)"', pxd) == ["tg.h"]
    assert "cdef inline" not in pxd


def test_importing_trigate_is_light() -> None:
    heavy = [
        "asyncio",
        "ssl",
        "http",
        "urllib.request",
        "socket",
        "rich",
        "argparse",
        "subprocess",
        "logging",
    ]
    heavy += ["trigate.cli", "trigate.compat", "trigate.tap", "trigate.tools"]
    code = f"import sys, trigate\nprint([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_wires_words_stay_in_protocols() -> None:
    """No other file of the package compares or emits an event type of the Responses API."""
    others = [path for path in (ROOT / "src").rglob("*.py") if "protocols" not in path.parts]
    assert len(others) > 20
    assert [
        name_of(path) for path in others if re.search(r"""["']response\.(?!_)\w+""", path.read_text())
    ] == []


# -- sizes ---------------------------------------------------------------------------------------------


def test_no_file_is_over_500_lines() -> None:
    assert [name_of(path) for path in ALL_FILES if len(path.read_text().splitlines()) > 500] == []


@pytest.mark.parametrize("path", PY_FILES, ids=name_of)
def test_python_functions_are_short_and_the_file_says_its_rule(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert (node.end_lineno or 0) - node.lineno + 1 < 60, node.name


@pytest.mark.parametrize("path", C_FILES, ids=name_of)
def test_c_functions_are_short_and_the_file_says_its_rule(path: Path) -> None:
    text = path.read_text()
    assert re.match(rf"/\* {re.escape(path.name)} - ", text)
    assert text.isascii()
    name, start = "", 0
    for number, line in enumerate(text.splitlines()):
        if found := re.match(r"(\w+)\(", line):
            name = found.group(1)
        if line == "{":
            start = number
        elif line == "}" and name:
            assert number - start + 1 < (120 if "_step" in name else 60), name
            name = ""


@pytest.mark.parametrize("path", CYTHON_FILES, ids=name_of)
def test_cython_functions_are_short_and_the_file_says_its_rule(path: Path) -> None:
    lines = path.read_text().splitlines()
    first = next(line for line in lines if line and not line.startswith("# cython:"))
    assert first.startswith(('"""', "# "))
    open_at: tuple[int, int] | None = None
    for number, line in enumerate([*lines, "end"]):
        indent = len(line) - len(line.lstrip())
        if open_at is not None and line.strip() and indent <= open_at[1]:
            assert number - open_at[0] < 60, lines[open_at[0]]
            open_at = None
        if re.match(r"\s*(def|cdef|cpdef)\b.*\).*:\s*$", line):
            open_at = (number, indent)


# -- facts told twice ----------------------------------------------------------------------------------


def test_version() -> None:
    project = PYPROJECT["project"]
    assert trigate.__version__ == project["version"] == importlib.metadata.version("trigate")


def test_project_drags_nothing_along() -> None:
    project = PYPROJECT["project"]
    assert [re.split(r"[<>=!~ ]", name)[0] for name in project["dependencies"]] == ["msgspec"]
    assert project["requires-python"] == ">=3.11"
    assert project["scripts"] == {"trigate": "trigate.cli:main"}
    assert (ROOT / "src" / "trigate" / "py.typed").is_file()
    assert sorted(trigate.__all__) == sorted(set(trigate.__all__))
    for name in trigate.__all__:
        assert getattr(trigate, name) is not None

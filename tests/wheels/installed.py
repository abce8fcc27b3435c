"""The tests against an installed wheel, and against nothing else.

    python tests/wheels/installed.py [PYTEST-ARGUMENT...]

Runs in a folder that holds tests/, examples/ and pyproject.toml, but no src/: what is tested is what the
environment has. pytest and hypothesis are all that it needs. What is left out:

 - tests of the checkout itself: those that name a folder or a page that only it has;
 - test files that import something that this environment does not have. Both are named before the run.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent

#: What only a checkout has beside tests/, as a test file names it.
BESIDE = re.compile(r'"(src|ext|benchmarks|docs|\.github|README\.md|Makefile)"')


def imports(source: Path) -> set[str]:
    """The first words of what a file imports when it is loaded; what only a type checker imports is not."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(source.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


@cache
def missing(source: Path) -> frozenset[str]:
    """What a test file, and those beside it that it imports, need and this environment does not have."""
    found: set[str] = set()
    for name in imports(source):
        beside = TESTS / f"{name}.py"
        if beside.exists():
            found |= missing(beside)
        elif not (TESTS / name).is_dir() and importlib.util.find_spec(name) is None:
            found.add(name)
    return frozenset(found)


def reads_checkout(source: Path) -> bool:
    """Whether a test file names what is not here."""
    return BESIDE.search(source.read_text(encoding="utf-8")) is not None


def place() -> Path:
    """Where the package comes from."""
    spec = importlib.util.find_spec("trigate")
    if spec is None or spec.origin is None:
        sys.exit("trigate is not installed here")
    return Path(spec.origin).parent


def main(arguments: list[str]) -> int:
    """pytest's exit code; a sentence where the package is not an installed one."""
    if place().parent not in {Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")}:
        sys.exit(f"trigate is that of {place()}: this environment has none of its own")
    left_out: dict[str, str] = {}
    for source in sorted(TESTS.glob("test_*.py")):
        if reads_checkout(source):
            left_out[source.name] = "reads the checkout"
        elif missing(source):
            left_out[source.name] = f"needs {', '.join(sorted(missing(source)))}"
    for name, reason in left_out.items():
        print(f"left out: {name} {reason}")
    sys.stdout.flush()
    options = [f"--ignore={TESTS / name}" for name in (*left_out, "live")]
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(TESTS),
        "-q",
        "-p",
        "no:cacheprovider",
        *options,
        *arguments,
    ]
    return subprocess.run(command, cwd=TESTS.parent, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

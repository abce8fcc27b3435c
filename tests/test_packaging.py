"""What is shipped: an sdist that builds, and a wheel from it that holds no C and works with msgspec alone.

Built from a copy of the tree, as a packager would: nothing of this checkout's own build is used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import trigate
from wire_builder import Wire

ROOT = Path(__file__).parent.parent
NOT_SOURCE = shutil.ignore_patterns(
    ".*", "build", "dist", "*.egg-info", "*.so", "*.pyd", "__pycache__", "crashes", "corpus"
)
BUILD_SDIST = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"


def run(*command: str | Path, cwd: Path, stdin: bytes = b"") -> str:
    """Runs a command away from the checkout, without its environment; its output if it succeeds."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRIGATE"))
    }
    for name in ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
        environment.pop(name, None)
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, (command, done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources alone."""
    copied = tmp_path_factory.mktemp("copy") / "tree"
    shutil.copytree(ROOT, copied, ignore=NOT_SOURCE)
    shutil.copy(ROOT / ".clang-format", copied)
    for name in (".ci", ".github"):
        shutil.copytree(ROOT / name, copied / name)
    return copied


@pytest.fixture(scope="module")
def sdist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist of that copy."""
    work = tmp_path_factory.mktemp("sdist")
    name = run(sys.executable, "-c", BUILD_SDIST, work, cwd=tree).splitlines()[-1]
    assert name == f"trigate-{trigate.__version__}.tar.gz"
    return work / name


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from nothing but the sdist."""
    work = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--no-cache-dir")
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", work, sdist, cwd=work)
    (made,) = work.glob("trigate-*.whl")
    return made


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel and its own dependencies."""
    work = tmp_path_factory.mktemp("bare")
    run(sys.executable, "-m", "venv", work / "venv", cwd=work)
    python = work / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, cwd=work)
    return python


def test_sdist_holds_all_sources(tree: Path, sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder, patterns in {
        "ext": ("*.c", "*.h", "*.pyx", "*.pxd", "*.pxi"),
        "src": ("*.py", "*.pyi", "py.typed"),
        "tests": ("*.py", "*.json", "*.c", "*.h", "Makefile"),
        "examples": ("*",),
    }.items():
        expected = {
            path.relative_to(tree).as_posix()
            for pattern in patterns
            for path in (tree / folder).rglob(pattern)
            if path.is_file() and not path.parent.name.endswith(".egg-info")
        }
        assert expected
        assert sorted(expected - names) == []
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", "Makefile", "CHANGELOG.md"} <= names
    assert {"tests/vectors/sse.json", ".ci/run", ".github/workflows/release.yml"} <= names


def test_sdist_holds_nothing_generated(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert [name for name in names if name.endswith((".so", ".pyd", ".pyc", ".o", "_core.c"))] == []
    assert [name for name in names if name.startswith(("build/", ".venv", "dist/"))] == []


def test_wheel_holds_the_package_and_no_c(tree: Path, wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith((".c", ".h", ".pyx", ".pxd", ".cpp"))] == []
    package = [name for name in names if name.startswith("trigate/")]
    outside = [name for name in names if name not in package]
    assert all(name.startswith(f"trigate-{trigate.__version__}.dist-info/") for name in outside)
    assert len([name for name in package if name.endswith((".so", ".pyd"))]) == 1
    source = tree / "src"
    expected = {
        path.relative_to(source).as_posix()
        for pattern in ("*.py", "*.pyi", "py.typed")
        for path in (source / "trigate").rglob(pattern)
    }
    assert {"trigate/py.typed", "trigate/_core.pyi"} <= expected
    assert expected == {name for name in package if not name.endswith((".so", ".pyd"))}
    assert f"trigate-{trigate.__version__}.dist-info/licenses/LICENSE" in outside


def test_wheel_is_as_a_release_checks_it(wheel: Path) -> None:
    assert "as it should be" in run(
        sys.executable, ROOT / "tests" / "wheels" / "contents.py", wheel, cwd=wheel.parent
    )


def test_wheel_needs_msgspec_alone(bare: Path) -> None:
    listed = run(bare, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check", cwd=bare.parent)
    names = {line.partition("==")[0].partition(" @")[0].lower() for line in listed.splitlines()}
    assert names - {"pip", "setuptools", "wheel"} == {"trigate", "msgspec"}


def test_wheel_parses_a_stream(bare: Path) -> None:
    code = (
        "import sys, trigate\n"
        "response = trigate.parse(sys.stdin.buffer)\n"
        "(call,) = response.released\n"
        "print(trigate.__version__, response.status, call.name, call.value(), trigate.__file__)"
    )
    stream = Wire().call('{"city":', '"München"}', name="weather").complete().stream
    printed = run(bare, "-X", "utf8", "-W", "error", "-c", code, cwd=bare.parent, stdin=stream)
    assert printed.startswith(f"{trigate.__version__} completed weather {{'city': 'München'}} ")
    assert str(ROOT) not in printed


def test_wheel_has_a_command_line_without_rich(bare: Path) -> None:
    stream = Wire().call('{"city":"Bonn"}', name="weather").complete().stream
    usage = run(bare, "-m", "trigate", "--help", cwd=bare.parent)
    assert "calls" in usage
    assert "events" in usage
    assert run(bare.parent / "trigate", "--help", cwd=bare.parent) == usage
    printed = run(bare, "-m", "trigate", "calls", "-", cwd=bare.parent, stdin=stream)
    assert "weather" in printed
    assert "completed" in printed


# -- a build that cannot be ----------------------------------------------------------------------------

#: Runs setup.py as if the headers of Python were at the place named.
WITH_HEADERS_AT = """
import runpy, sys, sysconfig
place, path = sys.argv[1], sysconfig.get_path
sysconfig.get_path = lambda name, *rest, **more: place if name == "include" else path(name, *rest, **more)
sys.argv = ["setup.py", "-q", "build_ext", "--force", "--build-lib", "lib", "--build-temp", "temp"]
runpy.run_path("setup.py")
"""

posix = pytest.mark.skipif(sys.platform == "win32", reason="MSVC is not found by PATH")


def complaint(tree: Path, headers: str, **environment: str) -> list[str]:
    """The last words of a build that fails."""
    command = [sys.executable, "-c", WITH_HEADERS_AT, headers]
    done = subprocess.run(
        command, cwd=tree, capture_output=True, env={**os.environ, **environment}, check=False, timeout=120
    )
    assert done.returncode == 1
    return done.stderr.decode().splitlines()


@posix
@pytest.mark.usefixtures("sdist")
def test_a_machine_without_a_compiler_is_told_so(tree: Path, tmp_path: Path) -> None:
    what, how = complaint(tree, sysconfig.get_path("include"), PATH=str(tmp_path), CC="no-cc")
    assert what == "error: trigate has a part in C, and this machine has no C compiler (looked for no-cc)."
    assert how.startswith("To build it, install: ")
    assert how.endswith("take a wheel: pip install --only-binary trigate trigate")


@posix
@pytest.mark.usefixtures("sdist")
def test_a_machine_without_python_s_headers_is_told_so(tree: Path, tmp_path: Path) -> None:
    what, how = complaint(tree, str(tmp_path), CC="false")
    assert what.endswith(f"this machine has no Python.h (looked for {tmp_path / 'Python.h'}).")
    assert how.startswith("To build it, install: ")


@posix
@pytest.mark.usefixtures("sdist")
def test_another_failure_is_the_compiler_s_own(tree: Path) -> None:
    said = complaint(tree, sysconfig.get_path("include"), CC="false")
    assert not [line for line in said if "this machine has no" in line]

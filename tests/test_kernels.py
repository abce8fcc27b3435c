"""The kernels of tg_scan as Python sees them: a choice by TRIGATE_SIMD that changes no result.

tests/c/test_scan.c holds each kernel against its definition; here whole readings are equal whatever the kernel.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuts
import readings
from trigate import JSONTracker, parse
from trigate._core import _kernel, _kernels, _use_kernel

EXAMPLES = sorted((Path(__file__).parent.parent / "examples" / "streams").glob("*.sse"))
# Lines of all lengths around those of vectors, in one to four bytes a character, well-formed and not.
CHARACTERS = ["a", "é", "你", "😀", 'it’s "quoted" \\ 😀 ']
LINES = [f"data: {(character * 150)[:size]}\n\n".encode() for character in CHARACTERS for size in range(150)]
FAULTS = [line[:-at] + b"\xff\xed\xa0\x80" + line[-at:] for line in LINES[100::150] for at in range(2, 120)]
STREAMS = {path.stem: path.read_bytes() for path in EXAMPLES}
STREAMS |= {"lines": b"".join(LINES), "faults": b"".join(FAULTS)}

# Prints the kernel and a digest of all that was read of the file named, whole and in pieces.
READER = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
import cuts, readings
from trigate import JSONTracker, _core
print(_core._kernel())
for path in sys.argv[2:]:
    stream = open(path, "rb").read()
    found = [readings.read(pieces) for pieces in ([stream], *cuts.at_random(stream, path))]
    found.append(readings.read([stream], errors="strict"))
    print(hashlib.sha256(repr(found).encode()).hexdigest())
"""


def run(code: str, *arguments: str, kernel: str | None) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "TRIGATE_SIMD"}
    if kernel is not None:
        environment["TRIGATE_SIMD"] = kernel
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


# -- the choice --------------------------------------------------------------------------------------


def test_the_kernels_of_this_machine() -> None:
    names = _kernels()
    assert names[0] == "scalar"
    assert _kernel() in names
    if platform.machine() in ("x86_64", "AMD64"):
        assert names == ("scalar", "sse2", "avx2", "avx512")[: len(names)]
        assert len(names) >= 2
    elif platform.machine() in ("aarch64", "arm64"):
        assert names == ("scalar", "neon")


@pytest.mark.parametrize("name", _kernels())
def test_the_variable_chooses(name: str) -> None:
    made = run("from trigate import _core; print(_core._kernel())", kernel=name)
    assert (made.stdout, made.stderr, made.returncode) == (f"{name}\n", "", 0)


@pytest.mark.parametrize("name", ["", None])
def test_without_it_the_core_chooses(name: str | None) -> None:
    made = run("from trigate import _core; print(_core._kernel())", kernel=name)
    assert made.stdout.strip() in _kernels()
    assert made.stdout.strip() not in ("scalar", "sse2")[: len(_kernels()) - 1]


@pytest.mark.parametrize("name", ["sse3", "AVX2", "avx2 ", "auto"])
def test_an_unknown_name_fails_at_import_and_names_those_there_are(name: str) -> None:
    made = run("import trigate", kernel=name)
    assert made.returncode == 1
    there = ", ".join(_kernels())
    last = f"ImportError: TRIGATE_SIMD: no kernel {name!r} here: this build and this machine have {there}"
    assert made.stderr.splitlines()[-1] == last


@pytest.mark.parametrize("name", ["", "sse3", "scalar\0", "é"])
def test_use_refuses_what_is_not_there(name: str) -> None:
    in_use = _kernel()
    with pytest.raises(ValueError, match="no kernel"):
        _use_kernel(name)
    assert _kernel() == in_use


# -- the results -------------------------------------------------------------------------------------


def test_each_kernel_reads_the_same(tmp_path: Path) -> None:
    for name, stream in STREAMS.items():
        (tmp_path / name).write_bytes(stream)
    files = [str(tmp_path / name) for name in STREAMS]
    digests = set()
    for name in _kernels():
        made = run(READER, str(Path(__file__).parent), *files, kernel=name)
        assert made.stderr == ""
        first, *rest = made.stdout.split()
        assert first == name
        assert len(rest) == len(STREAMS)
        digests.add(tuple(rest))
    assert len(digests) == 1


@pytest.fixture
def restored() -> Iterator[None]:
    in_use = _kernel()
    yield
    _use_kernel(in_use)


@pytest.mark.usefixtures("restored")
def test_each_kernel_parses_the_same() -> None:
    for path in EXAMPLES:
        found = []
        for name in _kernels():
            _use_kernel(name)
            found.append(parse(path.read_bytes()))
        assert all(response == found[0] for response in found), path.name


PIECES = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=80).map(str.encode),
    st.sampled_from(
        [b"data: ", b"\n", b"\r\n", b"\n\n", b'{"a": "', b'"}', b"\xe4\xbd", b"\xa0", b"\\u00e9"]
    ),
)


@given(st.lists(PIECES, max_size=12), st.integers(1, 70))
def test_each_kernel_reads_any_bytes_the_same(pieces: list[bytes], size: int) -> None:
    stream = b"".join(pieces)
    in_use = _kernel()
    found = set()
    try:
        for name in _kernels():
            _use_kernel(name)
            tracker = JSONTracker()
            tracker.feed(stream)
            read = (
                readings.read(cuts.at(stream, range(size, len(stream), size))),
                readings.read([stream], errors="strict"),
            )
            found.add((*read, tracker.finish(), tracker.error_at, tracker.depth))
    finally:
        _use_kernel(in_use)
    assert len(found) == 1

"""What a wheel holds: the package, its types, one extension module, and nothing else.

    python tests/wheels/contents.py WHEEL...

Prints a line for each wheel and exits with 1 if one is not as it should be. Needs the standard library alone.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

#: What no wheel holds: C, Cython, what was made of them, and tests.
SOURCES = (".c", ".h", ".cpp", ".pyx", ".pxd", ".pxi", ".o", ".pyc")
EXTENSIONS = (".so", ".pyd")
TYPES = ("trigate/py.typed", "trigate/_core.pyi")


def faults(wheel: Path) -> Iterator[str]:
    """What is wrong with a wheel, one sentence each."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    project = "-".join(wheel.name.split("-")[:2])
    for name in names:
        if name.endswith(SOURCES):
            yield f"{name} is a source, or made of one"
        if not name.startswith(("trigate/", f"{project}.dist-info/")):
            yield f"{name} lies outside of the package"
    for name in (*TYPES, "trigate/__init__.py", f"{project}.dist-info/licenses/LICENSE"):
        if name not in names:
            yield f"{name} is missing"
    extensions = [name for name in names if name.endswith(EXTENSIONS)]
    if len(extensions) != 1 or not extensions[0].startswith("trigate/_core."):
        yield f"one extension module is expected, not {extensions}"


def main(wheels: list[Path]) -> int:
    """The exit code: 1 for a fault, or when there is nothing to check."""
    code = 0 if wheels else 1
    for wheel in wheels:
        found = list(faults(wheel))
        print(f"{wheel.name}: {'; '.join(found) or f'{wheel.stat().st_size} bytes, as it should be'}")
        code = 1 if found else code
    return code


if __name__ == "__main__":
    sys.exit(main([Path(word) for word in sys.argv[1:]]))

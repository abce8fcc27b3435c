"""The benchmark's streams are what they say: the same for one seed, and the events that they expect."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import trigate

CORPUS = Path(__file__).resolve().parent.parent / "benchmarks" / "corpus.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_corpus", CORPUS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


STREAMS = load().streams(count=120)


@pytest.mark.parametrize("size", [None, 64 * 1024, 1000, 7])
@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_events_are_the_expected_ones(stream: Any, size: int | None) -> None:
    decoder = trigate.SSEDecoder(errors="strict")
    events = [event for chunk in stream.chunks(size) for event in decoder.feed(chunk)]
    assert not decoder.finish()
    assert [(event.event, event.data, event.id, event.retry) for event in events] == list(stream.expected)


def test_one_seed_gives_the_same_bytes() -> None:
    again = load().streams(count=120)
    assert [stream.data for stream in again] == [stream.data for stream in STREAMS]
    assert [stream.data for stream in load().streams(seed=1, count=120)] != [stream.data for stream in again]

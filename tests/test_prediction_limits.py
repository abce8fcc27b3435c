"""Bounds are passed at the same event and the same byte, whether or not the deltas before it were read.

Rules
 - Each bound takes every value at which a predicted delta could be the one that passes it, one below and one above.
"""

from __future__ import annotations

import pytest

import trigate
from prediction_lanes import ALL, Kind, ids
from prediction_pairs import both, made

kinds = pytest.mark.parametrize("kind", ALL, ids=ids)
calls = pytest.mark.parametrize(
    "kind", [kind for kind in ALL if "call" in kind.name or "arg" in kind.name], ids=ids
)

TEXTS = [b"abc", b"d", b"ef", "é".encode(), b"", b"\\n\\u00e9", b"\\ud83d\\ude00", b"ghij", b"\\\\", b"kl"]
#: Bytes of what they say.
SIZE = sum((3, 1, 2, 2, 0, 3, 4, 4, 1, 2))


def ends(kind: Kind, **limits: int) -> trigate.Response:
    frames = kind.frames(TEXTS)
    bounds = trigate.Limits(**limits)
    both(b"".join(frames), kind.protocol, frames, limits=bounds)
    return both(b"".join(frames), kind.protocol, limits=bounds).response


def kept(kind: Kind, count: int) -> int:
    """Bytes that are kept once so many of the texts have come."""
    parser = made(kind.protocol, fast=False)
    parser.feed(b"".join([*kind.opening, *kind.frames(TEXTS)[len(kind.opening) :][:count]]))
    return parser._turn.lanes.kept


@kinds
def test_max_response_bytes(kind: Kind) -> None:
    first, last = kept(kind, 1), kept(kind, len(TEXTS))
    assert last - first >= SIZE - 3
    for bound in range(max(1, first - 2), last + 3):
        response = ends(kind, max_response_bytes=bound)
        if bound < last:
            assert response.status == "failed"
            assert response.error is not None
            assert response.error.limit == "max_response_bytes"


@pytest.mark.parametrize("kind", [kind for kind in ALL if kept(kind, 10) - kept(kind, 0) == SIZE], ids=ids)
def test_max_arguments_bytes(kind: Kind) -> None:
    """It bounds each call alone, so that texts do not pass it."""
    for bound in range(1, SIZE + 3):
        response = ends(kind, max_arguments_bytes=bound)
        is_over = bool(response.calls) and bound < SIZE
        told = response.error.limit if response.error is not None else None
        assert (told == "max_arguments_bytes") == is_over


@kinds
def test_max_event_bytes_and_max_line_bytes(kind: Kind) -> None:
    """Around the size of each delta, some of which are longer than others."""
    frames = kind.frames(TEXTS)
    deltas = frames[len(kind.opening) : len(kind.opening) + len(TEXTS)]
    lines = {len(line) for frame in deltas for line in frame.split(b"\n")}
    sizes = lines | {len(frame) for frame in deltas}
    for size in sorted({near + more for near in sizes for more in range(-16, 3)}):
        if size > 0:
            bounds = trigate.Limits(max_event_bytes=size)
            both(b"".join(frames), kind.protocol, limits=bounds)
            bounds = trigate.Limits(max_line_bytes=size)
            both(b"".join(frames), kind.protocol, limits=bounds)


@calls
def test_bounds_with_two_calls(kind: Kind) -> None:
    """Pieces of a second call, as like the first one's as they can be, take nothing of its room."""
    frames = kind.frames(TEXTS)
    for old, new in ((b'"index":0', b'"index":1'), (b'"output_index":0', b'"output_index":1')):
        other = [
            frame.replace(old, new).replace(b'"id":"a"', b'"id":"b"').replace(b'"i0"', b'"i1"')
            for frame in frames
        ]
        taking_turns = [frame for pair in zip(frames, other, strict=True) for frame in pair]
        for bound in range(SIZE - 6, SIZE + 2):
            bounds = trigate.Limits(max_arguments_bytes=bound)
            both(b"".join(taking_turns), kind.protocol, limits=bounds)


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_max_anomalies(bound: int) -> None:
    """What is noted once is noted each time where there is no room to remember it."""
    bounds = trigate.Limits(max_anomalies=bound)
    for kind in ALL:
        frames = kind.frames(TEXTS)
        bare = [frame.replace(b'"index":0,', b"").replace(b"event: ", b"event: x") for frame in frames]
        both(b"".join(bare), kind.protocol, bare, limits=bounds)
        both(b"".join(bare), kind.protocol, limits=bounds)

"""Prediction is on: nearly every delta of a long stream is taken unread, so that comparing it compares two things.

Rules
 - Every sort of delta of every protocol, in one chunk, in chunks of a thousand bytes, and one event a chunk.
 - Switched off, by the environment or for a parser, nothing is taken unread.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import trigate
from prediction_lanes import ALL, Kind, ids
from prediction_pairs import both, made, unread
from trigate._core import _use_prediction

COUNT = 500
kinds = pytest.mark.parametrize("kind", ALL, ids=ids)


def words(count: int = COUNT) -> list[bytes]:
    """Pieces as models send them: words, some with escapes, some beyond ASCII."""
    return [
        (b"word%d " % number, "né ".encode(), b'\\"a\\": ', b"\\n\\u00e9")[number % 4]
        for number in range(count)
    ]


@kinds
@pytest.mark.parametrize("size", [None, 1000, "events"], ids=str)
def test_nearly_all_deltas_are_taken_unread(kind: Kind, size: int | str | None) -> None:
    frames = kind.frames(words())
    chunks = frames if isinstance(size, str) else size
    assert both(b"".join(frames), kind.protocol, chunks, seen=False).hits > COUNT * 0.98


@pytest.mark.parametrize("kind", [ALL[0], ALL[7], ALL[13], ALL[16], ALL[-2]], ids=ids)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n", b"\r"], ids=repr)
def test_every_end_of_line(kind: Kind, eol: bytes) -> None:
    frames = [frame.replace(b"\n", eol) for frame in kind.frames(words(100))]
    for chunks in (None, 1000, frames):
        assert both(b"".join(frames), kind.protocol, chunks, seen=False).hits > 96


@kinds
def test_events_cut_by_chunks_are_taken_too(kind: Kind) -> None:
    data = b"".join(kind.frames(words(60)))
    for size in (1, 50, 333):
        assert both(data, kind.protocol, size, seen=False).hits > 56


@kinds
def test_events_between_others_are_taken_unread(kind: Kind) -> None:
    """A comment, an id and a retry are no events: what stands between them is still like the one before."""
    if kind.protocol in ("ollama-chat", "bedrock-converse"):
        return
    frames = [
        frame if at % 4 else b": ping\n\nid: 7\nretry: 9\n" + frame
        for at, frame in enumerate(kind.frames(words(60)))
    ]
    assert both(b"".join(frames), kind.protocol, frames).hits > 56


@pytest.mark.parametrize("protocol", sorted(trigate.PROTOCOLS))
def test_every_protocol_with_shapes_is_measured(protocol: str) -> None:
    has_shapes = made(protocol, fast=True)._turn.lanes.shapes is not None
    assert has_shapes == (protocol in {kind.protocol for kind in ALL})


# -- off -----------------------------------------------------------------------------------------------

_COUNT_HITS = """
import sys
import trigate
from trigate._core import _use_prediction

parser = trigate.ResponseParser("openai-chat")
parser.feed(sys.stdin.buffer.read())
assert len(parser.finish().text) > 100
was = _use_prediction(True)
print(parser._turn.lanes._hits, was)
"""


@pytest.mark.parametrize(("value", "is_on"), [("0", False), ("1", True), ("", True), (None, True)], ids=str)
def test_the_environment_switches_it_off(value: str | None, is_on: bool) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "TRIGATE_FASTPATH"}
    environment |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    if value is not None:
        environment["TRIGATE_FASTPATH"] = value
    told = subprocess.run(
        [sys.executable, "-c", _COUNT_HITS],
        input=b"".join(ALL[0].frames(words(100))),
        env=environment,
        capture_output=True,
        check=True,
    )
    hits, was = told.stdout.split()
    assert was == str(is_on).encode()
    assert int(hits) == (99 if is_on else 0)


def test_a_parser_keeps_what_it_was_made_with() -> None:
    data = b"".join(ALL[0].frames(words(20)))
    was = _use_prediction(True)
    try:
        on = trigate.ResponseParser("openai-chat")
        assert _use_prediction(False) is True
        off = trigate.ResponseParser("openai-chat")
        assert _use_prediction(True) is False
        assert on.feed(data) == off.feed(data)
    finally:
        _use_prediction(was)
    assert on._turn.lanes._hits > 15
    assert off._turn.lanes._hits == 0
    assert unread(data, "openai-chat") == on._turn.lanes._hits

"""The conformance vectors of tests/vectors/sse.json, at every kind of cut: events, offsets, rest and state.

Each vector's own values are the truth; offsets and the rest are checked against the bytes themselves.
"""

from __future__ import annotations

import array
import base64
import codecs
import json
import re
from pathlib import Path
from typing import Any

import pytest

import cuts
import readings
from trigate import SSEDecoder

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors" / "sse.json").read_text(encoding="ascii")
)
STREAMS = {vector["name"]: base64.b64decode(vector["input_b64"]) for vector in VECTORS}
LINE_END = re.compile(rb"\r\n|\n|\r")
BOM = codecs.BOM_UTF8

each_vector = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])


def test_all_vectors_are_here() -> None:
    assert len(VECTORS) == len(STREAMS) == 591


@each_vector
def test_values(vector: dict[str, Any]) -> None:
    decoder = SSEDecoder()
    events = decoder.feed(STREAMS[vector["name"]])
    found = [{"event": e.event, "data": e.data, "last_event_id": e.id} for e in events]
    assert found == vector["events"]
    assert [e.data_bytes.decode() for e in events] == [e.data for e in events]
    if "retry" not in vector.get("lenient", ()):
        assert decoder.reconnection_time == vector["retry"]
    decoder.finish()
    assert decoder.last_event_id == vector["final_last_event_id"]
    assert decoder.bytes_fed == len(STREAMS[vector["name"]])


@each_vector
def test_every_cut_is_equal(vector: dict[str, Any]) -> None:
    stream = STREAMS[vector["name"]]
    whole = readings.read([stream])
    assert whole.error is None
    for chunks in cuts.every(stream, vector["name"]):
        assert readings.read(chunks) == whole, [len(chunk) for chunk in chunks]


@each_vector
def test_events_come_with_the_byte_that_dispatches_them(vector: dict[str, Any]) -> None:
    """`end` is just past that byte, so an event is there after exactly `end` bytes and not before."""
    stream = STREAMS[vector["name"]]
    decoder = SSEDecoder()
    for place, byte in enumerate(cuts.singly(stream)):
        assert [event.end for event in decoder.feed(byte)] in ([], [place + 1])


@each_vector
def test_offsets_are_those_of_the_block(vector: dict[str, Any]) -> None:
    stream = STREAMS[vector["name"]]
    before = 0
    for event in readings.events_of([stream]):
        assert event.start is not None
        assert event.data_start is not None
        assert event.end is not None
        assert before <= event.start < event.data_start < event.end <= len(stream)
        before = event.end
        # The block alone gives the same event. The LF before it ends nothing, and keeps a U+FEFF.
        (alone,) = readings.events_of([b"\n" + stream[event.start : event.end]])
        assert (alone.event, alone.data, alone.retry) == (event.event, event.data, event.retry)
        line = LINE_END.split(stream[event.data_start :], maxsplit=1)[0]
        assert line.decode("utf-8", "replace") == event.data.split("\n")[0]
        head = LINE_END.split(stream[event.start : event.data_start])
        assert head[-1] in (b"data", b"data:", b"data: ")


@each_vector
def test_leftover(vector: dict[str, Any]) -> None:
    stream = STREAMS[vector["name"]]
    decoder = SSEDecoder()
    count = len(decoder.feed(stream))
    left = decoder.finish()
    line = LINE_END.split(stream)[-1]
    if line == stream and line.startswith(BOM):
        line = line[len(BOM) :]
    is_partial = vector["tail"] == "partial-line"
    assert left.bytes == (line if is_partial else b"")
    assert left.where == _where(vector["tail"], left.bytes)
    assert bool(left) == (left.where is not None)
    # What the next bytes would have made of it is the truth about its data, its type and its start.
    closed = [event.data for event in readings.events_of([stream, b"\n\n"])[count:]]
    assert closed == ([] if left.data is None else [left.data])
    end = b"\n" if is_partial else b""
    (probe,) = readings.events_of([stream, end + b"data:probe\n\n"])[count:]
    assert left.event == probe.event
    if left:
        assert left.start == probe.start


def _where(tail: str, line: bytes) -> str | None:
    if tail == "partial-line":
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        decoder.decode(line)
        return "character" if decoder.getstate()[0] else "line"
    return "event" if tail == "fields" else None


@each_vector
def test_any_buffer_will_do(vector: dict[str, Any]) -> None:
    stream = STREAMS[vector["name"]]
    whole = readings.read([stream])
    pieces = next(cuts.at_random(stream, vector["name"], 1))
    assert readings.read([bytearray(piece) for piece in pieces]) == whole
    assert readings.read([memoryview(b"<" + piece + b">")[1:-1] for piece in pieces]) == whole
    assert readings.read([array.array("B", piece) for piece in pieces]) == whole
    signed = [array.array("b", piece) for piece in pieces]
    assert readings.read(signed) == whole


@each_vector
def test_empty_chunks_change_nothing(vector: dict[str, Any]) -> None:
    stream = STREAMS[vector["name"]]
    pieces = cuts.singly(stream) if len(stream) <= 5000 else next(cuts.at_random(stream, vector["name"], 1))
    padded = [b"", *(chunk for piece in pieces for chunk in (piece, b"", bytearray()))]
    assert readings.read(padded) == readings.read([stream])


@each_vector
def test_a_chunk_may_be_overwritten_after_feed(vector: dict[str, Any]) -> None:
    """Nothing of a chunk is borrowed past its feed."""
    stream = STREAMS[vector["name"]]
    room = bytearray(64)
    decoder = SSEDecoder()
    found = []
    for start in range(0, len(stream), 64):
        piece = stream[start : start + 64]
        room[: len(piece)] = piece
        found += decoder.feed(memoryview(room)[: len(piece)])
        room[:] = b"\n" * len(room)
    assert [readings.members(event) for event in found] == list(readings.read([stream]).events)
    assert decoder.finish() == readings.read([stream]).leftover


@each_vector
def test_strict_agrees_where_the_bytes_are_well_formed(vector: dict[str, Any]) -> None:
    stream = STREAMS[vector["name"]]
    strict = readings.read([stream], errors="strict")
    fault = _first_fault(stream)
    if fault is None:
        assert strict == readings.read([stream])
    else:
        assert strict.error == ("DecodeError", "invalid_utf8", fault, None)


def _first_fault(stream: bytes) -> int | None:
    """Offset of the first ill-formed sequence, by Python's own decoder; a cut one at the end is none."""
    try:
        codecs.getincrementaldecoder("utf-8")("strict").decode(stream)
    except UnicodeDecodeError as error:
        return error.start
    return None

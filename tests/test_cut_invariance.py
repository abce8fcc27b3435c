"""The cut of the input is not an input: Response and items are equal for every cut.

Equal means all of it: calls, anomalies, error codes, offsets. Pieces of one text count as joined.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorded import corpus_entries, corpus_stream, needs_corpus
from stream_strategies import Made, framings, spoilt, turns
from streams import (
    PROTOCOL,
    Framing,
    Script,
    bytewise,
    every_two_cut,
    function_item,
    joined,
    message_item,
    run,
    seeded_cuts,
    typical_cuts,
)

some = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
ALL_LENIENT = [
    "unterminated_last_event",
    "utf8",
    "control_characters",
    "nan",
    "trailing_text",
    "duplicate_keys",
]


def same_at(data: bytes, cuts: Any, **options: Any) -> None:
    items, whole = run([data], **options)
    told = joined(items)
    for chunks in cuts:
        other_items, other = run(chunks, **options)
        assert other == whole
        assert joined(other_items) == told


# -- own streams, every two-cut ----------------------------------------------------------------------


def own_streams() -> dict[str, bytes]:
    """Small streams, each with one way to go right or wrong."""
    two = Script().created().message("Größe 🌍").call('{"städte":["北京"]}', index=1)
    cut = function_item("", call_id="c2", id="f2", status="in_progress")
    good = two.end().data()
    half = (
        Script()
        .created()
        .call('{"a":"😀"}', pieces=['{"a":"\ud83d', '\ude00"}'])
        .end()
        .data(Framing(escaped=True))
    )
    return {
        "good": good,
        "crlf": two.data(Framing(eol=b"\r\n", between=b": ping\r\n\r\n", end=b"data: [DONE]\r\n\r\n")),
        "cr and bom": two.data(Framing(eol=b"\r", bom=True, space=False)),
        "halves": half,
        "cut": Script().created().added(0, cut).delta(0, '{"a":"é', item_id="f2").data(),
        "cut in a line": good[:-30],
        "conflict": Script()
        .created()
        .added(0, cut)
        .delta(0, "{}", item_id="f2")
        .closed(0, '{"a":1}')
        .end()
        .data(),
        "gap": Script().created().added(0, cut).skip().delta(0, "{}", item_id="f2").end().data(),
        "invalid utf-8": good.replace("ö".encode(), b"\xc3("),
        "invalid json": good.replace(b'"delta":', b'"delta" '),
        "wrong shape": Script().created().add("response.output_text.delta", delta=5).end().data(),
        "error": Script().created().add("error", message="busy", code="x").data(),
        "error field": Script().created().data() + b"error: boom\n\n",
        "after the end": good + b"data: {}\n\ndata: x\n\n: y\n\ndata: \xff",
        "json body": b' \r\n{"error": {"message": "n\xc3\xa4h"}}',
        "cut body": b'{"error": {"mess',
        "broken bom": b"\xef\xbb{}",
        "html": b"<html>no</html>",
        "blank": b"\r\n \n",
        "unended error": Script().created().data() + b'data: {"type":"error","message":"m"}',
        "unicode lines": Script().created().whole(0, message_item("a\u2028b\u0085c\x0bd")).end().data(),
    }


@pytest.mark.parametrize("name", own_streams())
@pytest.mark.parametrize(
    "options", [{}, {"lenient": ALL_LENIENT, "release_on": "call"}, {"deltas": False, "strict": True}]
)
def test_every_two_cut_of_own_streams(name: str, options: dict[str, Any]) -> None:
    data = own_streams()[name]
    same_at(data, [bytewise(data), *every_two_cut(data)], **options)


def test_empty_chunks_are_nothing() -> None:
    data = own_streams()["good"]
    same_at(data, [[b"", *(piece for byte in bytewise(data) for piece in (byte, b"", b""))]])


# -- recorded ones -----------------------------------------------------------------------------------


@needs_corpus
@pytest.mark.parametrize(
    "entry", corpus_entries(PROTOCOL), ids=lambda entry: entry["file"].rpartition("/")[2]
)
def test_recorded_streams(entry: dict[str, Any]) -> None:
    data = corpus_stream(entry["file"])
    same_at(data, typical_cuts(data))


@needs_corpus
@pytest.mark.parametrize(
    "entry", corpus_entries(PROTOCOL)[:20], ids=lambda entry: entry["file"].rpartition("/")[2]
)
def test_spoilt_recorded_streams(entry: dict[str, Any]) -> None:
    """Events lost, repeated, swapped, cut short, single bits turned; seeded, so that a failure comes back."""
    data = corpus_stream(entry["file"])
    source = random.Random(entry["file"])
    for _ in range(12):
        blocks = data.split(b"\n\n")
        at, other = source.randrange(len(blocks)), source.randrange(len(blocks))
        match source.randrange(5):
            case 0:
                del blocks[at]
            case 1:
                blocks.insert(other, blocks[at])
            case 2:
                blocks[at], blocks[other] = blocks[other], blocks[at]
            case 3:
                blocks[at] = blocks[at][: source.randrange(len(blocks[at]) + 1)]
            case _:
                block = bytearray(blocks[at] or b" ")
                block[source.randrange(len(block))] ^= 1 << source.randrange(8)
                blocks[at] = bytes(block)
        spoilt_data = b"\n\n".join(blocks)
        same_at(spoilt_data, [bytewise(spoilt_data), *seeded_cuts(spoilt_data, 5, 2)])


# -- generated ones ----------------------------------------------------------------------------------


@some
@given(turns(ends=("completed", "incomplete", "failed", "cancelled")), st.integers(0, 2**32))
def test_generated_streams(made: Made, seed: int) -> None:
    assert run([made.data])[1].status == made.status
    same_at(made.data, [bytewise(made.data), *seeded_cuts(made.data, seed, 2)])


@settings(some, max_examples=250)
@given(spoilt(bits=True), st.integers(0, 2**32), st.sampled_from([[], ALL_LENIENT]))
def test_spoilt_streams(spoilt_one: tuple[Made, bytes], seed: int, lenient: list[str]) -> None:
    _, data = spoilt_one
    same_at(data, [bytewise(data), *seeded_cuts(data, seed, 2)], lenient=lenient)


@some
@given(
    st.lists(
        st.sampled_from(
            [
                b"data:",
                b"event: error",
                b"{",
                b"}",
                b'"type":',
                b'"response.completed"',
                b"\n",
                b"\r",
                b"\xef",
            ]
        )
        | st.binary(max_size=3)
    ),
    framings,
)
def test_bytes_that_hardly_are_a_stream(pieces: list[bytes], framing: Framing) -> None:
    data = framing.eol.join(pieces) + framing.end
    same_at(data, [bytewise(data), *seeded_cuts(data, 1, 3)])

"""Tap: beside the bytes, what they said and when they came; nothing that comes over the wire makes it raise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import cuts
import trigate
from matrix_streams import good, matrix
from model import READERS
from model.frames import join
from model.generate import turns
from prediction_pairs import predicting
from trigate.tap import Tap, TapReport

PROTOCOLS = sorted(READERS)
STREAM = (Path(__file__).parent.parent / "examples" / "streams" / "parallel-calls.sse").read_bytes()


class Clock:
    """Seconds that go on when a test says so."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def tapped(chunks: list[bytes], protocol: str) -> TapReport:
    tap = Tap(protocol, clock=Clock())
    for chunk in chunks:
        assert tap.feed(chunk) is chunk
    return tap.finish()


def check(data: bytes, protocol: str, seed: str) -> None:
    """The verdict is the parser's, and depends on the bytes alone."""
    whole = trigate.parse(data, protocol)
    expected = tapped([data], protocol)
    for name in ("status", "reason", "protocol", "id", "model", "usage", "error", "anomalies", "clean_end"):
        assert getattr(expected, name) == getattr(whole, name)
    assert [
        (call.call_id, call.name, call.state, call.problem, call.start, call.end) for call in expected.calls
    ] == [(call.call_id, call.name, call.state, call.problem, call.start, call.end) for call in whole.calls]
    assert [call.arguments_bytes for call in expected.calls] == [
        len(call.arguments.encode("utf-8", "surrogatepass")) for call in whole.calls
    ]
    for chunks in (cuts.singly(data), *cuts.at_random(data, seed, rounds=2)):
        again = tapped(chunks, protocol)
        assert replace(again, chunks=1, largest_gap=None) == replace(expected, chunks=1, largest_gap=None)


@pytest.mark.parametrize(
    ("protocol", "data"),
    [pytest.param(protocol, data, id=f"{protocol}-{row}") for protocol, row, data in matrix()],
)
def test_the_cut_matrix(protocol: str, data: bytes) -> None:
    check(data, protocol, protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_generated_turns(protocol: str, data: st.DataObject) -> None:
    check(join(data.draw(turns(protocol))), protocol, protocol)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"<html>", b"{", b"data: {\n\n", b"\0\0\0\0", b"\n" * 99])
@pytest.mark.parametrize("protocol", [*PROTOCOLS, "auto"])
def test_nonsense_is_told_and_not_raised(protocol: str, data: bytes) -> None:
    report = tapped(cuts.singly(data), protocol)
    assert report.status in ("failed", "truncated")
    assert report.error is not None
    assert report.bytes == len(data)
    assert report.first_content is None


def test_what_it_knows_while_the_stream_goes_on() -> None:
    tap = Tap("auto")
    assert (tap.model, tap.id, tap.usage, tap.status, tap.calls) == (None, None, None, "in_progress", ())
    place = STREAM.index(b"response.completed")
    tap.feed(STREAM[:place])
    assert tap.protocol == "openai-responses"
    assert tap.model == "gpt-5-mini-2025-08-07"
    assert (tap.id or "").startswith("resp_")
    assert tap.usage is None
    assert tap.status == "in_progress"
    assert [(call.name, call.state) for call in tap.calls] == [
        ("get_weather", "done"),
        ("send_message", "done"),
    ]
    early = tap.report()
    assert (early.status, early.bytes, early.chunks) == ("in_progress", place, 1)
    tap.feed(STREAM[place:])
    assert tap.usage is not None
    assert tap.usage.total_tokens == 459
    assert tap.status == "completed"
    assert [call.state for call in tap.calls] == ["released", "released"]
    assert tap.response.text.startswith("好的")
    report = tap.finish()
    assert report.events == len(trigate.SSEDecoder().feed(STREAM))
    assert tap.report() is report
    assert tap.finish("late") is report
    with pytest.raises(RuntimeError, match="after finish"):
        tap.feed(b"")


def test_events_are_counted_read_or_not() -> None:
    for protocol in PROTOCOLS:
        whole = tapped([good(protocol)], protocol)
        assert whole.events > 2
        assert tapped(cuts.singly(good(protocol)), protocol).events == whole.events


def chat(piece: str) -> bytes:
    return b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % piece.encode()


def test_when_content_came() -> None:
    clock = Clock()
    tap = Tap("openai-chat", clock=clock, pause=2.0)
    for after, chunk in (
        (1, b""),
        (1, b": ping\n\n"),
        (1, chat("")),
        (1, chat("a")),
        (1, chat("b") + chat("c")),
        (3, b": ping\n\n"),
        (2, chat("d")),
        (2, chat("e")),
        (9, chat("f")[:20]),
        (1, chat("f")[20:]),
        (4, b": ping\n\n"),
    ):
        clock.now += after
        tap.feed(chunk)
    report = tap.finish()
    assert report.first_byte == 2
    assert report.first_content == 4
    assert report.last_content == 22
    assert report.largest_gap == 10
    assert report.long_gaps == 2  # 5 and 10; a pause of just 2 is none
    assert report.duration == 26
    assert report.chunks == 10
    assert report.events == 7


def test_pieces_of_text_are_taken_unread_and_noticed_all_the_same() -> None:
    with predicting(True):
        tap = Tap("openai-chat", clock=(clock := Clock()))
        tap.feed(chat("a") + chat("b"))
        clock.now += 1
        tap.feed(chat("c") * 100)
    assert tap._lanes._hits >= 100
    report = tap.report()
    assert (report.events, report.last_content, report.largest_gap) == (102, 1, 1)
    assert tap.response.text == "ab" + "c" * 100


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_arguments_are_content(protocol: str) -> None:
    clock = Clock()
    data = good(protocol)  # two calls, no text
    tap = Tap(protocol, clock=clock)
    for byte in cuts.singly(data):
        clock.now += 1
        tap.feed(byte)
    report = tap.finish()
    assert report.first_content is not None
    assert report.calls[0].start is not None
    assert report.calls[0].start < report.first_content <= (report.calls[0].end or 0)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (None, None),
        ("client_gone", "client_gone"),
        (ConnectionResetError("peer"), "ConnectionResetError: peer"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_why_the_input_ended(error: Any, cause: str | None) -> None:
    tap = Tap("openai-responses")
    tap.feed(STREAM[:5000])
    report = tap.finish(error)
    assert (report.status, report.cause) == ("truncated", cause)
    assert report.error is not None
    assert report.error.layer == "transport"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_report_is_json(protocol: str) -> None:
    report = tapped([good(protocol)], protocol)
    value = msgspec.json.decode(msgspec.json.encode(report))
    assert value["status"] == "completed"
    assert [call["name"] for call in value["calls"]] == ["get_time", "remove_file"]
    assert "arguments" not in value["calls"][0]


@pytest.mark.parametrize("member", ["id", "model", "name", "usage", "error"])
@pytest.mark.parametrize("depth", [0, 900])
def test_a_report_is_json_whatever_came_over_the_wire(member: str, depth: int) -> None:
    """Lone surrogates, which JSON can name and UTF-8 cannot, and objects as deep as a parser takes them."""
    half = r'"\ud800"'
    deep = b"[" * depth + b"]" * depth if depth else b"1"
    texts = {name: half if name == member else '"m"' for name in ("id", "model", "name", "usage", "error")}
    function = f'{{"name":{texts["name"]},"arguments":"{{}}"}}'
    delta = f'{{"tool_calls":[{{"index":0,"id":"c","type":"function","function":{function}}}]}}'
    head = f'"id":{texts["id"]},"object":"chat.completion.chunk","model":{texts["model"]}'
    choice = f'{{"index":0,"delta":{delta},"finish_reason":"tool_calls"}}'
    data = f'data: {{{head},"choices":[{choice}]}}\n\n'.encode()
    if member == "error":
        data += b'data: {"error":{"message":%s,"x":%s}}\n\n' % (half.encode(), deep)
    usage = b'"prompt_tokens":5,"s":%s,"deep":%s' % (texts["usage"].encode(), deep)
    data += b'data: {"choices":[],"usage":{%s}}\n\ndata: [DONE]\n\n' % usage
    report = tapped([data], "openai-chat")
    assert report.status == ("failed" if member == "error" else "completed")
    assert msgspec.json.decode(msgspec.json.encode(report), type=TapReport) == report
    assert "\ud800" not in str(msgspec.to_builtins(report))
    assert report.calls[0].name == ("?" if member == "name" else "m")
    assert report.usage is None or report.usage.input_tokens == 5


def test_a_bound_that_is_passed_ends_the_reading_and_not_the_stream() -> None:
    tap = Tap("openai-responses", limits=trigate.Limits(max_calls=1))
    for chunk in cuts.at(STREAM, [1000, 9000, 15000]):
        assert tap.feed(chunk) is chunk
    report = tap.finish()
    assert report.error is not None
    assert (report.status, report.error.code, report.bytes) == ("failed", "too_many_calls", len(STREAM))

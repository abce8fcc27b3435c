"""The work grows with the bytes alone, however they are cut: counted in bytes and steps, never in seconds.

One factor holds for all sizes and all cuts; a quadratic path would pass it a thousandfold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from trigate import JSONTracker, ResponseParser, SSEDecoder
from wire_builder import Wire

MIB = 1024 * 1024
#: Each byte is scanned for the line's end, copied into a buffer that doubles, and checked as UTF-8.
FACTOR = 6
#: An ill-formed byte becomes three, written to one buffer more.
ILL_FORMED_FACTOR = 16
SLACK = 4096


def work(stream: bytes, chunk: int, *, errors: Any = "replace") -> int:
    decoder = SSEDecoder(errors=errors)
    view = memoryview(stream)
    events = 0
    for start in range(0, len(stream), chunk):
        events += len(decoder.feed(view[start : start + chunk]))
    assert events == stream.count(b"\n\n")
    assert not decoder.finish()
    return decoder._work


def one_event(size: int) -> bytes:
    return b"event: t\ndata: " + "añ你😀 z".encode() * (size // 12) + b"\n\n"


def one_event_of_lines(size: int) -> bytes:
    return b"data: 0123456789\n" * (size // 17) + b"\n"


def many_events(size: int) -> bytes:
    return b'id: 12345\nevent: delta\ndata: {"delta": "a word"}\n\n' * (size // 50)


def comments(size: int) -> bytes:
    return b": a comment of some length\n" * (size // 27) + b"data: x\n\n"


def retries(size: int) -> bytes:
    return b"retry: 1000\r\nid: abc\r\nevent: t\r\n" * (size // 32) + b"data: x\n\n"


def ill_formed(size: int) -> bytes:
    return b"data: " + b"\xff" * size + b"\n\n"


def bound(build: Callable[[int], bytes], stream: bytes) -> int:
    return (ILL_FORMED_FACTOR if build is ill_formed else FACTOR) * len(stream) + SLACK


STREAMS = [one_event, one_event_of_lines, many_events, comments, retries, ill_formed]


@pytest.mark.parametrize("build", STREAMS)
@pytest.mark.parametrize("chunk", [64, 1000, 64 * 1024])
@pytest.mark.parametrize("mib", [2, 4, 8])
def test_work_is_linear(build: Callable[[int], bytes], chunk: int, mib: int) -> None:
    stream = build(mib * MIB)
    assert len(stream) <= work(stream, chunk) <= bound(build, stream)


@pytest.mark.parametrize("build", STREAMS)
def test_work_is_linear_byte_by_byte(build: Callable[[int], bytes]) -> None:
    """2 MiB, for the time that Python takes to make as many calls; the one event of 8 MiB is below."""
    stream = build(2 * MIB)
    assert len(stream) <= work(stream, 1) <= bound(build, stream)


@pytest.mark.parametrize("errors", ["replace", "strict"])
def test_8_mib_in_one_byte_chunks(errors: str) -> None:
    stream = one_event(8 * MIB)
    assert len(stream) <= work(stream, 1, errors=errors) <= FACTOR * len(stream) + SLACK


@pytest.mark.parametrize("build", STREAMS)
def test_the_cut_costs_a_small_factor_at_most(build: Callable[[int], bytes]) -> None:
    stream = build(MIB)
    whole = work(stream, len(stream))
    for chunk in (1, 2, 3, 7, 64, 4096):
        assert work(stream, chunk) <= 3 * whole + SLACK


def test_small_events_after_a_large_one_are_cheap() -> None:
    """What the large event needed is not paid again."""
    decoder = SSEDecoder()
    decoder.feed(one_event(4 * MIB))
    before = decoder._work
    for _ in range(1000):
        for byte in b"data: x\n\n":
            decoder.feed(bytes([byte]))
    assert decoder._work - before <= FACTOR * 9000 + SLACK


# -- Python: steps of the interpreter ------------------------------------------------------------------


def steps(act: Callable[[], object]) -> int:
    """How many bytecode instructions the package's Python code takes."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def parsing(stream: bytes, chunk: int = 64 * 1024) -> Callable[[], object]:
    def act() -> None:
        parser = ResponseParser("openai-responses")
        for start in range(0, len(stream), chunk):
            parser.feed(stream[start : start + chunk])
        assert parser.finish().status == "completed"

    return act


def messages(count: int) -> Wire:
    wire = Wire()
    for _ in range(count):
        wire.text("x")
    return wire


def calls(count: int) -> Wire:
    wire = Wire()
    for _ in range(count):
        wire.call("{}")
    return wire


def pieces_of_text(count: int) -> Wire:
    return Wire().text(*["x"] * count)


def pieces_of_arguments(count: int) -> Wire:
    return Wire().call('{"a":"', *["x"] * count, '"}')


def pieces_of_two_calls(count: int) -> Wire:
    """Pieces that alternate between two items."""
    wire = Wire()
    for index in range(2):
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": f"c_{index}", "name": "f"}
        wire.add("response.output_item.added", output_index=index, item=item | {"arguments": ""})
    for number in range(count):
        wire.add("response.function_call_arguments.delta", output_index=number % 2, delta=" ")
    for index in range(2):
        item = {"type": "function_call", "id": f"fc_{index}", "call_id": f"c_{index}", "name": "f"}
        wire.done(item | {"arguments": " " * (count // 2)})
    return wire


def unknown_events(count: int) -> Wire:
    wire = Wire()
    for number in range(count):
        wire.add(f"response.unheard_of_{number}")
    return wire


@pytest.mark.parametrize(
    "build",
    [messages, calls, pieces_of_text, pieces_of_arguments, pieces_of_two_calls, unknown_events],
)
def test_steps_grow_with_the_events(build: Callable[[int], Wire]) -> None:
    """Four times as many events take four times as many steps; a quadratic path takes sixteen times."""
    few, many = build(80).complete().stream, build(320).complete().stream
    assert steps(parsing(many)) <= 5 * steps(parsing(few))


def test_steps_do_not_grow_with_chunks_times_bytes() -> None:
    """A byte in a chunk of its own costs the same at the start and at the end of a large event."""
    short, long = Wire().text("x" * 1000).complete().stream, Wire().text("x" * 8000).complete().stream
    assert steps(parsing(long, 1)) <= 1.2 * len(long) / len(short) * steps(parsing(short, 1))


def test_tracker_steps_through_deep_text_once() -> None:
    """Depth costs a bit a level: ten thousand levels, byte by byte, end where they end."""
    tracker = JSONTracker(max_depth=10_000)
    for byte in b"[" * 10_000 + b"]" * 9_999:
        assert tracker.feed(bytes([byte])) == "open"
    assert tracker.feed(b"]") == "closed"
    assert (tracker.closed_at, tracker.max_depth_seen) == (20_000, 10_000)

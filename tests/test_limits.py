"""Every member of Limits: n is accepted, n + 1 is an error that names it, at the same byte for every cut."""

from __future__ import annotations

import bisect
import dataclasses
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import cuts
import readings
from trigate import LimitError, Limits, Response, ResponseParser, SSEDecoder, parse
from trigate._core import _core_limits
from wire_builder import Wire

NAMES = [field.name for field in dataclasses.fields(Limits)]


# -- Limits itself -----------------------------------------------------------------------------------


def test_core_defaults_are_those_of_limits() -> None:
    defaults = Limits()
    core = _core_limits()
    assert list(core) == NAMES[: NAMES.index("max_arguments_bytes")]
    assert core == {name: getattr(defaults, name) for name in core}


def test_every_limit_has_its_reason() -> None:
    # From 3.13 on the compiler itself takes the indentation off.
    told = inspect.getdoc(Limits) or ""
    for name in NAMES:
        assert f"\n{name}  " in told


def test_line_follows_event() -> None:
    assert Limits().max_line_bytes == Limits().max_event_bytes + 1024
    assert Limits(max_event_bytes=5).max_line_bytes == 1029
    assert Limits(max_event_bytes=5, max_line_bytes=7).max_line_bytes == 7
    assert Limits(max_event_bytes=2**63 - 1).max_line_bytes == 2**63 - 1


@pytest.mark.parametrize("name", NAMES)
def test_limits_are_positive_integers(name: str) -> None:
    for good in (1, 2, 2**63 - 1):
        assert getattr(Limits(**{name: good}), name) == good
    for bad in (0, -1, 2**63):
        with pytest.raises(ValueError, match=name):
            Limits(**{name: bad})
    wrong: list[Any] = [1.0, "1", True, b"1", [1]]
    if name != "max_line_bytes":
        wrong.append(None)
    for value in wrong:
        with pytest.raises(TypeError, match=name):
            Limits(**{name: value})


def test_limits_are_frozen_and_keyword_only() -> None:
    made: Any = Limits
    limits = made()
    with pytest.raises(AttributeError):
        limits.max_depth = 5
    with pytest.raises(TypeError):
        made(5)
    assert Limits(max_depth=5) == Limits(max_depth=5) != Limits(max_depth=6)
    assert hash(Limits(max_depth=5)) == hash(Limits(max_depth=5))


def test_largest_limits_do_not_overflow() -> None:
    limits = Limits(**dict.fromkeys(NAMES, 2**63 - 1))
    stream = b"id: 1\nretry: 1\nevent: t\ndata: x\ndata: y\n\n"
    assert readings.read([stream], limits=limits) == readings.read([stream])


# -- the decoder: (limit, bound, code, stream of that size, offset of the first byte over) ----------------

BOUND = 20


def _event(size: int) -> bytes:
    return b": c\n\ndata: " + b"x" * size + b"\n\n"


def _event_of_lines(size: int) -> bytes:
    """The LF that joins two data lines counts too."""
    return b"data: abcde\ndata: fghij\ndata: " + b"x" * (size - 12) + b"\n\n"


def _event_with_type(size: int) -> bytes:
    return b"event: abcde\ndata: " + b"x" * (size - 5) + b"\n\n"


def _type_after_data(size: int) -> bytes:
    return b"data: abcde\nevent: " + b"x" * (size - 5) + b"\n\n"


def _type_alone(size: int) -> bytes:
    return b"event: " + b"x" * size + b"\n\ndata: after\n\n"


def _line(size: int) -> bytes:
    return b"data: ok\n\ndata:" + b"x" * (size - 5) + b"\n\n"


def _comment(size: int) -> bytes:
    return b"data: ok\r\n\r\n:" + b"x" * (size - 1) + b"\r\n"


def _first_line(size: int) -> bytes:
    return b"\xef\xbb\xbf:" + b"x" * (size - 1) + b"\n"


def _line_without_end(size: int) -> bytes:
    return b"\n:" + b"x" * (size - 1)


def _id(size: int) -> bytes:
    return b"data: ok\n\nid: " + b"x" * size + b"\ndata\n\n"


def _retry(size: int) -> bytes:
    return b"data: ok\n\nretry: " + b"1" * size + b"\ndata\n\n"


DECODER_CASES = [
    ("max_event_bytes", "event_too_large", _event, 11 + BOUND),
    ("max_event_bytes", "event_too_large", _event_of_lines, 30 + BOUND - 12),
    ("max_event_bytes", "event_too_large", _event_with_type, 19 + BOUND - 5),
    ("max_event_bytes", "event_too_large", _type_after_data, 19 + BOUND - 5),
    ("max_event_bytes", "event_too_large", _type_alone, 7 + BOUND),
    ("max_line_bytes", "line_too_large", _line, 10 + BOUND),
    ("max_line_bytes", "line_too_large", _comment, 12 + BOUND),
    ("max_line_bytes", "line_too_large", _first_line, 3 + BOUND),
    ("max_line_bytes", "line_too_large", _line_without_end, 1 + BOUND),
    ("max_id_bytes", "id_too_large", _id, 14 + BOUND),
    ("max_retry_digits", "retry_too_large", _retry, 17 + BOUND),
]


@pytest.mark.parametrize("errors", ["replace", "strict"])
@pytest.mark.parametrize(
    ("name", "code", "build", "offset"), DECODER_CASES, ids=lambda value: getattr(value, "__name__", None)
)
def test_decoder_limits(name: str, code: str, build: Any, offset: int, errors: Any) -> None:
    limits = Limits(**{name: BOUND})
    for size in (BOUND - 1, BOUND):
        stream = build(size)
        for pieces in cuts.in_two(stream):
            assert readings.read(pieces, limits=limits, errors=errors) == readings.read([stream])
    stream = build(BOUND + 1)
    whole = readings.read([stream], limits=limits, errors=errors)
    assert whole.error == ("LimitError", code, offset, name)
    assert len(whole.events) == stream.count(b"data: ok")
    for pieces in (*cuts.in_two(stream), cuts.singly(stream)):
        assert readings.read(pieces, limits=limits, errors=errors) == whole, [len(piece) for piece in pieces]


@pytest.mark.parametrize("ending", [b"\n", b"\r", b"\r\n"])
def test_the_end_of_a_line_does_not_count(ending: bytes) -> None:
    limits = Limits(max_line_bytes=BOUND)
    stream = (b"data:" + b"x" * (BOUND - 5) + ending) * 3 + ending
    for pieces in cuts.in_two(stream):
        assert readings.read(pieces, limits=limits) == readings.read([stream])


def test_ill_formed_bytes_count_as_they_came() -> None:
    limits = Limits(max_event_bytes=BOUND)
    assert len(readings.read([b"data: " + b"\xff" * BOUND + b"\n\n"], limits=limits).events) == 1
    error = readings.read([b"data: " + b"\xff" * (BOUND + 1) + b"\n\n"], limits=limits).error
    assert error == ("LimitError", "event_too_large", 6 + BOUND, "max_event_bytes")


def test_a_retry_that_is_no_number_and_an_id_with_nul_are_ignored_at_any_size() -> None:
    limits = Limits(max_retry_digits=BOUND, max_id_bytes=BOUND)
    stream = b"retry: " + b"1" * 50 + b"x\nid: " + b"a" * 50 + b"\0\ndata\n\n"
    whole = readings.read([stream], limits=limits)
    assert [event[:5] for event in whole.events] == [("message", "", b"", "", None)]
    for pieces in cuts.in_two(stream):
        assert readings.read(pieces, limits=limits) == whole


@pytest.mark.parametrize(
    "stream", [_event(BOUND + 5), _comment(BOUND + 9), _id(BOUND + 5), _retry(BOUND + 5)]
)
def test_limit_error_is_sticky_until_reset(stream: bytes) -> None:
    decoder = SSEDecoder(
        limits=Limits(
            max_event_bytes=BOUND, max_line_bytes=BOUND + 8, max_id_bytes=BOUND, max_retry_digits=BOUND
        )
    )
    seen = []
    acts: list[Callable[[], object]] = [lambda: [decoder.feed(stream), decoder.feed(b"")]]
    acts += [lambda: decoder.feed(b"\n"), decoder.finish, decoder.finish]
    for act in acts:
        with pytest.raises(LimitError, match="at byte") as caught:
            act()
        seen.append(readings.describe(caught.value))
    assert len(set(seen)) == 1
    assert isinstance(decoder.error, LimitError)
    assert readings.describe(decoder.error) == seen[0]
    decoder.reset()
    assert len(decoder.feed(b"data: x\n\n")) == 1


# -- memory --------------------------------------------------------------------------------------------

HUNGRY = """
import sys
from pathlib import Path
from trigate import LimitError, Limits, SSEDecoder
decoder = SSEDecoder(limits=Limits(max_event_bytes=1 << 20, max_line_bytes=int(sys.argv[2])))
def peak():
    # Of this process image alone; getrusage would start with what its parent held.
    lines = Path("/proc/self/status").read_text().splitlines()
    (kib,) = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(kib)
chunk = sys.argv[1].encode() * (1 << 16)
decoder.feed(b"data: x\\n" + sys.argv[3].encode())
before = peak()
fed = decoder.bytes_fed
error = None
for _ in range((200 << 20) // len(chunk)):
    try:
        decoder.feed(chunk)
    except LimitError as raised:
        error = error or (raised.limit, raised.offset)
        assert (raised.limit, raised.offset) == error
print(error, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is needed")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="ASan keeps what was freed")
@pytest.mark.parametrize(
    ("letter", "line", "start", "expected"),
    [
        ("x", 2 << 20, "data: ", ("max_event_bytes", 14 + (1 << 20) - 2)),
        ("x", 1 << 19, ": ", ("max_line_bytes", 8 + (1 << 19))),
        ("x", 1 << 20, "id: ", ("max_line_bytes", 8 + (1 << 20))),
        ("x", 1 << 20, "event: ", ("max_line_bytes", 8 + (1 << 20))),
        ("x", 1 << 20, "", ("max_line_bytes", 8 + (1 << 20))),
        ("data\n", 1 << 20, "", ("max_event_bytes", 12 + 5 * ((1 << 20) - 1))),
        (": x\n", 1 << 20, "", None),
        ("id: abc\n", 1 << 20, "", None),
        ("event: abc\n", 1 << 20, "", None),
        ("\n", 1 << 20, "", None),
    ],
)
def test_200_mib_that_never_end_hold_bounded_memory(
    letter: str, line: int, start: str, expected: tuple[str, int] | None
) -> None:
    """A line, an event or a block that never ends, in chunks of at least 64 KiB: less than 8 MiB are held."""
    command = [sys.executable, "-c", HUNGRY, letter, str(line), start]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    error, _, kib = done.stdout.strip().rpartition(" ")
    assert error == str(expected)
    assert int(kib) < 8 * 1024


# -- the parser ----------------------------------------------------------------------------------------


def _parsed(pieces: list[bytes], **limits: int) -> tuple[Any, ...]:
    parser = ResponseParser("openai-responses", limits=Limits(**limits))
    for piece in pieces:
        parser.feed(piece)
    response = parser.finish()
    return (
        response.status,
        response.error,
        response.calls,
        response.released,
        response.text,
        response.anomalies,
        response.clean_end,
    )


def _check_passed(stream: bytes, code: str, name: str, bound: int, offset: int) -> Response:
    """One too large for the limit: the response fails, says so, releases nothing, and so for every cut."""
    response = parse(stream, "openai-responses", limits=Limits(**{name: bound}))
    assert response.status == "failed"
    assert response.error is not None
    error = response.error
    assert (error.layer, error.code, error.limit, error.offset) == ("limit", code, name, offset)
    assert name in error.message
    assert response.released == ()
    assert not response.clean_end
    whole = _parsed([stream], **{name: bound})
    for pieces in cuts.in_two(stream):
        assert _parsed(pieces, **{name: bound}) == whole, [len(piece) for piece in pieces]
    for pieces in cuts.at_random(stream, name):
        assert _parsed(pieces, **{name: bound}) == whole, [len(piece) for piece in pieces]
    return response


def _check_fits(stream: bytes, name: str, bound: int) -> Response:
    response = parse(stream, "openai-responses", limits=Limits(**{name: bound}))
    assert (response.status, response.error, response.anomalies) == ("completed", None, ())
    return response


def _arguments(size: int) -> list[str]:
    """An object of that many UTF-8 bytes, in three pieces."""
    text = '{"a":"é' + "x" * (size - 10) + '"}'
    assert len(text.encode()) == size
    return [text[:5], text[5:12], text[12:]]


def test_max_arguments_bytes() -> None:
    for size in (29, 30):
        response = _check_fits(
            Wire().call("{}").call(*_arguments(size)).complete().stream, "max_arguments_bytes", 30
        )
        assert len(response.released) == 2
    wire = Wire().call("{}")
    offset = wire.next_start
    wire.call(*_arguments(31)).complete()
    blocks = wire.stream[offset:].split(b"\n\n")
    offset += sum(len(block) + 2 for block in blocks[:3])  # its item, and the two pieces that still fit
    response = _check_passed(wire.stream, "arguments_too_large", "max_arguments_bytes", 30, offset)
    assert [(call.state, call.problem) for call in response.calls] == [
        ("void", "response_not_completed"),
        ("void", "incomplete"),
    ]


def test_max_arguments_bytes_holds_for_arguments_that_come_in_one_copy() -> None:
    item = {"type": "function_call", "id": "fc_0", "call_id": "c", "name": "f", "status": "completed"}
    for size in (29, 30):
        wire = Wire().done(item | {"arguments": "".join(_arguments(size))}).complete()
        response = parse(wire.stream, limits=Limits(max_arguments_bytes=30))
        assert (response.status, len(response.released)) == ("completed", 1)
    wire = Wire()
    offset = wire.next_start
    wire.done(item | {"arguments": "".join(_arguments(31))}).complete()
    _check_passed(wire.stream, "arguments_too_large", "max_arguments_bytes", 30, offset)


def test_max_calls() -> None:
    for count in (2, 3):
        wire = Wire().text("a")
        for _ in range(count):
            wire.call("{}")
        assert len(_check_fits(wire.complete().stream, "max_calls", 3).released) == count
    wire = Wire().text("a").call("{}").call("{}").call("{}")
    offset = wire.next_start
    response = _check_passed(wire.call("{}").complete().stream, "too_many_calls", "max_calls", 3, offset)
    assert len(response.calls) == 3


def _smallest(stream: bytes, text: str) -> int:
    """The smallest bound that lets this text through: what is kept, and a cost for each item and part."""
    bounds = range(1, 10_000)
    return bounds[
        bisect.bisect_left(
            bounds,
            True,
            key=lambda bound: (
                parse(stream, "openai-responses", limits=Limits(max_response_bytes=bound)).text == text
            ),
        )
    ]


def test_max_response_bytes() -> None:
    """Text, arguments and finished items count, each as it came, and each part and item costs something."""
    wire = Wire().text("he", "llö").call('{"a":', "1}")
    kept = len("hellö".encode()) + len('{"a":1}') + wire.items_size
    stream = wire.complete().stream
    bounds = range(kept, kept + 4000)
    statuses = [
        parse(stream, "openai-responses", limits=Limits(max_response_bytes=bound)).status for bound in bounds
    ]
    least = bounds[statuses.index("completed")]
    assert statuses == ["failed"] * (least - kept) + ["completed"] * (bounds.stop - least)
    _check_fits(stream, "max_response_bytes", least)
    offset = stream.rindex(b"event: response.output_item.done")
    _check_passed(stream, "response_too_large", "max_response_bytes", least - 1, offset)


def test_max_response_bytes_counts_text_byte_by_byte() -> None:
    def stream_of(size: int) -> bytes:
        return Wire().text("x" * size).stream.partition(b"event: response.output_text.done")[0]

    least = _smallest(stream_of(50), "x" * 50)
    assert _smallest(stream_of(51), "x" * 51) == least + 1
    offset = stream_of(50).index(b"event: response.output_text.delta")
    response = _check_passed(stream_of(50), "response_too_large", "max_response_bytes", least - 1, offset)
    assert response.text == ""


@pytest.mark.parametrize(("count", "name"), [(2000, "f"), (1, "f" * 50_000)], ids=["many", "long-name"])
@pytest.mark.parametrize("kind", ["message", "function_call", "web_search_call"])
def test_max_response_bytes_bounds_items_that_never_end(count: int, name: str, kind: str) -> None:
    """An item that was only added is kept too: its ids, its name, its place."""
    wire = Wire()
    for index in range(count):
        item = {"type": kind, "id": f"{name}_{index}", "call_id": f"c_{index}", "name": name, "arguments": ""}
        wire.add("response.output_item.added", output_index=index, item=item)
    limits = Limits(max_response_bytes=10_000, max_calls=10_000)
    response = parse(wire.stream, "openai-responses", limits=limits)
    assert response.error is not None
    assert (response.status, response.error.limit) == ("failed", "max_response_bytes")


def test_max_depth() -> None:
    for depth in (3, 4):
        text = '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)
        assert len(_check_fits(Wire().call(text).complete().stream, "max_depth", 4).released) == 1
    wire = Wire().call('{"a":' * 4, "{}" + "}" * 4)
    offset = wire.stream.rindex(b"event: response.output_item.done")
    response = _check_passed(wire.complete().stream, "depth_too_large", "max_depth", 4, offset)
    assert [call.state for call in response.calls] == ["void"]


def test_max_anomalies() -> None:
    """They are counted, not fatal: the last entry says how many were not kept."""

    def read(count: int, pieces: int = 1) -> Response:
        wire = Wire()
        for number in range(count):
            wire.add(f"response.unheard_of_{number}")
        stream = wire.complete().stream
        places = range(len(stream) // pieces, len(stream), len(stream) // pieces)
        response = parse(cuts.at(stream, places), limits=Limits(max_anomalies=3))
        assert response.status == "completed"
        return response

    for pieces in (1, 2, 7):
        for count in (2, 3):
            assert [anomaly.code for anomaly in read(count, pieces).anomalies] == ["unknown_type"] * count
        *kept, last = read(4, pieces).anomalies
        assert [anomaly.code for anomaly in kept] == ["unknown_type"] * 3
        assert (last.code, last.offset) == ("anomalies_dropped", None)
        assert last.detail.startswith("1 ")
        assert read(9, pieces).anomalies[-1].detail.startswith("6 ")


DECODER_LIMITS = [
    ("max_event_bytes", "event_too_large", b"data: ", b"x", 6),
    ("max_line_bytes", "line_too_large", b": ", b"x", 0),
    ("max_id_bytes", "id_too_large", b"id: ", b"x", 4),
    ("max_retry_digits", "retry_too_large", b"retry: ", b"1", 7),
]


@pytest.mark.parametrize(("name", "code", "field", "letter", "head"), DECODER_LIMITS)
def test_the_decoders_limits_fail_a_response_too(
    name: str, code: str, field: bytes, letter: bytes, head: int
) -> None:
    start = Wire().text("x").stream
    bound = 1000
    size = bound + 1 - (2 if name == "max_line_bytes" else 0)
    stream = start + field + letter * size + b"\n\n" + Wire().complete().stream
    _check_passed_whole(stream, code, name, bound, len(start) + head + bound)


def _check_passed_whole(stream: bytes, code: str, name: str, bound: int, offset: int) -> None:
    whole = _parsed([stream], **{name: bound})
    error = whole[1]
    assert (whole[0], error.layer, error.code, error.limit, error.offset) == (
        "failed",
        "limit",
        code,
        name,
        offset,
    )
    for pieces in (cuts.singly(stream), *cuts.at_random(stream, name, 20)):
        assert _parsed(pieces, **{name: bound}) == whole


def test_a_body_that_is_no_stream_is_bounded() -> None:
    body = b'{"error":{"message":"' + b"x" * 100 + b'"}}'
    response = parse(body, "openai-responses", limits=Limits(max_event_bytes=len(body)))
    assert response.error is not None
    assert (response.status, response.error.layer) == ("failed", "provider")
    for pieces in cuts.in_two(body):
        _, error, *_ = whole = _parsed(pieces, max_event_bytes=len(body) - 1)
        assert (error.layer, error.code, error.limit) == ("limit", "event_too_large", "max_event_bytes")
        assert error.offset == len(body) - 1
        assert whole == _parsed([body], max_event_bytes=len(body) - 1)

"""What a hostile stream, or a hostile moment, tries on the parser as a machine: exceptions, memory, work, threads."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from typing import Any

import pytest

import trigate
from trigate._core import Lane
from trigate.cli.render import escape
from trigate.framing import Frame
from trigate.validate import judge_arguments

PROTOCOLS_OF_LINES = ("ollama-chat", "auto")
EVENT_LIMIT = 64


def sse(event: Any, name: str = "message") -> bytes:
    return f"event: {name}\ndata: {json.dumps(event)}\n\n".encode()


def fragment(index: int = 0, **members: Any) -> bytes:
    delta = {"tool_calls": [{"index": index, **members}]}
    return sse({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})


# -- threads and interruptions ---------------------------------------------------------------------------


def test_a_reader_in_another_thread_takes_no_piece_away() -> None:
    """A live call is there to be shown: showing it must not change what runs."""
    pieces, is_over = Lane(), threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not is_over.is_set():
            seen.append(len(pieces.text))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(30_000):
            pieces.append(chr(97 + number % 26))
    finally:
        is_over.set()
        reader.join()
        sys.setswitchinterval(before)
    assert pieces.text == "".join(chr(97 + number % 26) for number in range(30_000))
    assert seen == sorted(seen)


def test_reading_between_pieces_is_not_appending() -> None:
    """Whatever a reader has begun and not ended, the next piece and all before it are there."""
    pieces = Lane("a")
    for number in range(1000):
        if number % 3 == 0:
            assert pieces.text == "a" + "".join(map(str, range(number)))
        if number % 7 == 0:
            assert pieces.json()[0] == "invalid"
        pieces.append(str(number))
    assert pieces.text == "a" + "".join(map(str, range(1000)))


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_an_interrupted_feed_is_not_gone_on_with(monkeypatch: pytest.MonkeyPatch, kind: type) -> None:
    """The frames that it had not read are lost: a shorter argument text could be a valid one."""
    parser = trigate.ResponseParser("openai-chat")
    parser.feed(fragment(id="a", function={"name": "f", "arguments": '{"n":"'}))
    event, taken = parser._interpreter.event, 0

    def interrupt(frame: Frame) -> None:
        """As a signal handler does that raises in the middle of a chunk."""
        nonlocal taken
        taken += 1
        if taken == 500:
            raise KeyboardInterrupt
        event(frame)

    def feed(data: bytes) -> None:
        try:
            raise ValueError("another exception, which is being handled")
        except ValueError:
            parser.feed(kind(data))

    with monkeypatch.context() as patch:
        patch.setattr(parser._interpreter, "event", interrupt)
        with pytest.raises(KeyboardInterrupt) as raised:
            # A member that no shape has: every one of them must be read.
            feed(b"".join(fragment(function={"arguments": "1"}, note=n) for n in range(1000)))
    for act in (lambda: parser.feed(b"\n"), parser.finish):
        with pytest.raises(RuntimeError, match="interrupted") as refused:
            act()
        assert refused.value.__cause__ is raised.value


def test_feed_has_a_signature() -> None:
    """It is a method of C, which has one only if it says so."""
    for feed in (trigate.ResponseParser.feed, trigate.ResponseParser("openai-chat").feed):
        assert list(inspect.signature(feed).parameters)[-1] == "chunk"
        assert "Takes any bytes-like chunk" in (feed.__doc__ or "")


def test_a_wrong_chunk_spoils_nothing() -> None:
    parser = trigate.ResponseParser("openai-chat")
    for wrong in ("text", 5, None):
        with pytest.raises(TypeError):
            parser.feed(wrong)  # type: ignore[arg-type]
    parser.feed(b"data: [DONE]\n\n")
    assert parser.finish().status == "truncated"


# -- where the framing is not yet known ------------------------------------------------------------------


@pytest.mark.parametrize("protocol", PROTOCOLS_OF_LINES)
@pytest.mark.parametrize("size", range(EVENT_LIMIT - 3, EVENT_LIMIT + 4))
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("blank", ["", "\n \n", " " * EVENT_LIMIT, " " * (EVENT_LIMIT + 1)])
def test_the_first_line_is_bounded_alike_however_it_is_cut(
    protocol: str, size: int, eol: str, blank: str
) -> None:
    record = '{"model":"m","done":true,"x":"' + "y" * (size - 32) + '"}'
    data = (blank + record + eol + '{"model":"m"}' + eol).encode()
    told = []
    for width in (len(data), 1, 7):
        parser = trigate.ResponseParser(protocol, limits=trigate.Limits(max_event_bytes=EVENT_LIMIT))
        for start in range(0, len(data), width):
            parser.feed(data[start : start + width])
        told.append(parser.finish())
    assert told[0] == told[1] == told[2]
    if len(blank.strip(" ")) == len(blank):
        error = told[0].error
        assert (size > EVENT_LIMIT) == (error is not None and error.code == "event_too_large")


@pytest.mark.parametrize("protocol", PROTOCOLS_OF_LINES)
def test_a_long_first_line_is_not_copied_for_each_chunk(protocol: str) -> None:
    """Counted where it would cost: each copy of the bytes held so far is one more allocation of their size."""
    parser = trigate.ResponseParser(protocol)
    parser.feed(b'{"a":"' + b"x" * 1_000_000)
    parser.feed(b"x")  # makes room for more than the rest
    tracemalloc.start()
    try:
        for _ in range(100):
            parser.feed(b"x")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 500_000


# -- memory and work -------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [True, False])
def test_max_name_bytes(whole: bool) -> None:
    for size in (999, 1000, 1001):
        parser = trigate.ResponseParser("openai-chat", limits=trigate.Limits(max_name_bytes=1000))
        name = ("n" * 4 + "abc" * 1000)[:size]
        names = [name] if whole else [name[at : at + 7] for at in range(0, size, 7)]
        for piece in names:
            parser.feed(fragment(id="a", function={"name": piece}))
        response = parser.finish()
        if size > 1000:
            assert response.error is not None
            assert (response.error.code, response.error.limit) == ("name_too_large", "max_name_bytes")
        else:
            assert response.status == "truncated"
            assert len(response.calls[0].name) == size


def test_names_and_ids_count_for_the_response() -> None:
    for members in ({"function": {"name": "n" * 500}}, {"id": "i" * 500, "function": {"name": "n"}}):
        parser = trigate.ResponseParser("openai-chat", limits=trigate.Limits(max_response_bytes=5000))
        for index in range(20):
            told = dict(members)
            if "id" in told:
                told["id"] = f"{index}{told['id']}"
            parser.feed(fragment(index, **told))
        error = parser.finish().error
        assert error is not None
        assert error.code == "response_too_large"


def test_what_anomalies_repeat_is_bounded() -> None:
    parser = trigate.ResponseParser("openai-responses")
    for number in range(50):
        parser.feed(sse({"type": f"{number}{'y' * 100_000}"}))
    response = parser.finish()
    assert len(response.anomalies) == 50 + 1  # and that the stream does not begin as it should
    assert sum(len(anomaly.detail) for anomaly in response.anomalies) <= 51 * 1000


@pytest.mark.parametrize("protocol", ["cohere-chat", "bedrock-converse"])
def test_pieces_are_not_joined_at_each_piece(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from trigate.calls import ToolCall
    from trigate.protocols.pieces import add_piece
    from trigate.turn import Options, Turn

    reads = 0
    original: property = vars(ToolCall)["arguments"]

    def text(self: ToolCall) -> str:
        nonlocal reads
        reads += 1
        return str(original.__get__(self))

    monkeypatch.setattr(ToolCall, "arguments", property(text))
    turn = Turn(protocol, Options(deltas=False))
    call = turn.open_call((0,), index=0, kind="function", offset=0)
    for _ in range(1000):
        add_piece(turn, call, "x", True, 0)
    assert reads < 10


def test_numbers_are_looked_at_once() -> None:
    """Many numbers just short of what may overflow: each digit began a search of its own."""
    assert Lane("[" + "1" * 309 + "]").json()[5]
    assert Lane("[1e0]").json()[5]
    assert not Lane("[" + ",".join(["1" * 308, "-1." + "2" * 400] * 10) + "]").json()[5]
    assert judge_arguments(Lane('{"a":1' + "0" * 309 + ".5}")).flags == ("number_out_of_range",)


def test_a_number_out_of_range_is_told_beside_a_leniency() -> None:
    lenient = frozenset({"nan"})
    verdict = judge_arguments(Lane('{"a":NaN,"b":-1e999,"c":Infinity}'), lenient=lenient)
    assert verdict.flags == ("nan", "number_out_of_range")
    assert judge_arguments(Lane('{"a":Infinity}'), lenient=lenient).flags == ("nan",)


# -- exceptions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], [{}]])
def test_a_second_block_that_is_no_object(value: Any) -> None:
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    data = [sse(start, "message_start"), sse(block, block["type"])]  # type: ignore[arg-type]
    response = trigate.parse([*data, sse(block | {"content_block": value}, "content_block_start")])
    assert response.error is not None
    assert response.error.code == "wrong_shape"
    del block["content_block"]
    response = trigate.parse([*data, sse(block, "content_block_start")])
    assert response.error is not None
    assert response.error.code == "missing_member"


def test_half_a_pair_in_a_name_can_be_shown() -> None:
    start = fragment(id="a", function={"name": "f\ud800\x1b[2J", "arguments": '{"a":"\udc00\n"'})
    response = trigate.parse(start, "openai-chat")
    repr(response).encode()
    assert "\\ud800\\x1b[2J" in repr(response.calls[0])
    assert repr(response.calls[0]).isprintable()


def test_a_number_that_python_cannot_hold_does_not_break_the_message() -> None:
    chunk = (
        '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"n":'
        + "9" * 5000
        + '}}}],"role":"model"},"finishReason":"STOP"}]}'
    )
    response = trigate.parse(b"data: " + chunk.encode() + b"\r\n\r\n", "gemini")
    assert response.released == ()
    assert response.to_message()["role"] == "model"


def test_a_file_that_has_nothing_yet_is_not_at_its_end() -> None:
    class Slow:
        def read(self, _size: int) -> bytes | None:
            return None

    with pytest.raises(BlockingIOError):
        trigate.parse(Slow(), "openai-chat")  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes that do not wait are POSIX's")
def test_a_pipe_that_does_not_wait_is_read_to_its_end() -> None:
    stream = b'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    here, there = os.pipe()
    os.set_blocking(here, False)
    command = [sys.executable, "-m", "trigate", "calls", "--json", "-"]
    with subprocess.Popen(command, stdin=here, stdout=subprocess.PIPE) as process:
        os.close(here)
        time.sleep(0.5)
        for half in (stream[:30], stream[30:]):
            os.write(there, half)
            time.sleep(0.1)
        os.close(there)
        out, _ = process.communicate(timeout=60)
    assert (json.loads(out)["status"], process.returncode) == ("completed", 0)


@pytest.mark.parametrize(
    "letter", "\u034f\u115f\u1160\u17b4\u180b\u180f\u3164\ufe00\uffa0\U0001d173\U000e0100\U000e01ef"
)
def test_what_hides_is_shown(letter: str) -> None:
    assert escape(f"a{letter}b") == "a" + letter.encode("unicode_escape").decode() + "b"

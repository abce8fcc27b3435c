"""From every kind of source the same response; the end comes once, and not if a source raises."""

from __future__ import annotations

import array
import asyncio
import io
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import trigate
from streams import PROTOCOL, Framing, Script, bytewise, function_item, joined, of_size

DATA = Script().created().message("Größe ", "🌍").call('{"städte":["北京"]}', index=1).end().data()
LARGE = Script().created().message(*["x" * 1000] * 200).end().data()
WHOLE = trigate.parse(DATA, PROTOCOL)


class Drip:
    """A binary file that gives less than is asked for, as sockets do."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, size: int = -1) -> bytes:
        assert size > 0
        return self._file.read(min(size, 5))


SOURCES: dict[str, Callable[[], Any]] = {
    "bytes": lambda: DATA,
    "bytearray": lambda: bytearray(DATA),
    "memoryview": lambda: memoryview(DATA),
    "array": lambda: array.array("B", DATA),
    "file": lambda: io.BytesIO(DATA),
    "raw file": lambda: Drip(DATA),
    "list": lambda: bytewise(DATA),
    "tuple": lambda: tuple(of_size(DATA, 100)),
    "generator": lambda: (chunk for chunk in bytewise(DATA)),
    "bytearrays": lambda: [bytearray(chunk) for chunk in of_size(DATA, 9)],
    "memoryviews": lambda: [memoryview(chunk) for chunk in of_size(DATA, 9)],
}


async def later(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        await asyncio.sleep(0)
        yield chunk


def collect(source: Any, **options: Any) -> list[trigate.Item]:
    async def gather() -> list[trigate.Item]:
        return [item async for item in trigate.aiter_items(source, PROTOCOL, **options)]

    return asyncio.run(gather())


@pytest.mark.parametrize("name", SOURCES)
def test_every_kind_of_source(name: str) -> None:
    make = SOURCES[name]
    assert WHOLE.status == "completed"
    assert trigate.parse(make(), PROTOCOL) == WHOLE
    told = joined(trigate.iter_items(DATA, PROTOCOL))
    assert joined(trigate.iter_items(make(), PROTOCOL)) == told
    assert joined(collect(make())) == told


def test_a_path(tmp_path: Path) -> None:
    path = tmp_path / "stream.sse"
    path.write_bytes(LARGE)
    assert trigate.parse(path, PROTOCOL) == trigate.parse(LARGE, PROTOCOL)
    with path.open("rb") as file:
        assert trigate.parse(file, PROTOCOL).text == "x" * 200_000
    with pytest.raises(FileNotFoundError):
        trigate.parse(tmp_path / "none", PROTOCOL)


def test_an_asynchronous_source() -> None:
    told = joined(trigate.iter_items(DATA, PROTOCOL))
    assert joined(collect(later(bytewise(DATA)))) == told


@pytest.mark.parametrize(
    "data", [DATA, DATA[:-40], b"", Framing().one({"type": "error", "message": "m"}), b"data: {\n\n"]
)
def test_the_last_item_is_the_final_response_once(data: bytes) -> None:
    final = trigate.parse(data, PROTOCOL)
    for items in (
        list(trigate.iter_items(data, PROTOCOL)),
        list(trigate.iter_items(bytewise(data), PROTOCOL)),
        collect(later(bytewise(data))),
        collect(data),
    ):
        assert [item for item in items if isinstance(item, trigate.ResponseEnded)] == [
            trigate.ResponseEnded(final)
        ]
        assert items[-1] == trigate.ResponseEnded(final)


def test_what_comes_after_the_terminal_event_is_in_the_final_response() -> None:
    items = list(trigate.iter_items(bytewise(DATA + b'data: {"type":"late"}\n\ndata'), PROTOCOL))
    assert isinstance(items[-1], trigate.ResponseEnded)
    final = items[-1].response
    assert [anomaly.code for anomaly in final.anomalies] == ["event_after_end"]
    assert not final.clean_end


class BrokenLineError(Exception):
    pass


def broken_after(size: int) -> Iterator[bytes]:
    yield from bytewise(DATA[:size])
    raise BrokenLineError


@pytest.mark.parametrize("size", [0, 1, 200, len(DATA) - 1, len(DATA)])
def test_a_source_that_raises_is_not_finished(size: int) -> None:
    """The exception goes on; no ResponseEnded was given, so nothing that was seen may run."""
    seen: list[trigate.Item] = []
    with pytest.raises(BrokenLineError):
        seen.extend(trigate.iter_items(broken_after(size), PROTOCOL))
    assert bool(seen) is (size >= 200 + DATA[200:].index(b"output_text.done"))
    assert not any(isinstance(item, trigate.ResponseEnded) for item in seen)
    assert not any(
        isinstance(item, trigate.ToolCallDone) and isinstance(item.call, trigate.ReleasedCall)
        for item in seen
    )
    with pytest.raises(BrokenLineError):
        trigate.parse(broken_after(size), PROTOCOL)


def test_an_asynchronous_source_that_raises() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield DATA[:200]
        raise BrokenLineError

    with pytest.raises(BrokenLineError):
        collect(source())


@pytest.mark.parametrize("text", [DATA.decode(), "", "stream.sse"])
def test_str_is_refused(text: str) -> None:
    refused: Any = text
    for act in (trigate.parse, lambda source, protocol: list(trigate.iter_items(source, protocol))):
        with pytest.raises(TypeError, match="str"):
            act(refused, PROTOCOL)
    with pytest.raises(TypeError, match="str"):
        collect(refused)


@pytest.mark.parametrize(
    "make", [lambda: io.StringIO("data: x\n\n"), lambda: ["x"], lambda: [b"x", 5], lambda: 5, object]
)
def test_other_wrong_sources(make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        trigate.parse(make(), PROTOCOL)
    with pytest.raises(TypeError):
        collect(make())


def test_a_wrong_source_is_told_what_to_do() -> None:
    """The stream object of an SDK holds a response, and gives objects where bytes are wanted."""
    httpx2 = pytest.importorskip("httpx2")

    class Held:
        def __init__(self, **held: object) -> None:
            self.__dict__.update(held)

        def __iter__(self) -> Iterator[Any]:
            yield self

        async def __aiter__(self) -> AsyncIterator[Any]:
            yield self

    async def chunks() -> AsyncIterator[bytes]:
        yield DATA

    for name in ("response", "http_response"):
        held: Any = Held(**{name: httpx2.Response(200, content=DATA)})
        with pytest.raises(TypeError, match=rf"Held holds an HTTP response: pass its \.{name}$"):
            trigate.parse(held, PROTOCOL)
        with pytest.raises(TypeError, match=rf"pass its \.{name}$"):
            collect(held)
        assert trigate.parse(getattr(held, name), PROTOCOL) == trigate.parse(DATA, PROTOCOL)
    number: Any = 5
    with pytest.raises(TypeError, match=r"a source is an HTTP response, bytes.* not int$"):
        trigate.parse(number)
    later: Any = chunks()
    with pytest.raises(TypeError, match="use aiter_items"):
        trigate.parse(later)


def test_without_deltas() -> None:
    kinds = [type(item).__name__ for item in trigate.iter_items(DATA, PROTOCOL, deltas=False)]
    assert kinds == ["ToolCallStarted", "ToolCallDone", "ResponseEnded"]


def test_options_are_those_of_the_parser() -> None:
    for act in (trigate.parse, lambda *args, **options: list(trigate.iter_items(*args, **options))):
        with pytest.raises(ValueError, match="unknown leniency"):
            act(DATA, PROTOCOL, lenient=["novel"])
        with pytest.raises(TypeError):
            act(DATA, PROTOCOL, novel=1)
    with pytest.raises(ValueError, match="unknown protocol"):
        trigate.parse(DATA, "novel")


def test_items_come_as_soon_as_they_can() -> None:
    """The item of a delta is there before the next chunk is asked for."""
    asked = 0

    def source() -> Iterator[bytes]:
        nonlocal asked
        for chunk in of_size(DATA, 1):
            asked += 1
            yield chunk

    items = trigate.iter_items(source(), PROTOCOL)
    assert iter(items) is items
    assert isinstance(next(items), trigate.TextDelta)
    first = DATA.index(b"\n\n", DATA.index(b"output_text.delta"))
    assert asked == first + 2


def test_what_the_end_of_the_input_makes_known_comes_before_the_end() -> None:
    """A call that was cut is told as such, and so is a last event that a lenient reader takes."""
    script = Script().created().added(0, function_item("", status="in_progress")).delta(0, '{"a"')
    for items in (list(trigate.iter_items(script.data(), PROTOCOL)), collect(later(bytewise(script.data())))):
        *_, done, ended = items
        assert isinstance(done, trigate.ToolCallDone)
        assert (done.call.state, done.call.problem) == ("void", "incomplete")
        assert isinstance(ended, trigate.ResponseEnded)
    data = Script().created().call("{}").end(usage={"total_tokens": 1}).data().rstrip()
    told = list(trigate.iter_items(data, PROTOCOL, lenient=["unterminated_last_event"]))
    assert [type(item).__name__ for item in told[-2:]] == ["UsageUpdate", "ResponseEnded"]

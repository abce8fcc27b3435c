"""Two decoders on the same bytes: the caller gets the original's events and errors, each difference is told once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest

import trigate
from trigate.compat.sdk_events import Decoder, ServerSentEvent
from trigate.compat.shadow import Difference, log_difference, shadow

Events = list[ServerSentEvent]


class Original:
    """A decoder whose events are ours, changed by a function of each chunk's events; at the end, of none."""

    def __init__(self, change: Callable[[Events], Events] = lambda events: events) -> None:
        self._change = change

    def iter_bytes(self, iterator: Iterator[bytes]) -> Iterator[ServerSentEvent]:
        decoder = Decoder()
        for chunk in iterator:
            yield from self._change(decoder.feed(chunk))
        yield from self._change([])

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[ServerSentEvent]:
        decoder = Decoder()
        async for chunk in iterator:
            for event in self._change(decoder.feed(chunk)):
                yield event
        for event in self._change([]):
            yield event


def blocks(*data: str) -> list[bytes]:
    return [f"data: {text}\n\n".encode() for text in data]


def compare(original: Any, chunks: Iterable[bytes], ours: Any = None) -> tuple[list[str], list[Difference]]:
    """What the caller got, and what was reported; the same synchronously and not."""
    found: list[Difference] = []
    both = shadow(original, ours or Decoder(), report=found.append)
    got = [event.data for event in both.iter_bytes(iter(chunks))]
    return got, found


def told(found: list[Difference]) -> list[tuple[str, int, str | None, str | None]]:
    return [
        (d.kind, d.offset, getattr(d.original, "data", None), getattr(d.ours, "data", None)) for d in found
    ]


def edit(what: str, new: list[str]) -> Callable[[Events], Events]:
    """Puts other events in the place of the one with this data."""

    def change(events: Events) -> Events:
        return [
            other
            for event in events
            for other in ([ServerSentEvent(data=text) for text in new] if event.data == what else [event])
        ]

    return change


# -- what is reported --------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 3, 10, 1000])
def test_no_difference_no_report(cut: int) -> None:
    stream = b"".join(blocks(*(str(number) for number in range(500))))
    chunks = [stream[at : at + cut] for at in range(0, len(stream), cut)]
    got, found = compare(Original(), chunks)
    assert got == [str(number) for number in range(500)]
    assert found == []


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (["B"], [("event", 9, "B", "b")]),
        ([], [("only_ours", 9, None, "b")]),
        (["x", "b"], [("only_original", 9, "x", None)]),
        (["b", "x", "y"], [("only_original", 18, "x", None), ("only_original", 18, "y", None)]),
        (["x", "y"], [("event", 9, "x", "b"), ("only_original", 18, "y", None)]),
    ],
)
def test_one_difference_is_told_once_and_the_rest_agrees(
    new: list[str], expected: list[tuple[str, int, str | None, str | None]], joined: bool
) -> None:
    chunks = blocks("a", "b", "c", "d")
    got, found = compare(Original(edit("b", new)), [b"".join(chunks)] if joined else chunks)
    assert got == ["a", *new, "c", "d"]
    assert told(found) == expected


@pytest.mark.parametrize("member", ["event", "id", "retry"])
def test_each_member_counts(member: str) -> None:
    def change(events: Events) -> Events:
        for event in events:
            setattr(event, member, 7 if member == "retry" else "other")
        return events

    found = compare(Original(change), [b"event: e\nid: 1\nretry: 3\ndata: a\n\n"])[1]
    assert [difference.kind for difference in found] == ["event"]


def test_no_id_is_an_empty_id() -> None:
    def change(events: Events) -> Events:
        for event in events:
            event.id = ""
        return events

    assert compare(Original(change), blocks("a"))[1] == []


def test_an_original_that_comes_later_is_no_difference() -> None:
    late: Events = []

    def change(events: Events) -> Events:
        late.extend(events)
        if events:
            return []
        out = list(late)
        late.clear()
        return out

    got, found = compare(Original(change), blocks(*"abcdefgh"))
    assert "".join(got) == "abcdefgh"
    assert found == []


def test_differences_at_the_very_end() -> None:
    assert told(compare(Original(edit("b", [])), blocks("a", "b"))[1]) == [("only_ours", 9, None, "b")]
    assert told(compare(Original(edit("b", ["b", "c"])), blocks("a", "b"))[1]) == [
        ("only_original", 18, "c", None)
    ]


def test_plain_functions_and_the_plain_decoder_are_taken_too() -> None:
    def original(chunks: Iterator[bytes]) -> Iterator[trigate.ServerSentEvent]:
        return iter(trigate.SSEDecoder().feed(b"".join(chunks)))

    got, found = compare(original, blocks("a", "b"), trigate.SSEDecoder())
    assert (got, found) == (["a", "b"], [])


def test_a_difference_on_one_line() -> None:
    difference = Difference("event", 9, ServerSentEvent(data="x" * 1000), None)
    assert str(difference).startswith("event at byte 9: original ServerSentEvent(event=None, data=xxx")
    assert len(str(difference)) < 400


# -- errors ------------------------------------------------------------------------------------------


class BrokenError(Exception):
    pass


def breaks(at: str) -> Callable[[Events], Events]:
    def change(events: Events) -> Events:
        if any(event.data == at for event in events):
            raise BrokenError
        return events

    return change


def test_an_error_of_the_original_goes_on_and_is_told() -> None:
    found: list[Difference] = []
    got: list[str] = []
    both = shadow(Original(breaks("b")), Decoder(), report=found.append)
    with pytest.raises(BrokenError):
        got.extend(event.data for event in both.iter_bytes(iter(blocks("a", "b", "c"))))
    assert got == ["a"]
    assert [(d.kind, d.offset) for d in found] == [("only_ours", 9), ("error", 18)]
    assert isinstance(found[1].original, BrokenError)


def test_both_refusing_is_no_difference() -> None:
    found: list[Difference] = []

    def strict(chunks: Iterator[bytes]) -> Iterator[ServerSentEvent]:
        for chunk in chunks:
            yield ServerSentEvent(data=chunk.decode("utf-8").strip().removeprefix("data: "))

    both = shadow(strict, Decoder(), report=found.append)
    with pytest.raises(UnicodeDecodeError):
        list(both.iter_bytes(iter([b"data: a\n\n", b"data: \xff\n\n"])))
    assert found == []


def test_an_error_of_ours_is_told_at_its_byte_and_stops_nothing() -> None:
    got, found = compare(
        Original(), blocks("a", "b" * 50, "c"), Decoder(limits=trigate.Limits(max_event_bytes=9))
    )
    assert got == ["a", "b" * 50, "c"]
    (error,) = [difference for difference in found if difference.kind == "error"]
    assert isinstance(error.ours, trigate.LimitError)
    assert error.offset == error.ours.offset


class Failing:
    """A decoder that fails in a way nobody foresaw."""

    error = None

    def __init__(self, where: str) -> None:
        self._where = where

    def feed(self, _chunk: bytes) -> list[Any]:
        if self._where == "feed":
            raise BrokenError
        return [object()] if self._where == "events" else []

    def finish(self) -> None:
        raise BrokenError


@pytest.mark.parametrize("where", ["feed", "events", "finish"])
def test_whatever_ours_does_the_original_goes_on(where: str, caplog: pytest.LogCaptureFixture) -> None:
    got, _ = compare(Original(), blocks("a", "b", "c"), Failing(where))
    assert got == ["a", "b", "c"]
    if where == "events":
        assert len(caplog.records) == 1


def test_a_report_that_fails_is_logged_and_the_next_one_comes(caplog: pytest.LogCaptureFixture) -> None:
    calls = []

    def report(difference: Difference) -> None:
        calls.append(difference)
        raise BrokenError

    both = shadow(Original(edit("b", ["B"])), Decoder(), report=report)
    assert [event.data for event in both.iter_bytes(iter(blocks("a", "b", "b", "c")))] == ["a", "B", "B", "c"]
    assert len(calls) == len(caplog.records) == 2


def test_what_the_source_raises_is_no_difference() -> None:
    def source() -> Iterator[bytes]:
        yield from blocks("a", "b")
        raise BrokenError

    found: list[Difference] = []
    events = shadow(Original(), Decoder(), report=found.append).iter_bytes(source())
    assert [next(events).data, next(events).data] == ["a", "b"]
    with pytest.raises(BrokenError):
        next(events)
    assert found == []


def test_leaving_early_is_no_difference_but_what_was_seen_counts() -> None:
    found: list[Difference] = []
    both = shadow(Original(edit("b", ["B"])), Decoder(), report=found.append)
    events = both.iter_bytes(iter([b"".join(blocks("a", "b", "c", "d"))]))
    assert [next(events).data, next(events).data] == ["a", "B"]
    events.close()
    assert told(found) == [("event", 9, "B", "b")]


def test_by_default_the_log_is_told(caplog: pytest.LogCaptureFixture) -> None:
    both = shadow(Original(edit("b", ["B"])), Decoder())
    assert len(list(both.iter_bytes(iter(blocks("a", "b", "c"))))) == 3
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "event at byte 9" in caplog.text
    log_difference(Difference("only_ours", 1, None, None))
    assert "only_ours at byte 1" in caplog.text


# -- bounds ------------------------------------------------------------------------------------------


def test_what_waits_is_bounded() -> None:
    """Two streams that never agree: each pair is told as soon as too many wait."""
    given: list[str] = []
    behind: list[int] = []

    def change(events: Events) -> Events:
        given.extend(event.data for event in events)
        return [ServerSentEvent(data="-" + event.data) for event in events]

    def report(difference: Difference) -> None:
        behind.append(len(given) - difference.ours.start // 12)

    chunks = [f"data: {number:>4}\n\n".encode() for number in range(2000)]
    assert len(list(shadow(Original(change), Decoder(), report=report).iter_bytes(iter(chunks)))) == 2000
    assert len(behind) == 2000
    assert max(behind) <= 130


def test_large_events_do_not_wait_for_long() -> None:
    found: list[Difference] = []
    big = "x" * (3 * 1024 * 1024)
    both = shadow(Original(edit(big, [])), Decoder(), report=found.append)
    events = both.iter_bytes(iter([*blocks(big, big, big, big), *blocks("a")]))
    assert next(events).data == "a"
    assert len(found) >= 2  # before the original gave anything
    list(events)
    assert [difference.kind for difference in found] == ["only_ours"] * 4


# -- asynchronously ----------------------------------------------------------------------------------


async def each(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        await asyncio.sleep(0)
        yield chunk


def test_asynchronously_the_same() -> None:
    found: list[Difference] = []

    async def run() -> list[str]:
        both = shadow(Original(edit("b", ["x", "b"])), Decoder(), report=found.append)
        return [event.data async for event in both.aiter_bytes(each(blocks("a", "b", "c")))]

    assert asyncio.run(run()) == ["a", "x", "b", "c"]
    assert told(found) == [("only_original", 9, "x", None)]


def test_a_cancelled_reader_is_no_difference() -> None:
    found: list[Difference] = []

    async def source() -> AsyncIterator[bytes]:
        yield b"".join(blocks("a", "b"))
        await asyncio.Event().wait()

    async def run() -> list[str]:
        got: list[str] = []

        async def read() -> None:
            async for event in shadow(Original(), Decoder(), report=found.append).aiter_bytes(source()):
                got.append(event.data)

        task = asyncio.create_task(read())
        while len(got) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return got

    assert asyncio.run(run()) == ["a", "b"]
    assert found == []


def test_an_error_asynchronously() -> None:
    found: list[Difference] = []

    async def run() -> None:
        async for _ in shadow(Original(breaks("a")), Decoder(), report=found.append).aiter_bytes(
            each(blocks("a"))
        ):
            pass

    with pytest.raises(BrokenError):
        asyncio.run(run())
    assert [difference.kind for difference in found] == ["only_ours", "error"]


def test_leaving_early_closes_the_source() -> None:
    closed = []

    async def source() -> AsyncIterator[bytes]:
        try:
            for chunk in blocks("a", "b"):
                yield chunk
        finally:
            closed.append(True)

    async def run() -> None:
        events = shadow(Original(), Decoder()).aiter_bytes(source())
        async for event in events:
            assert event.data == "a"
            break
        await events.aclose()
        await asyncio.sleep(0)

    asyncio.run(run())
    assert closed == [True]

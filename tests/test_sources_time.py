"""Idle timeouts and deadlines with real sockets: what counts as something, and what does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

import trigate
from loopback import FOREVER, Loopback, loopback
from streams import PROTOCOL, Script
from test_sources_clients import DATA, KINDS, WHOLE, read

__all__ = ["loopback"]

each = pytest.mark.parametrize(("kind", "name"), KINDS, ids=[f"{name}-{kind}" for kind, name in KINDS])
PINGS = {
    "comments": b": ping\n\n",
    "ping events": b'event: ping\ndata: {"type": "ping"}\n\n',
    "keepalive events": b'event: keepalive\ndata: {"type":"keepalive","sequence_number":9}\n\n',
    "events without data": b"data:\n\n",
    "an event that never ends": b"data: x\n",
}
BEGUN = DATA[: DATA.index(b"\n\n", DATA.index(b"output_text.delta")) + 2]


def error_of(response: trigate.Response) -> trigate.ErrorInfo:
    assert response.status == "truncated"
    assert response.error is not None
    assert response.error.layer == "transport"
    return response.error


# -- real sockets ------------------------------------------------------------------------------------------


@each
def test_pings_are_idleness(loopback: Loopback, kind: str, name: str) -> None:
    items, response = read(kind, name, loopback.plan([BEGUN], ping=PINGS["ping events"]), idle_timeout=0.3)
    error = error_of(response)
    assert error.code == "idle_timeout"
    assert "0.3 seconds" in error.message
    assert error.cause is None
    assert [type(item) for item in items] == [trigate.TextDelta, trigate.ResponseEnded]
    loopback.wait_until_gone()


@each
def test_silence_is_idleness(loopback: Loopback, kind: str, name: str) -> None:
    _, response = read(kind, name, loopback.plan([BEGUN, FOREVER]), idle_timeout=0.15)
    assert error_of(response).code == "idle_timeout"
    loopback.wait_until_gone()


@each
def test_a_deadline_passes_whatever_comes(loopback: Loopback, kind: str, name: str) -> None:
    script = Script().created().message("a")
    url = loopback.plan([script.data()], ping=b'data: {"type":"response.novel"}\n\n')
    _, response = read(kind, name, url, idle_timeout=5.0, deadline=0.4)
    assert error_of(response).code == "deadline_exceeded"
    assert response.text == "a"
    loopback.wait_until_gone()


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("ping", PINGS.values(), ids=PINGS)
def test_what_says_nothing(loopback: Loopback, kind: str, ping: bytes) -> None:
    _, response = read(kind, "httpx2", loopback.plan([BEGUN], ping=ping), idle_timeout=0.15)
    assert error_of(response).code == "idle_timeout"
    loopback.wait_until_gone()


@pytest.mark.parametrize(("kind", "deltas"), [("sync", True), ("async", False)])
def test_what_says_something(loopback: Loopback, kind: str, deltas: bool) -> None:
    """Pieces far enough apart in all, but not from each other; shown or not."""
    steps: list[Any] = [Script().created().message().data()]
    for at in range(12):
        script = Script(next_number=20 + at).add("response.reasoning_text.delta", output_index=1, delta="x")
        steps += [0.1, script.data()]
    url = loopback.plan([*steps, Script(next_number=40).end(output=[]).data()])
    _, response = read(kind, "httpx2", url, idle_timeout=1.0, deltas=deltas)
    assert response.status == "completed"
    assert response.reasoning == "x" * 12


def test_empty_pieces_say_nothing(loopback: Loopback) -> None:
    chunk = b'data: {"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}\n\n'
    url = loopback.plan([chunk % b"a", chunk % b"b"], ping=chunk % b"")
    _, response = read("sync", "httpx2", url, "openai-chat", idle_timeout=0.3)
    assert error_of(response).code == "idle_timeout"
    assert response.text == "ab"
    loopback.wait_until_gone()


def test_the_caller_s_own_time_is_not_idleness(loopback: Loopback) -> None:
    import httpx2

    with httpx2.Client() as client, client.stream("GET", loopback.plan([DATA])) as opened:
        stream = trigate.iter_items(opened, PROTOCOL, idle_timeout=0.5)
        for _ in stream:
            time.sleep(0.12)
        assert stream.response == WHOLE


def test_a_deadline_that_passed_while_the_caller_was_busy(loopback: Loopback) -> None:
    import httpx2

    with httpx2.Client() as client, client.stream("GET", loopback.plan([BEGUN, FOREVER])) as opened:
        stream = trigate.iter_items(opened, PROTOCOL, deadline=0.3)
        assert isinstance(next(stream), trigate.TextDelta)
        time.sleep(0.3)
        assert isinstance(next(stream), trigate.ResponseEnded)
        assert error_of(stream.response).code == "deadline_exceeded"
    loopback.wait_until_gone()


def test_after_the_end_no_time_is_too_long(loopback: Loopback) -> None:
    """A server that forgets to close: what the terminal event ended stands."""
    _, response = read("sync", "httpx2", loopback.plan([DATA, FOREVER]), idle_timeout=0.3)
    assert (response.status, response.released) == ("completed", WHOLE.released)
    assert [anomaly.code for anomaly in response.anomalies] == ["fault_after_end"]
    loopback.wait_until_gone()


def test_the_watchdog_is_there_while_it_is_needed(loopback: Loopback) -> None:
    import threading

    def watchdogs() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name == "trigate-watchdog"]

    read("sync", "httpx2", loopback.plan([BEGUN, FOREVER]), idle_timeout=0.1)
    loopback.wait_until_gone()
    for thread in watchdogs():
        thread.join(5)
    assert watchdogs() == []
    read("sync", "httpx2", loopback.plan([DATA]))
    assert watchdogs() == []


# -- plain sources -----------------------------------------------------------------------------------------


def slowly(*chunks: bytes) -> Iterator[bytes]:
    for chunk in chunks:
        time.sleep(0.06)
        yield chunk


def test_a_plain_source_is_looked_at_when_a_chunk_comes() -> None:
    response = trigate.parse(
        slowly(BEGUN, *[b": ping\n\n"] * 9, DATA[len(BEGUN) :]), PROTOCOL, idle_timeout=0.2
    )
    assert error_of(response).code == "idle_timeout"
    response = trigate.parse(slowly(*[b"\n"] * 9, DATA), PROTOCOL, deadline=0.2)
    assert error_of(response).code == "deadline_exceeded"
    assert trigate.parse(slowly(DATA), PROTOCOL, idle_timeout=5, deadline=5) == WHOLE


def test_an_asynchronous_plain_source_is_stopped_at_once() -> None:
    closed: list[str] = []

    async def source() -> AsyncIterator[bytes]:
        try:
            yield BEGUN
            await asyncio.Event().wait()
        finally:
            closed.append("closed")

    async def run() -> trigate.Response:
        stream = trigate.aiter_items(source(), PROTOCOL, idle_timeout=0.1)
        assert len([item async for item in stream]) == 2
        return stream.response

    assert error_of(asyncio.run(run())).code == "idle_timeout"
    assert closed == ["closed"]


def test_its_own_timeout_error_goes_on_to_the_caller() -> None:
    async def source() -> AsyncIterator[bytes]:
        yield BEGUN
        raise TimeoutError("mine")

    async def run() -> None:
        async for _ in trigate.aiter_items(source(), PROTOCOL, idle_timeout=5):
            pass

    with pytest.raises(TimeoutError, match="mine"):
        asyncio.run(run())


def test_bounds_need_asyncio() -> None:
    """Another event loop is one that asyncio does not know; here: none at all."""
    stream = trigate.aiter_items(DATA, PROTOCOL, deadline=5)
    with pytest.raises(RuntimeError, match="need asyncio"):
        anext(stream).send(None)
    plain = trigate.aiter_items(DATA, PROTOCOL)
    with pytest.raises(StopIteration):
        anext(plain).send(None)


@pytest.mark.parametrize("name", ["idle_timeout", "deadline"])
@pytest.mark.parametrize("take", [trigate.iter_items, trigate.aiter_items, trigate.parse])
def test_wrong_bounds(name: str, take: Callable[..., Any]) -> None:
    for wrong in (0, -1.0, float("nan")):
        with pytest.raises(ValueError, match=f"{name} must be more than 0"):
            take(b"", **{name: wrong})
    for other in ("5", True):
        with pytest.raises(TypeError, match=f"{name} must be a number"):
            take(b"", **{name: other})

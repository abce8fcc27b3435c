"""Nobody wants the rest: the connection is closed, and the response says `cancelled`."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import trigate
from clients import ASYNC, SYNC
from loopback import FOREVER, Loopback, loopback
from streams import PROTOCOL, codes
from test_sources_clients import DATA, WHOLE
from test_sources_time import BEGUN

__all__ = ["loopback"]


@pytest.fixture(params=SYNC)
def library(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(params=ASYNC)
def async_library(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def check_cancelled(response: trigate.Response) -> None:
    assert response.status == "cancelled"
    assert response.error is not None
    assert (response.error.layer, response.error.code) == ("transport", "cancelled")
    assert response.error.offset == len(BEGUN)
    assert response.text == "Größe "
    with pytest.raises(trigate.TransportError):
        response.raise_for_status()


# -- threads -------------------------------------------------------------------------------------------------


def test_from_another_thread_while_the_reader_waits(loopback: Loopback, library: str) -> None:
    with SYNC[library](loopback.plan([BEGUN, FOREVER])) as opened:
        stream = trigate.iter_items(opened, PROTOCOL)
        items = [next(stream)]
        timer = threading.Timer(0.1, stream.cancel)
        timer.start()
        items += stream  # waits for bytes that never come
        timer.join()
        check_cancelled(stream.response)
        assert items[-1] == trigate.ResponseEnded(stream.response)
        loopback.wait_until_gone()


def test_between_two_items(loopback: Loopback, library: str) -> None:
    with SYNC[library](loopback.plan([BEGUN, FOREVER])) as opened:
        stream = trigate.iter_items(opened, PROTOCOL)
        next(stream)
        stream.cancel()
        check_cancelled(stream.response)
        loopback.wait_until_gone()
        assert list(stream) == [trigate.ResponseEnded(stream.response)]
        stream.cancel()
        assert list(stream) == []


def test_close_and_leave(loopback: Loopback, library: str) -> None:
    with SYNC[library](loopback.plan([BEGUN, FOREVER])) as opened:
        with trigate.iter_items(opened, PROTOCOL) as stream:
            next(stream)
        check_cancelled(stream.response)
        assert list(stream) == []
        loopback.wait_until_gone()
    with SYNC[library](loopback.plan([BEGUN, FOREVER])) as opened:
        for _ in trigate.iter_items(opened, PROTOCOL):
            break
        gc.collect()
        loopback.wait_until_gone()


def test_the_caller_s_exception_closes_too(loopback: Loopback, library: str) -> None:
    with SYNC[library](loopback.plan([BEGUN, FOREVER])) as opened:
        stream = trigate.iter_items(opened, PROTOCOL)
        with pytest.raises(KeyError), stream:
            raise KeyError(next(stream))
        check_cancelled(stream.response)
        loopback.wait_until_gone()


def test_close_from_another_thread(loopback: Loopback) -> None:
    with SYNC["httpx2"](loopback.plan([BEGUN, FOREVER])) as opened:
        stream = trigate.iter_items(opened, PROTOCOL, idle_timeout=30)
        next(stream)
        timer = threading.Timer(0.1, stream.close)
        timer.start()
        list(stream)
        timer.join()
        check_cancelled(stream.response)
        loopback.wait_until_gone()


def test_many_cancels_at_once(loopback: Loopback) -> None:
    """Whoever comes first: one end, every item once."""
    for _ in range(5):
        with SYNC["urllib3"](loopback.plan([BEGUN, FOREVER])) as opened:
            stream = trigate.iter_items(opened, PROTOCOL, idle_timeout=20)
            threads = [threading.Thread(target=stream.cancel) for _ in range(6)]
            for thread in threads:
                thread.start()
            items = list(stream)
            for thread in threads:
                thread.join()
            assert isinstance(items[-1], trigate.ResponseEnded)
            assert [item for item in items if isinstance(item, trigate.ResponseEnded)] == [items[-1]]
            assert stream.response.status == "cancelled"


def test_items_that_were_there_are_still_given() -> None:
    stream = trigate.iter_items([DATA[:-100], b": more\n\n"], PROTOCOL)
    first = next(stream)
    stream.cancel()
    items = [first, *stream]
    whole = list(trigate.iter_items(DATA[:-100], PROTOCOL))
    assert [type(item) for item in items] == [type(item) for item in whole]
    assert stream.response.status == "cancelled"


def test_a_response_that_was_over_stays_what_it_was() -> None:
    stream = trigate.iter_items([DATA, b": more\n\n"], PROTOCOL)
    next(stream)
    stream.cancel()
    assert (stream.response.status, codes(stream.response)) == ("completed", [])
    assert stream.response.released == WHOLE.released
    with trigate.iter_items(DATA, PROTOCOL) as read:
        list(read)
    assert read.response == WHOLE


def test_a_plain_source_is_closed_too() -> None:
    closed: list[int] = []

    def source() -> Iterator[bytes]:
        try:
            yield BEGUN
            yield DATA
        finally:
            closed.append(1)

    with trigate.iter_items(source(), PROTOCOL) as stream:
        next(stream)
    assert closed == [1]
    check_cancelled(stream.response)

    def broken() -> Iterator[bytes]:
        yield BEGUN
        raise KeyError

    stream = trigate.iter_items(broken(), PROTOCOL)
    with pytest.raises(KeyError):
        list(stream)
    assert list(stream) == []
    check_cancelled(stream.response)


def test_a_source_that_cancels_its_own_stream() -> None:
    def source() -> Iterator[bytes]:
        yield BEGUN
        stream.cancel()
        yield DATA

    stream = trigate.iter_items(source(), PROTOCOL)
    assert len(list(stream)) == 2
    check_cancelled(stream.response)


# -- tasks ---------------------------------------------------------------------------------------------------


def test_a_cancelled_task(loopback: Loopback, async_library: str) -> None:
    """CancelledError goes on; the response is there."""

    async def run() -> trigate.Response:
        async with ASYNC[async_library](loopback.plan([BEGUN, FOREVER])) as opened:
            stream = trigate.aiter_items(opened, PROTOCOL, idle_timeout=30)
            begun = asyncio.Event()

            async def consume() -> None:
                async for _ in stream:
                    begun.set()

            task = asyncio.create_task(consume())
            await begun.wait()
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(loopback.wait_until_gone)
            return stream.response

    check_cancelled(asyncio.run(run()))


def test_cancel_while_a_task_waits(loopback: Loopback, async_library: str) -> None:
    async def run() -> trigate.Response:
        async with ASYNC[async_library](loopback.plan([BEGUN, FOREVER])) as opened:
            stream = trigate.aiter_items(opened, PROTOCOL)
            asyncio.get_running_loop().call_later(0.1, stream.cancel)
            items = [item async for item in stream]
            assert items[-1] == trigate.ResponseEnded(stream.response)
            await asyncio.to_thread(loopback.wait_until_gone)
            return stream.response

    check_cancelled(asyncio.run(run()))


def test_leaving_early(loopback: Loopback, async_library: str) -> None:
    async def run() -> trigate.Response:
        async with ASYNC[async_library](loopback.plan([BEGUN, FOREVER])) as opened:
            async with trigate.aiter_items(opened, PROTOCOL) as stream:
                async for _ in stream:
                    break
            await asyncio.to_thread(loopback.wait_until_gone)
            assert [item async for item in stream] == []
            return stream.response

    check_cancelled(asyncio.run(run()))


def test_leaving_without_a_word(loopback: Loopback, async_library: str) -> None:
    """A loop that breaks out: the event loop closes what nobody holds any more."""

    async def run() -> None:
        async with ASYNC[async_library](loopback.plan([BEGUN, FOREVER])) as opened:
            async for _ in trigate.aiter_items(opened, PROTOCOL):
                break
            gc.collect()
            await asyncio.to_thread(loopback.wait_until_gone)

    asyncio.run(run())


def test_the_task_s_own_exception(loopback: Loopback) -> None:
    async def run() -> trigate.Response:
        async with ASYNC["httpx2"](loopback.plan([BEGUN, FOREVER])) as opened:
            stream = trigate.aiter_items(opened, PROTOCOL)

            async def fail() -> None:
                async with stream:
                    raise KeyError(await anext(stream))

            with pytest.raises(KeyError):
                await fail()
            await asyncio.to_thread(loopback.wait_until_gone)
            return stream.response

    check_cancelled(asyncio.run(run()))


def test_an_asynchronous_plain_source() -> None:
    told: list[Any] = []

    async def source() -> AsyncIterator[bytes]:
        try:
            yield BEGUN
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.append("cancelled")
            raise

    async def run() -> trigate.Response:
        stream = trigate.aiter_items(source(), PROTOCOL)
        asyncio.get_running_loop().call_later(0.05, stream.cancel)
        assert len([item async for item in stream]) == 2
        return stream.response

    check_cancelled(asyncio.run(run()))
    assert told == ["cancelled"]


def test_one_reader_at_a_time() -> None:
    async def source() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.05)
        yield DATA

    async def run() -> None:
        stream = trigate.aiter_items(source(), PROTOCOL)
        first = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="another task"):
            await anext(stream)
        assert isinstance(await first, trigate.TextDelta)
        await stream.aclose()
        assert stream.response.status == "completed"

    asyncio.run(run())

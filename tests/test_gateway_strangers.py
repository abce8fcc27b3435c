"""The example gateway between two strangers: what clients and upstreams send does not break, leak or mislead it."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

import trigate

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")

from gateway_servers import Answer, Upstream, metric, raw, served, through  # noqa: E402 - after the skips

POST = b"POST /v1/messages%s HTTP/1.1\r\nhost: %s\r\n"


def test_headers_go_on_as_they_came_but_for_those_of_one_connection(example: Any) -> None:
    sent = [
        (b"content-type", b"application/json"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2; Path=/"),
        (b"connection", b"x-hop"),
        (b"x-hop", b"secret"),
        (b"content-encoding", b"x-own"),
        (b"date", b"Mon, 01 Jan 2024 00:00:00 GMT"),
    ]

    async def use(url: str, behind: Any) -> None:
        extra = b"x-mine: secret\r\nx-two: 1\r\nx-two: 2\r\ncookie: s=1\r\nexpect: 100-continue\r\n"
        for _ in range(2):
            answer = await raw(url, POST % (b"?a=1&a=2&b=%2F", b"h") + extra)
        head = answer[answer.index(b"HTTP/1.1 200") :].partition(b"\r\n\r\n")[0].lower().split(b"\r\n")
        assert [line for line in head if line.startswith(b"set-cookie")] == [
            b"set-cookie: a=1",
            b"set-cookie: b=2; path=/",
        ]
        assert b"secret" not in answer
        assert sum(line.startswith(b"date:") for line in head) == 1
        assert b"content-encoding: x-own" in head
        for query, headers in behind.requests:
            assert query == b"a=1&a=2&b=%2F"
            names = [name for name, _ in headers]
            assert names.count(b"x-two") == 2
            assert not {b"x-mine", b"expect", b"user-agent", b"content-type"} & set(names)
            # The upstream's cookies are the client's to keep.
            assert [value for name, value in headers if name == b"cookie"] == [b"s=1"]

    through(example, lambda: Answer(sent), use)


def test_cookies_of_one_client_are_not_sent_for_another(example: Any) -> None:
    """By a name, for a jar takes none from a bare address."""

    async def use() -> None:
        behind = Answer([(b"content-type", b"application/json"), (b"set-cookie", b"session=first")])
        async with served(behind) as url:
            named = url.replace("127.0.0.1", "localhost")
            app = example["make_app"](example["Settings"](anthropic=named))
            async with served(app) as front:
                for _ in range(2):
                    assert b"session=first" in await raw(front, POST % (b"", b"h"))
        assert len(behind.requests) == 2
        assert not any(name == b"cookie" for _, headers in behind.requests for name, _ in headers)

    asyncio.run(use())


def test_a_redirect_is_the_clients_to_follow(example: Any) -> None:
    async def use(url: str, behind: Any) -> None:
        answer = await raw(url, POST % (b"", b"h") + b"authorization: Bearer secret\r\n")
        assert answer.startswith(b"HTTP/1.1 307")
        assert b"location: /elsewhere" in answer
        assert len(behind.requests) == 1

    through(example, lambda: Answer([(b"location", b"/elsewhere")], status=307), use)


@pytest.mark.parametrize("status", [204, 304, 500])
def test_answers_without_a_body_go_through(example: Any, status: int) -> None:
    async def use(url: str, _: Any) -> None:
        answer = await raw(url, POST % (b"", b"h"))
        assert answer.startswith(f"HTTP/1.1 {status}".encode())
        assert answer.endswith(b"\r\n\r\n")

    through(example, lambda: Answer([(b"content-length", b"0")] if status == 500 else [], b"", status), use)


@pytest.mark.parametrize("host", [b"a/b", b"a?b", b"a/v1/chat/completions?"])
def test_the_path_is_the_requests_own_whatever_its_host_says(example: Any, host: bytes) -> None:
    async def use(url: str, behind: Any) -> None:
        assert not (await raw(url, POST % (b"", host))).startswith(b"HTTP/1.1 500")
        assert len(behind.requests) == 1

    through(example, lambda: Answer([(b"content-type", b"application/json")]), use)


@pytest.mark.parametrize("name", ["gzip", "deflate"])
def test_a_compressed_error_arrives_readable(example: Any, name: str) -> None:
    error = json.dumps({"error": {"message": "slow down" * 50}}).encode()
    body = gzip.compress(error) if name == "gzip" else zlib.compress(error)
    headers = [(b"content-type", b"application/json"), (b"content-encoding", name.encode())]
    headers.append((b"content-length", str(len(body)).encode()))

    async def use(url: str, _: Any) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url + "/v1/responses", data=b"{}") as answer,
        ):
            assert (answer.status, await answer.read()) == (429, error)

    through(example, lambda: Answer(headers, body, 429), use)


def test_a_stream_that_is_compressed_is_watched_all_the_same(example: Any) -> None:
    sent = example["stream"](0, 5)
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"content-encoding", b"gzip")]

    async def use(url: str, _: Any) -> None:
        async with aiohttp.ClientSession() as session, session.post(url + sent.path, data=b"{}") as answer:
            assert sent.call[0].encode() not in await answer.read()

    through(example, lambda: Answer(headers, gzip.compress(sent.body)), use, denied=("*",))


def test_a_client_that_goes_before_the_first_byte_ends_the_request(example: Any) -> None:
    def silent() -> Answer:
        upstream = Answer([])
        upstream.is_silent = True
        return upstream

    async def use(url: str, behind: Any) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(POST % (b"", b"h") + b"content-length: 2\r\n\r\n{}")
        while not behind.requests:
            await asyncio.sleep(0.01)
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(behind.gone.wait(), 5)
        while not await metric(url, 'gateway_clients_left_total{protocol="anthropic-messages"}'):
            await asyncio.sleep(0.01)

    through(example, silent, use)


def test_a_client_that_goes_in_its_own_request_is_no_error(
    example: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(url: str, behind: Any) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(POST % (b"", b"h") + b"content-length: 200\r\n\r\n{")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        while not await metric(url, 'gateway_clients_left_total{protocol="anthropic-messages"}'):
            await asyncio.sleep(0.01)
        assert not behind.requests

    through(example, lambda: Answer([]), use)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_request_beyond_the_bound_is_not_held(example: Any) -> None:
    async def use(url: str, behind: Any) -> None:
        assert (await raw(url, POST % (b"", b"h"), bytes(101))).startswith(b"HTTP/1.1 413")
        assert not behind.requests
        assert (await raw(url, POST % (b"", b"h"), bytes(100))).startswith(b"HTTP/1.1 200")

    through(example, lambda: Answer([]), use, max_request_bytes=100)


def test_an_answer_that_was_never_begun_is_closed(example: Any) -> None:
    """The client goes between the upstream's head and the first byte for it."""
    import starlette.requests

    relay = example["relay"]
    closed = []

    class Closable:
        status = 200

        def close(self) -> None:
            closed.append(True)

    async def body() -> AsyncIterator[bytes]:
        yield b""

    async def send(_: Any) -> None:
        raise OSError("the client is gone")

    async def use() -> None:
        answer = relay.Relay(Closable(), body(), [])
        with pytest.raises(starlette.requests.ClientDisconnect):
            await answer({"type": "http", "asgi": {"spec_version": "2.4"}}, None, send)

    asyncio.run(use())
    assert closed == [True]


# -- counting what strangers say -------------------------------------------------------------------------


def test_models_from_outside_make_no_endless_series(example: Any) -> None:
    from prometheus_client import generate_latest

    from trigate.tap import TapReport

    metrics = example["metrics"].Metrics()
    usage = trigate.Usage(input_tokens=3)
    for number in range(1000):
        report = TapReport(protocol="openai-chat", status="completed", model=f"m{number}", usage=usage)
        metrics.count(report)
    for name in ("x" * 101, "\ud800", "a\nb"):
        metrics.count(TapReport(protocol="openai-chat", status="completed", model=name))
    page = generate_latest(metrics.registry).decode()
    assert page.count("\ngateway_streams_total{") == 101
    assert 'gateway_streams_total{model="other",protocol="openai-chat",status="completed"} 903.0' in page


@pytest.mark.parametrize("count", [-5, 10**400], ids=["negative", "huge"])
def test_counts_that_no_response_has_break_no_stream(example: Any, count: int) -> None:
    sent = example["stream"](0, 5)
    body = sent.body.replace(
        b"data: [DONE]", b'data: {"choices":[],"usage":{"prompt_tokens":%d}}\n\ndata: [DONE]' % count
    )

    async def use(url: str, _: Any) -> None:
        async with aiohttp.ClientSession() as session, session.post(url + sent.path, data=b"{}") as answer:
            assert await answer.read() == body
        ended = f'gateway_streams_total{{model="load-chat",protocol="{sent.protocol}",status="completed"}}'
        assert await metric(url, ended) == 1

    through(example, lambda: Upstream([body]), use)


class Flood:
    """An upstream that sends without end, and counts what it got rid of."""

    def __init__(self) -> None:
        self.sent = 0
        self.gone = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await Upstream([])(scope, receive, send)
            return
        leaving = asyncio.ensure_future(self._wait(receive))
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        chunk = b": " + b"x" * 2**16 + b"\n\n"
        while not self.gone.is_set():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            self.sent += len(chunk)
            await asyncio.sleep(0)
        await leaving

    async def _wait(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.gone.set()


@pytest.mark.parametrize("mode", ["plain", "gate"])
def test_the_clients_pace_is_the_upstreams(example: Any, mode: str) -> None:
    async def use(url: str, behind: Flood) -> None:
        async with aiohttp.ClientSession() as session:
            answer = await session.post(url + "/v1/messages", data=b"{}")
            await answer.content.readany()
            before = -1
            while before != behind.sent:  # until all buffers on the way are full
                before = behind.sent
                await asyncio.sleep(0.1)
                assert behind.sent < 2**27, "nothing holds the upstream back"
            answer.close()
            await asyncio.wait_for(behind.gone.wait(), 5)

    through(example, Flood, use, mode=mode)

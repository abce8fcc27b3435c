"""Every client library against a real server: what it receives is what was sent, or the response says why not."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import trigate
from clients import ASYNC, SYNC
from loopback import CUT, FOREVER, RESET, Loopback, Plan, loopback
from recorded import CORPUS, corpus_entries, needs_corpus
from streams import PROTOCOL, Script, joined, of_size, seeded_cuts

__all__ = ["loopback"]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "streams"
DATA = Script().created().message("Größe ", "🌍").call('{"städte":["北京"]}', index=1).end().data()
WHOLE = trigate.parse(DATA, PROTOCOL)
ITEMS = joined(trigate.iter_items(DATA, PROTOCOL))

#: A library and how it is used, for tests that want each.
KINDS = [*(("sync", name) for name in SYNC), *(("async", name) for name in ASYNC)]
each = pytest.mark.parametrize(("kind", "name"), KINDS, ids=[f"{name}-{kind}" for kind, name in KINDS])


def read(kind: str, name: str, url: str, protocol: str = PROTOCOL, **options: Any) -> tuple[list[Any], Any]:
    """The items and the final response of what a library receives from there."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    if kind == "sync":
        with SYNC[name](url) as response:
            stream = trigate.iter_items(response, protocol, **options)
            return list(stream), stream.response
    return asyncio.run(_read(name, url, protocol, options))


async def _read(name: str, url: str, protocol: str, options: dict[str, Any]) -> tuple[list[Any], Any]:
    async with ASYNC[name](url) as response:
        stream = trigate.aiter_items(response, protocol, **options)
        items = [item async for item in stream]
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert [task for task in others if "trigate" in repr(task)] == []
        return items, stream.response


# -- what arrives ------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("is_zipped", [False, True], ids=["plain", "gzip"])
def test_odd_chunks(loopback: Loopback, kind: str, name: str, is_zipped: bool) -> None:
    url = loopback.plan(
        [chunk for cut in seeded_cuts(DATA, 5) for chunk in cut if chunk], is_zipped=is_zipped
    )
    items, response = read(kind, name, url)
    assert response == WHOLE
    assert joined(items) == ITEMS
    loopback.wait_until_quiet()


@each
def test_items_come_before_the_rest(loopback: Loopback, kind: str, name: str) -> None:
    """Nothing is read ahead, and nothing is waited for: the server is silent until the client goes away."""
    size = DATA.index(b"\n\n", DATA.index(b"output_text.delta")) + 2
    url = loopback.plan([DATA[:size], FOREVER])
    items, response = read(kind, name, url, deadline=0.5)
    assert [type(item) for item in items] == [trigate.TextDelta, trigate.ResponseEnded]
    assert response.error.code == "deadline_exceeded"
    loopback.wait_until_gone()


@each
@pytest.mark.parametrize("file", ["parallel-calls.sse", "live-anthropic-messages-call.sse"])
def test_example_streams(loopback: Loopback, kind: str, name: str, file: str) -> None:
    data = (EXAMPLES / file).read_bytes()
    _, response = read(kind, name, loopback.plan(of_size(data, 1000)), "auto")
    assert response == trigate.parse(data)
    assert response.status == "completed"


@needs_corpus
@pytest.mark.parametrize("name", ["httpx2", "urllib3"])
def test_recorded_streams(loopback: Loopback, name: str) -> None:
    protocols = sorted(trigate.PROTOCOLS)
    entries = [entry for protocol in protocols for entry in corpus_entries(protocol)[:2]]
    assert entries
    for entry in entries:
        data = (CORPUS / entry["file"]).read_bytes()
        url = loopback.plan(of_size(data, 1460), content_type=None)
        _, response = read("sync", name, url, entry["protocol"])
        assert response == trigate.parse(data, entry["protocol"]), entry["file"]


def test_a_response_is_parsed_whole(loopback: Loopback) -> None:
    for name, open_response in SYNC.items():
        if importlib.util.find_spec(name) is not None:
            with open_response(loopback.plan(of_size(DATA, 50))) as response:
                assert trigate.parse(response, PROTOCOL) == WHOLE


def test_a_body_that_was_read_before(loopback: Loopback) -> None:
    """Not opened for streaming: the library has all of it."""
    import httpx2
    import requests
    import urllib3

    url = loopback.plan([DATA])
    assert trigate.parse(httpx2.get(url), PROTOCOL) == WHOLE
    with requests.Session() as session:
        assert trigate.parse(session.get(url, timeout=5), PROTOCOL) == WHOLE
    with urllib3.PoolManager() as pool:
        assert trigate.parse(pool.request("GET", url), PROTOCOL) == WHOLE


def test_an_asynchronous_body_that_was_read_before(loopback: Loopback) -> None:
    import aiohttp
    import httpx2

    async def both(url: str) -> list[trigate.Response]:
        found = []
        async with httpx2.AsyncClient() as client, aiohttp.ClientSession() as session:
            first = await client.get(url)
            second = await session.get(url)
            await second.read()
            for response in (first, second):
                stream = trigate.aiter_items(response, PROTOCOL)
                assert [item async for item in stream]
                found.append(stream.response)
        return found

    assert asyncio.run(both(loopback.plan([DATA]))) == [WHOLE, WHOLE]


@pytest.mark.parametrize("name", SYNC)
def test_the_connection_goes_back_to_its_pool(loopback: Loopback, name: str) -> None:
    """A body read to its end leaves a connection that the next request can use."""
    if name == "niquests" or importlib.util.find_spec(name) is None:
        pytest.skip("has no pool to look into")
    library: Any = __import__(name)
    if name == "urllib3":
        with library.PoolManager(maxsize=1, block=True) as pool:
            for _ in range(3):  # would wait for ever if the connection did not come back
                opened = pool.request("GET", loopback.plan([DATA]), preload_content=False, pool_timeout=2)
                assert trigate.parse(opened, PROTOCOL) == WHOLE
        return
    with library.Session() if name == "requests" else library.Client() as client:
        for _ in range(3):
            if name == "requests":
                opened = client.get(loopback.plan([DATA]), stream=True, timeout=5)
            else:
                opened = client.send(client.build_request("GET", loopback.plan([DATA])), stream=True)
            assert trigate.parse(opened, PROTOCOL) == WHOLE


# -- what does not arrive ------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("how", [CUT, RESET])
def test_a_broken_connection(loopback: Loopback, kind: str, name: str, how: str) -> None:
    size = DATA.index(b'"delta":"{') + 20
    items, response = read(kind, name, loopback.plan([DATA[:size], how]))
    assert response.status == "truncated"
    assert (response.error.layer, response.error.code) == ("transport", "connection_lost")
    assert response.error.offset == size
    assert isinstance(response.error.cause, Exception)
    assert [(call.state, call.problem) for call in response.calls] == [("void", "incomplete")]
    assert items[-1] == trigate.ResponseEnded(response)
    with pytest.raises(trigate.TransportError) as caught:
        response.raise_for_status()
    assert caught.value.__cause__ is response.error.cause
    loopback.wait_until_quiet()


@each
def test_a_connection_that_breaks_after_the_end(loopback: Loopback, kind: str, name: str) -> None:
    """What the terminal event ended stands."""
    _, response = read(kind, name, loopback.plan([DATA, CUT]))
    assert (response.status, response.clean_end) == ("completed", False)
    assert [anomaly.code for anomaly in response.anomalies] == ["fault_after_end"]
    assert len(response.released) == 1


def test_a_break_completes_nothing_whose_end_is_that_of_the_input(loopback: Loopback) -> None:
    """The finish reason has come, and what should follow it may have been an error."""
    data = (EXAMPLES / "live-openai-chat-call.sse").read_bytes()
    size = data.index(b"data: [DONE]")
    _, whole = read("sync", "httpx2", loopback.plan([data[:size]]), "openai-chat")
    assert whole.status == "completed"
    _, cut = read("sync", "httpx2", loopback.plan([data[:size], CUT]), "openai-chat")
    assert (cut.status, cut.released) == ("truncated", ())
    assert cut.error.code == "connection_lost"


def test_an_error_in_the_last_event_is_told_also_if_the_connection_breaks(loopback: Loopback) -> None:
    more = b'event: error\ndata: {"type":"error","error":{"type":"busy","code":"b","message":"m"}}\n'
    _, response = read("sync", "httpx2", loopback.plan([DATA[:300], b"\n\n" + more, CUT]))
    assert response.status == "failed"
    assert response.error.layer in ("provider", "decode")


@each
def test_nothing_is_read_behind_a_fault(loopback: Loopback, kind: str, name: str) -> None:
    """The items before it are given, and the connection is closed although the server would go on."""
    size = DATA.index(b"\n\n", DATA.index(b"output_text.delta")) + 2
    url = loopback.plan([DATA[:size] + b"data: {]\n\n", FOREVER])
    items, response = read(kind, name, url)
    assert [type(item) for item in items] == [trigate.TextDelta, trigate.ResponseEnded]
    assert (response.status, response.error.code) == ("failed", "invalid_json")
    loopback.wait_until_gone()


@each
def test_an_http_error(loopback: Loopback, kind: str, name: str) -> None:
    body = b'{"error": {"type": "rate_limit_error", "code": "slow_down", "message": "Too many."}}'
    url = loopback.plan(
        of_size(body, 30), status=429, content_type="application/json", headers={"Retry-After": "20"}
    )
    items, response = read(kind, name, url)
    assert items == [trigate.ResponseEnded(response)]
    error = response.error
    assert (response.status, error.layer, error.http_status) == ("failed", "provider", 429)
    assert (error.type, error.code, error.message) == ("rate_limit_error", "slow_down", "Too many.")
    assert error.raw["retry_after"] == "20"
    assert error.raw["body"]["error"]["code"] == "slow_down"
    with pytest.raises(trigate.ProviderError, match="Too many") as caught:
        response.raise_for_status()
    assert (caught.value.type, caught.value.http_status) == ("rate_limit_error", 429)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            b'[{"error": {"code": 400, "message": "bad key", "status": "INVALID"}}]',
            ("INVALID", 400, "bad key"),
        ),
        (b'{"detail": "no such model"}', ("error", "error", "no such model")),
        (b"<html>\n <b>Bad Gateway</b>", ("http_error", 502, "HTTP status 502: <html> <b>Bad Gateway</b>")),
        (b"", ("http_error", 502, "HTTP status 502: no body")),
        (b'{"no": "error"}', ("http_error", 502, 'HTTP status 502: {"no": "error"}')),
        (b"\xff\xfe", ("http_error", 502, "HTTP status 502: \ufffd\ufffd")),
    ],
)
def test_bodies_of_errors(loopback: Loopback, body: bytes, told: tuple[Any, ...]) -> None:
    for kind in ("sync", "async"):
        _, response = read(kind, "httpx2", loopback.plan([body] if body else [], status=502))
        assert (response.error.type, response.error.code, response.error.message) == told
        assert response.error.raw["status"] == 502


def test_a_long_or_cut_error_is_told_as_far_as_it_came(loopback: Loopback) -> None:
    endless = loopback.plan([b"x" * 100_000] * 5 + [FOREVER], status=500)
    _, response = read("sync", "httpx2", endless)
    assert (response.status, response.error.code, len(response.error.raw["body"])) == (
        "failed",
        500,
        256 * 1024,
    )
    loopback.wait_until_gone()
    _, response = read("sync", "httpx2", loopback.plan([b"oh", CUT], status=503))
    assert (response.status, response.error.http_status, response.error.raw["body"]) == ("failed", 503, "oh")
    _, response = read("sync", "httpx2", loopback.plan([b"oh", FOREVER], status=503), idle_timeout=0.15)
    assert (response.status, response.error.http_status) == ("failed", 503)
    loopback.wait_until_gone()


@each
def test_a_wrong_content_type(loopback: Loopback, kind: str, name: str) -> None:
    url = loopback.plan([b"<html><body>Please log in</body></html>"], content_type="text/html; charset=utf-8")
    _, response = read(kind, name, url)
    assert (response.status, response.error.layer) == ("failed", "transport")
    assert response.error.code == "unexpected_content_type"
    assert "text/html" in response.error.message
    assert "Please log in" in response.error.message
    with pytest.raises(trigate.TransportError):
        response.raise_for_status()


@pytest.mark.parametrize(
    "told", [None, "", "text/plain", "Text/Event-Stream;charset=UTF-8", "application/octet-stream"]
)
def test_content_types_that_do_not_deny_a_stream(loopback: Loopback, told: str | None) -> None:
    _, response = read("sync", "httpx2", loopback.plan([DATA], content_type=told))
    assert response == WHOLE


def test_a_json_body_is_the_parsers_to_judge(loopback: Loopback) -> None:
    body = b'{"error": {"type": "t", "code": "c", "message": "m"}}'
    _, response = read("sync", "httpx2", loopback.plan([body], content_type="application/json"))
    assert (response.error.layer, response.error.code, response.error.http_status) == ("provider", "c", None)
    array = b'[{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}]'
    _, response = read("sync", "httpx2", loopback.plan([array], content_type="application/json"), "gemini")
    assert (response.status, response.text) == ("completed", "a")


@pytest.mark.parametrize("name", ["httpx2", "httpx", "requests", "urllib3"])
def test_broken_compression(loopback: Loopback, name: str) -> None:
    url = loopback.plan([b"\x1f\x8b this is no gzip"], headers={"content-encoding": "gzip"})
    _, response = read("sync", name, url)
    assert (response.status, response.error.code) == ("truncated", "broken_compression")


def test_a_library_s_own_timeout(loopback: Loopback) -> None:
    import httpx2
    import urllib3

    url = loopback.plan([DATA[:500], FOREVER])
    with httpx2.Client(timeout=0.1) as client, client.stream("GET", url) as opened:
        assert _error(trigate.parse(opened, PROTOCOL)).code == "read_timeout"
    with urllib3.PoolManager(timeout=0.1) as pool:
        response = trigate.parse(pool.request("GET", url, preload_content=False, retries=False), PROTOCOL)
    assert _error(response).code == "read_timeout"


def _error(response: trigate.Response) -> trigate.ErrorInfo:
    assert response.error is not None
    return response.error


# -- wrong use -------------------------------------------------------------------------------------------------


def test_a_body_that_is_gone_is_the_caller_s_mistake(loopback: Loopback) -> None:
    import httpx2

    with httpx2.Client() as client, client.stream("GET", loopback.plan([DATA])) as opened:
        assert trigate.parse(opened, PROTOCOL) == WHOLE
        with pytest.raises(httpx2.StreamConsumed):
            trigate.parse(opened, PROTOCOL)


def test_the_wrong_function(loopback: Loopback) -> None:
    import httpx2

    async def asynchronous() -> None:
        async with httpx2.AsyncClient() as client, client.stream("GET", loopback.plan([DATA])) as opened:
            with pytest.raises(TypeError, match="use aiter_items"):
                trigate.iter_items(opened)
            with pytest.raises(TypeError, match="use aiter_items"):
                trigate.parse(opened)

    asyncio.run(asynchronous())
    with httpx2.Client() as client, client.stream("GET", loopback.plan([DATA])) as opened:
        with pytest.raises(TypeError, match="use iter_items"):
            trigate.aiter_items(opened)
        opened.close()


def test_a_mock_transport_needs_no_server() -> None:
    import httpx2

    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=DATA))
    with httpx2.Client(transport=transport) as client, client.stream("GET", "http://test/") as opened:
        assert trigate.parse(opened, PROTOCOL, idle_timeout=5, deadline=5) == WHOLE


def test_no_library_is_imported_for_its_sake() -> None:
    import subprocess

    code = (
        "import sys, trigate\n"
        "list(trigate.iter_items(b'data: {}\\n\\n', deadline=9))\n"
        f"print([name for name in {['asyncio', *sorted({*SYNC, *ASYNC})]!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- going on ----------------------------------------------------------------------------------------------------


@each
def test_a_reconnect(loopback: Loopback, kind: str, name: str) -> None:
    """The first connection breaks inside a call, the second one is refused, the third one repeats everything."""
    size = DATA.index(b'"delta":"{') + 20
    parser = trigate.ResponseParser(PROTOCOL)
    items: list[Any] = []
    for plan in (
        Plan([DATA[:size], RESET]),
        Plan([b'{"error": {"message": "busy"}}'], status=503, content_type="application/json"),
        Plan([DATA]),
    ):
        url = loopback.plan(plan.steps, status=plan.status, content_type=plan.content_type)
        more, response = read(kind, name, url, "auto", parser=parser)
        items += more
        if response.status != "completed":
            assert trigate.resume_point(response).params["starting_after"] == "6"
    assert response.status == "completed"
    assert [call.arguments for call in response.released] == ['{"städte":["北京"]}']
    assert sum(isinstance(item, trigate.ToolCallStarted) for item in items) == 1

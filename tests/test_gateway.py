"""The example gateway on loopback: bytes untouched, calls held, failures passed on as failures, no connection left."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import trigate

aiohttp = pytest.importorskip("aiohttp")
pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")

from gateway_servers import Upstream, metric, pieces, served, through  # noqa: E402 - after the skips


@pytest.mark.parametrize("mode", ["plain", "json", "tap", "gate"])
@pytest.mark.parametrize("number", [0, 1])
def test_bytes_go_through_untouched(example: Any, mode: str, number: int) -> None:
    sent = example["stream"](number, 5)

    async def use(url: str, behind: Upstream) -> None:
        async with aiohttp.ClientSession() as session:
            headers = {"authorization": "Bearer secret"}
            async with session.post(url + sent.path, data=b'{"model": "m"}', headers=headers) as answer:
                assert answer.headers["content-type"] == "text/event-stream"
                assert await answer.read() == sent.body
        path, seen, body = behind.requests[0]
        assert (path, seen[b"authorization"], body) == (sent.path, b"Bearer secret", b'{"model": "m"}')
        if mode in ("tap", "gate"):
            model = "load-chat" if number == 0 else "load-messages"
            ended = f'gateway_streams_total{{model="{model}",protocol="{sent.protocol}",status="completed"}}'
            assert await metric(url, ended) == 1
            assert (
                await metric(url, f'gateway_calls_total{{protocol="{sent.protocol}",state="released"}}') == 1
            )
        assert await metric(url, "gateway_open_streams") == 0

    through(example, lambda: Upstream(pieces(sent.body, 37)), use, mode=mode)


@pytest.mark.parametrize("number", [0, 1])
def test_a_denied_call_never_arrives(example: Any, number: int) -> None:
    sent = example["stream"](number, 5)

    async def use(url: str, _: Upstream) -> None:
        async with aiohttp.ClientSession() as session, session.post(url + sent.path, data=b"{}") as answer:
            body = await answer.read()
        response = trigate.parse(body, sent.protocol)
        assert response.status == "failed"
        assert response.text == trigate.parse(sent.body, sent.protocol).text
        assert sent.call[0].encode() not in body
        assert "calls of pay are not allowed here" in str(response.error)
        assert await metric(url, f'gateway_calls_refused_total{{protocol="{sent.protocol}"}}') == 1

    through(example, lambda: Upstream(sent.events), use, denied=("p*",))


@pytest.mark.parametrize("mode", ["plain", "tap", "gate"])
def test_a_cut_upstream_is_no_end(example: Any, mode: str) -> None:
    sent = example["stream"](0, 20)
    cut = sent.body[: len(sent.body) // 2]

    async def use(url: str, _: Upstream) -> None:
        got = b""
        async with aiohttp.ClientSession() as session, session.post(url + sent.path, data=b"{}") as answer:
            try:
                async for chunk in answer.content.iter_any():
                    got += chunk
            except aiohttp.ClientPayloadError:
                pass
            else:
                pytest.fail("the client was told that all is well")
        whole_events = cut[: cut.rindex(b"\n\n") + 2]
        assert got.startswith(whole_events)
        assert trigate.parse(got, sent.protocol).status in ("truncated", "failed")
        # The gate says so in the protocol's own words too, before it breaks off.
        status = "failed" if mode == "gate" else "truncated"
        labels = f'model="load-chat",protocol="{sent.protocol}",status="{status}"'
        assert await metric(url, f"gateway_streams_total{{{labels}}}") == (mode != "plain")

    through(example, lambda: Upstream([cut], end="cut"), use, mode=mode)


@pytest.mark.parametrize("mode", ["plain", "tap", "gate"])
def test_a_client_that_goes_closes_the_upstream(example: Any, mode: str) -> None:
    sent = example["stream"](0, 5)

    async def use(url: str, behind: Upstream) -> None:
        async with aiohttp.ClientSession() as session:
            answer = await session.post(url + sent.path, data=b"{}")
            await answer.content.readany()
            answer.close()
            await asyncio.wait_for(behind.gone.wait(), 5)
        while await metric(url, "gateway_open_streams"):
            await asyncio.sleep(0.01)
        if mode != "plain":
            assert await metric(url, f'gateway_clients_left_total{{protocol="{sent.protocol}"}}') == 1

    through(example, lambda: Upstream(sent.events[:3], end="wait"), use, mode=mode)


def test_errors_go_through_with_their_status(example: Any) -> None:
    error = json.dumps({"error": {"type": "rate_limit_error", "message": "slow down"}}).encode()

    async def use(url: str, _: Upstream) -> None:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url + "/v1/responses", data=b"{}") as answer,
        ):
            assert (answer.status, await answer.read()) == (429, error)

    through(example, lambda: Upstream([error], status=429, kind="application/json"), use)


def test_an_upstream_that_is_not_there_is_a_502(example: Any) -> None:
    async def use() -> None:
        app = example["make_app"](example["Settings"](openai="http://127.0.0.1:9"))
        async with (
            served(app) as url,
            aiohttp.ClientSession() as session,
            session.post(url + "/v1/responses", data=b"{}") as answer,
        ):
            assert answer.status == 502
            assert (await answer.json())["error"]["type"] == "upstream_unreachable"

    asyncio.run(use())


def test_settings_come_from_the_environment(example: Any) -> None:
    read = example["Settings"].from_environment
    assert read({}).mode == "gate"
    named = read(
        {"GATEWAY_MODE": "tap", "GATEWAY_DENIED": "pay, delete_*,", "GATEWAY_OPENAI_URL": "http://a/"}
    )
    assert (named.mode, named.denied, named.openai) == ("tap", ("pay", "delete_*"), "http://a")
    with pytest.raises(ValueError, match="GATEWAY_MODE must be one of plain, json, tap, gate, not 'fast'"):
        read({"GATEWAY_MODE": "fast"})
    for url in ("http://a/v1/", "a:80", ""):
        with pytest.raises(ValueError, match=r"GATEWAY_OPENAI_URL must be .* before /v1"):
            read({"GATEWAY_OPENAI_URL": url})
    for seconds in ("0", "soon", "nan", "-1"):
        with pytest.raises(ValueError, match=f"GATEWAY_IDLE_TIMEOUT must be .* not '{seconds}'"):
            read({"GATEWAY_IDLE_TIMEOUT": seconds})

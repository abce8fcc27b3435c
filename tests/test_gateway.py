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

<<<<<<< HEAD
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "gateway"
STREAMS = EXAMPLE.parent / "streams"


@pytest.fixture(scope="module")
def example() -> Any:
    """The example's modules, which are no package."""
    for folder in (EXAMPLE, EXAMPLE / "load"):
        sys.path.insert(0, str(folder))
    try:
        found = {name: importlib.import_module(name) for name in ("gateway", "settings", "traffic")}
        yield {
            "make_app": found["gateway"].make_app,
            "Settings": found["settings"].Settings,
            "stream": found["traffic"].stream,
        }
    finally:
        for folder in (EXAMPLE, EXAMPLE / "load"):
            sys.path.remove(str(folder))


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The URL of a server for this application, in this loop."""
    server = uvicorn.Server(
        uvicorn.Config(app, port=0, log_level="critical", lifespan="on", timeout_graceful_shutdown=1)
    )
    task = asyncio.create_task(server._serve())  # serve() would take the process's signals
    while not server.started:
        assert not task.done(), "the server did not start"
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


class Upstream:
    """A model server: every request gets the same chunks, then it ends, cuts, or waits for the client to go."""

    def __init__(
        self, chunks: list[bytes], end: str = "end", status: int = 200, kind: str = "text/event-stream"
    ) -> None:
        self.chunks, self.end, self.status, self.kind = chunks, end, status, kind
        self.requests: list[tuple[str, dict[bytes, bytes], bytes]] = []
        self.gone = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.requests.append((scope["path"], dict(scope["headers"]), body))
        await send(
            {
                "type": "http.response.start",
                "status": self.status,
                "headers": [(b"content-type", self.kind.encode())],
            }
        )
        for chunk in self.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await asyncio.sleep(0)
        if self.end == "wait":
            while (await receive())["type"] != "http.disconnect":
                pass
            self.gone.set()
        elif self.end == "end":
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _live(self, receive: Any, send: Any) -> None:
        while True:
            kind = (await receive())["type"]
            await send({"type": f"{kind}.complete"})
            if kind == "lifespan.shutdown":
                return


def through(
    example: Any,
    upstream: Callable[[], Upstream],
    use: Callable[[str, Upstream], Coroutine[Any, Any, None]],
    **settings: Any,
) -> None:
    """Runs `use` with the URL of a gateway before that upstream."""

    async def run() -> None:
        behind = upstream()
        async with served(behind) as url:
            app = example["make_app"](example["Settings"](openai=url, anthropic=url, **settings))
            async with served(app) as front:
                await use(front, behind)

    asyncio.run(run())


async def metric(url: str, line: str) -> float:
    """The value of that line of /metrics; 0 if it is not there."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as page:
        found = [text for text in (await page.text()).splitlines() if text.startswith(line + " ")]
    return float(found[0].rpartition(" ")[2]) if found else 0.0


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]
=======
from gateway_servers import Upstream, metric, pieces, served, through  # noqa: E402 - after the skips
>>>>>>> 98f97cf (Let the example gateway carry nothing of one client or connection to another)


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
    named = read({"GATEWAY_MODE": "tap", "GATEWAY_DENIED": "pay,delete_*", "GATEWAY_OPENAI_URL": "http://a/"})
    assert (named.mode, named.denied, named.openai) == ("tap", ("pay", "delete_*"), "http://a")
    with pytest.raises(ValueError, match="GATEWAY_MODE must be one of plain, json, tap, gate, not 'fast'"):
        read({"GATEWAY_MODE": "fast"})

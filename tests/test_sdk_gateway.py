"""The official SDKs as clients of the example gateway: they notice nothing, unless a call is refused."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

import trigate

pytest.importorskip("aiohttp")
pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
pytest.importorskip("prometheus_client")
openai = pytest.importorskip("openai", reason="openai is not installed: make sdk")
anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed: make sdk")

from gateway_servers import Upstream, served  # noqa: E402 - after the question whether it can run

STREAMS = Path(__file__).resolve().parent.parent / "examples" / "streams"


class Running:
    """A gateway and its upstream, in a thread with a loop of their own, for clients that block."""

    def __init__(self, example: Any, upstream: Upstream, **settings: Any) -> None:
        self._example, self._upstream, self._settings = example, upstream, settings
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._stack = AsyncExitStack()

    def __enter__(self) -> str:
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(20)

    async def _start(self) -> str:
        behind = await self._stack.enter_async_context(served(self._upstream))
        settings = self._example["Settings"](openai=behind, anthropic=behind, **self._settings)
        return await self._stack.enter_async_context(served(self._example["make_app"](settings)))

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stack.aclose(), self._loop).result(20)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(20)
        self._loop.close()


def chunks(name: str) -> list[bytes]:
    body = (STREAMS / name).read_bytes()
    return [body[at : at + 97] for at in range(0, len(body), 97)]


def responses_calls(url: str) -> list[tuple[str, str]]:
    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
        client.responses.stream(model="m", input="hello") as stream,
    ):
        final = stream.get_final_response()
    return [(item.name, item.arguments) for item in final.output if item.type == "function_call"]


def chat_calls(url: str) -> list[tuple[str, str]]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "hello"}]
        with client.chat.completions.stream(model="m", messages=messages) as stream:
            message = stream.get_final_completion().choices[0].message
    return [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]


def messages_calls(url: str) -> list[tuple[str, Any]]:
    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        messages: Any = [{"role": "user", "content": "hello"}]
        with client.messages.stream(model="m", max_tokens=99, messages=messages) as stream:
            message = stream.get_final_message()
    return [(block.name, block.input) for block in message.content if block.type == "tool_use"]


CLIENTS = [
    ("parallel-calls.sse", "openai-responses", responses_calls),
    ("live-openai-chat-call.sse", "openai-chat", chat_calls),
    ("live-anthropic-messages-call.sse", "anthropic-messages", messages_calls),
]


@pytest.fixture(params=CLIENTS, ids=lambda client: client[1])
def client(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_an_sdk_gets_its_calls(example: Any, client: Any) -> None:
    name, protocol, ask = client
    with Running(example, Upstream(chunks(name))) as url:
        found = ask(url)
    known = trigate.parse(STREAMS / name, protocol).released
    wanted = [
        (call.name, call.value() if protocol == "anthropic-messages" else call.arguments) for call in known
    ]
    assert found == wanted
    assert wanted


def test_an_sdk_is_told_of_a_refused_call(example: Any, client: Any) -> None:
    name, protocol, ask = client
    error = anthropic.APIError if protocol == "anthropic-messages" else openai.APIError
    with (
        Running(example, Upstream(chunks(name)), denied=("*",)) as url,
        pytest.raises(error, match="not allowed here"),
    ):
        ask(url)

"""What a CallGate writes in place of a refused call, read by the official SDKs: they raise, with the gate's message.

Each SDK is given the gate's output as the body of a response. Without one its test is skipped; `make sdk` installs
them all.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import pytest

import cuts
from gate_runs import run
from matrix_streams import A, B, good
from trigate import ToolCall

MESSAGE = "call_refused: the call of remove_file may not pass: it is not for you"


def _sdk(name: str) -> Any:
    return pytest.importorskip(name, reason=f"{name} is not installed: make sdk")


def no_removing(call: ToolCall) -> bool | str:
    return call.name != B.name or "it is not for you"


def refused(protocol: str) -> bytes:
    return run(cuts.singly(good(protocol)), protocol, no_removing).out


def answering(httpx: Any, body: bytes, kind: str = "text/event-stream") -> Any:
    """A client whose every request is answered with this body."""

    def answer(_request: Any) -> Any:
        return httpx.Response(200, headers={"content-type": kind}, content=body)

    return httpx.Client(transport=httpx.MockTransport(answer))


def read(stream: Iterable[Any], seen: list[Any]) -> None:
    """All that the SDK gives before it raises."""
    for event in stream:
        seen.append(event)


def test_openai_chat() -> None:
    openai = _sdk("openai")
    body = refused("openai-chat")
    with answering(_httpx_of(openai), body) as http:
        client = openai.OpenAI(api_key="k", base_url="http://gate", http_client=http, max_retries=0)
        messages = [{"role": "user", "content": "hi"}]
        stream = client.chat.completions.create(model="m", messages=messages, stream=True)
        chunks: list[Any] = []
        with pytest.raises(openai.APIError) as raised:
            read(stream, chunks)
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    names = [call.function.name for delta in deltas for call in delta.tool_calls or []]
    assert B.name not in names
    assert raised.value.message == MESSAGE
    assert (raised.value.type, raised.value.code) == ("permission_error", "call_refused")


def test_openai_responses() -> None:
    openai = _sdk("openai")
    with answering(_httpx_of(openai), refused("openai-responses")) as http:
        client = openai.OpenAI(api_key="k", base_url="http://gate", http_client=http, max_retries=0)
        stream = client.responses.create(model="m", input="hi", stream=True)
        events: list[Any] = []
        with pytest.raises(openai.APIError) as raised:
            read(stream, events)
    names = [event.item.name for event in events if event.type == "response.output_item.done"]
    assert names == [A.name]
    assert raised.value.message == MESSAGE
    assert (raised.value.type, raised.value.code) == ("permission_error", "call_refused")


def test_anthropic() -> None:
    anthropic = _sdk("anthropic")
    with answering(_httpx_of(anthropic), refused("anthropic-messages")) as http:
        client = anthropic.Anthropic(api_key="k", base_url="http://gate", http_client=http, max_retries=0)
        messages = [{"role": "user", "content": "hi"}]
        stream = client.messages.create(model="m", max_tokens=9, messages=messages, stream=True)
        events: list[Any] = []
        with pytest.raises(anthropic.APIError) as raised:
            read(stream, events)
    names = [event.content_block.name for event in events if event.type == "content_block_start"]
    assert names == [A.name]
    assert raised.value.body["error"]["message"] == MESSAGE
    assert raised.value.body["error"]["type"] == "permission_error"


def test_ollama() -> None:
    ollama = _sdk("ollama")
    body = refused("ollama-chat")
    httpx = _sdk("httpx")

    def answer(_request: Any) -> Any:
        return httpx.Response(200, content=body)

    client = ollama.Client(host="http://gate", transport=httpx.MockTransport(answer))
    with pytest.raises(ollama.ResponseError) as raised:
        list(client.chat(model="m", messages=[], stream=True))
    assert raised.value.error == MESSAGE
    client._client.close()


def test_botocore() -> None:
    """The frame alone: its checksums, and what botocore makes of its headers."""
    eventstream = _sdk("botocore.eventstream")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(refused("bedrock-converse"))
    *_, last = buffer
    told = last.to_response_dict()
    assert told["status_code"] == 400
    assert told["headers"][":error-code"] == "call_refused"
    assert told["headers"][":error-message"] == MESSAGE


def _httpx_of(sdk: Any) -> Any:
    """The httpx that this SDK was built on: its client is checked by type."""
    return importlib.import_module(sdk.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])

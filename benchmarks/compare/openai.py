"""The openai SDK: its SSE decoder, and its two accumulating streams.

Rules
 - The accumulators do their normal work: every event is made and looked at, then the final object is asked for.
 - They begin at the SDK's Stream over a response whose body is there: no request is built, nothing is sent.
 - The SDK leaves arguments as text; the caller reads them with json.loads, as OpenAI's guide shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from openai import OpenAI, Stream
from openai._streaming import SSEDecoder
from openai._types import omit
from openai.lib.streaming.chat import ChatCompletionStreamManager
from openai.lib.streaming.responses import ResponseStreamManager
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

from compare.canned import Canned
from compare.peer import Peer
from turns import Call, Result

__all__ = ["CLIENT", "PEERS", "chat_stream", "responses_stream"]

CLIENT = OpenAI(api_key="none", base_url="http://127.0.0.1/", max_retries=0)


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    yield SSEDecoder().iter_bytes(iter(chunks))


def responses_stream(chunks: list[bytes]) -> Any:
    return Stream(cast_to=ResponseStreamEvent, response=Canned(chunks), client=CLIENT)


def chat_stream(chunks: list[bytes]) -> Any:
    return Stream(cast_to=ChatCompletionChunk, response=Canned(chunks), client=CLIENT)


def responses(chunks: list[bytes]) -> Result:
    manager = ResponseStreamManager(
        lambda: responses_stream(chunks), text_format=omit, input_tools=omit, starting_after=None
    )
    with manager as stream:
        for _ in stream:
            pass
        response = stream.get_final_response()
    calls: list[Call] = []
    thoughts: list[str] = []
    for item in response.output:
        if item.type == "function_call":
            calls.append((item.call_id, item.name, json.loads(item.arguments)))
        elif item.type == "custom_tool_call":
            calls.append((item.call_id, item.name, item.input))
        elif item.type == "reasoning":
            thoughts += [part.text for part in item.summary]
    return Result(response.output_text, tuple(calls), "".join(thoughts), response.status)


def chat(chunks: list[bytes]) -> Result:
    manager = ChatCompletionStreamManager(lambda: chat_stream(chunks), response_format=omit, input_tools=omit)
    with manager as stream:
        for _ in stream:
            pass
        completion = stream.get_final_completion()
    message = completion.choices[0].message
    calls = [
        (call.id, call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or ()
    ]
    return Result(message.content or "", tuple(calls))


PEERS = (Peer("openai", ("openai",), batches, turns={"openai-responses": responses, "openai-chat": chat}),)

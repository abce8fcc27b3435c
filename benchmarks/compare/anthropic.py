"""The anthropic SDK: its SSE decoder, and its accumulating stream.

Rules
 - As with the openai SDK: the accumulator does its normal work, over a response whose body is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from anthropic import Anthropic, Stream
from anthropic._streaming import SSEDecoder
from anthropic._types import NOT_GIVEN
from anthropic.lib.streaming import MessageStreamManager
from anthropic.types import RawMessageStreamEvent

from compare.canned import Canned
from compare.peer import Peer
from turns import Call, Result

__all__ = ["PEERS", "message_stream"]

CLIENT = Anthropic(api_key="none", base_url="http://127.0.0.1/", max_retries=0)


def batches(chunks: list[bytes]) -> Iterator[Iterable[Any]]:
    yield SSEDecoder().iter_bytes(iter(chunks))


def message_stream(chunks: list[bytes]) -> Any:
    return Stream(cast_to=RawMessageStreamEvent, response=Canned(chunks), client=CLIENT)


def messages(chunks: list[bytes]) -> Result:
    manager: Any = MessageStreamManager(lambda: message_stream(chunks), output_format=NOT_GIVEN)
    with manager as stream:
        for _ in stream:
            pass
        message = stream.get_final_message()
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Call] = []
    for block in message.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "thinking":
            thoughts.append(block.thinking)
        elif block.type == "tool_use":
            calls.append((block.id, block.name, block.input))
    return Result("".join(texts), tuple(calls), "".join(thoughts))


PEERS = (Peer("anthropic", ("anthropic",), batches, turns={"anthropic-messages": messages}),)

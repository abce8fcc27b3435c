"""litellm: a provider's chunk iterator, then stream_chunk_builder over all its chunks.

Rules
 - The iterators read the lines of the body, as litellm's HTTP handler gives them. CustomStreamWrapper is left
   out: it logs each chunk, and hands the whole response to a thread when it ends.
 - litellm hides Gemini's thought signature in the call's id unless told not to; it is told.
 - It has no accumulator for the Responses API.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

# Else it asks the network for its price list when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm
from litellm.llms.anthropic.chat.handler import ModelResponseIterator as AnthropicChunks
from litellm.llms.openai.openai import OpenAIChatCompletionResponseIterator as OpenAIChunks
from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import (
    ModelResponseIterator as GeminiChunks,
)
from litellm.types.utils import ModelResponseStream

from compare.canned import Canned
from compare.peer import Peer
from turns import Result

__all__ = ["PEERS"]

MESSAGES = [{"role": "user", "content": "Hi"}]
_LOGGING: Any = SimpleNamespace(
    optional_params={}, litellm_params={"thought_signature_in_tool_call_id": False}, model_call_details={}
)


def build(model: str, chunks: Iterable[Any]) -> Result:
    # What the wrapper does: drop what an iterator says for a line that holds nothing, and name the model.
    made = [chunk for chunk in chunks if isinstance(chunk, ModelResponseStream)]
    for chunk in made:
        chunk.model = model
    whole: Any = litellm.stream_chunk_builder(made, messages=MESSAGES)
    message = whole.choices[0].message
    calls = [
        (call.id, call.function.name, json.loads(call.function.arguments))
        for call in message.tool_calls or ()
    ]
    reasoning = getattr(message, "reasoning_content", None)
    return Result(message.content or "", tuple(calls), reasoning)


def chat(chunks: list[bytes]) -> Result:
    return build("gpt-5-mini", OpenAIChunks(streaming_response=Canned(chunks).iter_lines(), sync_stream=True))


def messages(chunks: list[bytes]) -> Result:
    return build(
        "claude-sonnet-4-6", AnthropicChunks(streaming_response=Canned(chunks).iter_lines(), sync_stream=True)
    )


def gemini(chunks: list[bytes]) -> Result:
    lines = Canned(chunks).iter_lines()
    return build(
        "gemini-3.5-flash", GeminiChunks(streaming_response=lines, sync_stream=True, logging_obj=_LOGGING)
    )


PEERS = (
    Peer(
        "litellm",
        ("litellm",),
        turns={"openai-chat": chat, "anthropic-messages": messages, "gemini": gemini},
    ),
)

"""langchain-core with its provider packages: a chat model's chunks, merged at the end.

Rules
 - Chunks come from the model's `_stream`, without callbacks and tracing; the SDK under it reads a response whose
   body is there.
 - They are merged all at once, which is the fastest that langchain-core has; `+`, chunk by chunk, as its pages
   show it, is slower by far.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from compare.anthropic import message_stream
from compare.google_genai import client as google_client
from compare.openai import chat_stream, responses_stream
from compare.peer import Peer
from turns import Result

__all__ = ["PEERS"]

MESSAGES = [HumanMessage("Hi")]
# ChatAnthropic expects calls only of a request that offers tools.
TOOLS = [{"name": "write_file", "input_schema": {"type": "object"}}]


class Body:
    """The chunks of the response that comes next."""

    chunks: list[bytes] = []  # noqa: RUF012 - set anew for each response, never changed in place


class Anthropic(ChatAnthropic):
    def _create(self, payload: dict[str, Any]) -> Any:  # noqa: ARG002 - the signature is ChatAnthropic's
        return SimpleNamespace(parse=lambda: message_stream(Body.chunks))


def openai_model(**options: Any) -> Any:
    def chat(**_: Any) -> Any:
        return chat_stream(Body.chunks)

    def responses(**_: Any) -> Any:
        return responses_stream(Body.chunks)

    model: Any = ChatOpenAI(model="gpt-5-mini", api_key="none", max_retries=0, **options)
    model.client = SimpleNamespace(create=chat)
    model.root_client = SimpleNamespace(responses=SimpleNamespace(create=responses))
    return model


def google_model() -> Any:
    model: Any = ChatGoogleGenerativeAI(model="gemini-3.5-flash", api_key="none", include_thoughts=True)
    model.client = google_client()
    return model


CHAT = openai_model()
RESPONSES = openai_model(use_responses_api=True, output_version="responses/v1")
ANTHROPIC: Any = Anthropic(model="claude-sonnet-4-6", api_key="none", max_retries=0)
GOOGLE = google_model()


def merged(model: Any, chunks: list[bytes], **options: Any) -> Result:
    Body.chunks = chunks
    generation: Any = merge_chat_generation_chunks(list(model._stream(MESSAGES, **options)))
    message = generation.message
    calls = tuple((call["id"], call["name"], call["args"]) for call in message.tool_calls)
    return Result(_text(message.content), calls)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    texts = [part if isinstance(part, str) else part.get("text", "") for part in content if _is_text(part)]
    return "".join(texts)


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or part.get("type") == "text"


def gemini(chunks: list[bytes]) -> Result:
    GOOGLE.client._api_client.body = chunks
    return merged(GOOGLE, chunks)


PEERS = (
    Peer(
        "langchain-core",
        ("langchain-core",),
        turns={
            "openai-responses": lambda chunks: merged(RESPONSES, chunks),
            "openai-chat": lambda chunks: merged(CHAT, chunks),
            "anthropic-messages": lambda chunks: merged(ANTHROPIC, chunks, tools=TOOLS),
            "gemini": gemini,
        },
    ),
)

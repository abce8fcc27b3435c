"""The google-genai SDK: generate_content_stream over a response whose body is there.

Rules
 - The SDK has no accumulator: the caller joins the parts of its chunks, as here.
"""

from __future__ import annotations

from typing import Any

from google import genai
from google.genai._api_client import HttpResponse

from compare.canned import Canned
from compare.peer import Peer
from turns import Call, Result

__all__ = ["PEERS", "client"]


def client() -> Any:
    """A client whose requests are answered with the chunks that `body` names, and never sent."""
    made: Any = genai.Client(api_key="none")
    inner = made._api_client

    def answer(*_: Any, **__: Any) -> HttpResponse:
        return HttpResponse({}, response_stream=Canned(inner.body))

    inner._request = answer
    return made


CLIENT = client()


def gemini(chunks: list[bytes]) -> Result:
    CLIENT._api_client.body = chunks
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Call] = []
    for chunk in CLIENT.models.generate_content_stream(model="m", contents="Hi"):
        for candidate in chunk.candidates or ():
            for part in (candidate.content and candidate.content.parts) or ():
                if part.function_call is not None:
                    calls.append((part.function_call.id, part.function_call.name, part.function_call.args))
                elif part.text:
                    (thoughts if part.thought else texts).append(part.text)
    return Result("".join(texts), tuple(calls), "".join(thoughts))


PEERS = (Peer("google-genai", ("google-genai",), turns={"gemini": gemini}),)

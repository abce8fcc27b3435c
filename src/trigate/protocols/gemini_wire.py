"""The JSON of Gemini chunks, as far as it matters here: shapes for decoding, and usage.

Source: docs/protocols/gemini.md. Members that are not named here are ignored.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trigate.response import Usage

__all__ = [
    "Candidate",
    "Chunk",
    "Content",
    "Feedback",
    "FunctionCall",
    "Part",
    "PartialArg",
    "is_given",
    "usage_of",
]

_NOTHING = msgspec.Raw()


class Chunk(msgspec.Struct):
    candidates: list[msgspec.Raw] | None = None
    promptFeedback: msgspec.Raw = _NOTHING  # noqa: N815 - the wire's own names, here and below
    usageMetadata: msgspec.Raw = _NOTHING  # noqa: N815
    error: msgspec.Raw = _NOTHING
    modelVersion: str | None = None  # noqa: N815
    responseId: str | None = None  # noqa: N815
    createTime: msgspec.Raw = _NOTHING  # noqa: N815
    modelStatus: msgspec.Raw = _NOTHING  # noqa: N815


class Candidate(msgspec.Struct):
    index: int | None = None
    content: msgspec.Raw = _NOTHING
    finishReason: str | None = None  # noqa: N815
    finishMessage: msgspec.Raw = _NOTHING  # noqa: N815
    continuationToken: msgspec.Raw = _NOTHING  # noqa: N815


class Content(msgspec.Struct):
    parts: list[msgspec.Raw] | None = None


class Feedback(msgspec.Struct):
    blockReason: str | None = None  # noqa: N815


class Part(msgspec.Struct):
    text: str | None = None
    thought: bool | None = None
    thoughtSignature: msgspec.Raw = _NOTHING  # noqa: N815
    functionCall: msgspec.Raw = _NOTHING  # noqa: N815
    toolCall: msgspec.Raw = _NOTHING  # noqa: N815
    toolResponse: msgspec.Raw = _NOTHING  # noqa: N815
    executableCode: msgspec.Raw = _NOTHING  # noqa: N815
    codeExecutionResult: msgspec.Raw = _NOTHING  # noqa: N815
    inlineData: msgspec.Raw = _NOTHING  # noqa: N815
    fileData: msgspec.Raw = _NOTHING  # noqa: N815
    functionResponse: msgspec.Raw = _NOTHING  # noqa: N815


class FunctionCall(msgspec.Struct):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = _NOTHING
    partialArgs: list[msgspec.Raw] | None = None  # noqa: N815
    willContinue: bool | None = None  # noqa: N815


class PartialArg(msgspec.Struct):
    jsonPath: str | None = None  # noqa: N815
    stringValue: str | None = None  # noqa: N815
    numberValue: msgspec.Raw = _NOTHING  # noqa: N815
    boolValue: bool | None = None  # noqa: N815
    nullValue: msgspec.Raw = _NOTHING  # noqa: N815
    willContinue: bool | None = None  # noqa: N815


def is_given(raw: msgspec.Raw) -> bool:
    """Whether a member is there and is not null."""
    return bool(raw) and bytes(raw) != b"null"


def usage_of(raw: Any) -> Usage:
    """usageMetadata. The output count leaves out thoughts, as the provider counts."""
    if not isinstance(raw, dict):
        return Usage()

    def number(name: str) -> int | None:
        value = raw.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    return Usage(
        input_tokens=number("promptTokenCount"),
        output_tokens=number("candidatesTokenCount"),
        total_tokens=number("totalTokenCount"),
        cached_tokens=number("cachedContentTokenCount"),
        reasoning_tokens=number("thoughtsTokenCount"),
        raw=raw,
    )

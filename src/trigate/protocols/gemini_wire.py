"""The JSON of Gemini chunks, as far as it matters here: shapes for decoding, and usage.

Source: docs/protocols/gemini.md. Members that are not named here are ignored.
"""
# ruff: noqa: N815 - members are spelled as the wire spells them

from __future__ import annotations

from typing import Any

import msgspec

from trigate.protocols.shapes import FIXED, IGNORED, TEXT, Place, shapes
from trigate.protocols.wire import count_of
from trigate.response import Usage

__all__ = [
    "SHAPES",
    "Candidate",
    "Chunk",
    "Content",
    "Feedback",
    "FunctionCall",
    "Part",
    "PartialArg",
    "counts_of",
    "usage_of",
]

_NOTHING = msgspec.Raw()

#: The counts differ from chunk to chunk, and only the last ones matter: `counts_of` reads them.
_USAGE: dict[str, Place] = {
    "promptTokenCount": IGNORED,
    "candidatesTokenCount": IGNORED,
    "totalTokenCount": IGNORED,
    "thoughtsTokenCount": IGNORED,
    "cachedContentTokenCount": IGNORED,
    "promptTokensDetails": FIXED,
    "cacheTokensDetails": FIXED,
    "serviceTier": FIXED,
    "trafficType": FIXED,
}


def _chunk(**part: Place) -> dict[str, Place]:
    content: dict[str, Place] = {"parts": [{"text": TEXT, **part}], "role": FIXED}
    return {
        "candidates": [{"content": content, "index": FIXED, "safetyRatings": FIXED}],
        "usageMetadata": _USAGE,
        "modelVersion": FIXED,
        "createTime": IGNORED,
        "responseId": FIXED,
    }


SHAPES = shapes(_chunk(), _chunk(thought=True))


class Chunk(msgspec.Struct):
    candidates: list[msgspec.Raw] | None = None
    promptFeedback: msgspec.Raw = _NOTHING
    usageMetadata: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    modelVersion: str | None = None
    responseId: str | None = None
    createTime: msgspec.Raw = _NOTHING
    modelStatus: msgspec.Raw = _NOTHING


class Candidate(msgspec.Struct):
    index: int | None = None
    content: msgspec.Raw = _NOTHING
    finishReason: str | None = None
    finishMessage: msgspec.Raw = _NOTHING
    continuationToken: msgspec.Raw = _NOTHING


class Content(msgspec.Struct):
    parts: list[msgspec.Raw] | None = None


class Feedback(msgspec.Struct):
    blockReason: str | None = None


class Part(msgspec.Struct):
    text: str | None = None
    thought: bool | None = None
    thoughtSignature: msgspec.Raw = _NOTHING
    functionCall: msgspec.Raw = _NOTHING
    toolCall: msgspec.Raw = _NOTHING
    toolResponse: msgspec.Raw = _NOTHING
    executableCode: msgspec.Raw = _NOTHING
    codeExecutionResult: msgspec.Raw = _NOTHING
    inlineData: msgspec.Raw = _NOTHING
    fileData: msgspec.Raw = _NOTHING
    functionResponse: msgspec.Raw = _NOTHING


class FunctionCall(msgspec.Struct):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = _NOTHING
    partialArgs: list[msgspec.Raw] | None = None
    willContinue: bool | None = None


class PartialArg(msgspec.Struct):
    jsonPath: str | None = None
    stringValue: str | None = None
    numberValue: msgspec.Raw = _NOTHING
    boolValue: bool | None = None
    nullValue: msgspec.Raw = _NOTHING
    willContinue: bool | None = None


class _Counts(msgspec.Struct):
    usageMetadata: dict[str, Any] | None = None


def counts_of(data: bytes) -> Usage | None:
    """The usage in a chunk that has one of the SHAPES."""
    raw = msgspec.json.decode(data, type=_Counts).usageMetadata
    return None if raw is None else usage_of(raw)


def usage_of(raw: Any) -> Usage:
    """usageMetadata. The output count leaves out thoughts, as the provider counts."""
    if not isinstance(raw, dict):
        return Usage()

    return Usage(
        input_tokens=count_of(raw, "promptTokenCount"),
        output_tokens=count_of(raw, "candidatesTokenCount"),
        total_tokens=count_of(raw, "totalTokenCount"),
        cached_tokens=count_of(raw, "cachedContentTokenCount"),
        reasoning_tokens=count_of(raw, "thoughtsTokenCount"),
        raw=raw,
    )

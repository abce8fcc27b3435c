"""The JSON of Gemini chunks, as far as it matters here: shapes for decoding, and usage.

Source: docs/protocols/gemini.md. Members that are not named here are ignored.
"""
# ruff: noqa: N815 - members are spelled as the wire spells them

from __future__ import annotations

import json
from typing import Any

import msgspec

from trigate.framing import Frame
from trigate.protocols.shapes import FIXED, IGNORED, TEXT, Place, shapes
from trigate.protocols.wire import attempt, decode, fields_of, is_given
from trigate.response import Usage

__all__ = [
    "SHAPES",
    "AnyCandidate",
    "Candidate",
    "Chunk",
    "Feedback",
    "FunctionCall",
    "Part",
    "PartialArg",
    "PlainCall",
    "PlainChunk",
    "PlainPart",
    "candidate_of",
    "counts_in",
    "counts_of",
    "parts_of",
    "plain_part",
    "usage_of",
]

_NOTHING = msgspec.Raw()

#: As the members of Usage stand.
_COUNTS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
)
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


class Chunk(msgspec.Struct, gc=False):
    candidates: list[msgspec.Raw] | None = None
    promptFeedback: msgspec.Raw = _NOTHING
    usageMetadata: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    modelVersion: str | None = None
    responseId: str | None = None
    createTime: msgspec.Raw = _NOTHING
    modelStatus: msgspec.Raw = _NOTHING

    @property
    def has_something(self) -> bool:
        """Whether it has any member that is known."""
        members = (self.promptFeedback, self.usageMetadata, self.createTime, self.modelStatus, self.error)
        return self.candidates is not None or bool(self.responseId or self.modelVersion or any(members))


class Content(msgspec.Struct, gc=False):
    parts: list[msgspec.Raw] | None = None


class CandidateMembers(msgspec.Struct, gc=False):
    index: int | None = None
    finishReason: str | None = None
    finishMessage: msgspec.Raw = _NOTHING
    continuationToken: msgspec.Raw = _NOTHING


class Candidate(CandidateMembers, gc=False):
    content: Content | None = None


class AnyCandidate(CandidateMembers, gc=False):
    content: msgspec.Raw = _NOTHING


class PlainChunk(msgspec.Struct, kw_only=True, gc=False):
    """What a chunk mostly is: candidates, and nothing of another type than it should be."""

    candidates: list[Candidate]
    promptFeedback: msgspec.Raw = _NOTHING
    usageMetadata: dict[str, Any] | None = None
    error: msgspec.Raw = _NOTHING
    modelVersion: str | None = None
    responseId: str | None = None


class Feedback(msgspec.Struct, gc=False):
    blockReason: str | None = None


class Part(msgspec.Struct, gc=False):
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

    @property
    def has_others(self) -> bool:
        """Whether it may be something else than text or a call."""
        return bool(
            self.toolCall
            or self.toolResponse
            or self.executableCode
            or self.codeExecutionResult
            or self.inlineData
            or self.fileData
            or self.functionResponse
        )


class FunctionCall(msgspec.Struct, gc=False):
    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = _NOTHING
    partialArgs: list[msgspec.Raw] | None = None
    willContinue: bool | None = None


class PartialArg(msgspec.Struct, gc=False):
    jsonPath: str | None = None
    stringValue: str | None = None
    numberValue: msgspec.Raw = _NOTHING
    boolValue: bool | None = None
    nullValue: msgspec.Raw = _NOTHING
    willContinue: bool | None = None


class PlainCall(msgspec.Struct, gc=False):
    """A FunctionCall in which nothing is of another type than it should be."""

    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = _NOTHING
    partialArgs: list[PartialArg] | None = None
    willContinue: bool | None = None


class PlainPart(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What a part mostly is: text or a call, perhaps with a signature, and nothing else."""

    text: str | None = None
    thought: bool | msgspec.UnsetType | None = msgspec.UNSET
    thoughtSignature: msgspec.Raw = _NOTHING
    functionCall: PlainCall | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_text(self) -> bool:
        """Whether it is a text, or a thought, and nothing else: so it can be written again from its text."""
        return (
            bool(self.text)
            and (self.thought is msgspec.UNSET or self.thought is True)
            and self.functionCall is msgspec.UNSET
            and not self.thoughtSignature
        )


_decode_part = msgspec.json.Decoder(PlainPart).decode


def plain_part(raw: msgspec.Raw) -> PlainPart | None:
    """The part, if it is plain; None if it is to be read step by step."""
    try:
        return _decode_part(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None


def candidate_of(told: Candidate | msgspec.Raw, event: Frame) -> Candidate | AnyCandidate:
    return told if isinstance(told, Candidate) else decode(told, AnyCandidate, event)


def parts_of(candidate: Candidate | AnyCandidate, event: Frame) -> list[msgspec.Raw]:
    if isinstance(candidate, Candidate):
        return (candidate.content and candidate.content.parts) or []
    return (is_given(candidate.content) and decode(candidate.content, Content, event).parts) or []


def counts_in(chunk: Chunk, event: Frame) -> Any:
    """usageMetadata, whatever it is; None if it is not given."""
    return fields_of(bytes(chunk.usageMetadata), event) if is_given(chunk.usageMetadata) else None


class _Counts(msgspec.Struct, gc=False):
    usageMetadata: dict[str, Any] | None = None


def counts_of(data: bytes) -> dict[str, Any] | None:
    """The same in a chunk that has one of the SHAPES."""
    told = attempt(data, _Counts)
    counts: dict[str, Any] | None = (
        told.usageMetadata if told is not None else json.loads(data).get("usageMetadata")
    )
    return counts


def usage_of(raw: Any) -> Usage:
    """usageMetadata. The output count leaves out thoughts, as the provider counts."""
    if not isinstance(raw, dict):
        return Usage()

    said, sent, total, cached, thought = [
        count if type(count) is int else None for count in map(raw.get, _COUNTS)
    ]
    return Usage(said, sent, total, cached, thought, raw)

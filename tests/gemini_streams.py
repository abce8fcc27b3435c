"""Builds Gemini and Interactions streams, and runs them. A test says only what is special about its stream.

Rules
 - A chunk or an event is a plain dict; `sse` and `array` frame chunks in the two ways of the provider.
 - `parse` reads a stream in one piece; `agree` reads it at many cuts, both framings, and wants one response.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import trigate
from streams import Chunks, typical_cuts

__all__ = [
    "CREATED",
    "DONE",
    "GEMINI",
    "INTERACTIONS",
    "USAGE",
    "Chunk",
    "Told",
    "agree",
    "array",
    "call",
    "chunk",
    "codes",
    "completed",
    "delta",
    "events",
    "function_step",
    "parse",
    "partial",
    "read",
    "sse",
    "start",
    "states",
    "stop",
    "stopped",
    "text_step",
    "updated",
]

GEMINI = "gemini"
INTERACTIONS = "gemini-interactions"
DONE = b"data: [DONE]\n\n"
Chunk: TypeAlias = dict[str, Any]
Told: TypeAlias = tuple[str, Chunk]


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- Gemini --------------------------------------------------------------------------------------------


def chunk(*parts: Chunk, finish: str | None = None, index: int | None = 0, **members: Any) -> Chunk:
    """A chunk with one candidate. members: of the candidate."""
    candidate: Chunk = {"content": {"parts": list(parts), "role": "model"}} if parts else {}
    if index is not None:
        candidate["index"] = index
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate | members], "responseId": "r1", "modelVersion": "m"}


def call(name: str | None = None, args: Any = None, **members: Any) -> Chunk:
    """A functionCall part. args: a JSON value, or nothing."""
    body = {"name": name, "args": args} | members
    return {"functionCall": {key: value for key, value in body.items() if value is not None}}


def partial(*values: tuple[Any, ...], more: bool = True, **members: Any) -> Chunk:
    """A part with partialArgs: (path, kind of value, value[, willContinue])."""
    args = []
    for path, kind, value, *rest in values:
        arg = {"jsonPath": path} | ({kind: value} if kind else {})
        args.append(arg | ({"willContinue": rest[0]} if rest else {}))
    body: Chunk = {"partialArgs": args} if args else {}
    return {"functionCall": body | ({"willContinue": True} if more else {}) | members}


def stop(*parts: Chunk, finish: str = "STOP") -> Chunk:
    """The last chunk, as Google sends it: an empty text and the reason."""
    return chunk(*(parts or ({"text": ""},)), finish=finish)


def sse(chunks: Iterable[Chunk | bytes], eol: str = "\r\n") -> bytes:
    """The chunks as server-sent events; bytes stand between them as they are."""
    return b"".join(
        one if isinstance(one, bytes) else f"data: {dumped(one)}{eol}{eol}".encode() for one in chunks
    )


def array(chunks: Iterable[Chunk], separator: str = "\n,\n") -> bytes:
    """The chunks as one JSON array, pretty-printed."""
    return f"[{separator.join(json.dumps(one, ensure_ascii=False, indent=2) for one in chunks)}\n]\n".encode()


# -- Interactions --------------------------------------------------------------------------------------


def events(*told: Told | bytes, names: bool = True) -> bytes:
    """Events as (event_type, members); bytes stand between them as they are."""
    out = []
    for one in told:
        if isinstance(one, bytes):
            out.append(one)
            continue
        kind, members = one
        line = f"event: {kind}\n" if names else ""
        out.append(f"{line}data: {dumped({'event_type': kind} | members)}\n\n".encode())
    return b"".join(out)


def function_step(
    index: int, *pieces: str, call_id: str | None = "f1", name: str = "go", arguments: Any = ...
) -> list[Told]:
    """A function_call step from its start to its stop."""
    start = {} if arguments is ... else arguments
    step = {"type": "function_call", "id": call_id, "name": name, "arguments": start}
    deltas = [
        ("step.delta", {"index": index, "delta": {"type": "arguments_delta", "arguments": piece}})
        for piece in pieces
    ]
    return [
        ("step.start", {"index": index, "step": step}),
        *deltas,
        ("step.stop", {"index": index}),
    ]


CREATED: Told = (
    "interaction.created",
    {"interaction": {"id": "i1", "status": "in_progress", "model": "m", "object": "interaction"}},
)
USAGE = {"total_tokens": 10, "total_input_tokens": 4, "total_output_tokens": 3, "total_thought_tokens": 3}


def completed(status: str | None = "requires_action", **members: Any) -> Told:
    interaction = {"id": "i1", "model": "m", "usage": USAGE} | members
    if status is not None:
        interaction["status"] = status
    return "interaction.completed", {"interaction": interaction}


def updated(status: str | None, **members: Any) -> Told:
    return "interaction.status_update", {"interaction_id": "i1", "status": status} | members


def start(index: int | None, step_type: str, **members: Any) -> Told:
    place = {} if index is None else {"index": index}
    return "step.start", place | {"step": {"type": step_type} | members}


def delta(index: int | None, delta_type: str, **members: Any) -> Told:
    place = {} if index is None else {"index": index}
    return "step.delta", place | {"delta": {"type": delta_type} | members}


def stopped(index: int | None) -> Told:
    return "step.stop", {} if index is None else {"index": index}


def text_step(index: int, *pieces: str) -> list[Told]:
    return [
        start(index, "model_output"),
        *[delta(index, "text", text=piece) for piece in pieces],
        stopped(index),
    ]


# -- running -------------------------------------------------------------------------------------------


def parse(data: bytes | Chunks, protocol: str = GEMINI, **options: Any) -> trigate.Response:
    return trigate.parse(data, protocol, **options)


def agree(data: bytes, protocol: str = GEMINI, **options: Any) -> trigate.Response:
    """The response, which is the same at every cut."""
    first = parse(data, protocol, **options)
    for chunks in typical_cuts(data):
        assert parse(chunks, protocol, **options) == first
    return first


def codes(response: trigate.Response) -> list[str]:
    return [anomaly.code for anomaly in response.anomalies]


def states(response: trigate.Response) -> list[tuple[str, str, str | None]]:
    """Each call as (name, state, problem)."""
    return [(one.name, one.state, one.problem) for one in response.calls]


def read(*told: Told | bytes, **options: Any) -> trigate.Response:
    """The response of an interaction, the same at every cut."""
    return agree(events(*told), INTERACTIONS, **options)

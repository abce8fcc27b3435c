"""A gate run over a stream in chunks, and what can be read of its output: shared by the tests of CallGate."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import trigate
from trigate.tap import CallGate

__all__ = ["Run", "readable", "run", "yes"]


class Run(NamedTuple):
    out: bytes
    gate: CallGate
    pieces: list[bytes]  # what each chunk, and at last the end, let out


def yes(_call: trigate.ToolCall) -> bool:
    return True


def run(
    chunks: Iterable[bytes], protocol: str, allow: Callable[[trigate.ToolCall], Any] = yes, **options: Any
) -> Run:
    gate = CallGate(protocol, allow, **options)
    pieces = [gate.feed(chunk) for chunk in chunks]
    pieces.append(gate.finish())
    return Run(b"".join(pieces), gate, pieces)


def readable(protocol: str, data: bytes) -> str:
    """All that the bytes say: of Bedrock's invoke stream, which wraps its events, what is inside."""
    if protocol != "bedrock-invoke":
        return data.decode("utf-8", "replace")
    messages = trigate.EventStreamDecoder().feed(data)
    return "".join(
        base64.b64decode(json.loads(message.payload or b"{}").get("bytes", "")).decode()
        for message in messages
    )

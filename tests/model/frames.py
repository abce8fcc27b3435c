"""Events in, bytes out: how each wire frames them, one frame an element, so that a test can drop or swap whole frames.

Rules
 - `join` gives the bytes of a list of frames. Only the array form has something between and around them.
 - `split` is its inverse for recorded streams: comments and blank lines stay with the frame before or after them.
"""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections.abc import Sequence
from typing import Any

__all__ = [
    "BINARY",
    "DONE",
    "LINES",
    "array",
    "aws",
    "aws_error",
    "compact",
    "invoke",
    "join",
    "line",
    "split",
    "sse",
]

BINARY = ("bedrock-converse", "bedrock-invoke")
LINES = ("ollama-chat",)
DONE = b"data: [DONE]\n\n"


def compact(event: Any) -> str:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def sse(event: Any, name: str = "", eol: str = "\n") -> bytes:
    head = f"event: {name}{eol}" if name else ""
    return f"{head}data: {compact(event)}{eol}{eol}".encode()


def line(event: Any) -> bytes:
    return compact(event).encode() + b"\n"


def array(events: Sequence[Any], *, closed: bool = True) -> bytes:
    return b"[" + b"\n,\n".join(compact(event).encode() for event in events) + (b"]\n" if closed else b"")


def _message(headers: dict[str, str], payload: bytes) -> bytes:
    block = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", len(block) + len(payload) + 16, len(block))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return body + struct.pack(">I", zlib.crc32(body))


def aws(name: str, event: Any) -> bytes:
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return _message(headers, compact(event).encode())


def aws_error(name: str, message: str) -> bytes:
    headers = {
        ":exception-type": name,
        ":content-type": "application/json",
        ":message-type": "exception",
    }
    return _message(headers, compact({"message": message}).encode())


def invoke(event: Any) -> bytes:
    return aws("chunk", {"bytes": base64.b64encode(compact(event).encode()).decode()})


def join(frames: Sequence[bytes]) -> bytes:
    return b"".join(frames)


def _messages(data: bytes) -> list[bytes]:
    found, place = [], 0
    while place < len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        found.append(data[place : place + size])
        place += size
    return found


def split(protocol: str, data: bytes) -> list[bytes]:
    """The frames of a stream that is whole; what follows the last one, if anything, is the last element."""
    if protocol in BINARY:
        return _messages(data)
    border = rb"[^\n]*\n|[^\n]+" if protocol in LINES else rb"(?s:.+?)(?:\r\n\r\n|\n\n)|(?s:.+)"
    return re.findall(border, data)

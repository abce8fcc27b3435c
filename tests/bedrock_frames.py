"""Messages of application/vnd.amazon.eventstream: lengths, headers and checksums, by the letter."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any

__all__ = ["chunk", "chunks", "error", "exception", "message", "normal"]


def message(headers: dict[str, str], payload: bytes) -> bytes:
    """One message; every header a string."""
    block = b""
    for name, value in headers.items():
        text = value.encode()
        block += struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(text)) + text
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return body + struct.pack(">I", zlib.crc32(body))


def normal(kind: str, payload: bytes) -> bytes:
    return message(
        {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}, payload
    )


def chunk(event: Any) -> bytes:
    """One event of a model's own protocol, as Bedrock sends it. Bytes are taken as they are."""
    inner = event if isinstance(event, bytes) else json.dumps(event).encode()
    return normal("chunk", json.dumps({"bytes": base64.b64encode(inner).decode(), "p": "abc"}).encode())


def chunks(events: Iterable[Any]) -> bytes:
    return b"".join(chunk(event) for event in events)


def exception(name: str, payload: bytes = b'{"message":"Too many"}') -> bytes:
    return message({":exception-type": name, ":message-type": "exception"}, payload)


def error(code: str, text: str) -> bytes:
    return message({":error-code": code, ":error-message": text, ":message-type": "error"}, b"")

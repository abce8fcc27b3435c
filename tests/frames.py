"""Builds messages of application/vnd.amazon.eventstream, from the description of the format alone.

Independent of the package: struct and zlib's CRC-32.
"""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

__all__ = ["EXAMPLE", "Header", "headers", "message", "seal"]

#: A name, the number of the type on the wire, and the value as the decoder is to give it.
Header: TypeAlias = tuple[str, int, object]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS = {2: ">b", 3: ">h", 4: ">i", 5: ">q"}

#: One whole message as a server sent it: contentBlockStop of block 1.
EXAMPLE = bytes.fromhex(
    "0000007d00000056e6680fd60b3a6576656e742d74797065070010636f6e74656e74426c6f636b53746f70"
    "0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d"
    "747970650700056576656e747b22636f6e74656e74426c6f636b496e646578223a317daa357c75"
)


def _value(kind: int, value: object) -> bytes:
    match value:
        case bool():
            return b""
        case int():
            return struct.pack(_NUMBERS[kind], value)
        case bytes():
            return struct.pack(">H", len(value)) + value
        case str():
            return struct.pack(">H", len(value.encode())) + value.encode()
        case datetime():
            return struct.pack(">q", (value - EPOCH) // timedelta(milliseconds=1))
        case uuid.UUID():
            return value.bytes
    raise TypeError(value)


def headers(members: Iterable[Header]) -> bytes:
    """The header block."""
    parts = ((name.encode(), kind, _value(kind, value)) for name, kind, value in members)
    return b"".join(bytes([len(name)]) + name + bytes([kind]) + value for name, kind, value in parts)


def seal(block: bytes, payload: bytes, *, total: int | None = None, header_len: int | None = None) -> bytes:
    """A message of a header block and a payload; lengths may lie, checksums are right."""
    total = 16 + len(block) + len(payload) if total is None else total
    prelude = struct.pack(">II", total, len(block) if header_len is None else header_len)
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return body + struct.pack(">I", zlib.crc32(body))


def message(payload: bytes = b"", **words: str) -> bytes:
    """A message whose headers are strings: `message_type="event"` is `:message-type`."""
    return seal(headers((f":{name.replace('_', '-')}", 7, word) for name, word in words.items()), payload)

"""Events as bytes for the tests of prediction: JSON written to the letter, pieces of every hard kind, and frames.

Rules
 - A Raw is JSON text as it stands, right or wrong; everything else is written as JSON.
 - The spelling of one stream (spaces, line ends, names of events) is chosen once; a rare frame has another.
 - Whatever is random comes from the `chance` that is handed in.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from bedrock_frames import message, normal

__all__ = ["BROKEN", "HARD", "PLAIN", "Raw", "Spelling", "piece", "string", "write"]


class Raw(bytes):
    """JSON text, or what stands in its place."""


#: The insides of JSON strings that are whole characters.
PLAIN: tuple[bytes, ...] = (
    b"a",
    b"b c",
    b" ",
    b"}",
    b"{",
    b'{\\"k\\":',
    b'\\"v\\"',
    b"1}",
    "é".encode(),
    "北京".encode(),
    "😀".encode(),
    "\u2028".encode(),
    b"\x7f",
    b"",
)
#: Those with escapes, and with halves of characters.
HARD: tuple[bytes, ...] = (
    b"\\n",
    b'\\"',
    b"\\\\",
    b"\\/",
    b"\\b\\f\\r\\t",
    b"\\u0000",
    b"\\u00e9",
    b"\\u5317x",
    b"\\uFFFF",
    b"\\ud83d\\ude00",
    b"\\uD83D\\uDE00!",
    b"\\ud83d",
    b"\\ude00",
    b"x\\ud83d",
    b"\\ude00x",
    b"\\ud83d\\ud83d\\ude00",
    b"\\ud83dx",
)
#: What no JSON string may hold, or no UTF-8.
BROKEN: tuple[bytes, ...] = (
    b"\\u12",
    b"\\x41",
    "\\é".encode(),
    b"\\",
    b"\x00",
    b"\x01",
    b"\x1f",
    b"\t",
    b"\xff",
    b"\xc3",
    b"\xc3(",
    b"\xe5\x8c",
    b"\xf0\x9f\x98",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"\xf4\x90\x80\x80",
    b'"',
    b'","x":"',
)


def piece(chance: random.Random, hardness: float) -> bytes:
    """The inside of one string; hardness: how often it is more than plain text."""
    if chance.random() >= hardness:
        return chance.choice(PLAIN)
    core = chance.choice(HARD if chance.random() > hardness / 20 else BROKEN)
    if chance.random() < 0.5:
        return core
    filler = b"x" * chance.randint(0, 130)
    return filler + core + chance.choice((b"", b"y", filler[:33]))


def string(inside: bytes) -> Raw:
    return Raw(b'"' + inside + b'"')


def write(value: Any, spaced: bool = False) -> bytes:
    """One JSON text; a list of pairs inside a tuple is an object that may repeat a name."""
    comma, colon = (b", ", b": ") if spaced else (b",", b":")
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, dict | tuple):
        pairs = value.items() if isinstance(value, dict) else value
        members = (json.dumps(name).encode() + colon + write(inner, spaced) for name, inner in pairs)
        return b"{" + comma.join(members) + b"}"
    if isinstance(value, list):
        return b"[" + comma.join(write(inner, spaced) for inner in value) + b"]"
    return json.dumps(value, ensure_ascii=False).encode()


_STRAYS = (
    b": ping\n",
    b"id: 7\n",
    b"id\n",
    b"retry: 10\n",
    b"\n",
    b"foo: bar\n",
    b"event: ping\n\n",
    b"data\n\n",
)


@dataclass
class Spelling:
    """How the frames of one stream are written; oddness: how often a frame is written in another way."""

    chance: random.Random
    oddness: float
    eol: bytes
    space: bytes
    spaced: bool
    is_named: bool
    blank: int

    @classmethod
    def of(cls, chance: random.Random, oddness: float) -> Spelling:
        return cls(
            chance,
            oddness,
            eol=chance.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")),
            space=chance.choice((b" ", b" ", b"")),
            spaced=chance.random() < 0.3,
            is_named=chance.random() < 0.7,
            blank=chance.choice((0, 0, 0, 3)),
        )

    def _is_odd(self) -> bool:
        return self.chance.random() < self.oddness

    def _turned(self, event: Any) -> Any:
        """Rarely with its members in another order, or one of them twice."""
        if not isinstance(event, dict) or not event or not self._is_odd():
            return event
        pairs = list(event.items())
        return self.chance.choice((dict(reversed(pairs)), (*pairs, pairs[0]), (pairs[-1], *pairs)))

    def _padded(self, data: bytes) -> bytes:
        """With blanks before its last brace, where the stream has them."""
        if not self.blank or data[-1:] != b"}":
            return data
        blank = b" " * self.chance.randint(0, self.blank)
        return data[:-1] + (blank if not self._is_odd() else self.chance.choice((b"\t", b" \t", b""))) + b"}"

    def sse(self, event: Any, name: str = "") -> bytes:
        """One server-sent event; name: the event's, "" for a protocol that has none."""
        chance, eol = self.chance, self.eol
        if name and self._is_odd():
            name = chance.choice((name[:-2], "", "ping", "error", "message", name + "x"))
        data = self._padded(write(self._turned(event), self.spaced != self._is_odd()))
        lines = [b"data:" + self.space + data]
        if name and self.is_named != self._is_odd():
            lines.insert(0, b"event:" + self.space + name.encode())
            if self._is_odd():
                lines.reverse()
        if self._is_odd():
            at = chance.randrange(len(data) + 1)
            part = chance.choice(((data[:at], data[at:]), (b"", data), (data, b"")))
            lines[lines.index(b"data:" + self.space + data)] = eol.join(
                b"data:" + self.space + each for each in part
            )
        if self._is_odd():
            lines.insert(
                chance.randrange(len(lines) + 1), chance.choice((b": c", b"id: 1", b"retry: 5", b"x"))
            )
        if self._is_odd():
            eol = chance.choice((b"\n", b"\r\n", b"\r"))
        head = chance.choice(_STRAYS) if self._is_odd() else b""
        return head + eol.join([*lines, b"", b""])

    def line(self, event: Any) -> bytes:
        """One record of newline-delimited JSON."""
        head = self.chance.choice((b"\n", b" ", b"\r\n")) if self._is_odd() else b""
        return (
            head
            + write(self._turned(event), self.spaced != self._is_odd())
            + (b"\r\n" if self.eol == b"\r\n" else b"\n")
        )

    def aws(self, event: Any, kind: str) -> bytes:
        """One message of an AWS event stream."""
        payload = write(self._turned(event), self.spaced)
        if not self._is_odd():
            return normal(kind, payload)
        headers = self.chance.choice(
            (
                {":exception-type": "throttlingException", ":message-type": "exception"},
                {":error-code": "busy", ":error-message": "busy", ":message-type": "error"},
                {":event-type": kind, ":message-type": "event"},
                {":event-type": "other", ":content-type": "application/json", ":message-type": "event"},
                {":event-type": "initial-response", ":message-type": "event"},
            )
        )
        return message(headers, payload)

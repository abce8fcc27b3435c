"""How each protocol says in mid-stream that it has failed: the bytes that a gate writes where it lets no call pass.

Rules
 - The words are the protocol's own, so that its clients raise what they raise for their provider. trigate's code
   stands where the protocol has a place for a code, and at the beginning of the message in any case.
 - Nothing follows: with every one of these the stream is over.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import msgspec

from trigate.framing import Framing

__all__ = ["Refusal", "refusal_frame"]


class Refusal(msgspec.Struct, frozen=True):
    """Why nothing follows.

    is_denied: somebody said no; else the stream itself is at fault. sequence: the number that the next event
    of a numbered stream has.
    """

    code: str
    message: str
    is_denied: bool
    sequence: int | None = None

    @property
    def text(self) -> str:
        return f"{self.code}: {self.message}"

    @property
    def type(self) -> str:
        """OpenAI's and Anthropic's word for who is to blame."""
        return "permission_error" if self.is_denied else "api_error"


def refusal_frame(protocol: str, framing: Framing, refusal: Refusal, before: bytes) -> bytes:
    """The bytes that say so. before: the last byte that went out and is not blank, b"" if there is none."""
    event, body = _BODIES.get(protocol, _openai_chat)(refusal)
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    match framing:
        case "eventstream":
            return _message(refusal)
        case "ndjson":
            return data + b"\n"
        case "json-array":
            opening = {b"": b"[", b"[": b"", b",": b""}.get(before, b",")
            return opening + data + b"]"
    name = b"event: " + event.encode() + b"\n" if event else b""
    return name + b"data: " + data + b"\n\n"


_Body = tuple[str, dict[str, Any]]


def _inner(refusal: Refusal) -> dict[str, Any]:
    return {"type": refusal.type, "code": refusal.code, "message": refusal.text}


def _openai_responses(refusal: Refusal) -> _Body:
    # Clients differ in whether they look for these members in an object of their own or beside the type.
    inner = _inner(refusal) | {"param": None}
    flat = {"type": "error", "code": refusal.code, "message": refusal.text, "param": None}
    number = {} if refusal.sequence is None else {"sequence_number": refusal.sequence}
    return "error", flat | number | {"error": inner}


def _openai_chat(refusal: Refusal) -> _Body:
    return "", {"error": _inner(refusal) | {"param": None}}


def _anthropic(refusal: Refusal) -> _Body:
    return "error", {"type": "error", "error": _inner(refusal)}


def _gemini(refusal: Refusal) -> _Body:
    # The code is an HTTP status here, and clients take it for one.
    status = "PERMISSION_DENIED" if refusal.is_denied else "INTERNAL"
    reason = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": refusal.code,
        "domain": "trigate",
    }
    code = 403 if refusal.is_denied else 500
    return "", {"error": {"code": code, "message": refusal.text, "status": status, "details": [reason]}}


def _gemini_interactions(refusal: Refusal) -> _Body:
    return "error", {"event_type": "error", "error": {"code": refusal.code, "message": refusal.text}}


def _ollama(refusal: Refusal) -> _Body:
    return "", {"error": refusal.text, "code": refusal.code}


def _cohere(refusal: Refusal) -> _Body:
    end = {"finish_reason": "ERROR", "error": refusal.text}
    return "message-end", {"type": "message-end", "delta": end, "error": _inner(refusal)}


_BODIES: dict[str, Callable[[Refusal], _Body]] = {
    "openai-responses": _openai_responses,
    "openai-chat": _openai_chat,
    "anthropic-messages": _anthropic,
    "bedrock-invoke": _anthropic,
    "gemini": _gemini,
    "gemini-interactions": _gemini_interactions,
    "ollama-chat": _ollama,
    "cohere-chat": _cohere,
}

#: One header may hold so much text; the message is cut to that.
_LONGEST = 2**15 - 1


def _message(refusal: Refusal) -> bytes:
    """A message of the kind `error`, which names its code freely; an exception has to be one of the service's own."""
    words = {
        ":message-type": "error",
        ":error-code": refusal.code,
        ":error-message": refusal.text,
    }
    block = b"".join(_header(name, word) for name, word in words.items())
    head = struct.pack(">II", 16 + len(block), len(block))
    body = head + struct.pack(">I", zlib.crc32(head)) + block
    return body + struct.pack(">I", zlib.crc32(body))


def _header(name: str, word: str) -> bytes:
    text = word.encode("utf-8", "replace")[:_LONGEST].decode("utf-8", "ignore").encode()
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(text)) + text

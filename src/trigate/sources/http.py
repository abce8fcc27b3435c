"""What an HTTP response says before its body: is there a stream at all?

Rules
 - A status that is no success becomes `failed` with the provider's own error, read from the body.
 - A content type that is none of a stream, or of JSON, fails before a byte is parsed. One that is missing, or that
   says nothing (plain text, octets), is tolerated: the parser looks at the bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from trigate.protocols.wire import error_info, is_error
from trigate.response import ErrorInfo

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Refusal", "refusal_of"]

_STREAMS = (
    "text/event-stream",
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/stream+json",
    "application/vnd.amazon.eventstream",
    "application/json",
    # These say nothing of what is inside.
    "text/plain",
    "application/octet-stream",
    "binary/octet-stream",
)
# An error's body is read so far; what follows would not be shown anyway.
_MOST = 256 * 1024


class Refusal:
    """A body that is no stream, gathered to say why."""

    def __init__(self, status: int, headers: Mapping[str, str], content_type: str) -> None:
        self._status = status
        self._retry_after = headers.get("retry-after")
        self._content_type = content_type
        self._body = bytearray()

    def feed(self, chunk: Buffer) -> bool:
        """The next bytes of the body; False if no more are wanted."""
        self._body += memoryview(chunk).cast("B")[: _MOST - len(self._body)]
        return len(self._body) < _MOST

    def error(self) -> ErrorInfo:
        """What the response failed with. The body may be cut: it is told as far as it came."""
        if _is_success(self._status):
            return ErrorInfo(
                "transport",
                "content_type",
                "unexpected_content_type",
                f"expected an event stream, found {self._content_type}: {self._shown()}",
                http_status=self._status,
                raw=self._raw(self._text()),
            )
        try:
            value = json.loads(self._body)
        except (ValueError, RecursionError):
            value = None
        # Gemini wraps the error of a stream in an array.
        body = value[0] if isinstance(value, list) and value else value
        if isinstance(body, dict) and is_error(body):
            return replace(error_info(body, None), raw=self._raw(body), http_status=self._status)
        message = f"HTTP status {self._status}: {self._shown() or 'no body'}"
        raw = self._raw(self._text() if value is None else value)
        return ErrorInfo("provider", "http_error", self._status, message, raw=raw, http_status=self._status)

    def _raw(self, body: Any) -> dict[str, Any]:
        return {"status": self._status, "retry_after": self._retry_after, "body": body}

    def _text(self) -> str:
        return self._body.decode("utf-8", "replace")

    def _shown(self) -> str:
        """The beginning of the body, on one line."""
        return " ".join(self._text()[:800].split())[:200]


def refusal_of(status: int, headers: Mapping[str, str]) -> Refusal | None:
    """None if a stream may follow. headers: found by their names in lower case."""
    told = headers.get("content-type") or ""
    kind = told.partition(";")[0].strip().lower()
    if _is_success(status) and (not kind or kind in _STREAMS or kind.endswith("+json")):
        return None
    return Refusal(status, headers, told)


def _is_success(status: int) -> bool:
    return 200 <= status < 300

"""The record of one run: JSON Lines, enough to see why everything happened, and to replay it.

Rules
 - A line is written and flushed when it happened: a run that is killed leaves what it had done.
 - No key is ever in it: headers are not recorded at all.
 - Lines: run, then for each round request, response, result (one a call), at last end.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any, Self

import msgspec

import trigate
from trigate.agent.limits import AgentLimits
from trigate.agent.model import Reply
from trigate.agent.outcome import AgentResult
from trigate.errors import TrigateError
from trigate.ledger import canonical
from trigate.runner import CallResult

__all__ = ["VERSION", "RecordError", "RunRecord", "digest_of_body", "stream_of"]

#: Of the lines' shape.
VERSION = 1


class RecordError(TrigateError):
    """A line could not be written down: the disk is full, the file is gone. What it says may not happen."""

    layer = "environment"


class RunRecord:
    """Writes a run to a file, made new; or nowhere, where path is None.

    on_line: told of each line as it is written, to show what goes on. FileExistsError if there is such a file: a
    record is never written over. Of one that could not be written to (RecordError) nothing more is written, so that its
    last line alone may be cut.
    """

    def __init__(
        self, path: str | Path | None = None, *, on_line: Callable[[dict[str, Any]], object] | None = None
    ) -> None:
        self._on_line = on_line
        self._file: FileIO | None = None
        self._is_broken = False
        if path is not None:
            self._file = Path(path).open("xb", buffering=0)  # noqa: SIM115 - close() closes it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def begin(self, question: str, instructions: str, model: str, protocol: str, limits: AgentLimits) -> None:
        self._write(
            "run",
            version=VERSION,
            trigate=trigate.__version__,
            question=question,
            instructions=instructions,
            model=model,
            protocol=protocol,
            limits={
                "rounds": limits.rounds,
                "seconds": limits.seconds,
                "output_tokens": limits.output_tokens,
            },
        )

    def request(self, number: int, body: dict[str, Any]) -> None:
        self._write("request", round=number, digest=digest_of_body(body), body=body)

    def response(self, number: int, reply: Reply, seconds: float) -> None:
        response = reply.response
        self._write(
            "response",
            round=number,
            http_status=reply.http_status,
            failure=reply.failure,
            message=reply.message,
            seconds=round(seconds, 3),
            status=response.status,
            reason=response.reason,
            id=response.id,
            model=response.model,
            usage=None if response.usage is None else response.usage.raw,
            error=_plain(response.error),
            anomalies=[_plain(each) for each in response.anomalies],
            **_stream(reply.stream),
        )

    def result(self, number: int, result: CallResult) -> None:
        self._write("result", round=number, **result.to_record())

    def end(self, result: AgentResult) -> None:
        self._write("end", **result.to_record())

    def _write(self, kind: str, **members: Any) -> None:
        line = {"type": kind, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **members}
        file = self._file
        if file is not None and not self._is_broken:
            try:
                _write_all(file, _encoded(line))
            except OSError as error:
                self._is_broken = True
                raise RecordError(
                    f"the record cannot be written: {error.strerror or error}", code="record_unwritable"
                ) from error
        if self._on_line is not None:
            self._on_line(line)


def _encoded(line: dict[str, Any]) -> bytes:
    try:
        return (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can hold
        return (json.dumps(line) + "\n").encode("ascii")


def _write_all(file: FileIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value, enc_hook=repr)


def _stream(stream: bytes) -> dict[str, str]:
    """The bytes as text where they are text, so that a person can read them."""
    try:
        return {"stream": stream.decode("utf-8")}
    except UnicodeDecodeError:
        return {"stream_base64": base64.b64encode(stream).decode("ascii")}


def stream_of(text: str | None, base64_text: str | None) -> bytes:
    """The bytes of a response line. ValueError if it has none, or they are no bytes."""
    if base64_text is not None:
        return base64.b64decode(base64_text, validate=True)
    if text is None:
        raise ValueError("it has no stream")
    return text.encode("utf-8")


def digest_of_body(body: dict[str, Any]) -> str:
    """SHA-256 of a request's body in its one spelling (RFC 8785), as hexadecimal digits."""
    return hashlib.sha256(canonical(json.dumps(body))).hexdigest()

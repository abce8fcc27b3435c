"""A recorded run as a model: the same answers again, with no key and no network.

Rules
 - An answer is given only to the request that it was an answer to: the same body, the same round.
 - What a live model failed with, the replay fails with.
 - A record is checked whole before its first answer. Of a run that was killed the last line may be cut: it is left out.
 - Tools run again, as in any run. With a ledger and the scope of then, what ran is not run twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import msgspec

from trigate.agent.dialects import DIALECTS, Dialect
from trigate.agent.limits import AgentLimits
from trigate.agent.model import Reply
from trigate.agent.record import VERSION, digest_of_body, stream_of
from trigate.errors import TrigateError
from trigate.sources import parse

__all__ = ["ReplayError", "ReplayModel"]

_T = TypeVar("_T")


class ReplayError(TrigateError):
    """A record that cannot be read, or does not hold what is asked."""

    layer = "environment"


class _Limits(msgspec.Struct):
    rounds: int
    seconds: float
    output_tokens: int


class _Run(msgspec.Struct):
    """The members of a run line that are read again; so of the others."""

    version: int
    question: str
    instructions: str
    model: str
    protocol: str
    limits: _Limits


class _Request(msgspec.Struct):
    kind: ClassVar[str] = "request"
    round: int
    digest: str
    body: dict[str, Any]


class _Response(msgspec.Struct):
    kind: ClassVar[str] = "response"
    round: int
    failure: str
    message: str
    http_status: int | None
    stream: str | None = None
    stream_base64: str | None = None


class ReplayModel:
    """Answers from a record (see trigate.agent.RunRecord), once. ReplayError (not_a_record) for a file that is none."""

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        head, lines = _read(path)
        try:
            self._head = _as(_Run, head)
            self._limits = AgentLimits(**msgspec.structs.asdict(self._head.limits))
            self._dialect = DIALECTS[self._head.protocol]
            self._requests = {each.round: each for each in _of_kind(_Request, lines)}
            self._replies = {
                each.round: _reply(each, self._dialect.protocol) for each in _of_kind(_Response, lines)
            }
        except KeyError:
            raise _unreadable(path, f"its protocol is {self._head.protocol!r}") from None
        except ValueError as error:
            raise _unreadable(path, str(error)) from error
        self._round = 0

    @property
    def name(self) -> str:
        return self._head.model

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def question(self) -> str:
        return self._head.question

    @property
    def instructions(self) -> str:
        return self._head.instructions

    @property
    def limits(self) -> AgentLimits:
        return self._limits

    async def ask(self, body: dict[str, Any], seconds: float) -> Reply:  # noqa: ARG002 - as any model
        self._round += 1
        request, reply = self._requests.get(self._round), self._replies.get(self._round)
        if request is None:
            raise ReplayError(
                f"the record ends after {self._round - 1} rounds, and the run asks for one more",
                code="replay_ended",
            )
        if request.digest != digest_of_body(body):
            raise ReplayError(
                f"round {self._round} asks something else than the record: at {_difference(request.body, body)}",
                code="replay_mismatch",
            )
        if reply is None:
            raise ReplayError(f"the record has no answer for round {self._round}", code="replay_ended")
        return reply


def _unreadable(path: Path, why: str) -> ReplayError:
    return ReplayError(f"{path.name} is no record of a run: {why}", code="not_a_record")


def _read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The run line, and the others."""
    try:
        *whole, last = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ReplayError(f"{path} cannot be read: {error.strerror}", code="not_a_record") from error
    # What follows the last line break was cut when its run was killed, or is nothing.
    lines = []
    for number, text in enumerate([*whole, *([last] if not whole else [])], start=1):
        try:
            lines.append(msgspec.convert(json.loads(text), dict[str, Any]))
        except (ValueError, RecursionError):
            raise _unreadable(path, f"line {number} is no JSON object") from None
    if lines[0].get("type") != "run" or lines[0].get("version") != VERSION:
        raise _unreadable(path, f"it does not begin with a run line of version {VERSION}")
    return lines[0], lines[1:]


def _as(type_: type[_T], line: dict[str, Any]) -> _T:
    return msgspec.convert(line, type_)


def _of_kind(type_: type[_T], lines: list[dict[str, Any]]) -> list[_T]:
    kind = type_.kind  # type: ignore[attr-defined]
    return [_as(type_, line) for line in lines if line.get("type") == kind]


def _reply(line: _Response, protocol: str) -> Reply:
    stream = stream_of(line.stream, line.stream_base64)
    return Reply(
        response=parse(stream, protocol, deltas=False),
        stream=stream,
        http_status=line.http_status,
        failure=line.failure,
        message=line.message,
    )


def _difference(recorded: Any, asked: Any, path: str = "$") -> str:
    """Where two JSON values first differ."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for name in [*recorded, *(name for name in asked if name not in recorded)]:
            if name not in recorded or name not in asked or recorded[name] != asked[name]:
                return _difference(recorded.get(name), asked.get(name), f"{path}.{name}")
    if isinstance(recorded, list) and isinstance(asked, list):
        for at, pair in enumerate(zip(recorded, asked, strict=False)):
            if pair[0] != pair[1]:
                return _difference(*pair, f"{path}[{at}]")
        return f"{path}, which has {len(recorded)} items there and {len(asked)} here"
    return path

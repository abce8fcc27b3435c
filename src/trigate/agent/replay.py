"""A recorded run as a model: the same answers again, with no key and no network.

Rules
 - An answer is given only to the request that it was an answer to: the same body, the same round.
 - What a live model failed with, the replay fails with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trigate.agent.dialects import DIALECTS, Dialect
from trigate.agent.limits import AgentLimits
from trigate.agent.model import Reply
from trigate.agent.record import VERSION, digest_of_body, stream_of
from trigate.errors import TrigateError
from trigate.sources import parse

__all__ = ["ReplayError", "ReplayModel"]


class ReplayError(TrigateError):
    """A record that cannot be read, or does not hold what is asked."""

    layer = "environment"


class ReplayModel:
    """Answers from a record (see trigate.agent.RunRecord). ReplayError for a file that is none."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        lines = _read(self._path)
        self._head = lines[0]
        self._requests = [line for line in lines if line["type"] == "request"]
        self._responses = {line["round"]: line for line in lines if line["type"] == "response"}
        self._round = 0
        try:
            self._dialect = DIALECTS[self._head["protocol"]]
        except KeyError:
            raise _unreadable(self._path, f"its protocol is {self._head.get('protocol')!r}") from None

    @property
    def name(self) -> str:
        return str(self._head["model"])

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def question(self) -> str:
        return str(self._head["question"])

    @property
    def instructions(self) -> str:
        return str(self._head["instructions"])

    @property
    def limits(self) -> AgentLimits:
        return AgentLimits(**self._head["limits"])

    async def ask(self, body: dict[str, Any], seconds: float) -> Reply:  # noqa: ARG002 - as any model
        self._round += 1
        if self._round > len(self._requests):
            raise ReplayError(
                f"the record ends after {len(self._requests)} rounds, and the run asks for one more",
                code="replay_ended",
            )
        request = self._requests[self._round - 1]
        if request["digest"] != digest_of_body(body):
            raise ReplayError(
                f"round {self._round} asks something else than the record: at {_difference(request['body'], body)}",
                code="replay_mismatch",
            )
        line = self._responses.get(request["round"])
        if line is None:
            raise ReplayError(f"the record has no answer for round {self._round}", code="replay_ended")
        stream = stream_of(line)
        return Reply(
            response=parse(stream, self._dialect.protocol, deltas=False),
            stream=stream,
            http_status=line["http_status"],
            failure=line["failure"],
            message=line["message"],
        )


def _unreadable(path: Path, why: str) -> ReplayError:
    return ReplayError(f"{path.name} is no record of a run: {why}", code="not_a_record")


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise ReplayError(f"{path} cannot be read: {error.strerror}", code="not_a_record") from error
    except ValueError as error:
        raise _unreadable(path, "a line is not JSON") from error
    if not lines or not all(isinstance(line, dict) and "type" in line for line in lines):
        raise _unreadable(path, "it does not begin with a run line")
    if lines[0]["type"] != "run" or lines[0].get("version") != VERSION:
        raise _unreadable(path, f"it does not begin with a run line of version {VERSION}")
    return lines


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

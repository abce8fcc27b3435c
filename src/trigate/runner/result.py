"""What became of a turn's calls: one result for each, paired by the call itself, never by a position.

Rules
 - Every call that a model waits for has exactly one result, whatever happened.
 - `content` is all that the model is told. What is for the operator stands in `problem.record` and in `to_record()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from trigate.calls import ToolCall
from trigate.response import Response
from trigate.tools import Judgment, Problem

__all__ = ["CallResult", "ResultStatus", "TurnResult", "without"]

_MAX_PROBLEM = 64 * 1024  # characters of what the model is told of one problem
_MAX_WORDS = 1000

ResultStatus: TypeAlias = Literal["succeeded", "failed", "refused", "not_run", "unknown"]


class CallResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one call.

    status    "succeeded": it ran, `content` is its result. "failed": it ran and said why not. "refused": a judgment
              said no. "not_run": nothing was wrong with it, but it was not run. "unknown": it may have happened
    content   what the model is told: the result as text, or the problem's JSON
    problem   None if it succeeded
    judgment  None for a call that was never released
    is_stored whether an earlier run's outcome was taken from the ledger
    unrecorded  why it could not be written to the ledger, for the operator; "" if it was, or there is none
    seconds   how long it ran; None if it did not run now
    """

    call: ToolCall
    status: ResultStatus
    content: str
    problem: Problem | None = None
    judgment: Judgment | None = None
    is_stored: bool = False
    unrecorded: str = ""
    seconds: float | None = None

    @property
    def is_recorded(self) -> bool:
        """False if the ledger does not have the outcome."""
        return not self.unrecorded

    @property
    def is_error(self) -> bool:
        """Whether the model is to be told that it went wrong."""
        return self.problem is not None

    def to_record(self) -> dict[str, Any]:
        """Plain data for a log."""
        return {
            "call_id": self.call.call_id,
            "name": self.call.name,
            "arguments": self.call.arguments,
            "status": self.status,
            "content": self.content,
            "problem": msgspec.to_builtins(self.problem),
            "judgment": None if self.judgment is None else self.judgment.to_record(),
            "is_stored": self.is_stored,
            "unrecorded": self.unrecorded,
            "seconds": self.seconds,
        }


def without(
    call: ToolCall,
    judgment: Judgment | None,
    status: ResultStatus,
    problem: Problem,
    **more: Any,
) -> CallResult:
    """The result of a call that has a problem instead. more: other members of CallResult."""
    problem = _sendable(problem)
    return CallResult(
        call=call, status=status, content=problem.to_model(), problem=problem, judgment=judgment, **more
    )


def _sendable(problem: Problem) -> Problem:
    """The problem, or as much of it as can be stored and sent: a tool may put anything into its words and facts."""
    try:
        msgspec.json.encode(problem)
        if len(problem.to_model()) <= _MAX_PROBLEM:
            return problem
    except (TypeError, ValueError, RecursionError, OverflowError):
        pass
    words = (problem.message[:_MAX_WORDS], problem.next[:_MAX_WORDS], problem.record)
    message, following, record = (each.encode("utf-8", "replace").decode() for each in words)
    return Problem(code=problem.code, message=message, next=following, record=record)


class TurnResult(msgspec.Struct, frozen=True):
    """The results of one response's calls, in the order of the calls."""

    response: Response
    results: tuple[CallResult, ...]

    def __getitem__(self, call_id: str) -> CallResult:
        """The result of the call with that id; KeyError."""
        for result in self.results:
            if result.call.call_id == call_id:
                return result
        raise KeyError(call_id)

    def __iter__(self) -> Iterator[CallResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def messages(self) -> list[Any]:
        """The answers in the provider's own shape, to be sent after response.to_message().

        ValueError for a response whose calls cannot be answered (see Response.tool_result_message).
        """
        answer = self.response.tool_result_message
        return [answer(result.call, result.content, result.is_error) for result in self.results]

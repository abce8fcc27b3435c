"""Why a call was not run, or what became of it: one Problem, for the program, the record and the model.

Rules
 - A code says what to do next. `CODES` is the one list: code, layer, what failed, and the next step.
 - What goes to the model (`to_model`) is actionable, bounded, and holds no traceback, no path of this machine, and of
   an argument at most a short beginning. `record` is for the operator alone, and never goes there.
"""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from trigate import errors
from trigate.calls import ToolCall
from trigate.text import shortened

__all__ = [
    "CODES",
    "Finding",
    "Problem",
    "ProblemCode",
    "ToolError",
    "problem_of",
    "problem_of_void",
    "spell",
]

ProblemCode: TypeAlias = Literal[
    "unknown_tool",
    "invalid_arguments",
    "permission_denied",
    "stale_version",
    "not_found",
    "too_large",
    "timeout_unknown",
    "duplicate",
    "conflict",
    "cancelled",
    "tool_error",
]


class Code(NamedTuple):
    """layer: who has to act. failed: what it means. next: what to do, told to the model."""

    layer: str
    failed: str
    next: str


CODES: dict[ProblemCode, Code] = {
    "unknown_tool": Code(
        "model", "no tool of that name is offered", "Use one of the offered tools, spelled exactly."
    ),
    "invalid_arguments": Code(
        "model", "the arguments do not fit the tool", "Correct what is listed and call the tool again."
    ),
    "permission_denied": Code(
        "authorization",
        "it is not permitted",
        "No other spelling helps: go on without it, or tell the user what would be needed.",
    ),
    "stale_version": Code(
        "environment",
        "it has changed since it was read",
        "Read it again, then decide anew with its new version.",
    ),
    "not_found": Code("environment", "what is named does not exist", "Look for what exists, then name that."),
    "too_large": Code(
        "limit", "more than the limit allows", "Ask for less: a smaller part, a narrower question."
    ),
    "timeout_unknown": Code(
        "unknown_outcome",
        "no answer came in time, and it may have happened",
        "Do not repeat it. Find out first whether it happened.",
    ),
    "duplicate": Code(
        "structure",
        "the same call was answered before",
        "Do not send it again: use the result that it already has.",
    ),
    "conflict": Code(
        "structure",
        "it contradicts another call, or another writer is at work",
        "It was not run. Make one new call that says what is wanted now.",
    ),
    "cancelled": Code("environment", "it was called off", "Nothing more is done for it. Wait for the user."),
    "tool_error": Code(
        "environment",
        "the tool itself failed",
        "It is no fault of the arguments. Go on without it, or tell the user.",
    ),
}

_ERRORS: dict[str, type[errors.TrigateError]] = {
    "model": errors.ModelError,
    "authorization": errors.AuthorizationError,
    "environment": errors.EnvironmentStateError,
    "unknown_outcome": errors.UnknownOutcomeError,
    "structure": errors.StructureError,
}
_MAX_MESSAGE = 1000
_MAX_RECORD = 8000
_MAX_FOUND = 80


class Finding(msgspec.Struct, frozen=True):
    """One fault of the arguments. path: JSON path from `$`. expected, found: in words, short."""

    path: str
    expected: str
    found: str


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a call was not run, or what became of it. Made of plain data: msgspec.json can write and read it.

    code      one of CODES
    message   what was found, for the model and for people
    next      what to do next; "" for what CODES says
    findings  the faults of the arguments, up to a bound; `more` counts those beyond it
    nearest   names that are near an unknown one
    facts     what the next step needs: a version, a limit, a place to go on
    record    the exception behind it, for the operator: never sent to the model
    """

    code: ProblemCode
    message: str
    next: str = ""
    findings: tuple[Finding, ...] = ()
    more: int = 0
    nearest: tuple[str, ...] = ()
    facts: dict[str, Any] = {}
    record: str = ""

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown problem code {self.code!r}; the known ones are {', '.join(CODES)}")

    @property
    def layer(self) -> str:
        """Who has to act: see trigate.errors."""
        return CODES[self.code].layer

    def to_model(self) -> str:
        """What the model is told, as one JSON object: error, message, next, and what helps with it."""
        told: dict[str, Any] = {"error": self.code, "message": shortened(self.message, _MAX_MESSAGE)}
        if self.findings:
            told["problems"] = [msgspec.structs.asdict(each) for each in self.findings]
        if self.more:
            told["more_problems"] = self.more
        if self.nearest:
            told["nearest"] = list(self.nearest)
        told |= {name: value for name, value in self.facts.items() if name not in told}
        told["next"] = self.next or CODES[self.code].next
        return json.dumps(told, ensure_ascii=False, default=str)

    def to_error(self) -> errors.TrigateError:
        """The same as an exception of its layer (see trigate.errors), for those who raise."""
        if self.layer == "limit":
            return errors.LimitError(self.message, code=self.code)
        return _ERRORS[self.layer](self.message, code=self.code)


class ToolError(errors.TrigateError):
    """What a tool raises to say in its own words what failed: the model is told.

    message goes to the model: it must be actionable and hold nothing that is secret. code: one of CODES. facts: what
    the next step needs. next: the next step, if CODES does not say it well.
    """

    layer = "environment"

    def __init__(
        self,
        message: str,
        *,
        code: ProblemCode = "tool_error",
        next: str = "",  # noqa: A002 - the member's name
        findings: tuple[Finding, ...] = (),
        facts: dict[str, Any] | None = None,
    ) -> None:
        self.problem = Problem(code=code, message=message, next=next, findings=findings, facts=facts or {})
        super().__init__(message, code=code, layer=self.problem.layer)


def problem_of(error: BaseException) -> Problem:
    """What an exception of a tool came to.

    A ToolError says it itself. A cancellation is `cancelled`. Of anything else the model learns only that the tool
    failed; the exception stands in `record`.
    """
    if isinstance(error, ToolError):
        return error.problem
    record = shortened("".join(traceback.format_exception(error)), _MAX_RECORD)
    if isinstance(error, asyncio.CancelledError):
        return Problem(code="cancelled", message="the call was cancelled", record=record)
    return Problem(code="tool_error", message="the tool failed for a reason of its own", record=record)


#: What of a void call's problem (docs/errors.md) is told by which code; the rest are faults of the arguments.
_VOID: dict[str, ProblemCode] = {
    "conflict": "conflict",
    "repeated": "duplicate",
    "no_name": "unknown_tool",
    "response_not_completed": "cancelled",
    "not_requested": "cancelled",
    "no_call_id": "conflict",
    "not_for_client": "unknown_tool",
    "unknown_type": "unknown_tool",
}
_WORDS = {
    "incomplete": "the arguments end too early: they are not one whole JSON object",
    "malformed": "the arguments are not one strict JSON object",
    "duplicate_key": "a member name of the arguments is repeated",
    "conflict": "the call contradicts itself or another one",
    "repeated": "the call was sent before",
    "no_name": "the call names no tool",
    "no_call_id": "the call has no id, so that no result can be paired with it",
    "response_not_completed": "the response did not end well, so none of its calls is run",
    "not_requested": "the response did not ask to run it",
    "not_for_client": "the call is not for this side to run",
    "unknown_type": "a call of this type is not known here",
}


def problem_of_void(call: ToolCall) -> Problem:
    """Why a call that was never released cannot run. TypeError for a call that is not void."""
    if call.state != "void" or call.problem is None:
        raise TypeError(f"only a void call has a problem, not a {call.state} one")
    code = _VOID.get(call.problem, "invalid_arguments")
    message = _WORDS.get(call.problem, f"the call is void: {call.problem}")
    return Problem(code=code, message=message, facts={"reason": call.problem})


def spell(value: Any) -> str:
    """A value as JSON, its beginning alone where it is long: enough to recognise it, too little to leak much."""
    if isinstance(value, dict):
        return f"an object with {_count(len(value), 'member')}"
    if isinstance(value, list | tuple):
        return f"an array of {_count(len(value), 'item')}"
    if isinstance(value, str):
        if len(value) <= _MAX_FOUND // 2:
            return json.dumps(value, ensure_ascii=False)
        return f"{json.dumps(value[: _MAX_FOUND // 4], ensure_ascii=False)}... ({len(value)} characters)"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    return shortened(json.dumps(value, default=lambda each: type(each).__name__), _MAX_FOUND)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")

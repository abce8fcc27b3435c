"""May this released call run? Five questions in their order, each answered by itself.

Rules
 - Known, well formed, valid, permitted, fresh. The first no ends it: what follows is not asked.
 - Only a ReleasedCall is judged: a draft is a TypeError, for it may be half of something.
 - Judging runs nothing of the tool but its `fresh`, and nothing at all where an earlier answer is no.
 - Every no comes with a Problem that tells the model what to do next.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from trigate import errors
from trigate._core import JSONTracker
from trigate.calls import ReleasedCall
from trigate.text import has_halves, shortened
from trigate.tools.arguments import UnfitError
from trigate.tools.context import Context
from trigate.tools.definition import Tool
from trigate.tools.discovery import FIND_TOOLS
from trigate.tools.policy import Policy, PolicyLike
from trigate.tools.problem import Finding, Problem, problem_of
from trigate.tools.schema import Part, path_of
from trigate.tools.toolset import Toolset, check_is_toolset

__all__ = ["Judgment", "Verdict", "judge"]


class Verdict(msgspec.Struct, frozen=True):
    """One question's answer. reason: why not; "" for a yes."""

    answer: Literal["yes", "no", "not_asked"] = "not_asked"
    reason: str = ""

    def __bool__(self) -> bool:
        return self.answer == "yes"


_YES = Verdict("yes")
_NOT_ASKED = Verdict()
_QUESTIONS = ("known", "well_formed", "valid", "permitted", "fresh")


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """What was found about one call.

    known, well_formed, valid, permitted, fresh   the answers
    problem    of the first no; None where there is none
    tool       None if it is not known
    arguments  as the tool's function takes them; only when valid
    """

    call: ReleasedCall
    known: Verdict = _NOT_ASKED
    well_formed: Verdict = _NOT_ASKED
    valid: Verdict = _NOT_ASKED
    permitted: Verdict = _NOT_ASKED
    fresh: Verdict = _NOT_ASKED
    problem: Problem | None = None
    tool: Tool | None = None
    arguments: Any = None

    @property
    def allowed(self) -> bool:
        """Whether it may run: every answer is yes."""
        return self.problem is None and all(getattr(self, name) for name in _QUESTIONS)

    def raise_for_problem(self) -> Judgment:
        """Itself if it may run; else raises the TrigateError of the problem's layer."""
        if self.problem is not None:
            raise self.problem.to_error()
        return self

    def to_record(self) -> dict[str, Any]:
        """Plain data for a log: the answers, and the problem with what is for the operator alone."""
        told: dict[str, Any] = {"call_id": self.call.call_id, "name": self.call.name, "allowed": self.allowed}
        told |= {name: msgspec.to_builtins(getattr(self, name)) for name in _QUESTIONS}
        return told | {"problem": msgspec.to_builtins(self.problem)}


def judge(
    call: ReleasedCall, toolset: Toolset, policy: PolicyLike | None = None, context: Context | None = None
) -> Judgment:
    """Judges one call. policy: None for one that permits tools that only read. TypeError for a call not released,
    and for what is no Toolset.
    """
    if not isinstance(call, ReleasedCall):
        raise TypeError(f"only a ReleasedCall is judged, not a {type(call).__name__}: a draft may be cut")
    check_is_toolset(toolset)
    bench = _Bench(call, context or Context(call=call))
    bench.ask(toolset, Policy() if policy is None else policy)
    return Judgment(
        call=call, problem=bench.problem, tool=bench.tool, arguments=bench.arguments, **bench.answers
    )


class _Bench:
    """One judgment while it is made."""

    def __init__(self, call: ReleasedCall, context: Context) -> None:
        self.call = call
        self.context = context
        self.tool: Tool | None = None
        self.arguments: Any = None
        self.problem: Problem | None = None
        self.answers: dict[str, Verdict] = {}

    def ask(self, toolset: Toolset, policy: PolicyLike) -> None:
        # A tool of the same name in a namespace is another tool, and none here is in one.
        tool = None if "namespaced" in self.call.flags else toolset.get(self.call.name)
        self.tool = tool
        if not self._note("known", None if tool else _unknown(self.call, toolset)):
            return
        assert tool is not None
        if not self._note("well_formed", _ill_formed(self.call, tool)):
            return
        if self._note("valid", self._read(tool)) and self._note("permitted", self._permit(tool, policy)):
            self._note("fresh", self._refresh(tool))

    def _note(self, question: str, problem: Problem | None) -> bool:
        self.answers[question] = _YES if problem is None else Verdict("no", problem.message)
        self.problem = problem
        return problem is None

    def _read(self, tool: Tool) -> Problem | None:
        try:
            is_text = self.call.kind == "custom"
            self.arguments = self.call.arguments if is_text else tool.read(self.call.value())
        except UnfitError as error:
            return _misfit(tool, error.findings, error.more)
        except RecursionError:
            return _misfit(tool, (Finding("$", "less nesting", "nesting that this program cannot follow"),))
        except Exception as error:
            # A type's own check may raise what it likes: that is for the operator to see, not a fit.
            return problem_of(error)
        return None

    def _permit(self, tool: Tool, policy: PolicyLike) -> Problem | None:
        try:
            answer = policy(tool, self.arguments, self.context)
        except Exception as error:
            record = problem_of(error).record
            message = "the policy could not decide"
            return Problem(code="permission_denied", message=message, record=record)
        if answer is True:
            return None
        reason = answer if isinstance(answer, str) and answer else f"{tool.name} is not permitted"
        return Problem(code="permission_denied", message=reason)

    def _refresh(self, tool: Tool) -> Problem | None:
        try:
            answer = tool.ask_fresh(self.arguments, self.context)
        except Exception as error:
            return problem_of(error)
        if answer is None or isinstance(answer, Problem):
            return answer
        told = f"fresh of {tool.name} returned a {type(answer).__name__}, neither None nor a Problem"
        return Problem(code="tool_error", message="the tool failed for a reason of its own", record=told)


def _unknown(call: ReleasedCall, toolset: Toolset) -> Problem:
    shown = shortened(call.name, 64)
    if "namespaced" in call.flags:
        return Problem(code="unknown_tool", message=f"no tool named {shown} is in a namespace")
    near = toolset.nearest(call.name)
    search = f"Search for a tool with {FIND_TOOLS} first." if FIND_TOOLS in toolset else ""
    return Problem(code="unknown_tool", message=f"no tool is named {shown}", nearest=near, next=search)


def _misfit(tool: Tool, findings: tuple[Finding, ...], more: int = 0) -> Problem:
    message = f"the arguments do not fit {tool.name}"
    return Problem(code="invalid_arguments", message=message, findings=findings, more=more)


def _ill_formed(call: ReleasedCall, tool: Tool) -> Problem | None:
    """What no type and no schema would catch: another kind of call, values that JSON can write and no tool take."""
    if call.kind == "builtin" or (call.kind == "custom") > (tool.kind == "custom"):
        found = "free text" if call.kind == "custom" else f"a {call.kind} call"
        return _misfit(tool, (Finding("$", "one JSON object", found),))
    if call.kind == "custom":
        findings = tuple(_impossible(call.arguments, []))
        return _misfit(tool, findings) if findings else None
    try:
        JSONTracker(strict=False, max_depth=tool.max_depth).feed(call.arguments)
    except errors.LimitError:
        return _misfit(tool, (Finding("$", f"at most {tool.max_depth} levels", "deeper nesting"),))
    if "number_out_of_range" in call.flags or "nan" in call.flags or "lone_surrogate" in call.flags:
        findings = tuple(_impossible(call.value(), []))
        return _misfit(tool, findings[:1], len(findings[1:])) if findings else None
    return None


def _impossible(value: Any, parts: list[Part]) -> list[Finding]:
    """Numbers that are none, and strings with half a character."""
    if isinstance(value, dict):
        found = [each for name in value for each in _impossible(name, [*parts, name])]
        return found + [each for name, inner in value.items() for each in _impossible(inner, [*parts, name])]
    if isinstance(value, list):
        return [each for index, inner in enumerate(value) for each in _impossible(inner, [*parts, index])]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return [Finding(_shown(parts), "a number in the range of a double", str(value))]
    if isinstance(value, str) and has_halves(value):
        return [Finding(_shown(parts), "whole characters", "half of a surrogate pair")]
    return []


def _shown(parts: list[Part]) -> str:
    return path_of(
        part if isinstance(part, int) else part.encode("utf-8", "replace").decode() for part in parts
    )

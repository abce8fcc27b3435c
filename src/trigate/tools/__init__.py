"""Tools: what a model may ask for, and the judgments between a released call and its run.

A released call is still only a candidate. Whether its name is known, its arguments fit, it is permitted and the world
is as it expects are separate questions: `judge` asks them, and each no says what to do next.
"""

from __future__ import annotations

from trigate.tools.context import Cancellation, Context, Progress
from trigate.tools.definition import Reconciled, Tool, tool
from trigate.tools.discovery import DiscoveringToolset
from trigate.tools.judgment import Judgment, Verdict, judge
from trigate.tools.policy import Policy, PolicyLike
from trigate.tools.problem import CODES, Finding, Problem, ProblemCode, ToolError, problem_of, problem_of_void
from trigate.tools.toolset import Toolset

__all__ = [
    "CODES",
    "Cancellation",
    "Context",
    "DiscoveringToolset",
    "Finding",
    "Judgment",
    "Policy",
    "PolicyLike",
    "Problem",
    "ProblemCode",
    "Progress",
    "Reconciled",
    "Tool",
    "ToolError",
    "Toolset",
    "Verdict",
    "judge",
    "problem_of",
    "problem_of_void",
    "tool",
]

"""What became of a call in doubt: the tool is asked, and its word becomes a finding for the ledger.

Rules
 - Nothing runs but the tool's `reconcile`, with the arguments of then, in its own thread and for the tool's time.
 - Whatever goes wrong leaves the outcome unknown.
"""

from __future__ import annotations

import functools

import msgspec

from trigate.calls import ReleasedCall
from trigate.ledger import Finding
from trigate.runner.running import NoAnswerError, run_tool
from trigate.tools import Context, Problem, Reconciled, Tool, ToolError

__all__ = ["ask_tool"]


async def ask_tool(tool: Tool, call: ReleasedCall, context: Context) -> Finding:
    try:
        arguments = call.arguments if call.kind == "custom" else tool.read(call.value())
        ask = functools.partial(tool.ask_reconcile, arguments, context)
        told: Reconciled = await run_tool(ask, False, tool.timeout, context.cancellation)
    except NoAnswerError as error:
        return Finding("unknown", problem=f"the inquiry came to nothing: {error.reason}")
    except Exception as error:
        return Finding("unknown", problem=f"the inquiry came to nothing: {type(error).__name__}")
    if told.outcome == "succeeded":
        return Finding("succeeded", result=_text(tool, told))
    if told.outcome == "failed":
        words = told.result if isinstance(told.result, str) else "the tool says that it had failed"
        problem = Problem(code="tool_error", message=words)
        return Finding("failed", problem=msgspec.json.encode(problem).decode())
    if told.outcome == "not_run":
        return Finding("not_happened", problem="the tool says that it had not happened")
    return Finding("unknown")


def _text(tool: Tool, told: Reconciled) -> str:
    try:
        return tool.result_text(told.result)
    except ToolError as error:  # it happened, even if what it gave cannot be shown
        return error.problem.to_model()

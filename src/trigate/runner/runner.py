"""Runner: judges a turn's released calls, claims them, runs them side by side, and answers each of them.

Rules
 - Only a ReleasedCall runs, only after every judgment said yes, only after its claim was written, and only while
   there is time: asked before the run and again when the result comes.
 - A result is its call's, by the call itself; in whatever order they come, they are handed out in the calls' order.
 - Nothing is retried.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from trigate.calls import ReleasedCall, ToolCall
from trigate.ledger import AsyncLedger, Key, Ledger, key_of
from trigate.response import Response
from trigate.runner.background import run_in_background
from trigate.runner.claims import Claims
from trigate.runner.result import CallResult, ResultStatus, TurnResult
from trigate.runner.running import NoAnswerError, run_tool
from trigate.tools import (
    Cancellation,
    Context,
    Judgment,
    PolicyLike,
    Problem,
    Progress,
    ToolError,
    Toolset,
    judge,
    problem_of,
    problem_of_void,
)

__all__ = ["Runner"]

OnBad: TypeAlias = Literal["each", "all_or_nothing"]
OnProgress: TypeAlias = Callable[[ReleasedCall, Progress], object]


class Runner:
    """Runs the calls of responses.

    toolset, policy  what there is and what is permitted (policy None: tools that only read)
    ledger           remembers what ran; without one a call that is handed in twice runs twice
    parallel         how many calls run at once
    on_bad           "each": a call that is refused is answered with its problem, the others run.
                     "all_or_nothing": one that is refused stops the whole turn, and nothing runs
    seconds          for all calls of a turn together; None: each tool's own timeout alone
    on_progress      told of each call's progress, from the tool's thread
    """

    def __init__(
        self,
        toolset: Toolset,
        policy: PolicyLike | None = None,
        *,
        ledger: Ledger | AsyncLedger | None = None,
        parallel: int = 8,
        on_bad: OnBad = "each",
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        if on_bad not in ("each", "all_or_nothing"):
            raise ValueError(f"on_bad must be 'each' or 'all_or_nothing', not {on_bad!r}")
        if parallel < 1:
            raise ValueError(f"parallel must be at least 1, not {parallel}")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds must be positive, not {seconds!r}")
        self._toolset = toolset
        self._policy = policy
        self._claims = Claims(ledger)
        self._has_ledger = ledger is not None
        self._parallel = parallel
        self._on_bad = on_bad
        self._seconds = seconds
        self._on_progress = on_progress

    def run(self, response: Response, **options: Any) -> TurnResult:
        """arun for those who wait: the same options. Tools that are coroutines run in a loop of their own thread."""
        return run_in_background(lambda: self.arun(response, **options))

    async def arun(
        self,
        response: Response,
        *,
        scope: str = "default",
        calls: Sequence[ReleasedCall] | None = None,
        response_id: str | None = None,
        token: Cancellation | None = None,
        values: dict[str, Any] | None = None,
    ) -> TurnResult:
        """Answers every call of the response, and runs those that may.

        scope        whose work it is: part of the ledger's key
        calls        released ones alone, where not all are wanted; TypeError for a draft
        response_id  see trigate.ledger.key_of
        token        calls all of it off, from any thread
        values       handed to the tools: Context.values
        """
        turn = _Turn(self, response, scope, response_id, token or Cancellation(), values or {})
        return TurnResult(response, tuple(await turn.answer(calls)))


class _Turn:
    """One response's calls on their way."""

    def __init__(
        self,
        runner: Runner,
        response: Response,
        scope: str,
        response_id: str | None,
        token: Cancellation,
        values: dict[str, Any],
    ) -> None:
        self._runner = runner
        self._response = response
        self._scope = scope
        self._response_id = response_id
        self._token = token
        self._values = values
        self._deadline = None if runner._seconds is None else time.monotonic() + runner._seconds
        self._places = asyncio.Semaphore(runner._parallel)

    async def answer(self, calls: Sequence[ReleasedCall] | None) -> list[CallResult]:
        wanted: list[ToolCall] = list(self._all() if calls is None else calls)
        if calls is not None:
            for call in wanted:
                if not isinstance(call, ReleasedCall):
                    raise TypeError(
                        f"only a ReleasedCall runs, not a {type(call).__name__}: a draft may be cut"
                    )
        judged = [await self._judge(call) for call in wanted]
        if self._runner._on_bad == "all_or_nothing" and any(isinstance(each, CallResult) for each in judged):
            return [each if isinstance(each, CallResult) else _held_back(each) for each in judged]
        return await _all_of(
            [_as_is(each) if isinstance(each, CallResult) else self._run(each) for each in judged]
        )

    def _all(self) -> list[ToolCall]:
        """The released calls, and the void ones of a response that will be sent back with them."""
        is_answered = self._response.status in ("completed", "in_progress")
        return [
            call
            for call in self._response.calls
            if isinstance(call, ReleasedCall) or (is_answered and call.state == "void" and call.call_id)
        ]

    async def _judge(self, call: ToolCall) -> Judgment | CallResult:
        """The judgment of a call that may run; else its answer."""
        if not isinstance(call, ReleasedCall):
            return _result(call, None, "refused", problem_of_void(call))
        context = self._context(call, Cancellation())
        ask = functools.partial(judge, call, self._runner._toolset, self._runner._policy, context)
        tool = self._runner._toolset.get(call.name)
        if tool is None or tool.fresh is None:
            judgment = ask()
        else:
            try:
                # It looks at the world, so it may take its time.
                judgment = await run_tool(ask, False, self._time(tool.timeout), context.cancellation)
            except NoAnswerError as error:
                problem = Problem(
                    code="tool_error", message=f"whether it may run is not known: {error.reason}"
                )
                return _result(call, None, "not_run", problem)
        return judgment if judgment.problem is None else _result(call, judgment, "refused", judgment.problem)

    def _context(self, call: ReleasedCall, token: Cancellation) -> Context:
        told = self._runner._on_progress
        self._token.when_cancelled(lambda: token.cancel(self._token.reason))
        return Context(
            scope=self._scope,
            call=call,
            deadline=self._deadline,
            cancellation=token,
            on_progress=None if told is None else functools.partial(told, call),
            values=self._values,
        )

    def _time(self, most: float) -> float:
        """Seconds that are left for something that may take so long."""
        return most if self._deadline is None else min(most, self._deadline - time.monotonic())

    async def _run(self, judgment: Judgment) -> CallResult:
        assert judgment.tool is not None
        async with self._places:
            seconds = self._time(judgment.tool.timeout)
            if self._token.is_cancelled or seconds <= 0:
                return _result(judgment.call, judgment, "not_run", self._too_late())
            taken = await self._runner._claims.take(
                self._key(judgment.call), judgment.call, judgment, seconds
            )
            if isinstance(taken, CallResult):
                return taken
            try:
                result = await self._work(judgment, seconds)
            except asyncio.CancelledError:
                gone = Problem(code="timeout_unknown", message="it was called off while it ran")
                await asyncio.shield(
                    self._runner._claims.settle(taken, _result(judgment.call, judgment, "unknown", gone))
                )
                raise
            return await self._runner._claims.settle(taken, result)

    def _key(self, call: ReleasedCall) -> Key | None:
        if not self._runner._has_ledger:
            return None
        return key_of(call, self._response, self._scope, response_id=self._response_id)

    def _too_late(self) -> Problem:
        if self._token.is_cancelled:
            return Problem(code="cancelled", message=self._token.reason or "the turn was called off")
        return Problem(code="cancelled", message="the time for this turn was over before it began")

    async def _work(self, judgment: Judgment, seconds: float) -> CallResult:
        """Runs one call that is judged and claimed."""
        call, tool = judgment.call, judgment.tool
        assert tool is not None
        context = self._context(call, Cancellation())
        context.deadline = time.monotonic() + seconds
        began = time.monotonic()
        try:
            work = functools.partial(tool.run, judgment.arguments, context)
            value = await run_tool(work, tool.is_async, seconds, context.cancellation)
            if time.monotonic() - began > seconds:
                raise NoAnswerError(f"its result came after {seconds:g} s")
            content = tool.result_text(value)
        except NoAnswerError as error:
            return _result(
                call, judgment, "unknown", _unknown(tool.read_only, error), time.monotonic() - began
            )
        except ToolError as error:
            return _result(call, judgment, "failed", _told(error, tool.read_only), time.monotonic() - began)
        except Exception as error:
            return _result(call, judgment, "failed", problem_of(error), time.monotonic() - began)
        return CallResult(
            call=call,
            status="succeeded",
            content=content,
            judgment=judgment,
            seconds=time.monotonic() - began,
        )


async def _all_of(works: Sequence[Any]) -> list[CallResult]:
    """The results in order. If this is cancelled, all are, and each is waited for: it has an outcome to write."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def _as_is(result: CallResult) -> CallResult:
    return result


def _held_back(judgment: Judgment) -> CallResult:
    message = "nothing of this turn was run, because another of its calls was refused"
    return _result(judgment.call, judgment, "not_run", Problem(code="cancelled", message=message))


def _unknown(read_only: bool, error: NoAnswerError) -> Problem:
    following = "It only reads: it may be called again, with less to do." if read_only else ""
    return Problem(code="timeout_unknown", message=error.reason, next=following)


def _told(error: ToolError, read_only: bool) -> Problem:
    """A problem that a tool has told. A result that is too large was a run: a side effect must not be repeated."""
    problem = error.problem
    if problem.code != "too_large" or read_only or problem.next:
        return problem
    return Problem(
        code=problem.code,
        message=f"it was done, but {problem.message}",
        next="Do not repeat it.",
        facts=problem.facts,
        record=problem.record,
    )


def _result(
    call: ToolCall,
    judgment: Judgment | None,
    status: ResultStatus,
    problem: Problem,
    seconds: float | None = None,
) -> CallResult:
    return CallResult(
        call=call,
        status=status,
        content=problem.to_model(),
        problem=problem,
        judgment=judgment,
        seconds=seconds,
    )

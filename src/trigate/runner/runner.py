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
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack

from trigate.calls import ReleasedCall, ToolCall
from trigate.ledger import AsyncLedger, Key, Ledger, key_of
from trigate.ledger.threads import patiently
from trigate.response import Response
from trigate.runner.background import run_in_background
from trigate.runner.claims import Claims
from trigate.runner.inquiry import ask_tool
from trigate.runner.result import CallResult, TurnResult, without
from trigate.runner.running import NoAnswerError, run_tool
from trigate.tools import (
    Cancellation,
    Context,
    Judgment,
    PolicyLike,
    Problem,
    Progress,
    Tool,
    ToolError,
    Toolset,
    judge,
    problem_of,
    problem_of_void,
)
from trigate.tools.toolset import check_is_toolset

__all__ = ["Runner"]

OnBad: TypeAlias = Literal["each", "all_or_nothing"]
OnProgress: TypeAlias = Callable[[ReleasedCall, Progress], object]
_C = TypeVar("_C")
_T = TypeVar("_T")


class _ReconcileOptions(TypedDict, total=False):
    """The options of areconcile, for the verb that waits."""

    scope: str
    response_id: str | None
    values: dict[str, Any] | None


class _RunOptions(_ReconcileOptions, total=False):
    """The options of arun, likewise."""

    calls: Sequence[ReleasedCall] | None
    token: Cancellation | None
    deadline: float | None


class Runner:
    """Runs the calls of responses.

    toolset, policy  what there is and what is permitted (policy None: tools that only read)
    ledger           remembers what ran; without one a call that is handed in twice runs twice
    parallel         how many calls run at once
    on_bad           "each": a call that is refused is answered with its problem, the others run; each is judged right
                     before it runs. "all_or_nothing": all are judged before the first one runs, and one that is
                     refused stops the whole turn: nothing runs
    seconds          for all calls of a turn together; None: each tool's own timeout alone
    on_progress      told of each call's progress, from the tool's thread, while somebody waits for the call. What it
                     raises is dropped: it is no fault of the tool
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
        check_is_toolset(toolset)
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

    def run(self, response: Response, **options: Unpack[_RunOptions]) -> TurnResult:
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
        deadline: float | None = None,
        values: dict[str, Any] | None = None,
    ) -> TurnResult:
        """Answers every call of the response, and runs those that may.

        scope        whose work it is: part of the ledger's key
        calls        released ones alone, where not all are wanted
        response_id  see trigate.ledger.key_of
        token        calls all of it off, from any thread
        deadline     when the turn's time is over (time.monotonic), if that is before `seconds` are
        values       handed to the tools: Context.values

        TypeError for a draft among the calls; ValueError for a call of another response, one that is given twice, and
        with a ledger for a response that has no id and is given none. Then nothing has run.
        """
        until = [] if self._seconds is None else [time.monotonic() + self._seconds]
        until += [] if deadline is None else [deadline]
        turn = _Turn(self, response, scope, token or Cancellation(), min(until, default=None), values or {})
        return TurnResult(response, tuple(await turn.answer(calls, response_id)))

    def reconcile(self, response: Response, **options: Unpack[_ReconcileOptions]) -> TurnResult:
        """areconcile for those who wait: the same options."""
        return run_in_background(lambda: self.areconcile(response, **options))

    async def areconcile(
        self,
        response: Response,
        *,
        scope: str = "default",
        response_id: str | None = None,
        values: dict[str, Any] | None = None,
    ) -> TurnResult:
        """Asks the tools what became of those calls of the response whose outcome is unknown, and writes it down.

        The results are of these calls alone: "succeeded" or "failed" as it turned out, "not_run" for one that had not
        happened, so that arun() runs it now, "unknown" for one that still is. Call it when whoever ran them is gone:
        see trigate.ledger.Ledger.reconcile. ValueError without a ledger; LedgerError where it cannot be used.
        """
        results = []
        for call in response.released:
            tool = self._toolset.get(call.name)
            if tool is None:
                continue
            context = Context(scope=scope, call=call, values=values or {})
            found = await self._claims.reconcile(
                key_of(call, response, scope, response_id=response_id),
                call,
                functools.partial(ask_tool, tool, call, context),
            )
            results += [] if found is None else [found]
        return TurnResult(response, tuple(results))


class _Turn:
    """One response's calls on their way."""

    def __init__(
        self,
        runner: Runner,
        response: Response,
        scope: str,
        token: Cancellation,
        deadline: float | None,
        values: dict[str, Any],
    ) -> None:
        self._runner = runner
        self._response = response
        self._scope = scope
        self._token = token
        self._deadline = deadline
        self._values = values
        self._places = asyncio.Semaphore(runner._parallel)
        self._keys: dict[int, Key] = {}

    async def answer(self, calls: Sequence[ReleasedCall] | None, response_id: str | None) -> list[CallResult]:
        wanted: Sequence[ToolCall] = self._all() if calls is None else self._chosen(calls)
        if self._runner._has_ledger:
            # Before anything runs: a response that cannot be kept apart from another one is the caller's mistake.
            self._keys = {
                id(call): key_of(call, self._response, self._scope, response_id=response_id)
                for call in wanted
                if isinstance(call, ReleasedCall) and self._runner._toolset.get(call.name) is not None
            }
        if self._runner._on_bad == "each":
            return await _all_of([self._in_place(self._judge_and_run, call) for call in wanted])
        judged = await _all_of([self._in_place(self._judge, call) for call in wanted])
        if any(isinstance(each, CallResult) and each.status in ("refused", "not_run") for each in judged):
            return [_held_back(each) if isinstance(each, Judgment) else each for each in judged]
        return await _all_of([self._in_place(self._run, each) for each in judged])

    def _all(self) -> list[ToolCall]:
        """The released calls, and the void ones of a response that will be sent back with them.

        A call that was sent twice has one answer, that of the first one: two for one id would be refused.
        """
        is_answered = self._response.status in ("completed", "in_progress")
        return [
            call
            for call in self._response.calls
            if isinstance(call, ReleasedCall)
            or (is_answered and call.state == "void" and call.call_id and call.problem != "repeated")
        ]

    def _chosen(self, calls: Sequence[ReleasedCall]) -> Sequence[ReleasedCall]:
        for call in calls:
            if not isinstance(call, ReleasedCall):
                raise TypeError(f"only a ReleasedCall runs, not a {type(call).__name__}: a draft may be cut")
            if call not in self._response.calls:
                raise ValueError(f"{call!r} is no call of this response")
        if len({self._response.calls.index(call) for call in calls}) < len(calls):
            raise ValueError("a call is given twice, and would run twice")
        return calls

    async def _in_place(self, step: Callable[[_C], Awaitable[_T]], of: _C) -> _T:
        async with self._places:
            return await step(of)

    async def _judge_and_run(self, call: ToolCall) -> CallResult:
        return await self._run(await self._judge(call))

    async def _judge(self, call: ToolCall) -> Judgment | CallResult:
        """The judgment of a call that may run; else its answer, which may be that of an earlier run."""
        if not isinstance(call, ReleasedCall):
            return without(call, None, "refused", problem_of_void(call))
        if (late := self._too_late()) is not None:
            return without(call, None, "not_run", late)
        tool = self._runner._toolset.get(call.name)
        with self._context(call) as context:
            ask = functools.partial(judge, call, self._runner._toolset, self._runner._policy, context)
            if tool is None or tool.fresh is None:
                judgment = ask()
            else:
                try:
                    # It looks at the world, so it may take its time.
                    judgment = await run_tool(ask, False, self._time(tool), context.cancellation)
                except NoAnswerError as error:
                    message = f"whether it may run is not known: {error.reason}"
                    return without(call, None, "not_run", Problem(code="tool_error", message=message))
        if judgment.problem is None:
            return judgment
        if judgment.fresh.answer == "no":
            # The world may have changed because this very call has run.
            earlier = await self._runner._claims.look(self._keys.get(id(call)), call, judgment)
            if earlier is not None:
                return earlier
        return without(call, judgment, "refused", judgment.problem)

    @contextmanager
    def _context(self, call: ReleasedCall) -> Iterator[Context]:
        """The surroundings of one call; its own token is cancelled when the turn's is."""
        token, told = Cancellation(), self._runner._on_progress
        forget = self._token.when_cancelled(lambda: token.cancel(self._token.reason))
        report = None if told is None else _Reporter(call, told)
        try:
            yield Context(
                scope=self._scope,
                call=call,
                deadline=self._deadline,
                cancellation=token,
                on_progress=report,
                values=self._values,
            )
        finally:
            forget()
            if report is not None:
                report.is_over = True

    def _time(self, tool: Tool) -> float:
        """Seconds that one run of the tool may take now."""
        if self._deadline is None:
            return tool.timeout
        return min(tool.timeout, self._deadline - time.monotonic())

    def _too_late(self) -> Problem | None:
        """Why nothing may begin any more."""
        if self._token.is_cancelled:
            return Problem(code="cancelled", message=self._token.reason or "the turn was called off")
        if self._deadline is not None and self._deadline <= time.monotonic():
            return Problem(code="cancelled", message="the time for this turn was over before it began")
        return None

    async def _run(self, judgment: Judgment | CallResult) -> CallResult:
        """What comes of a call that was judged; an answer that it has already stays."""
        if isinstance(judgment, CallResult):
            return judgment
        call, tool, claims = judgment.call, judgment.tool, self._runner._claims
        assert tool is not None
        if (late := self._too_late()) is not None:
            return without(call, judgment, "not_run", late)
        taken = await claims.take(self._keys.get(id(call)), call, judgment, self._time(tool))
        if isinstance(taken, CallResult):
            return taken
        if (late := self._too_late()) is not None:  # the claim itself took time
            return await claims.give_back(taken, without(call, judgment, "not_run", late))
        try:
            result = await self._work(judgment, tool)
        except asyncio.CancelledError:
            gone = Problem(code="timeout_unknown", message="it was called off while it ran")
            told = claims.settle(taken, without(call, judgment, "unknown", gone))
            await patiently(asyncio.ensure_future(told))
            raise
        return await claims.settle(taken, result)

    async def _work(self, judgment: Judgment, tool: Tool) -> CallResult:
        """Runs one call that is judged and claimed."""
        call, seconds = judgment.call, self._time(tool)
        began = time.monotonic()

        def took() -> float:
            return time.monotonic() - began

        with self._context(call) as context:
            context.deadline = began + seconds
            work = functools.partial(tool.run, judgment.arguments, context)
            try:
                content = await run_tool(
                    # A long result takes its time in the tool's own thread.
                    *(work, tool.is_async, seconds, context.cancellation),
                    then=tool.result_text,
                )
                if took() > seconds:
                    raise NoAnswerError(f"its result came after {seconds:g} s")
            except NoAnswerError as error:
                return without(call, judgment, "unknown", _unknown(tool.read_only, error), seconds=took())
            except ToolError as error:
                problem = _told(error, tool.read_only)
                status: Literal["unknown", "failed"] = (
                    "unknown" if problem.code == "timeout_unknown" else "failed"
                )
                return without(call, judgment, status, problem, seconds=took())
            except Exception as error:
                return without(call, judgment, "failed", problem_of(error), seconds=took())
        return CallResult(call=call, status="succeeded", content=content, judgment=judgment, seconds=took())


class _Reporter:
    """Tells of one call's progress, until its answer is given."""

    def __init__(self, call: ReleasedCall, told: OnProgress) -> None:
        self._call, self._told = call, told
        self.is_over = False

    def __call__(self, progress: Progress) -> None:
        if not self.is_over:
            with suppress(Exception):
                self._told(self._call, progress)


async def _all_of(works: Sequence[Awaitable[_T]]) -> list[_T]:
    """The results in order. If this is cancelled, all are, and each is waited for: it has an outcome to write."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await patiently(asyncio.gather(*tasks, return_exceptions=True))
    return [task.result() for task in tasks]


def _held_back(judgment: Judgment) -> CallResult:
    message = "nothing of this turn was run, because another of its calls was refused"
    return without(judgment.call, judgment, "not_run", Problem(code="cancelled", message=message))


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

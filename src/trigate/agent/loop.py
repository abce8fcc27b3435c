"""Agent: asks the model, runs what it may, answers, and asks again, until there is an end.

Rules
 - Every run ends, in one of seven words (trigate.agent.outcome): by an answer, a limit, or a fault that has a name.
 - Only a completed response asks for anything. Nothing is asked twice, and no call id runs twice in one run.
 - Everything that was asked, answered, judged and run is on the record before the next step.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypedDict, Unpack

from trigate.agent.limits import AgentLimits
from trigate.agent.model import Model, Reply
from trigate.agent.outcome import AgentResult, AgentStatus, summed
from trigate.agent.record import RecordError, RunRecord
from trigate.agent.replay import ReplayError
from trigate.ledger import AsyncLedger, Ledger
from trigate.response import Response
from trigate.runner import CallResult, Runner, TurnResult
from trigate.runner.background import run_in_background
from trigate.tools import PolicyLike, Toolset

__all__ = ["Agent"]

# What the wire calls an end by its token limit.
_TOKEN_LIMIT = frozenset({"max_output_tokens", "max_tokens", "length", "model_context_window_exceeded"})
_MARGIN = 1.0  # seconds beyond its time that a model gets to tell what it has


class _Options(TypedDict, total=False):
    """The options of arun, for the verb that waits."""

    record: RunRecord | None
    scope: str
    values: dict[str, Any] | None


class Agent:
    """Asks one model with one set of tools.

    model         a LiveModel, a ReplayModel, or any other trigate.agent.Model
    policy        what may run (None: tools that only read)
    instructions  for the model, before the question
    limits        of one run
    ledger        remembers what ran, over runs and crashes
    endings       names of tools that end the run once they succeeded, and the status it then has
    extra         members that are added to each request's body: temperature, tool_choice ...
    one_call      True: each round must ask for exactly one call that may run, else the run ends with nothing run
    """

    def __init__(
        self,
        model: Model,
        toolset: Toolset,
        *,
        policy: PolicyLike | None = None,
        instructions: str = "",
        limits: AgentLimits | None = None,
        ledger: Ledger | AsyncLedger | None = None,
        endings: Mapping[str, AgentStatus] | None = None,
        extra: Mapping[str, Any] | None = None,
        one_call: bool = False,
    ) -> None:
        self._model = model
        self._toolset = toolset
        self._instructions = instructions
        self._limits = limits or AgentLimits()
        self._runner = Runner(toolset, policy, ledger=ledger)
        self._endings = dict(endings or {})
        self._extra = dict(extra or {})
        self._one_call = one_call

    def run(self, question: str, **options: Unpack[_Options]) -> AgentResult:
        """arun for those who wait: the same options."""
        return run_in_background(lambda: self.arun(question, **options))

    async def arun(
        self,
        question: str,
        *,
        record: RunRecord | None = None,
        scope: str = "",
        values: dict[str, Any] | None = None,
    ) -> AgentResult:
        """One run.

        record  where it is written down
        scope   of the ledger's keys; "" for a new one. With the scope and the ledger of a run that was killed, and a
                ReplayModel of its record, what ran then is not run again
        values  handed to the tools: Context.values

        Exceptions are for wrong use alone, and CancelledError: then the record says that the run was called off.
        """
        run = _Run(self, record or RunRecord(), scope or f"run-{secrets.token_hex(8)}", values or {})
        return await run.through(question)


class _Ended(Exception):  # noqa: N818 - an ending is no error
    """The run is over."""

    def __init__(self, status: AgentStatus, reason: str, message: str, answer: str | None = None) -> None:
        super().__init__(message)
        self.status, self.reason, self.message, self.answer = status, reason, message, answer


class _Run:
    """One run while it goes on."""

    def __init__(self, agent: Agent, record: RunRecord, scope: str, values: dict[str, Any]) -> None:
        self._agent = agent
        self._record = record
        self._scope = scope
        self._values = values
        self._until = time.monotonic() + agent._limits.seconds
        self._seen: set[str] = set()
        self._round = 0
        self._responses: list[Response] = []
        self._results: list[CallResult] = []

    async def through(self, question: str) -> AgentResult:
        agent = self._agent
        model = agent._model
        about = (question, agent._instructions, model.name, model.dialect.protocol, agent._limits)
        items = model.dialect.begin(question)
        try:
            self._record.begin(*about)
            while True:
                response = await self._ask(items)
                self._check(response)
                items = [*items, *_answers(model, await self._answer(response))]
        except _Ended as end:
            result = self._result(end)
        except RecordError as error:
            return self._result(_Ended("failed", error.code, error.message))
        except asyncio.CancelledError:
            with suppress(RecordError):
                self._record.end(self._result(_Ended("failed", "cancelled", "the run was called off")))
            raise
        try:
            self._record.end(result)
        except RecordError as error:
            return self._result(_Ended("failed", error.code, f"{result.status}, but {error.message}"))
        return result

    def _result(self, end: _Ended) -> AgentResult:
        return AgentResult(
            status=end.status,
            reason=end.reason,
            message=end.message,
            answer=end.answer,
            rounds=self._round,
            usage=summed(self._responses),
            responses=tuple(self._responses),
            results=tuple(self._results),
        )

    async def _ask(self, items: list[Any]) -> Response:
        """One round's response, completed."""
        agent, limits = self._agent, self._agent._limits
        tokens = limits.output_tokens - summed(self._responses).output_tokens
        if self._round >= limits.rounds:
            raise _exhausted("rounds", f"{limits.rounds} rounds are over")
        if tokens <= 0:
            raise _exhausted("output_tokens", f"the model has written {limits.output_tokens} tokens")
        seconds = self._seconds()
        self._round += 1
        model = agent._model
        body = model.dialect.body(model.name, agent._instructions, items, agent._toolset, tokens)
        body |= agent._extra
        self._record.request(self._round, body)
        began = time.monotonic()
        try:
            # A model keeps to its time by itself; one that does not is left.
            reply = await asyncio.wait_for(model.ask(body, seconds), seconds + _MARGIN)
        except TimeoutError:
            raise _exhausted("seconds", f"no answer came within {seconds:g} s") from None
        except ReplayError as error:
            raise _Ended("failed", error.code, error.message) from error
        except Exception as error:  # against a model's rule; its text may hold anything
            raise _Ended("failed", "model_error", f"the model raised {type(error).__name__}") from error
        self._record.response(self._round, reply, time.monotonic() - began)
        self._responses.append(reply.response)
        return self._completed(reply)

    def _seconds(self) -> float:
        seconds = self._until - time.monotonic()
        if seconds <= 0:
            raise _exhausted("seconds", f"{self._agent._limits.seconds:g} seconds are over")
        return seconds

    def _completed(self, reply: Reply) -> Response:
        response = reply.response
        if reply.failure == "timeout" and self._until <= time.monotonic():
            raise _exhausted("seconds", f"{self._agent._limits.seconds:g} seconds are over")
        if reply.failure:
            raise _Ended("failed", reply.failure, reply.message)
        if response.status == "completed":
            return response
        if response.status == "incomplete" and response.reason in _TOKEN_LIMIT:
            raise _exhausted("output_tokens", f"the model was stopped in mid-answer ({response.reason})")
        error = response.error
        told = error.message if error is not None else f"the response is {response.status}"
        code = str(error.code) if error is not None else response.reason or response.status
        status: AgentStatus = "protocol_error" if response.status == "conflict" else "failed"
        raise _Ended(status, code, told)

    def _check(self, response: Response) -> None:
        """What the rules of the run allow; nothing has run yet."""
        asked = [
            call for call in response.calls if call.state in ("released", "void") and call.kind != "builtin"
        ]
        if self._agent._one_call and (len(asked) != 1 or len(response.released) != 1):
            found = (
                f"{len(asked)} calls, {len(response.released)} of which may run" if asked else "text alone"
            )
            raise _Ended(
                "protocol_error",
                "expected_one_complete_tool_call",
                f"each round must ask for exactly one complete tool call; this one has {found}",
            )
        if not response.calls and response.refusal and not response.text:
            raise _Ended("failed", "refusal", response.refusal)
        if not response.calls:
            raise _Ended("completed", "", "the model has answered", response.text)
        for call in response.calls:
            if call.call_id is not None and call.call_id in self._seen:
                raise _Ended(
                    "protocol_error",
                    "repeated_call_id",
                    f"the call id {call.call_id} was used in an earlier round",
                )
        self._seen.update(call.call_id for call in response.calls if call.call_id is not None)

    async def _answer(self, response: Response) -> TurnResult:
        """Runs what may run; the end, if an ending tool succeeded."""
        agent = self._agent
        turn = await agent._runner.arun(
            response,
            scope=self._scope,
            response_id=response.id or f"round-{self._round}",
            deadline=self._until,
            values=self._values,
        )
        for result in turn:
            self._record.result(self._round, result)
            self._results.append(result)
        for result in turn:
            ending = agent._endings.get(result.call.name)
            if ending is not None and result.status == "succeeded":
                raise _Ended(ending, result.call.name, f"{result.call.name} ended the run", result.content)
        return turn


def _answers(model: Model, turn: TurnResult) -> list[Any]:
    """What the turn adds to the conversation. A call that cannot be answered leaves nothing to ask."""
    if not turn.results:
        why = ", ".join(str(call.problem) for call in turn.response.calls)
        raise _Ended("protocol_error", "unanswerable_call", f"no call of the model can be answered: {why}")
    try:
        return model.dialect.answered(turn)
    except (TypeError, ValueError) as error:
        told = f"a call of the model cannot be answered: {error}"
        raise _Ended("protocol_error", "unanswerable_call", told) from error


def _exhausted(limit: str, message: str) -> _Ended:
    return _Ended("exhausted", limit, message)

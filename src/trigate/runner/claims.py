"""The ledger as the runner uses it: a claim before each run, the outcome after it.

Rules
 - Without a claim nothing runs: a ledger that cannot be written to stops the call, not its record.
 - What was stored is handed out again; what is in doubt stays in doubt.
 - A lease outlives the longest run, so that a worker in time never loses it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from trigate.calls import ReleasedCall
from trigate.ledger import (
    AsyncLedger,
    Claim,
    Entry,
    Finding,
    Key,
    Ledger,
    LedgerError,
    Outcome,
    StaleClaim,
    digest_of,
    in_threads,
)
from trigate.runner.result import CallResult, without
from trigate.tools import Judgment, Problem, problem_of

__all__ = ["Claims"]

_MARGIN = 60.0  # seconds: for writing the outcome, and for clocks


class Claims:
    """A ledger, or none: then every call may run, and nothing is remembered."""

    def __init__(self, ledger: Ledger | AsyncLedger | None) -> None:
        self._ledger = in_threads(ledger) if isinstance(ledger, Ledger) else ledger

    async def take(
        self, key: Key | None, call: ReleasedCall, judgment: Judgment, seconds: float
    ) -> Claim | CallResult | None:
        """The claim of this run; or what became of the call already, so that it must not run. None without a ledger."""
        if self._ledger is None or key is None:
            return None
        assert judgment.tool is not None
        try:
            claim = await self._ledger.claim(
                key, digest_of(call), lease=seconds + _MARGIN, read_only=judgment.tool.read_only
            )
        except Exception as error:  # whatever it is, there is no claim
            message = "it was not run, for it could not be recorded beforehand"
            problem = Problem(code="tool_error", message=message, record=problem_of(error).record)
            return without(call, judgment, "not_run", problem, unrecorded=_why(error))
        if claim.outcome == "claimed":
            return claim
        if claim.outcome == "stored":
            return _stored(call, judgment, claim.entry)
        return _answer(call, judgment, claim)

    async def look(self, key: Key | None, call: ReleasedCall, judgment: Judgment) -> CallResult | None:
        """What became of a call that has run before; None if nothing did, or nobody can tell."""
        if self._ledger is None or key is None:
            return None
        try:
            entry, digest = await self._ledger.get(key), digest_of(call)
        except Exception:  # then its problem stands: nothing runs
            return None
        if entry is None or entry.state == "proposed":
            return None
        if entry.digest == digest and entry.state in ("succeeded", "failed"):
            return _stored(call, judgment, entry)
        outcome: Outcome = "busy" if entry.state == "claimed" else "unknown"
        return _answer(call, judgment, Claim("conflict" if entry.digest != digest else outcome, entry))

    async def give_back(self, claim: Claim | None, result: CallResult) -> CallResult:
        """Gives up a claim whose call was not begun, so that it may be claimed again; the result."""
        if claim is None or self._ledger is None:
            return result
        assert result.problem is not None
        try:
            await self._ledger.fail(claim, result.problem.message, started=False)
        except Exception as error:
            return msgspec.structs.replace(result, unrecorded=_why(error))
        return result

    async def settle(self, claim: Claim | None, result: CallResult) -> CallResult:
        """Writes what came of the run; the result, which says so if it could not be written."""
        if claim is None or self._ledger is None:
            return result
        try:
            if result.status == "succeeded":
                await self._ledger.succeed(claim, result.content)
            elif result.status == "failed":
                await self._ledger.fail(claim, msgspec.json.encode(result.problem).decode())
            else:
                assert result.problem is not None
                await self._ledger.give_up(claim, result.problem.message)
        except StaleClaim as error:
            late = Problem(code="timeout_unknown", message="its result came after its time and adds nothing")
            return without(
                *(result.call, result.judgment, "unknown", late),
                unrecorded=_why(error),
                seconds=result.seconds,
            )
        except Exception as error:  # it ran, so there is a result, whatever the ledger does
            return msgspec.structs.replace(result, unrecorded=_why(error))
        return result

    async def reconcile(
        self, key: Key, call: ReleasedCall, ask: Callable[[], Awaitable[Finding]]
    ) -> CallResult | None:
        """What an inquiry finds about a call in doubt, written down; None for one that is not in doubt. LedgerError."""
        if self._ledger is None:
            raise ValueError("without a ledger no outcome is in doubt: there is nothing to reconcile")
        digest = digest_of(call)

        async def inquire(entry: Entry) -> Finding:
            return await ask() if entry.digest == digest else Finding("unknown")

        try:
            entry = await self._ledger.reconcile(key, inquire)
        except LedgerError as error:
            if error.code in ("no_entry", "not_in_doubt"):
                return None
            raise
        return _found(call, entry)


def _found(call: ReleasedCall, entry: Entry) -> CallResult:
    if entry.state in ("succeeded", "failed"):
        return _stored(call, None, entry)
    if entry.state == "unknown":
        problem = Problem(code="timeout_unknown", message=f"it is still not known: {entry.problem}")
        return without(call, None, "unknown", problem)
    message = "it had not happened: it may be run now"
    return without(call, None, "not_run", Problem(code="cancelled", message=message))


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _answer(call: ReleasedCall, judgment: Judgment, claim: Claim) -> CallResult:
    problem = _why_not(claim)
    return without(call, judgment, "unknown" if problem.code == "timeout_unknown" else "not_run", problem)


def _why_not(claim: Claim) -> Problem:
    if claim.outcome == "conflict":
        return Problem(code="conflict", message="a call with this id was seen before with other arguments")
    if claim.outcome == "busy":
        following = "Do not send it again: its result belongs to that run."
        return Problem(code="duplicate", message="this call is being run by another worker", next=following)
    return Problem(
        code="timeout_unknown",
        message=f"an earlier run of this call has no known outcome: {claim.entry.problem}",
    )


def _stored(call: ReleasedCall, judgment: Judgment | None, entry: Entry) -> CallResult:
    if entry.state == "succeeded":
        content = entry.result if isinstance(entry.result, str) else entry.result_json or "null"
        return CallResult(call=call, status="succeeded", content=content, judgment=judgment, is_stored=True)
    return without(call, judgment, "failed", _problem(entry.problem or ""), is_stored=True)


def _problem(text: str) -> Problem:
    """A stored problem: the runner's own spelling, or a sentence that somebody else wrote."""
    try:
        return msgspec.json.decode(text, type=Problem)
    except (msgspec.DecodeError, ValueError):
        return Problem(code="tool_error", message=text or "an earlier run failed")

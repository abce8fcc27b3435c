"""How a run ended, and what it took.

Rules
 - Every run ends in one of seven words, with a reason that a program can read and a message for people.
 - A sum of tokens says whether it is whole: one response without a count, and it is not.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from trigate.response import Response, Usage
from trigate.runner import CallResult

__all__ = ["STATUSES", "AgentResult", "AgentStatus", "SummedUsage", "summed"]

AgentStatus: TypeAlias = Literal[
    "completed", "awaiting_review", "needs_input", "insufficient", "exhausted", "failed", "protocol_error"
]

#: Every status, and what it means.
STATUSES: dict[AgentStatus, str] = {
    "completed": "the model answered in text and asked for nothing more",
    "awaiting_review": "a tool took the model's work for a person to look at",
    "needs_input": "the model asked the user something",
    "insufficient": "the model said that what it has is not enough",
    "exhausted": "a limit of the run was reached",
    "failed": "the provider, the connection or the caller ended it",
    "protocol_error": "the model or its server did what the protocol of the run does not allow",
}


class SummedUsage(msgspec.Struct, frozen=True):
    """Tokens of all responses together. complete: False as soon as one of them came without its counts."""

    input_tokens: int = 0
    output_tokens: int = 0
    complete: bool = True

    def plus(self, usage: Usage | None) -> SummedUsage:
        """With one more response's count."""
        if usage is None:
            return SummedUsage(self.input_tokens, self.output_tokens, False)
        is_whole = usage.input_tokens is not None and usage.output_tokens is not None
        return SummedUsage(
            self.input_tokens + (usage.input_tokens or 0),
            self.output_tokens + (usage.output_tokens or 0),
            self.complete and is_whole,
        )


def summed(responses: list[Response]) -> SummedUsage:
    total = SummedUsage()
    for response in responses:
        total = total.plus(response.usage)
    return total


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """One run.

    status    see STATUSES
    reason    a word: the limit's name, the provider's code, what the rules of the run did not allow; "" if completed
    message   a sentence for people
    answer    the model's text, or what the ending tool returned; None if there is none
    rounds    how many requests were made
    usage     tokens of all of them
    responses, results   what came, and what became of each call
    """

    status: AgentStatus
    reason: str = ""
    message: str = ""
    answer: str | None = None
    rounds: int = 0
    usage: SummedUsage = SummedUsage()
    responses: tuple[Response, ...] = ()
    results: tuple[CallResult, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Plain data: how it ended, without what came."""
        return {
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "answer": self.answer,
            "rounds": self.rounds,
            "usage": msgspec.to_builtins(self.usage),
            "cost": None,
            "cost_reason": "trigate keeps no price list: prices change, and depend on the contract",
        }

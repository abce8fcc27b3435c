"""How much one run of an agent may take.

Rule: each bound ends the run as `exhausted`, by name; none of them is silently stretched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["AgentLimits"]


@dataclass(frozen=True, kw_only=True)
class AgentLimits:
    """
    rounds         requests to the model
    seconds        for the whole run, the tools included
    output_tokens  that the model may write in all rounds together, as the provider counts them: each request asks for
                   no more than what is left
    """

    rounds: int = 8
    seconds: float = 60.0
    output_tokens: int = 1800

    def __post_init__(self) -> None:
        for name in ("rounds", "seconds", "output_tokens"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise ValueError(f"{name} must be a positive number, not {value!r}")
            if name != "seconds" and not isinstance(value, int):
                raise ValueError(f"{name} must be a whole number, not {value!r}")

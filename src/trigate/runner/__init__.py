"""The runner: from released calls to one answer for each, at most one run for each, and no wait without an end."""

from __future__ import annotations

from trigate.runner.result import CallResult, TurnResult
from trigate.runner.runner import Runner
from trigate.runner.running import NoAnswerError

__all__ = ["CallResult", "NoAnswerError", "Runner", "TurnResult"]

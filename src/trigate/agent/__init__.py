"""The agent: a model asked in rounds, its calls judged and run, everything bounded and on record.

Live models are asked over httpx2; a recorded run is replayed with no key and no network.
"""

from __future__ import annotations

from trigate.agent.dialects import DIALECTS, Dialect
from trigate.agent.limits import AgentLimits
from trigate.agent.live import LiveModel
from trigate.agent.loop import Agent
from trigate.agent.model import Model, Reply
from trigate.agent.outcome import AgentResult, AgentStatus, SummedUsage
from trigate.agent.record import RecordError, RunRecord
from trigate.agent.replay import ReplayError, ReplayModel

__all__ = [
    "DIALECTS",
    "Agent",
    "AgentLimits",
    "AgentResult",
    "AgentStatus",
    "Dialect",
    "LiveModel",
    "Model",
    "RecordError",
    "ReplayError",
    "ReplayModel",
    "Reply",
    "RunRecord",
    "SummedUsage",
]

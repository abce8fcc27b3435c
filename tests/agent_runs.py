"""The runs of a real small model that are kept in tests/runs, and the agents that they are runs of.

Rules
 - The agents look at the example's notes: a change of a note, a tool or an instruction makes the records void. Write
   them again with tests/live/record_runs.py, where the server is installed.
 - A model of 270 million parameters answers badly. What counts is that every round is judged, recorded and bounded.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trigate.agent import Agent, AgentLimits
from trigate.agent.model import Model
from trigate.tools import Toolset
from trigate.tools.files import file_tools

__all__ = ["APIS", "KINDS", "RUNS", "asked", "made"]

RUNS = Path(__file__).resolve().parent / "runs"
RESEARCH = RUNS.parent.parent / "examples" / "research"
APIS = ("openai-chat", "openai-responses", "anthropic-messages")
KINDS = ("files", "research")
LIMITS = AgentLimits(rounds=3, seconds=120, output_tokens=240)
_QUESTIONS = {"files": "Which notes are there?", "research": "延时任务 故障 恢复"}
# Temperature and seed: the same again. It must call, and stops after one call.
_COMMON = {"temperature": 0, "seed": 7}


def _extra(protocol: str) -> dict[str, Any]:
    if protocol == "anthropic-messages":
        return {**_COMMON, "tool_choice": {"type": "any"}, "stop_sequences": ["\n<tool_call>"]}
    return {**_COMMON, "tool_choice": "required", "stop": ["\n<tool_call>"]}


@contextmanager
def _assistant() -> Iterator[Any]:
    sys.path.insert(0, str(RESEARCH))
    try:
        yield importlib.import_module("assistant")
    finally:
        sys.path.remove(str(RESEARCH))


def made(kind: str, model: Model) -> tuple[Agent, dict[str, Any]]:
    """The agent, and the values for its run."""
    extra = _extra(model.dialect.protocol)
    if kind == "files":
        toolset = Toolset(file_tools(RESEARCH / "notes"))
        return Agent(model, toolset, instructions="Look at the files.", limits=LIMITS, extra=extra), {}
    with _assistant() as assistant:
        return assistant.make_agent(model, LIMITS, extra=extra), assistant.new_values()


def asked(kind: str) -> str:
    return _QUESTIONS[kind]

"""Writes notes.jsonl again, the run that the README's agent replays: its model is a script."""

from __future__ import annotations

import sys
from pathlib import Path

from trigate.agent import Agent, RunRecord
from trigate.tools import ToolError, Toolset, tool

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "research"))

from scripted import ScriptedModel, round_of  # noqa: E402 - it is in the other example

NOTES = {"rent": "due on the 1st", "tea": "buy more"}


@tool(read_only=True)
def list_notes() -> list[str]:
    """The names of all notes."""
    return list(NOTES)


@tool(read_only=True)
def read_note(name: str) -> str:
    """One note's text."""
    if name not in NOTES:
        raise ToolError(f"no note is named {name}", code="not_found", facts={"names": list(NOTES)})
    return NOTES[name]


def main() -> None:
    path = HERE / "notes.jsonl"
    path.unlink(missing_ok=True)
    rounds = [
        round_of(1, ("toolu_1", "list_notes", {})),
        round_of(2, ("toolu_2", "read_note", {"name": "rent"})),
        round_of(3, text="The rent is due on the 1st."),
    ]
    with RunRecord(path) as record:
        agent = Agent(ScriptedModel(rounds), Toolset([list_notes, read_note]))
        print(agent.run("When is the rent due?", record=record).status, path.name)


if __name__ == "__main__":
    main()

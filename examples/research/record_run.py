"""Writes runs/ again, with a scripted model. Needed after a change of the notes, the tools or the instructions.

answered.jsonl  the research assistant: what cli.py replays
files.jsonl     the file tools: what `trigate agent --root examples/research/notes --replay ...` replays
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assistant import HERE, make_agent, new_values
from notebook import Notebook
from scripted import ScriptedModel, round_of

from trigate.agent import Agent, RunRecord
from trigate.cli.agent import INSTRUCTIONS
from trigate.tools import Toolset
from trigate.tools.files import file_tools

QUESTION = "延时任务 故障 恢复"
ANSWER = (
    "执行者倒下后，租约到期而没有结果的任务状态是“不明”，不能自动重跑：没有副作用的可以重做，有副作用的要先查证。"
    "领取时发递增的令牌，写入只认最新的，结果与状态在同一事务里写。恢复时先清点“不明”的任务，"
    "再按到期时间从早到晚限速放出积压。"
)
FILES_QUESTION = "A worker died. May its task run again?"
FILES_ANSWER = (
    "Not by itself: its outcome is unknown. A task without side effects may be done again; of one with side effects, "
    "find out first whether it happened (failure-and-recovery.md)."
)


def main() -> None:
    note = Notebook(HERE).read("failure-and-recovery")
    cited = [{"name": note.name, "version": note.version}]
    rounds = [
        round_of(1, ("toolu_1", "search_notes", {"query": QUESTION})),
        round_of(2, ("toolu_2", "read_note", {"name": note.name})),
        round_of(3, ("toolu_3", "submit_answer", {"answer": ANSWER, "citations": cited})),
    ]
    write(make_agent(ScriptedModel(rounds)), QUESTION, HERE / "runs" / "answered.jsonl", new_values())
    rounds = [
        round_of(1, ("toolu_1", "list_files", {}), ("toolu_2", "search_files", {"query": "租约"})),
        round_of(2, ("toolu_3", "read_file", {"path": f"{note.name}.md"})),
        round_of(3, text=FILES_ANSWER),
    ]
    agent = Agent(ScriptedModel(rounds), Toolset(file_tools(HERE / "notes")), instructions=INSTRUCTIONS)
    write(agent, FILES_QUESTION, HERE / "runs" / "files.jsonl", {})


def write(agent: Agent, question: str, path: Path, values: dict[str, Any]) -> None:
    path.unlink(missing_ok=True)
    with RunRecord(path) as record:
        result = agent.run(question, record=record, values=values)
    print(result.status, path.name)


if __name__ == "__main__":
    main()
